//! What the tests share: a temporary store, a clock that stands where it is put, and small lawful stories to append.

use domain::call::Mode;
use domain::event::*;
use domain::ids::{FolderId, MessageId, SessionId, TurnId};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use store::{Clock, Options, Store};

/// A clock that says what it was told last.
#[derive(Default)]
pub(crate) struct Hand(AtomicU64);

impl Hand {
    pub(crate) fn at(ms: u64) -> Arc<Self> {
        Arc::new(Self(ms.into()))
    }

    pub(crate) fn set(&self, ms: u64) {
        self.0.store(ms, Ordering::Relaxed);
    }
}

impl Clock for Hand {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

pub(crate) fn inline() -> Options {
    Options::inline(Hand::at(1_000))
}

#[track_caller]
pub(crate) fn open(folder: &Path) -> Store {
    Store::open(folder, inline()).expect("opens")
}

pub(crate) fn session(n: u128) -> SessionId {
    SessionId::from_bits(n)
}

/// The first event of a session.
pub(crate) fn created() -> Draft {
    Draft::new(SessionCreated {
        folder: FolderId::from_bits(1),
        root: "/home/ann/garden".into(),
        mode: Mode::Ask,
        model: Some(ModelChoice { provider: "anthropic".into(), model: "small".into() }),
        tour: false,
    })
}

/// A lawful event that may come at any time.
pub(crate) fn renamed(title: &str) -> Draft {
    Draft::new(SessionRenamed { title: title.into() })
}

pub(crate) fn posted(n: u128, text: &str) -> Draft {
    Draft::new(InboxPosted {
        message: MessageId::from_bits(n),
        text: text.into(),
        target: Target::NextTurn,
        wakeup: true,
        origin: Origin::User,
        command: None,
    })
}

pub(crate) fn turn_start(n: u128) -> Draft {
    let turn = TurnId::from_bits(n);
    let source = Source::Message { message: MessageId::from_bits(n) };
    Draft::of_turn(&turn.clone(), TurnStart { turn, source })
}

pub(crate) fn turn_end(n: u128, end: End) -> Draft {
    Draft::of_turn(&TurnId::from_bits(n), TurnEnd { end })
}
