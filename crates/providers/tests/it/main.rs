//! Tests of the crate from outside: recorded answers of real servers, and a server on loopback that plays tricks.
//!
//! One binary; nothing here reaches beyond this machine, and a test that needs its own environment starts itself again.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests may panic; one process reports to another"
)]

mod authorities;
mod net;
mod replay;
mod server;
mod tls;
mod transport;
