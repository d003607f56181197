//! What isn't one session: the app, lists, folders, changed files, providers and settings.
//!
//! Secrets go in through a command and never come out: a provider only says in which state its key is.

use super::command::Mode;
use super::spend::{ModelPrice, SpendLimits};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use ts_rs::TS;

/// About the app and the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct AppInfo {
    /// Version of the app.
    pub version: String,
    /// `linux`, `macos` or `windows`.
    pub platform: String,
    /// Strength of the cage: `full`, `partial` or `none`.
    pub cage: String,
    /// Codes of what the cage lacks.
    pub cage_missing: Vec<String>,
    /// State of the keychain: `ready`, `locked` or `missing`.
    pub keychain: String,
    /// Problem with the store, as a code, where there is one.
    pub store_problem: Option<ApiProblem>,
}

/// A lasting problem, with a code for wording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ApiProblem {
    /// Such as `store/read_only`.
    pub code: String,
    /// English detail.
    pub message: String,
}

/// A folder the person opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Folder {
    /// Opaque id.
    pub id: String,
    /// Last part of its path.
    pub name: String,
    /// Where it is, for showing: the path with the home folder as `~`.
    pub place: String,
    /// Is it there now?
    pub exists: bool,
    /// Why the person is asked before a session begins in it; null where they aren't.
    #[serde(default)]
    pub wide: Option<Wide>,
}

/// What makes a folder hold far more than one piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(rename_all = "snake_case")]
pub enum Wide {
    /// It is the person's home folder.
    Home,
    /// Their home folder is in it.
    AboveHome,
    /// It is a whole disk.
    Disk,
    /// Daybook's own data is in it.
    OwnData,
}

/// A line of the session list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionSummary {
    /// The session.
    pub id: String,
    /// Its name; may be empty.
    pub title: String,
    /// Its folder.
    pub folder: Folder,
    /// When something last happened, UTC ms.
    #[ts(type = "number")]
    pub updated: u64,
    /// What it is doing: `idle`, `working`, `background`, `needs_you`, `failed`, `stopped`, `damaged`, or `interrupted` (cut off,
    /// and no Daybook runs that goes on with it).
    pub state: String,
    /// How many things wait for the person.
    pub needs_you: u32,
    /// Is it the guided tour?
    pub tour: bool,
}

/// Another folder that the person lets a session look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct AddedFolder {
    /// Its id in the session.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Where it is, the home folder as `~`.
    pub place: String,
    /// `here`, `gone` (nothing can be opened there) or `other` (another folder stands there), when it was last looked.
    pub state: String,
}

/// A file a session changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct FileChange {
    /// Path relative to the folder, `/` between parts.
    pub path: String,
    /// `created`, `edited` (its content), `deleted` or `mode` (only its permissions).
    pub change: String,
    /// What it is, or was: `file`, `link` or `folder`.
    pub kind: String,
    /// Lines added, null for binary files.
    pub added: Option<u32>,
    /// Lines removed.
    pub removed: Option<u32>,
    /// Did it change on disk after the session's last change to it?
    pub changed_since: bool,
    /// Of a turn's file: was that change taken back?
    pub undone: bool,
}

/// Differences of one file, computed by the engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct FileDiff {
    /// Path relative to the folder.
    pub path: String,
    /// Did nothing stand there before?
    #[serde(default)]
    pub created: bool,
    /// Why there are no hunks: `binary`, `too_large` or `same`.
    pub no_hunks: Option<String>,
    /// Hunks in order.
    pub hunks: Vec<Hunk>,
}

/// A run of lines around changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Hunk {
    /// First old line, from 1.
    pub old_start: u32,
    /// First new line, from 1.
    pub new_start: u32,
    /// The lines.
    pub lines: Vec<DiffLine>,
    /// What to name it by when it alone is taken back; null where it can't be.
    pub part: Option<String>,
    /// Was it taken back?
    pub undone: bool,
}

/// One line of a difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct DiffLine {
    /// `same`, `added` or `removed`.
    pub kind: String,
    /// Pieces of the line without its ending; `changed` marks the words that differ.
    pub spans: Vec<DiffSpan>,
}

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct DiffSpan {
    /// The text.
    pub text: String,
    /// Does it differ from the other side?
    pub changed: bool,
}

