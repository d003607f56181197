//! Announcements: what was committed, told in the order of the commits.
//!
//! A **listener** is called on the writer's thread, so it must be quick and can't append; a **subscription** is a bounded
//! queue filled by one. Invariants: nothing is announced before its commit; a slow subscriber never holds the writer up,
//! it is told to read from the log again instead.

use domain::event::Recorded;
use domain::ids::SessionId;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::task::{Poll, Waker};
use std::time::Duration;

/// Announcements a subscription holds before its reader must read from the log instead.
pub const QUEUE: usize = 256;

/// The events of one session from one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    /// The session.
    pub session: SessionId,
    /// Its new events, in order.
    pub events: Arc<[Recorded]>,
}

/// What a subscription hands out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// Something was committed.
    Committed(Announcement),
    /// The reader was too slow and announcements were left out: read each session from its last known sequence number.
    /// Later notices may repeat what that finds.
    Resync,
}

/// Does a listener want to be told again?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Yes.
    Yes,
    /// No, it is done.
    No,
}

type Listener = Arc<dyn Fn(&Announcement) -> Keep + Send + Sync>;

/// Who is told.
#[derive(Default)]
pub(crate) struct Announcer {
    listeners: RwLock<Vec<Listener>>,
}

impl Announcer {
    pub(crate) fn listen(&self, listener: Listener) {
        self.listeners.write().unwrap_or_else(PoisonError::into_inner).push(listener);
    }

    pub(crate) fn announce(&self, announcement: &Announcement) {
        // Called outside the lock, so that a listener may add another one.
        let listeners = self.listeners.read().unwrap_or_else(PoisonError::into_inner).clone();
        let done: Vec<Listener> =
            listeners.into_iter().filter(|listener| tell(listener, announcement) == Keep::No).collect();
        if !done.is_empty() {
            let mut listeners = self.listeners.write().unwrap_or_else(PoisonError::into_inner);
            listeners.retain(|kept| !done.iter().any(|gone| Arc::ptr_eq(kept, gone)));
        }
    }

    pub(crate) fn subscribe(&self) -> Subscription {
        let queue = Arc::new(Queue::default());
        let end = Arc::downgrade(&queue);
        self.listen(Arc::new(move |announcement| match end.upgrade() {
            Some(queue) => {
                queue.push(announcement);
                Keep::Yes
            }
            None => Keep::No,
        }));
        Subscription { queue }
    }
}

/// Calls a listener; one that panics is not called again, and the commit it was told of stands.
fn tell(listener: &Listener, announcement: &Announcement) -> Keep {
    catch_unwind(AssertUnwindSafe(|| listener(announcement))).unwrap_or_else(|_| {
        tracing::error!(session = %announcement.session, "a listener panicked and is told no more");
        Keep::No
    })
}

#[derive(Debug, Default)]
struct Queue {
    inside: Mutex<(VecDeque<Notice>, Option<Waker>)>,
    filled: Condvar,
}

impl Queue {
    fn push(&self, announcement: &Announcement) {
        let mut inside = self.lock();
        if inside.0.len() >= QUEUE {
            inside.0.clear();
            inside.0.push_back(Notice::Resync);
        } else {
            inside.0.push_back(Notice::Committed(announcement.clone()));
        }
        let waker = inside.1.take();
        drop(inside);
        self.filled.notify_one();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, (VecDeque<Notice>, Option<Waker>)> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A bounded queue of announcements. Dropping it ends the subscription.
#[derive(Debug)]
pub struct Subscription {
    queue: Arc<Queue>,
}

impl Subscription {
    /// The next notice, if there is one.
    #[must_use]
    pub fn try_next(&self) -> Option<Notice> {
        self.queue.lock().0.pop_front()
    }

    /// The next notice; waits for it, at most so long.
    #[must_use]
    pub fn next_within(&self, wait: Duration) -> Option<Notice> {
        let inside = self.queue.lock();
        let (mut inside, _) = self
            .queue
            .filled
            .wait_timeout_while(inside, wait, |(notices, _)| notices.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        inside.0.pop_front()
    }

    /// The next notice, for asynchronous readers. Safe to drop while waiting.
    pub async fn next(&mut self) -> Notice {
        poll_fn(|context| {
            let mut inside = self.queue.lock();
            match inside.0.pop_front() {
                Some(notice) => Poll::Ready(notice),
                None => {
                    inside.1 = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}
