//! Cages, tried for real: every mechanism, as this user and (when this user is root) as an ordinary one.
//!
//! Each test says what must hold and asks every cage that works here. That the two full mechanisms do work where
//! the kernel allows them is a test of its own, so nothing is skipped unseen.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "tests: a failure here is a finding")]

mod attacks;
mod ends;
mod files;
mod lab;
mod limits;
mod network;
mod rules;
