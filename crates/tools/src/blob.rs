//! Where big bytes go.
//!
//! A **blob** is content named by its digest. The port is all this crate knows of storage: the store keeps the bytes,
//! the log keeps the digest. Invariants: `get` of a digest that `put` returned gives the same bytes; what was staged is
//! durable and readable once `settle` has returned, not before; what was attached is durable with the call's result, so
//! nothing may be done in the folder that counts on it.

use crate::redact::{HoldsSecret, Needles};
use domain::digest::Digest;
use std::io;
use std::sync::Arc;

/// Takes and gives back content by digest.
pub trait BlobSink: Send + Sync {
    /// Keeps these bytes; the same bytes twice are kept once.
    ///
    /// # Errors
    /// When they can't be stored.
    fn put(&self, bytes: &[u8]) -> io::Result<Digest>;

    /// Keeps everything the reader gives, without holding it in memory.
    ///
    /// # Errors
    /// When reading or storing fails; nothing is kept then.
    fn put_stream(&self, from: &mut dyn io::Read) -> io::Result<Digest>;

    /// Keeps what the reader gives for a call's result to name, and for nothing else: readable at once, durable no later
    /// than that result, and gone with the process when there is none.
    ///
    /// # Errors
    /// When reading or storing fails; nothing is kept then.
    fn attach(&self, from: &mut dyn io::Read) -> io::Result<Digest> {
        self.put_stream(from)
    }

    /// The bytes of this digest.
    ///
    /// # Errors
    /// When there is no such blob or it can't be read.
    fn get(&self, digest: &Digest) -> io::Result<Vec<u8>>;

    /// Takes everything the reader gives, to be made durable with many others by [`BlobSink::settle`]. Does nothing but
    /// read when the content is kept already.
    ///
    /// # Errors
    /// When reading or storing fails; nothing is kept then.
    fn stage(&self, from: &mut dyn io::Read) -> io::Result<Staged> {
        let mut counted = Counted { from, bytes: 0 };
        let digest = self.put_stream(&mut counted)?;
        Ok(Staged { digest, bytes: counted.bytes, new: true })
    }

    /// Makes everything staged so far durable and readable.
    ///
    /// # Errors
    /// When it can't be; what was staged may then be gone.
    fn settle(&self) -> io::Result<()> {
        Ok(())
    }

    /// Is there a blob of this name? Its content is compared only when it is read.
    ///
    /// # Errors
    /// When the storage can't be looked at.
    fn holds(&self, digest: &Digest) -> io::Result<bool> {
        match self.get(digest) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Blobs that take no content with a registered secret in it.
pub struct Guarded<B> {
    /// Where content goes.
    pub blobs: B,
    /// The secrets.
    pub secrets: Arc<Needles>,
}

impl<B: BlobSink> Guarded<B> {
    fn through<T>(
        &self,
        from: &mut dyn io::Read,
        into: impl FnOnce(&mut dyn io::Read) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut watched = self.secrets.watch(from);
        let done = into(&mut watched);
        if watched.found() { Err(io::Error::other(HoldsSecret)) } else { done }
    }
}

impl<B: BlobSink> BlobSink for Guarded<B> {
    fn put(&self, mut bytes: &[u8]) -> io::Result<Digest> {
        self.put_stream(&mut bytes)
    }

    fn put_stream(&self, from: &mut dyn io::Read) -> io::Result<Digest> {
        self.through(from, |from| self.blobs.put_stream(from))
    }

    fn attach(&self, from: &mut dyn io::Read) -> io::Result<Digest> {
        self.through(from, |from| self.blobs.attach(from))
    }

    fn get(&self, digest: &Digest) -> io::Result<Vec<u8>> {
        self.blobs.get(digest)
    }

    fn stage(&self, from: &mut dyn io::Read) -> io::Result<Staged> {
        self.through(from, |from| self.blobs.stage(from))
    }

    fn settle(&self) -> io::Result<()> {
        self.blobs.settle()
    }

    fn holds(&self, digest: &Digest) -> io::Result<bool> {
        self.blobs.holds(digest)
    }
}

/// Was content refused because it holds a secret?
#[must_use]
pub fn holds_secret(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<HoldsSecret>())
}

/// Content that was staged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Staged {
    /// Its name.
    pub digest: Digest,
    /// Its size.
    pub bytes: u64,
    /// Was it not kept before?
    pub new: bool,
}

struct Counted<'a> {
    from: &'a mut dyn io::Read,
    bytes: u64,
}

impl io::Read for Counted<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        self.bytes += read as u64;
        Ok(read)
    }
}
