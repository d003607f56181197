//! Scenarios: whole turns on the real engine, store and hands, with a scripted model and a counting shell.

mod closing;
mod crash;
mod rebuild;
mod recovery;
mod scenarios;
mod turns;
