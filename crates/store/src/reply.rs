//! A reply that is waited for by a thread or by a task, without an async runtime.
//!
//! The writer's thread keeps the [`Promise`]; the caller has the [`Pending`]. Invariant: a promise that is dropped
//! unkept answers `None`, so nobody waits for ever on a writer that is gone.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

enum Slot<T> {
    Waiting(Option<Waker>),
    Kept(T),
    Over,
}

struct Shared<T> {
    slot: Mutex<Slot<T>>,
    settled: Condvar,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, Slot<T>> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn settle(&self, slot: Slot<T>) {
        let before = {
            let mut inside = self.lock();
            match *inside {
                Slot::Waiting(_) => std::mem::replace(&mut *inside, slot),
                Slot::Kept(_) | Slot::Over => return,
            }
        };
        self.settled.notify_all();
        if let Slot::Waiting(Some(waker)) = before {
            waker.wake();
        }
    }
}

/// The side that answers.
pub(crate) struct Promise<T>(Arc<Shared<T>>);

/// The side that waits.
pub(crate) struct Pending<T>(Arc<Shared<T>>);

pub(crate) fn promise<T>() -> (Promise<T>, Pending<T>) {
    let shared = Arc::new(Shared { slot: Mutex::new(Slot::Waiting(None)), settled: Condvar::new() });
    (Promise(Arc::clone(&shared)), Pending(shared))
}

impl<T> Promise<T> {
    pub(crate) fn keep(self, value: T) {
        self.0.settle(Slot::Kept(value));
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.0.settle(Slot::Over);
    }
}

impl<T> Pending<T> {
    /// Blocks until the answer is there; `None` when none will come.
    pub(crate) fn wait(self) -> Option<T> {
        let mut slot = self
            .0
            .settled
            .wait_while(self.0.lock(), |slot| matches!(slot, Slot::Waiting(_)))
            .unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *slot, Slot::Over) {
            Slot::Kept(value) => Some(value),
            Slot::Waiting(_) | Slot::Over => None,
        }
    }
}

impl<T> Future for Pending<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut slot = self.0.lock();
        match &mut *slot {
            Slot::Waiting(waker) => {
                *waker = Some(context.waker().clone());
                Poll::Pending
            }
            Slot::Kept(_) | Slot::Over => match std::mem::replace(&mut *slot, Slot::Over) {
                Slot::Kept(value) => Poll::Ready(Some(value)),
                Slot::Waiting(_) | Slot::Over => Poll::Ready(None),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unkept_promise_answers_none() {
        let (kept, pending) = promise();
        kept.keep(7);
        assert_eq!(pending.wait(), Some(7));
        let (dropped, pending) = promise::<u8>();
        let waits = std::thread::spawn(move || pending.wait());
        drop(dropped);
        assert_eq!(waits.join().expect("joins"), None);
    }
}
