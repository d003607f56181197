//! The one way out of a cage that may use the network through a proxy.
//!
//! The **outlet** is a listening socket that process 1 opens in the cage's own, otherwise empty network namespace and
//! hands to the app, which alone can accept from it. No process of ours has to copy bytes in there, no path leads to
//! it, and nobody outside the namespace can connect to it. Invariant: it listens before the command exists, so the
//! command can't take its place.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::AsFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType};

use super::launcher::Broken;
use super::sys;
use super::wire::{Line, Plan};
use crate::strength::Mechanism;

/// Nothing else listens in an empty namespace, so one number does for every cage.
pub(crate) const PORT: u16 = 3_128;
/// What the proxy variables say.
pub(crate) const URL: &str = "http://127.0.0.1:3128";
/// Connections that wait to be accepted; more are refused by the kernel.
const WAITING: i32 = 64;

/// Opens it and hands it over, if the plan wants one.
pub(crate) fn open(line: &Line, plan: &Plan) -> Result<(), Broken> {
    if !plan.outlet {
        return Ok(());
    }
    // `bwrap` does this itself.
    if plan.mechanism == Some(Mechanism::Namespaces) {
        sys::raise_loopback().map_err(|error| Broken::at("loopback device", error))?;
    }
    let listener =
        rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)
            .and_then(|listener| {
                rustix::net::bind(&listener, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, PORT))?;
                rustix::net::listen(&listener, WAITING)?;
                Ok(listener)
            })
            .map_err(|error| Broken::at("outlet", error))?;
    line.hand_over(listener.as_fd()).map_err(|error| Broken::at("outlet", error))
}
