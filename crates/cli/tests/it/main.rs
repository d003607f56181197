//! The built program, from outside: its lines, its exit codes, a second process at the door, a kill in the middle.

#![expect(clippy::expect_used, reason = "a test that can't go on says where")]

mod acp;
mod added;
mod attack;
mod audit;
mod certificate;
mod codes;
mod erase;
mod handover;
mod keys;
mod killed;
mod people;
mod rig;
mod serve;
