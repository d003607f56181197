//! The network by host: what lets a caged command reach exactly the hosts a person granted.
//!
//! A **site** is a host's name with a port; [`Hosts`] are the granted ones. The cage leaves a command one way out, a
//! socket we serve as an HTTP [`Proxy`]: it decides on the name, resolves it itself, refuses addresses that aren't the
//! public internet's, and connects to the very address it checked. Invariant: nothing is reached that isn't granted, and
//! every attempt, granted or refused, comes back as data ([`Used`]).

mod address;
mod hello;
mod hosts;
mod log;
mod proxy;
mod stream;
mod tunnel;
mod way;

#[cfg(test)]
pub(crate) mod tests;

pub use hosts::{HostName, Hosts, NotASite, Site};
pub use log::{Outcome, Refusal, Used};
pub use proxy::{Bounds, Proxy};
pub use way::{Direct, Way};
