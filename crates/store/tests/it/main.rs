//! The store from outside: what it promises, against crashes, damage and a second writer.

mod append;
mod blobs;
mod damaged;
mod failing;
mod killed;
mod lists;
mod opening;
mod rig;
