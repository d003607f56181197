//! What the system may tell a command that works: stop the work, or come to rest.
//!
//! Invariant: from [`Signals::new`] on a signal ends nothing by itself; whoever reads it does what it asks for.

use crate::exit::Failure;

/// One of them.
pub(crate) enum Signal {
    /// Stop the work.
    Interrupt,
    /// Come to rest.
    #[cfg(unix)]
    Terminate,
}

/// What the system may tell this process.
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    pub(crate) fn new() -> Result<Self, Failure> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let of = |kind| signal(kind).map_err(Failure::internal);
            Ok(Self { interrupt: of(SignalKind::interrupt())?, terminate: of(SignalKind::terminate())? })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    pub(crate) async fn next(&mut self) -> Signal {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
        }
        #[cfg(not(unix))]
        {
            let _ = tokio::signal::ctrl_c().await;
            Signal::Interrupt
        }
    }
}
