//! What the person allowed for good, folder by folder: kept in the store as one text.
//!
//! Invariant: one that can't be read is no permission; what is allowed is worked out anew each time by the engine's
//! policy, so a text that somebody wrote into the store allows nothing the cage doesn't enforce.

use crate::ports::SystemIds;
use crate::settings;
use api::error;
use api::wire::ApiError;
use domain::call::Grant;
use domain::ids::{FolderId, GrantId};
use serde::{Deserialize, Serialize};
use store::StoreHandle;

const NAME: &str = "permissions";
/// Most permissions that are kept.
const MOST: usize = 500;

/// Something allowed for good in one folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lasting {
    pub(crate) id: GrantId,
    pub(crate) folder: FolderId,
    pub(crate) what: Grant,
    /// When, UTC ms.
    pub(crate) given: u64,
}

/// All of them, oldest first.
pub(crate) fn all(store: &StoreHandle) -> Result<Vec<Lasting>, ApiError> {
    let text = store.setting(NAME).map_err(|read| api::of_read(&read))?;
    let Some(text) = text else { return Ok(Vec::new()) };
    // What can't be read at all is neither obeyed nor written over.
    let kept: Vec<serde_json::Value> = serde_json::from_str(&text).map_err(|bad| {
        error(
            "grant/unreadable",
            format!("the kept permissions can't be read: {bad}"),
            "Everything is asked.",
        )
    })?;
    // One that can't be read hides no other.
    Ok(kept.into_iter().filter_map(|one| serde_json::from_value(one).ok()).collect())
}

/// Those of a folder, for the policy; none where they can't be read.
pub(crate) fn of_folder(store: &StoreHandle, folder: &FolderId) -> Vec<(GrantId, Grant)> {
    match all(store) {
        Ok(all) => {
            all.into_iter().filter(|one| one.folder == *folder).map(|one| (one.id, one.what)).collect()
        }
        Err(error) => {
            tracing::warn!(message = %error.message, "permissions can't be read; everything is asked");
            Vec::new()
        }
    }
}

/// Keeps one; the same thing twice is one permission.
pub(crate) fn give(store: &StoreHandle, folder: FolderId, what: Grant, now: u64) -> Result<(), ApiError> {
    let mut all = all(store)?;
    if all.iter().any(|one| one.folder == folder && one.what == what) {
        return Ok(());
    }
    // A permission for the same words with other files was for scripts that are no more.
    all.retain(|one| one.folder != folder || !is_replaced(&one.what, &what));
    if all.len() >= MOST {
        let message = format!("{MOST} permissions are kept; revoke some first");
        return Err(error("grant/count", message, "See Settings, Permissions."));
    }
    all.push(Lasting { id: GrantId::new(&SystemIds), folder, what, given: now });
    save(store, &all)
}

/// Takes one back.
pub(crate) fn revoke(store: &StoreHandle, grant: &GrantId) -> Result<bool, ApiError> {
    let mut all = all(store)?;
    let before = all.len();
    all.retain(|one| one.id != *grant);
    if all.len() == before {
        return Ok(false);
    }
    save(store, &all)?;
    Ok(true)
}

fn is_replaced(old: &Grant, new: &Grant) -> bool {
    match (old, new) {
        (Grant::Command { words: old, exact: true, .. }, Grant::Command { words: new, exact: true, .. }) => {
            old == new
        }
        _ => false,
    }
}

fn save(store: &StoreHandle, all: &[Lasting]) -> Result<(), ApiError> {
    let value = serde_json::to_string(all).map_err(|bad| error("internal", bad.to_string(), ""))?;
    settings::set(store, NAME, value)
}