/// A model of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ModelChoice {
    /// The provider.
    pub provider: String,
    /// The model's name there.
    pub model: String,
}

/// How much a model is asked to think before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Effort {
    /// Little.
    Low,
    /// As its maker means it.
    Medium,
    /// Much.
    High,
    /// As much as it can.
    Max,
}

impl From<Effort> for domain::model::Effort {
    fn from(effort: Effort) -> Self {
        match effort {
            Effort::Low => Self::Low,
            Effort::Medium => Self::Medium,
            Effort::High => Self::High,
            Effort::Max => Self::Max,
        }
    }
}

impl From<domain::model::Effort> for Effort {
    fn from(effort: domain::model::Effort) -> Self {
        match effort {
            domain::model::Effort::Low => Self::Low,
            domain::model::Effort::Medium => Self::Medium,
            domain::model::Effort::High => Self::High,
            domain::model::Effort::Max => Self::Max,
        }
    }
}

/// A service that serves models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Provider {
    /// Id: a preset's name or an own one.
    pub id: String,
    /// Name for showing.
    pub name: String,
    /// Dialect: `anthropic-messages`, `openai-chat` or `openai-responses`.
    pub dialect: String,
    /// Base address.
    pub base_url: String,
    /// `not_needed`, `missing`, `stored`, `locked` or `session_only`.
    pub key: String,
    /// Built in, or added by the person?
    pub custom: bool,
    /// Models it offered when last asked, or suggested ones.
    pub models: Vec<String>,
    /// How much they can be asked to think; one that can't be asked is left out.
    pub efforts: BTreeMap<String, Vec<Effort>>,
    /// Input plus output tokens its models take, as the person said; null leaves it to what is known.
    #[ts(type = "number | null")]
    pub context_tokens: Option<u64>,
    /// Authorities of its own, trusted beside those of this computer.
    #[serde(default)]
    pub certificates: Vec<ProviderCertificate>,
    /// Result of the last check: null = not checked.
    pub check: Option<ProviderCheck>,
}

/// An authority that is trusted for one service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ProviderCertificate {
    /// Whose it is, as it says itself.
    pub subject: String,
    /// SHA-256 of the certificate in 64 hex digits.
    pub fingerprint: String,
    /// When it ends, in milliseconds since 1970.
    #[ts(type = "number")]
    pub until: u64,
    /// Has it ended?
    pub expired: bool,
}

/// What a check of a provider found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ProviderCheck {
    /// Did it answer?
    pub ok: bool,
    /// What is known when not, as of a turn that failed: `class`, `said` or `message`, `status`, `address`,
    /// `certificate`.
    pub facts: BTreeMap<String, String>,
}

/// A service as the person describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ProviderDraft {
    /// Null for a new one.
    pub id: Option<String>,
    /// Name for showing.
    pub name: String,
    /// Dialect.
    pub dialect: String,
    /// Base address, `http://` or `https://`.
    pub base_url: String,
    /// Model names, at least one.
    pub models: Vec<String>,
    /// Input plus output tokens its models take; null leaves it to what is known.
    #[serde(default)]
    #[ts(type = "number | null")]
    pub context_tokens: Option<u64>,
}

/// Settings of the app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Settings {
    /// `system`, `en` or `zh-CN`.
    pub language: String,
    /// `system`, `light` or `dark`.
    pub theme: String,
    /// `small`, `normal` or `large`.
    pub text_size: String,
    /// Mode of new sessions.
    pub mode: Mode,
    /// Model of new sessions.
    pub model: Option<ModelChoice>,
    /// Models that go on, in this order, where the chosen one doesn't answer.
    #[serde(default)]
    pub instead: Vec<ModelChoice>,
    /// How much may be spent before the person is asked.
    #[serde(default)]
    pub spend: SpendLimits,
    /// What models cost, as the person says; that wins over what is known of them.
    #[serde(default)]
    pub prices: Vec<ModelPrice>,
    /// What closing the window does while work runs: `hide` or `quit`.
    pub close: String,
}
