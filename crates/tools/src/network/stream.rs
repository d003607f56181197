//! A connection to a granted site whose bytes are counted.
//!
//! Invariant: after the command's last allowed byte, reading and writing fail.

use super::log::{LineNumber, Log};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// The connection.
#[derive(Debug)]
pub(crate) struct Counted {
    stream: TcpStream,
    log: Arc<Log>,
    line: LineNumber,
}

impl Counted {
    pub(crate) fn new(stream: TcpStream, log: Arc<Log>, line: LineNumber) -> Self {
        Self { stream, log, line }
    }

    fn count(&self, up: usize, down: usize) -> io::Result<()> {
        let more = self.log.count(self.line, up, down);
        if more { Ok(()) } else { Err(io::Error::new(io::ErrorKind::QuotaExceeded, "too many bytes")) }
    }
}

impl AsyncRead for Counted {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        let polled = Pin::new(&mut this.stream).poll_read(cx, buf);
        match polled {
            Poll::Ready(Ok(())) => Poll::Ready(this.count(0, buf.filled().len() - before)),
            other => other,
        }
    }
}

impl AsyncWrite for Counted {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_write(cx, buf);
        match polled {
            Poll::Ready(Ok(written)) => Poll::Ready(this.count(written, 0).map(|()| written)),
            other => other,
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
