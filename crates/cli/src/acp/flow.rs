//! Whether the editor takes what is said to it.
//!
//! The protocol's library queues without bound whatever it is given, so nothing more is given to it while its writing is
//! **stuck**. Invariant: an editor that doesn't read costs no more than a pipe, a queue of the session and one message.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::AsyncWrite;
use tokio::sync::watch;

/// Tells whether writing is stuck.
#[derive(Clone)]
pub(super) struct Flow(Arc<watch::Sender<bool>>);

/// A way out that is watched.
pub(super) struct Watched<W> {
    out: W,
    flow: Flow,
}

impl Flow {
    /// Watches a way out.
    pub(super) fn of<W>(out: W) -> (Self, Watched<W>) {
        let flow = Self(Arc::new(watch::Sender::new(false)));
        (flow.clone(), Watched { out, flow })
    }

    /// Waits until what is said is taken.
    pub(super) async fn free(&self) {
        // The sender is ours, so it can't have gone.
        drop(self.0.subscribe().wait_for(|stuck| !stuck).await);
    }

    fn seen<T>(&self, done: Poll<T>) -> Poll<T> {
        let stuck = done.is_pending();
        self.0.send_if_modified(|was| std::mem::replace(was, stuck) != stuck);
        done
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Watched<W> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.out).poll_write(cx, bytes);
        self.flow.seen(done)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.out).poll_flush(cx);
        self.flow.seen(done)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.out).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    #[tokio::test]
    async fn what_is_not_taken_is_waited_for() {
        let (here, mut there) = tokio::io::duplex(4);
        let (flow, mut out) = Flow::of(here);
        assert!(flow.free().now_or_never().is_some());
        let mut writing = Box::pin(out.write_all(b"more than four"));
        assert!(writing.as_mut().now_or_never().is_none());
        assert!(flow.free().now_or_never().is_none(), "it is stuck");
        let mut read = [0; 14];
        let (written, read) = tokio::join!(writing, there.read_exact(&mut read));
        assert!(written.is_ok() && read.is_ok());
        assert!(flow.free().now_or_never().is_some());
    }
}
