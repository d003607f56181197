//! Where big bytes go.
//!
//! A **blob** is content named by its digest. The port is all this crate knows of storage: the store keeps the bytes,
//! the log keeps the digest. Invariant: `get` of a digest that `put` returned gives the same bytes.

use domain::digest::Digest;
use std::io;

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

    /// The bytes of this digest.
    ///
    /// # Errors
    /// When there is no such blob or it can't be read.
    fn get(&self, digest: &Digest) -> io::Result<Vec<u8>>;
}
