//! What the page listens to: each **subscription** is a source of notifications and a task that hands them to one
//! channel of the page, in order, in batches of at most one a frame.
//!
//! Only a few batches may be on their way undrawn. While the page is behind, nothing is taken from the source, whose
//! own bounded queue then tells the page to open the session again. Invariant: a slow, frozen or hidden page costs a
//! bounded amount of memory and never an order, and nothing wakes up while nothing changes.

use api::wire::command::Notification;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// One frame of a 60 Hz screen.
const FRAME: Duration = Duration::from_millis(16);
/// How many batches may be on their way undrawn: one being drawn, one ready.
const UNDRAWN: u32 = 2;
/// How many notifications a batch holds at most.
const BATCH: usize = 64;
/// How many things the window has to say may wait for a page that shows the lists.
const SAID: usize = 64;

/// All subscriptions of the one page.
#[derive(Default)]
pub(crate) struct Subscriptions {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    last: u64,
    live: HashMap<u64, Subscription>,
}

struct Subscription {
    page: Arc<Page>,
    /// What the window itself has to say, for a subscription that carries the lists.
    said: Option<mpsc::Sender<Notification>>,
    task: AbortHandle,
}

/// How far the page is behind.
#[derive(Default)]
struct Page {
    undrawn: AtomicU32,
    drew: Notify,
}

impl Subscriptions {
    /// Begins sending what `source` gives through `send`, which says whether the page still takes it. With `lists`, what
    /// is dropped on the window, or chosen outside the page, goes there too.
    pub(crate) fn begin(
        &self,
        source: mpsc::Receiver<Notification>,
        lists: bool,
        send: impl Fn(Vec<Notification>) -> bool + Send + 'static,
    ) -> u64 {
        let page = Arc::new(Page::default());
        let (to_page, said) = mpsc::channel(SAID);
        let task =
            tauri::async_runtime::spawn(carry(source, said, page.clone(), send)).inner().abort_handle();
        let mut inner = self.lock();
        inner.last += 1;
        let number = inner.last;
        inner.live.insert(number, Subscription { page, said: lists.then_some(to_page), task });
        number
    }

    /// The page has drawn this many batches. An unknown number is one that just ended.
    pub(crate) fn acknowledge(&self, number: u64, batches: u32) {
        if let Some(subscription) = self.lock().live.get(&number) {
            subscription.page.drew(batches);
        }
    }

    /// Tells whoever shows the lists what happened to the window: a drop, or a session chosen in a notification.
    pub(crate) fn tell_lists(&self, notification: &Notification) {
        for subscription in self.lock().live.values() {
            if let Some(Err(error)) = subscription.said.as_ref().map(|to| to.try_send(notification.clone())) {
                tracing::warn!(%error, "the page doesn't take what the window says");
            }
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

    /// No holder of this lock can panic half-way: what it guards is whole even after one did.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Page {
    async fn caught_up(&self) {
        while self.undrawn.load(Ordering::Acquire) >= UNDRAWN {
            self.drew.notified().await;
        }
    }

    /// More than were sent count as all that were sent.
    fn drew(&self, batches: u32) {
        let fewer = |undrawn: u32| Some(undrawn.saturating_sub(batches));
        if self.undrawn.fetch_update(Ordering::AcqRel, Ordering::Acquire, fewer).is_ok() {
            self.drew.notify_one();
        }
    }
}

async fn carry(
    mut source: mpsc::Receiver<Notification>,
    mut said: mpsc::Receiver<Notification>,
    page: Arc<Page>,
    send: impl Fn(Vec<Notification>) -> bool,
) {
    loop {
        page.caught_up().await;
        let first = tokio::select! {
            next = source.recv() => next,
            Some(next) = said.recv() => Some(next),
        };
        let Some(first) = first else { return };
        let mut batch = vec![first];
        while batch.len() < BATCH
            && let Ok(next) = source.try_recv()
        {
            batch.push(next);
        }
        let next_frame = Instant::now() + FRAME;
        page.undrawn.fetch_add(1, Ordering::AcqRel);
        if !send(batch) {
            return;
        }
        tokio::time::sleep_until(next_frame).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(seq: u64) -> Notification {
        Notification::Session { session: "ses_1".into(), seq, patches: vec![] }
    }

    fn refused(name: &str) -> Notification {
        Notification::DropRefused { name: name.into() }
    }

    /// A subscription on `source`, and what it sends.
    fn carried(
        source: mpsc::Receiver<Notification>,
    ) -> (Arc<Page>, mpsc::Sender<Notification>, mpsc::UnboundedReceiver<Vec<Notification>>) {
        let page = Arc::new(Page::default());
        let (sent, batches) = mpsc::unbounded_channel();
        let (drop, dropped) = mpsc::channel(SAID);
        tokio::spawn(carry(source, dropped, page.clone(), move |batch| sent.send(batch).is_ok()));
        (page, drop, batches)
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_arrives_in_order_and_in_few_batches() {
        let (source, notifications) = mpsc::channel(256);
        for seq in 0..200 {
            source.send(patch(seq)).await.unwrap();
        }
        let (page, _drop, mut batches) = carried(notifications);
        let mut seen = Vec::new();
        let mut count = 0;
        while seen.len() < 200 {
            seen.extend(batches.recv().await.unwrap());
            count += 1;
            page.drew(1);
        }
        assert_eq!(seen, (0..200).map(patch).collect::<Vec<_>>());
        assert_eq!(count, 4);
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_that_draws_nothing_takes_nothing_more_from_the_source() {
        let (source, notifications) = mpsc::channel(4);
        let (page, _drop, mut batches) = carried(notifications);
        for seq in 0..2 {
            source.send(patch(seq)).await.unwrap();
            assert_eq!(batches.recv().await, Some(vec![patch(seq)]));
        }
        for seq in 2..6 {
            source.send(patch(seq)).await.unwrap();
        }
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        assert!(source.try_send(patch(6)).is_err(), "the source's own queue is what fills up");
        assert!(batches.try_recv().is_err());
        page.drew(u32::MAX);
        assert_eq!(batches.recv().await.unwrap().len(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_dropped_on_the_window_reaches_the_lists() {
        let (_source, notifications) = mpsc::channel(4);
        let (_page, drop, mut batches) = carried(notifications);
        drop.send(refused("notes.txt")).await.unwrap();
        assert_eq!(batches.recv().await, Some(vec![refused("notes.txt")]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_that_went_away_ends_its_task() {
        let (source, notifications) = mpsc::channel(4);
        source.send(patch(0)).await.unwrap();
        let (_drop, dropped) = mpsc::channel(1);
        carry(notifications, dropped, Arc::default(), |_| false).await;
        assert!(source.is_closed());
    }
}
