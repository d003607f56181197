//! Why a cage couldn't be started.
//!
//! Each variant names what was refused or what failed, in words for the log and for a person who asks. Invariant:
//! nothing of the command has run when one of these is returned.

use std::path::PathBuf;

use crate::strength::{Mechanism, Missing};

/// A refused or failed start.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// This machine has no cage at all.
    #[error("commands can't be caged on this system: {0}")]
    NoCage(String),
    /// The best cage of this machine is weaker than demanded.
    #[error("only a partial cage works here (missing: {}), and a full one was demanded", names(.0))]
    TooWeak(Vec<Missing>),
    /// The folder can't be used: it doesn't exist, is no folder, or is part of the system.
    #[error("the folder {path} can't be caged: {why}", path = .path.display())]
    Folder {
        /// The folder as given.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// This mechanism can't keep a path hidden that lies inside a listed folder.
    #[error("{mechanism} can't hide {path} inside a listed folder", mechanism = .mechanism.name(), path = .path.display())]
    CannotHide {
        /// The mechanism that was asked for.
        mechanism: Mechanism,
        /// The path that would be visible.
        path: PathBuf,
    },
    /// This mechanism can't leave a proxy as the only way to the network.
    #[error("{mechanism} can't limit the network to a proxy", mechanism = .mechanism.name())]
    CannotProxy {
        /// The mechanism that was asked for.
        mechanism: Mechanism,
    },
    /// A step of building the cage failed.
    #[error("building the {mechanism} cage failed at {step}: {why}")]
    Build {
        /// The mechanism, or `uncaged`.
        mechanism: &'static str,
        /// The step, e.g. `user namespace`.
        step: String,
        /// The system's words.
        why: String,
    },
    /// The supervisor couldn't be started.
    #[error("the supervisor process can't be started")]
    Supervisor(#[source] std::io::Error),
    /// The supervisor didn't answer: this binary isn't linked so that it can supervise.
    #[error("the supervisor process didn't answer within {0} s")]
    Silent(u64),
}

fn names(missing: &[Missing]) -> String {
    missing.iter().map(|one| one.name()).collect::<Vec<_>>().join(", ")
}
