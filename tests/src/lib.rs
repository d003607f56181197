//! The rig: a whole engine on simulated ports, on one thread, that can be killed at any append and started again.
//!
//! The **world** (the folder, what commands did) outlives a killed process; everything else is made anew from the store.
//! Invariant: nothing here sleeps in real time or talks to a network; the same script gives the same run.

pub mod counted;
#[cfg(target_os = "linux")]
pub mod cut;
pub mod dice;
#[cfg(target_os = "linux")]
pub mod disk;
pub mod driver;
pub mod faults;
pub mod named;
pub mod rig;
pub mod size;
pub mod world;

pub use dice::Dice;
pub use driver::{Answers, Ended};
pub use faults::DieAt;
pub use rig::{Process, Rig};
pub use world::World;
