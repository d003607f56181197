//! The person's own rules, for every folder or for one: kept in the store as one text, beside the settings.
//!
//! Invariant: they only narrow, they come from the person alone and never from a folder, and where they can't be read,
//! every call asks, since one of them may say *never*, until the person starts again without them.

use crate::settings;
use api::wire::ApiError;
use api::{RULES_UNREADABLE, error};
use domain::ids::FolderId;
use engine::show::{About, Layer, Rule};
use serde::{Deserialize, Serialize};
use store::StoreHandle;

const NAME: &str = "rules";
/// Most rules that are kept: each verdict goes through all that hold in its folder.
const MOST: usize = 200;

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kept {
    pub(crate) about: About,
    /// Nothing is every folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) folder: Option<FolderId>,
    /// Never, or asked.
    pub(crate) never: bool,
    /// When, UTC ms.
    pub(crate) given: u64,
}

/// All of them, oldest first. One that can't be read makes all unreadable: it may be a *never*.
pub(crate) fn all(store: &StoreHandle) -> Result<Vec<Kept>, ApiError> {
    let text = store.setting(NAME).map_err(|read| api::of_read(&read))?;
    let Some(text) = text else { return Ok(Vec::new()) };
    serde_json::from_str(&text).map_err(|bad| {
        error(RULES_UNREADABLE, format!("the kept rules can't be read: {bad}"), "Every call is asked about.")
    })
}

/// Those that hold in a folder, for the policy.
pub(crate) fn of_folder(store: &StoreHandle, folder: &FolderId) -> Vec<Layer> {
    let rules = match all(store) {
        Ok(all) => {
            let holds = |one: &Kept| one.folder.as_ref().is_none_or(|own| own == folder);
            all.into_iter().filter(holds).map(|one| Rule::of(one.about, one.never)).collect()
        }
        Err(error) => {
            tracing::warn!(message = %error.message, "rules can't be read; everything is asked");
            vec![Rule::ask_all("unreadable")]
        }
    };
    vec![Layer::of_person(rules)]
}

/// Sets one, or takes it away; the same thing in the same place has one.
pub(crate) fn set(
    store: &StoreHandle,
    about: About,
    folder: Option<FolderId>,
    never: Option<bool>,
    now: u64,
) -> Result<(), ApiError> {
    let mut all = all(store)?;
    all.retain(|one| one.about != about || one.folder != folder);
    if let Some(never) = never {
        if all.len() >= MOST {
            let message = format!("{MOST} rules are kept; take some away first");
            return Err(error("rule/count", message, "See Settings, Permissions."));
        }
        all.push(Kept { about, folder, never, given: now });
    }
    save(store, &all)
}

/// Starts again without rules, only where what is kept can't be understood: rules that hold are taken away one by one.
pub(crate) fn reset(store: &StoreHandle) -> Result<(), ApiError> {
    match all(store) {
        Err(failed) if failed.code == RULES_UNREADABLE => save(store, &[]),
        Err(failed) => Err(failed),
        Ok(_) => Err(error("rule/readable", "the kept rules can be read", "Look at the list again.")),
    }
}

fn save(store: &StoreHandle, all: &[Kept]) -> Result<(), ApiError> {
    let value = serde_json::to_string(all).map_err(|bad| error("internal", bad.to_string(), ""))?;
    settings::set(store, NAME, value)
}
