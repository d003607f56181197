//! Shortcuts to what the log says, a few sessions of each kind.
//!
//! An *age* is how often words were erased. Invariant: what was read before an erasure is not kept after it, so erased words
//! can't come back from here, whenever the reading ends.

use crate::room::lock;
use domain::ids::SessionId;
use std::collections::HashMap;
use std::sync::Mutex;

/// Something kept of at most so many sessions.
pub(crate) struct Shortcuts<T> {
    most: usize,
    inside: Mutex<Inside<T>>,
}

struct Inside<T> {
    age: Age,
    of: HashMap<SessionId, T>,
}

/// When something was begun to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Age(u64);

impl<T> Shortcuts<T> {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, inside: Mutex::new(Inside { age: Age(0), of: HashMap::new() }) }
    }

    /// To be asked before anything is read that is to be kept.
    pub(crate) fn age(&self) -> Age {
        lock(&self.inside).age
    }

    pub(crate) fn take(&self, session: &SessionId) -> Option<T> {
        lock(&self.inside).of.remove(session)
    }

    /// Keeps what was read since that age, unless words were erased meanwhile. Where there is no room, only this is kept.
    pub(crate) fn keep(&self, session: &SessionId, value: T, read: Age) {
        let mut inside = lock(&self.inside);
        if inside.age != read {
            return;
        }
        if inside.of.len() >= self.most && !inside.of.contains_key(session) {
            inside.of.clear();
        }
        inside.of.insert(session.clone(), value);
    }

    /// Drops what is kept of a session, and what is being read of any: that it is only of another isn't worth knowing.
    pub(crate) fn forget(&self, session: &SessionId) {
        let mut inside = lock(&self.inside);
        inside.age.0 += 1;
        inside.of.remove(session);
    }

    pub(crate) fn forget_all(&self) {
        let mut inside = lock(&self.inside);
        inside.age.0 += 1;
        inside.of.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::Shortcuts;
    use domain::ids::SessionId;

    fn session(n: u8) -> SessionId {
        format!("ses_{n:032}").parse().expect("an id")
    }

    #[test]
    fn what_was_read_before_an_erasure_is_not_kept_after_it() {
        let kept = Shortcuts::new(2);
        let read = kept.age();
        kept.keep(&session(1), "the words", read);
        assert_eq!(kept.take(&session(1)), Some("the words"));
        // Taken out, and given back only after the words were erased.
        kept.forget(&session(1));
        kept.keep(&session(1), "the words", read);
        assert_eq!(kept.take(&session(1)), None);
        let read = kept.age();
        kept.keep(&session(1), "without them", read);
        kept.forget_all();
        kept.keep(&session(2), "the words", read);
        assert_eq!([kept.take(&session(1)), kept.take(&session(2))], [None, None]);
    }

    #[test]
    fn only_a_few_sessions_are_kept() {
        let kept = Shortcuts::new(2);
        let read = kept.age();
        for n in 1..=3 {
            kept.keep(&session(n), n, read);
        }
        assert_eq!([1, 2, 3].map(|n| kept.take(&session(n))), [None, None, Some(3)]);
    }
}
