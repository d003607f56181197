//! The store's blobs behind the hands' port.

use crate::shared::Shared;
use domain::digest::Digest;
use std::io;
use store::{BlobError, Reader, StoreHandle};
use tools::BlobSink;
use tools::blob::{Guarded, Staged};

/// Blobs that can be kept and read; content with a registered key in it is kept nowhere.
pub(crate) fn blobs(shared: &Shared) -> Guarded<Blobs> {
    Guarded { blobs: Blobs(shared.store.clone()), secrets: (shared.ports.secrets)() }
}

/// The store's blobs.
pub(crate) struct Blobs(StoreHandle);

/// Blobs that can only be read; what would be kept is an error.
pub(crate) struct ReadBlobs<'a>(pub(crate) &'a Reader);

impl BlobSink for Blobs {
    fn put(&self, bytes: &[u8]) -> io::Result<Digest> {
        self.0.put_blob(bytes).map_err(io::Error::other)
    }

    fn put_stream(&self, from: &mut dyn io::Read) -> io::Result<Digest> {
        self.0.put_blob_stream(from).map_err(io::Error::other)
    }

    fn attach(&self, from: &mut dyn io::Read) -> io::Result<Digest> {
        self.0.attach_blob_stream(from).map_err(io::Error::other)
    }

    fn get(&self, digest: &Digest) -> io::Result<Vec<u8>> {
        self.0.blob(digest).map_err(of_blob)
    }

    fn stage(&self, from: &mut dyn io::Read) -> io::Result<Staged> {
        let staged = self.0.stage_blob(from).map_err(io::Error::other)?;
        Ok(Staged { digest: staged.digest, bytes: staged.bytes, new: staged.new })
    }

    fn settle(&self) -> io::Result<()> {
        self.0.settle_blobs().map_err(io::Error::other)
    }

    fn holds(&self, digest: &Digest) -> io::Result<bool> {
        self.0.holds_blob(digest).map_err(io::Error::other)
    }
}

impl BlobSink for ReadBlobs<'_> {
    fn put(&self, _: &[u8]) -> io::Result<Digest> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn put_stream(&self, _: &mut dyn io::Read) -> io::Result<Digest> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn get(&self, digest: &Digest) -> io::Result<Vec<u8>> {
        self.0.blob(digest).map_err(of_blob)
    }
}

fn of_blob(error: BlobError) -> io::Error {
    match error {
        BlobError::Missing { .. } => io::Error::new(io::ErrorKind::NotFound, error),
        other => io::Error::other(other),
    }
}
