//! What is kept for undo: how much, since when, the limit, and letting old contents go.

use crate::failure::{error, of_command};
use crate::room::{Done, Room};
use crate::wire::ApiError;
use crate::wire::command::Reply;
use crate::wire::storage::{StorageView, ThinnedView};
use engine::Thinned;

/// Limits that can be chosen, in gigabytes.
const LIMITS: [u32; 4] = [1, 5, 10, 50];
const GIGABYTE: u64 = 1 << 30;

impl Room {
    pub(crate) async fn storage(&self) -> Done {
        self.kept().await.map(Reply::Storage)
    }

    async fn kept(&self) -> Result<StorageView, ApiError> {
        let kept = self
            .off_thread(|inside| inside.engine()?.kept_for_undo().map_err(|failure| of_command(&failure)));
        let kept = kept.await?;
        let limit_gigabytes = u32::try_from(kept.limit_bytes / GIGABYTE).unwrap_or(u32::MAX);
        let (bytes, since, thinned) = (kept.bytes, kept.since, kept.thinned);
        Ok(StorageView { bytes, limit_gigabytes, since, thinned })
    }

    pub(crate) async fn set_undo_limit(&self, gigabytes: u32) -> Done {
        if !LIMITS.contains(&gigabytes) {
            let message = format!("the limit can't be {gigabytes} GB");
            return Err(error("storage/limit", message, "Choose 1, 5, 10 or 50."));
        }
        let set = self.off_thread(move |inside| {
            let bytes = u64::from(gigabytes) * GIGABYTE;
            inside.engine()?.set_undo_limit(bytes).map_err(|failure| of_command(&failure))
        });
        set.await?;
        self.storage().await
    }

    pub(crate) async fn thin_now(&self) -> Done {
        let done = self.inside.engine()?.thin().await.map_err(|failure| of_command(&failure))?;
        let Thinned { turns, bytes, left } = done;
        let kept = self.kept().await?;
        Ok(Reply::Thinned(ThinnedView { turns, bytes, left, kept }))
    }
}
