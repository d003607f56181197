//! The store from outside: what it promises, against crashes, damage and a second writer.

#![expect(clippy::expect_used, reason = "a test says what it expects")]

mod append;
mod attached;
mod blobs;
mod damaged;
mod failing;
mod killed;
mod laws;
mod lists;
mod opening;
mod power;
mod removal;
mod rig;
#[expect(unreachable_pub, reason = "elsewhere it is a module of a library")]
#[path = "../../../../tests/src/size.rs"]
mod size;
mod spent;
