//! The way to the real network: resolving and connecting, as a port.
//!
//! Invariant: the real side connects to the address it is given, never to a name, and never to this machine.

use super::hosts::HostName;
use futures_util::future::BoxFuture;
use std::io;
use std::net::{IpAddr, SocketAddr};
use tokio::net::TcpStream;

/// Resolves names and connects to addresses.
pub trait Way: Send + Sync + 'static {
    /// Every address of a host.
    fn resolve<'a>(&'a self, host: &'a HostName) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
    /// A connection to exactly this address.
    fn connect(&self, to: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>>;
}

/// This machine's resolver and network.
#[derive(Debug, Clone, Copy, Default)]
pub struct Direct;

impl Way for Direct {
    fn resolve<'a>(&'a self, host: &'a HostName) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            // The last dot keeps the system from trying the name inside this machine's own domains.
            let found = tokio::net::lookup_host((format!("{host}."), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }

    fn connect(&self, to: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
        Box::pin(async move {
            let stream = TcpStream::connect(to).await?;
            // A public address can be this machine's own, and then its own ports would answer.
            if stream.local_addr()?.ip() == stream.peer_addr()?.ip() {
                return Err(io::Error::new(
                    io::ErrorKind::PermissionDenied,
                    "the address is this machine's own",
                ));
            }
            Ok(stream)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a51_this_machine_is_not_connected_to() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let refused = Direct.connect(server.local_addr().unwrap()).await.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
    }
}
