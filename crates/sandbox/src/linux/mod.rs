//! The Linux cage.
//!
//! Three processes stand between the app and a command. The **launcher** is this binary executed again (see
//! `hook`): it builds the cage and listens to the app; when the app is gone or asks, it ends the cage. The
//! **init** is process 1 inside: it reaps, and names and stops what the shell left behind. The **command** is
//! confined last, just before it executes. Invariant: every process of a cage ends when any of the three above
//! it does.

mod bwrap;
mod confine;
mod filter;
mod group;
mod hook;
mod init;
mod landlock;
mod launcher;
mod layout;
mod meter;
mod outlet;
mod probe;
mod root;
mod spawn;
mod sys;
mod tree;
mod wire;

pub(crate) use probe::probe;
pub(crate) use spawn::{spawn_in, spawn_uncaged};
