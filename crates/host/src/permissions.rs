//! What the person allowed for good, folder by folder: kept in the store as one text.
//!
//! Invariant: one that can't be read is no permission, hides no other and stays until the person lets it go; what is allowed is worked out anew each time by the engine's
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

/// What is kept, as far as it can be read.
pub(crate) struct Kept {
    /// Those that can be read, oldest first.
    pub(crate) all: Vec<Lasting>,
    others: Others,
}

/// What is kept and can't be read: it is no permission, and it isn't written over unasked.
enum Others {
    None,
    /// Some of them.
    Some(Vec<serde_json::Value>),
    /// The text as a whole, for this reason.
    All(String),
}

impl Kept {
    /// Is something kept that can't be read?
    pub(crate) fn is_unreadable(&self) -> bool {
        !matches!(self.others, Others::None)
    }
}

/// All of them. One that can't be read hides no other.
pub(crate) fn all(store: &StoreHandle) -> Result<Kept, ApiError> {
    let text = store.setting(NAME).map_err(|read| api::of_read(&read))?;
    let kept: Vec<serde_json::Value> = match serde_json::from_str(text.as_deref().unwrap_or("[]")) {
        Ok(kept) => kept,
        Err(bad) => return Ok(Kept { all: Vec::new(), others: Others::All(bad.to_string()) }),
    };
    let (mut all, mut others) = (Vec::new(), Vec::new());
    for one in kept {
        match serde_json::from_value(one.clone()) {
            Ok(read) => all.push(read),
            Err(_) => others.push(one),
        }
    }
    let others = if others.is_empty() { Others::None } else { Others::Some(others) };
    Ok(Kept { all, others })
}

/// Those of a folder, for the policy; none where they can't be read.
pub(crate) fn of_folder(store: &StoreHandle, folder: &FolderId) -> Vec<(GrantId, Grant)> {
    let kept = match all(store) {
        Ok(kept) => kept,
        Err(error) => {
            tracing::warn!(message = %error.message, "permissions can't be read; none holds");
            return Vec::new();
        }
    };
    if kept.is_unreadable() {
        tracing::warn!("some permissions can't be read; those don't hold");
    }
    kept.all.into_iter().filter(|one| one.folder == *folder).map(|one| (one.id, one.what)).collect()
}

/// Keeps one; the same thing twice is one permission.
pub(crate) fn give(store: &StoreHandle, folder: FolderId, what: Grant, now: u64) -> Result<(), ApiError> {
    let Kept { mut all, others } = all(store)?;
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
    save(store, &all, &others)
}

/// Takes one back.
pub(crate) fn revoke(store: &StoreHandle, grant: &GrantId) -> Result<bool, ApiError> {
    let Kept { mut all, others } = all(store)?;
    let before = all.len();
    all.retain(|one| one.id != *grant);
    if all.len() == before {
        return Ok(false);
    }
    save(store, &all, &others)?;
    Ok(true)
}

/// Lets go of those that can't be read, only where there are any: others are taken back one by one.
pub(crate) fn reset(store: &StoreHandle) -> Result<(), ApiError> {
    let kept = all(store)?;
    match kept.is_unreadable() {
        true => save(store, &kept.all, &Others::None),
        false => Err(error("grant/readable", "the kept permissions can be read", "Look at the list again.")),
    }
}

fn is_replaced(old: &Grant, new: &Grant) -> bool {
    match (old, new) {
        (Grant::Command { words: old, exact: true, .. }, Grant::Command { words: new, exact: true, .. }) => {
            old == new
        }
        _ => false,
    }
}

fn save(store: &StoreHandle, all: &[Lasting], others: &Others) -> Result<(), ApiError> {
    let others = match others {
        Others::None => &[][..],
        Others::Some(others) => others,
        Others::All(why) => {
            let message = format!("the kept permissions can't be read: {why}");
            return Err(error("grant/unreadable", message, "See Settings, Permissions."));
        }
    };
    let internal = |bad: serde_json::Error| error("internal", bad.to_string(), "");
    let read: Result<Vec<_>, _> = all.iter().map(serde_json::to_value).collect();
    let kept: Vec<_> = others.iter().cloned().chain(read.map_err(internal)?).collect();
    settings::set(store, NAME, serde_json::to_string(&kept).map_err(internal)?)
}
