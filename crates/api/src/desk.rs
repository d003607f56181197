//! The desk: what only a host has, as a port of the room.
//!
//! Folders behind opaque ids, the system's dialog, keys and providers, settings, the tour. Invariant: a path comes from
//! here and from nowhere else, and a key goes in through here and never comes out.

use crate::wire::ApiError;
use crate::wire::copy::{Copied, Imported};
use crate::wire::store::{AppInfo, Folder, Provider, ProviderDraft, Settings};
use domain::call::Grant;
use domain::event::ModelChoice;
use domain::ids::{FolderId, GrantId, SessionId};
use engine::show::About;
use futures_util::future::BoxFuture;
use std::path::PathBuf;

/// An answer that may take a while.
pub type Asked<'a, T> = BoxFuture<'a, Result<T, ApiError>>;

/// What the guided tour begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TourStart {
    /// The sample project.
    pub folder: FolderId,
    /// Where it is.
    pub root: PathBuf,
    /// The scripted model.
    pub model: ModelChoice,
}

/// Something allowed for good in one folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lasting {
    /// Its id.
    pub id: GrantId,
    /// The folder.
    pub folder: FolderId,
    /// Where that is, or was.
    pub root: PathBuf,
    /// What.
    pub what: Grant,
    /// When, UTC ms.
    pub given: u64,
}

/// What was allowed for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// What can be understood, oldest first.
    pub lasting: Vec<Lasting>,
    /// Is there more, which can't be? It allows nothing.
    pub unreadable: bool,
}

/// A rule the person set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruled {
    /// What it is about.
    pub about: About,
    /// Where it holds, and where that is; nowhere in particular is every folder.
    pub folder: Option<(FolderId, PathBuf)>,
    /// Is it *never*? Else it asks.
    pub never: bool,
    /// When, UTC ms.
    pub given: u64,
}

/// The code of an answer that the kept rules can't be understood: all ask then, and they can be started over.
pub const RULES_UNREADABLE: &str = "rule/unreadable";

/// What only a host has.
pub trait Desk: Send + Sync {
    /// About the app and the machine.
    fn app(&self) -> Asked<'_, AppInfo>;

    /// Does this machine hold commands in a cage?
    fn has_cage(&self) -> bool;

    /// Folders opened before, newest first.
    ///
    /// # Errors
    /// When the list can't be read.
    fn folders(&self) -> Result<Vec<Folder>, ApiError>;

    /// A folder as shown.
    fn folder(&self, id: &FolderId, root: &str) -> Folder;

    /// The path of a known folder that is there, for a new session in it.
    ///
    /// # Errors
    /// When it isn't known or is gone.
    fn open_folder(&self, id: &FolderId) -> Result<PathBuf, ApiError>;

    /// The system's dialog; `None` when the person dismissed it.
    fn choose_folder(&self) -> Asked<'_, Option<Folder>>;

    /// Lays out the sample project and the script in this language.
    ///
    /// # Errors
    /// When there is none in it, or the project can't be written.
    fn tour(&self, language: String) -> Asked<'_, TourStart>;

    /// Shows a file or folder in the system's own view of folders, and opens nothing.
    ///
    /// # Errors
    /// When the system has no such view.
    fn show(&self, path: PathBuf) -> Asked<'_, ()>;

    /// Writes a file where the person said: whole, or not at all.
    ///
    /// # Errors
    /// When it can't be written; what stood there stands there still.
    fn save(&self, to: PathBuf, bytes: Vec<u8>) -> Asked<'_, ()>;

    /// Writes a session out as an archive, where nothing stands.
    ///
    /// # Errors
    /// When it can't be read or written.
    fn export(&self, session: SessionId, to: PathBuf) -> Asked<'_, Copied>;

    /// Takes an archive in.
    ///
    /// # Errors
    /// When it isn't whole; nothing was taken then.
    fn import(&self, from: PathBuf) -> Asked<'_, Imported>;

    /// Providers, with the state of their keys.
    fn providers(&self) -> Asked<'_, Vec<Provider>>;

    /// Keeps a key.
    fn set_key(&self, provider: String, key: String) -> Asked<'_, ()>;

    /// Forgets a key.
    fn forget_key(&self, provider: String) -> Asked<'_, ()>;

    /// Adds or changes an own service.
    fn save_provider(&self, draft: ProviderDraft) -> Asked<'_, ()>;

    /// Removes an own service.
    fn remove_provider(&self, provider: String) -> Asked<'_, ()>;

    /// Trusts the certificates of a file for this service, instead of those that were.
    ///
    /// # Errors
    /// When there is no such service, or the file holds nothing that could be trusted; all stays as it was then.
    fn set_certificate(&self, provider: String, from: PathBuf) -> Asked<'_, ()>;

    /// Trusts a service's own certificates no longer.
    fn remove_certificate(&self, provider: String) -> Asked<'_, ()>;

    /// Asks a service whether key and address work, and for its models.
    fn check_provider(&self, provider: String) -> Asked<'_, ()>;

    /// What was allowed for good, as far as what is kept can be understood.
    ///
    /// # Errors
    /// When the store can't be read.
    fn lasting(&self) -> Result<Kept, ApiError>;

    /// Lets go of what was allowed for good and can't be understood; the rest stays.
    ///
    /// # Errors
    /// When all of it can be, or it can't be kept.
    fn reset_lasting(&self) -> Result<(), ApiError>;

    /// Allows something for good in a folder.
    ///
    /// # Errors
    /// When it can't be kept.
    fn allow(&self, folder: FolderId, what: Grant) -> Result<(), ApiError>;

    /// Takes back what was allowed for good; false where there is no such thing.
    ///
    /// # Errors
    /// When it can't be kept.
    fn revoke(&self, grant: &GrantId) -> Result<bool, ApiError>;

    /// The person's own rules, oldest first.
    ///
    /// # Errors
    /// When they can't be read; [`RULES_UNREADABLE`] where what is kept can't be understood.
    fn rules(&self) -> Result<Vec<Ruled>, ApiError>;

    /// Sets a rule, *never* or asked, or takes it away.
    ///
    /// # Errors
    /// When it can't be kept, or there are too many.
    fn set_rule(&self, about: About, folder: Option<FolderId>, never: Option<bool>) -> Result<(), ApiError>;

    /// Starts again without rules, where those that are kept can't be understood.
    ///
    /// # Errors
    /// When they can be read, or it can't be kept.
    fn reset_rules(&self) -> Result<(), ApiError>;

    /// Settings.
    ///
    /// # Errors
    /// When they can't be read.
    fn settings(&self) -> Result<Settings, ApiError>;

    /// Keeps settings.
    ///
    /// # Errors
    /// When they hold an unknown word, or can't be kept.
    fn save_settings(&self, settings: Settings) -> Result<(), ApiError>;
}
