//! What the page listens to: each **subscription** is a source of notifications, an [`Outbox`] and a task that sends
//! its batches, at most one a frame, to one channel of the page.
//!
//! Invariant: nothing wakes up while nothing changes, and a subscription ends with its page, its source or its channel.

use crate::outbox::Outbox;
use api::wire::command::Notification;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// One frame of a 60 Hz screen.
const FRAME: Duration = Duration::from_millis(16);

/// All subscriptions of the one page.
#[derive(Default)]
pub(crate) struct Subscriptions {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    next: u64,
    live: HashMap<u64, Subscription>,
}

struct Subscription {
    line: Arc<Line>,
    /// Does it carry the lists, and so also what is dropped on the window?
    lists: bool,
    task: AbortHandle,
}

/// What the task and the commands share.
#[derive(Default)]
struct Line {
    outbox: Mutex<Outbox>,
    changed: Notify,
}

impl Subscriptions {
    /// Begins sending what `source` gives, in batches, through `send`, which says whether the page still takes them.
    pub(crate) fn begin(
        &self,
        source: mpsc::Receiver<Notification>,
        lists: bool,
        send: impl Fn(Vec<Notification>) -> bool + Send + 'static,
    ) -> u64 {
        let line = Arc::new(Line::default());
        let task = tauri::async_runtime::spawn(carry(source, line.clone(), send)).inner().abort_handle();
        let mut inner = self.lock();
        inner.next += 1;
        let number = inner.next;
        inner.live.insert(number, Subscription { line, lists, task });
        number
    }

    /// The page has drawn this many batches. An unknown number is one that just ended.
    pub(crate) fn acknowledge(&self, number: u64, batches: u32) {
        if let Some(subscription) = self.lock().live.get(&number) {
            held(&subscription.line.outbox).acknowledge(batches);
            subscription.line.changed.notify_one();
        }
    }

    /// Tells whoever shows the lists.
    pub(crate) fn tell_lists(&self, notification: &Notification) {
        for subscription in self.lock().live.values().filter(|subscription| subscription.lists) {
            held(&subscription.line.outbox).put(notification.clone());
            subscription.line.changed.notify_one();
        }
    }

    /// Ends one.
    pub(crate) fn end(&self, number: u64) {
        if let Some(subscription) = self.lock().live.remove(&number) {
            subscription.task.abort();
        }
    }

    /// Ends all: the page is gone.
    pub(crate) fn end_all(&self) {
        for (_, subscription) in self.lock().live.drain() {
            subscription.task.abort();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        held(&self.inner)
    }
}

/// No holder of these locks can panic half-way: what they guard is whole even after one did.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn carry(
    mut source: mpsc::Receiver<Notification>,
    line: Arc<Line>,
    send: impl Fn(Vec<Notification>) -> bool,
) {
    let mut next_frame = Instant::now();
    let mut open = true;
    loop {
        let ready = held(&line.outbox).ready();
        tokio::select! {
            notification = source.recv(), if open => match notification {
                Some(notification) => held(&line.outbox).put(notification),
                None => open = false,
            },
            () = line.changed.notified() => {}
            () = tokio::time::sleep_until(next_frame), if ready => {
                next_frame = Instant::now() + FRAME;
                let batch = held(&line.outbox).next_batch();
                if batch.is_some_and(|batch| !send(batch)) {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use api::wire::command::Notification;

    fn refused(name: &str) -> Notification {
        Notification::DropRefused { name: name.into() }
    }

    fn patch(seq: u64) -> Notification {
        Notification::Session { session: "ses_1".into(), seq, patches: vec![] }
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_arrives_in_order_and_in_few_batches() {
        let (source, notifications) = mpsc::channel(4_096);
        let (sent, mut batches) = mpsc::unbounded_channel();
        for seq in 0..200 {
            source.send(patch(seq)).await.unwrap();
        }
        let line = Arc::new(Line::default());
        let task = tokio::spawn(carry(notifications, line.clone(), move |batch| sent.send(batch).is_ok()));
        let mut seen = Vec::new();
        let mut count = 0;
        while seen.len() < 200 {
            let batch = batches.recv().await.unwrap();
            count += 1;
            seen.extend(batch);
            held(&line.outbox).acknowledge(1);
            line.changed.notify_one();
        }
        assert_eq!(seen, (0..200).map(patch).collect::<Vec<_>>());
        assert!(count <= 16, "{count} batches");
        task.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_that_went_away_ends_its_task() {
        let (source, notifications) = mpsc::channel(4);
        source.send(refused("a")).await.unwrap();
        let line = Arc::new(Line::default());
        carry(notifications, line, |_| false).await;
        assert!(source.is_closed());
    }
}
