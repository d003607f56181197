//! Bytes of a tunnel, once its client's first ones were looked at.
//!
//! The server may speak first; what the client says first waits until it is known to be for the granted site. Invariant:
//! no byte of a TLS hello to another host reaches the server.

use super::hello::{First, MAX_BYTES, read};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Carries both directions until both ends have closed; [`io::ErrorKind::PermissionDenied`] for a hello to another host.
pub(crate) async fn carry(
    client: &mut (impl AsyncRead + AsyncWrite + Unpin),
    server: &mut (impl AsyncRead + AsyncWrite + Unpin),
    host: &str,
) -> io::Result<()> {
    let (mut from_client, mut to_client) = tokio::io::split(client);
    let (mut from_server, mut to_server) = tokio::io::split(server);
    let up = async {
        let first = first_bytes(&mut from_client, host).await?;
        to_server.write_all(&first).await?;
        drop(first);
        tokio::io::copy(&mut from_client, &mut to_server).await?;
        to_server.shutdown().await
    };
    let down = async {
        tokio::io::copy(&mut from_server, &mut to_client).await?;
        to_client.shutdown().await
    };
    futures_util::future::try_join(up, down).await.map(|_| ())
}

/// What the client says first, if it may be said to this host.
async fn first_bytes(client: &mut (impl AsyncRead + Unpin), host: &str) -> io::Result<Vec<u8>> {
    let refused = || io::Error::new(io::ErrorKind::PermissionDenied, "a hello to another host");
    let mut bytes = Vec::new();
    loop {
        if client.read_buf(&mut bytes).await? == 0 {
            // The end: half a hello does nothing.
            return if read(&bytes) == First::Other { Ok(bytes) } else { Ok(Vec::new()) };
        }
        match read(&bytes) {
            First::Unfinished if bytes.len() <= MAX_BYTES => {}
            First::Other => return Ok(bytes),
            First::Hello(names) if !names.is_empty() && names.iter().all(|name| name == host) => {
                return Ok(bytes);
            }
            First::Unfinished | First::Hello(_) | First::Broken => return Err(refused()),
        }
    }
}
