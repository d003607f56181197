//! The store from outside: what it promises, against crashes, damage and a second writer.

mod append;
mod rig;
