//! Every event there is: the closed set of facts a session can record, one payload struct each.
//!
//! An **event** is a fact that happened; it is immutable once appended. The catalogue below is the only list of event
//! types: `docs/events.md`, decoding and the enum come from it. Payloads are the only serialised types of this crate.
//! Invariant: a type not in the catalogue is an error unless its writer marked it ignorable.

pub mod envelope;
pub mod history;
pub mod job;
pub mod model;
mod notes;
pub mod record;
pub mod revision;
mod says;
pub mod session;
pub mod spend;
pub mod tool;
pub mod turn;

pub use envelope::{Draft, Event, Payload, Recorded};
pub use history::*;
pub use job::*;
pub use model::*;
pub use notes::HostNotes;
pub use record::*;
pub use revision::*;
pub use session::*;
pub use spend::*;
pub use tool::*;
pub use turn::*;

use crate::ids::{AttemptId, CallId};

/// A line of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// `noun/verb`.
    pub name: &'static str,
    /// Payload version this build writes.
    pub version: u32,
    /// Decorative: a reader that doesn't know it may pass over it.
    pub ignorable: bool,
    /// What it says.
    pub doc: &'static str,
}

/// Why a stored event can't be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// A type this build doesn't know.
    #[error(
        "event type `{kind}` (version {version}) is unknown here; a newer Daybook is needed to open this session"
    )]
    UnknownKind {
        /// Its type.
        kind: String,
        /// Its payload version.
        version: u32,
    },
    /// A known type in a later payload version.
    #[error(
        "event type `{kind}` has payload version {found}, this build reads up to {known}; a newer Daybook is needed"
    )]
    NewerVersion {
        /// Its type.
        kind: String,
        /// The version found.
        found: u32,
        /// The newest version this build reads.
        known: u32,
    },
    /// The payload doesn't have the shape of its type.
    #[error("event type `{kind}` has a payload that can't be read: {why}")]
    Malformed {
        /// Its type.
        kind: String,
        /// What is wrong.
        why: String,
    },
}

macro_rules! catalogue {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal v $version:literal $($flag:ident)?;)*) => {
        /// A fact, decoded.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Fact {
            $($(#[doc = $doc])* $variant($variant),)*
        }

        /// Every event type, in the order of the documentation.
        pub const CATALOGUE: &[Kind] = &[$(Kind {
            name: $name,
            version: $version,
            ignorable: catalogue!(@flag $($flag)?),
            doc: concat!($($doc),*),
        }),*];

        impl Fact {
            /// Its line in the catalogue.
            #[must_use]
            pub fn kind(&self) -> &'static Kind {
                let name = match self { $(Self::$variant(_) => $name,)* };
                CATALOGUE.iter().find(|kind| kind.name == name).unwrap_or(&CATALOGUE[0])
            }

            /// The payload's bytes.
            ///
            /// # Errors
            /// When the payload can't be serialised (a map with keys that aren't text, for example).
            pub fn encode(&self) -> Result<String, serde_json::Error> {
                match self { $(Self::$variant(payload) => serde_json::to_string(payload),)* }
            }

            /// What it says was changed in the folder, where it is of a type that says so.
            #[must_use]
            pub fn changed(&self) -> Option<&Changed> {
                match self { $(Self::$variant(payload) => catalogue!(@changed payload $($flag)?),)* }
            }

            /// Do facts of this type say what was changed in the folder?
            #[must_use]
            pub fn changes(kind: &str) -> bool {
                match kind { $($name => catalogue!(@changes $($flag)?),)* _ => false }
            }

            /// Reads a payload of this type and version.
            ///
            /// # Errors
            /// Unknown type, later version, or a payload of another shape.
            pub fn decode(kind: &str, version: u32, payload: &str) -> Result<Self, DecodeError> {
                match kind {
                    $($name if version <= $version => serde_json::from_str(payload)
                        .map(Self::$variant)
                        .map_err(|error| DecodeError::Malformed { kind: kind.to_owned(), why: error.to_string() }),
                    $name => Err(DecodeError::NewerVersion { kind: kind.to_owned(), found: version, known: $version }),)*
                    _ => Err(DecodeError::UnknownKind { kind: kind.to_owned(), version }),
                }
            }
        }

        $(impl From<$variant> for Fact {
            fn from(payload: $variant) -> Self {
                Self::$variant(payload)
            }
        })*
    };
    (@flag) => { false };
    (@flag changing) => { false };
    (@flag ignorable) => { true };
    (@changed $payload:ident) => {{
        let _ = $payload;
        None
    }};
    (@changed $payload:ident ignorable) => { catalogue!(@changed $payload) };
    (@changed $payload:ident changing) => { Some(&$payload.changed) };
    (@changes) => { false };
    (@changes ignorable) => { false };
    (@changes changing) => { true };
}

catalogue! {
    /// A session began: its folder, mode and model.
    SessionCreated = "session/created" v 1;
    /// The session got a name.
    SessionRenamed = "session/renamed" v 1;
    /// The person changed the mode.
    SessionMode = "session/mode" v 1;
    /// The person changed the model; it holds from the next step on.
    SessionModel = "session/model" v 1;
    /// The person changed how much the model is asked to think; it holds from the next step on.
    SessionEffort = "session/effort" v 1;
    /// Which folder is the session's own: of a session from before that was on record, or by the person's word that the one
    /// which stands there now is.
    FolderIdentified = "folder/identified" v 1;
    /// The person let the session look at another folder; nothing there is changed.
    FolderAdded = "folder/added" v 1;
    /// The person took that back.
    FolderRemoved = "folder/removed" v 1;
    /// A message was put into the inbox.
    InboxPosted = "inbox/posted" v 1;
    /// Messages were claimed for a step; they wait for the request that includes them.
    InboxReserved = "inbox/reserved" v 1;
    /// Claimed messages went back to pending: their request was never prepared.
    InboxReleased = "inbox/released" v 1;
    /// A waiting message was taken back.
    InboxCancelled = "inbox/cancelled" v 1;
    /// A turn began by claiming work.
    TurnStart = "turn/start" v 1;
    /// Somebody asked for the turn to stop.
    TurnCancel = "turn/cancel" v 1;
    /// The turn ended, once, with its reason.
    TurnEnd = "turn/end" v 1;
    /// A turn that was about to end goes on with a note of ours; once for each reason.
    TurnExtended = "turn/extended" v 1;
    /// The model of a turn didn't answer; the next one of the person's list goes on with it.
    ModelSwitched = "model/switched" v 1;
    /// A step began; its model is frozen.
    StepStart = "step/start" v 1;
    /// The step ended.
    StepEnd = "step/end" v 1;
    /// Words of the user entered the history, in the request prepared with this event.
    UserMessage = "user/message" v 1;
    /// A host note entered the history beside the user's words: date, folder, documents.
    ContextNote = "context/note" v 1;
    /// The service said that a request doesn't fit the model's window; a smaller one follows in the same step.
    ContextOverflowed = "context/overflowed" v 1;
    /// A project document was read for the model, in this version.
    DocumentLoaded = "document/loaded" v 1;
    /// A request was built: what it adds to the one before, and the digest of the whole body.
    RequestPrepared = "request/prepared" v 1;
    /// A request for a summary of closed steps was built; it adds nothing to the history.
    SummaryPrepared = "summary/prepared" v 1;
    /// A text stands for closed steps in what the model reads from here on.
    CheckpointCommitted = "checkpoint/committed" v 1;
    /// The person asked for earlier work to be summarised.
    HistoryAsked = "history/asked" v 1;
    /// Long results of older steps are given to the model as references from here on.
    HistoryShortened = "history/shortened" v 1;
    /// Checkpoint and references were taken back: the model reads the full history again.
    HistoryRestored = "history/restored" v 1;
    /// A prepared request is about to be sent.
    AttemptStart = "attempt/start" v 1;
    /// The attempt ended and its usage is settled.
    AttemptEnd = "attempt/end" v 1;
    /// Streamed pieces of an answer, for showing only.
    AssistantDelta = "assistant/delta" v 1 ignorable;
    /// The model's answer entered the history.
    AssistantAccepted = "assistant/accepted" v 1;
    /// A call was proposed by an accepted answer, with its checked arguments or what is wrong with them.
    ToolCall = "tool/call" v 1;
    /// The policy's word on a call.
    ToolDecision = "tool/decision" v 1;
    /// The person is asked to allow one call.
    ApprovalRequested = "approval/requested" v 1;
    /// The person said yes to exactly this call.
    ApprovalGranted = "approval/granted" v 1;
    /// The person said no.
    ApprovalRefused = "approval/refused" v 1;
    /// The request lapsed.
    ApprovalExpired = "approval/expired" v 1;
    /// A call is about to cross the point where it may have effects.
    ToolStart = "tool/start" v 1;
    /// Live output of a running call, for showing only.
    ToolOutput = "tool/output" v 1 ignorable;
    /// A call ended with a result, good or bad.
    ToolResult = "tool/result" v 1 changing;
    /// A call ended: it was not allowed.
    ToolDenied = "tool/denied" v 1;
    /// A call ended: it was stopped, and its executor confirmed that.
    ToolCancelled = "tool/cancelled" v 1 changing;
    /// A call ended without anybody knowing what it did.
    ToolOutcomeUnknown = "tool/outcome_unknown" v 1 changing;
    /// A call left a command to go on in the background, as a job.
    JobCreated = "job/created" v 1;
    /// A job was judged again and begins.
    JobStarted = "job/started" v 1;
    /// Live output of a running job, for showing only.
    JobOutput = "job/output" v 1 ignorable;
    /// Somebody asked for a job to stop.
    JobCancel = "job/cancel" v 1;
    /// A job was lost sight of: whether it ended isn't known.
    JobReconciling = "job/reconciling" v 1;
    /// A job ended, once, with its reason.
    JobEnded = "job/ended" v 1 changing;
    /// A person or a query settled an unknown outcome.
    CallResolved = "call/resolved" v 1;
    /// The model asked the person something.
    QuestionAsked = "question/asked" v 1;
    /// The person answered.
    QuestionAnswered = "question/answered" v 1;
    /// The plan was replaced by a whole new snapshot.
    PlanReplaced = "plan/replaced" v 1;
    /// Changes are about to be taken back: which, and to what.
    RevisionRestoring = "revision/restoring" v 1;
    /// The person called a return off. One that only waits for the folder ends without touching anything; one that has begun is
    /// finished.
    RevisionCalledOff = "revision/called_off" v 1;
    /// Changes were taken back, and what was left alone.
    RevisionRestored = "revision/restored" v 1 changing;
    /// Contents that were kept for undo only were let go: which turns can't be undone any more.
    RevisionThinned = "revision/thinned" v 1;
    /// The person allowed something for the rest of the session.
    GrantGiven = "grant/given" v 1;
    /// The person took such a permission back.
    GrantRevoked = "grant/revoked" v 1;
    /// Words were erased from the record; which events they stood in, never what they were.
    RecordErased = "record/erased" v 1;
    /// A running call printed what a repository remembers of files with secrets.
    SecretPrinted = "secret/printed" v 1;
    /// The person let more money be spent than a limit says, up to one more portion of it.
    SpendRaised = "spend/raised" v 1;
    /// The person lets a model be asked whose price isn't known, without counting what it costs.
    SpendUncounted = "spend/uncounted" v 1;
    /// A key was used for a request; which one, never what it is.
    CredentialUsed = "credential/used" v 1;
    /// A new process took over a turn that waits for a person.
    RecoveryAdopted = "recovery/adopted" v 1;
    /// Work that was cut off by a crash waits to be continued.
    RecoveryContinuation = "recovery/continuation" v 1;
    /// A late answer for something already ended was left out.
    LateIgnored = "late/ignored" v 1;
    /// Something the person should know.
    NoticeRaised = "notice/raised" v 1;
}

impl Fact {
    /// The call this fact is about, where it is about one.
    #[must_use]
    pub fn call(&self) -> Option<&CallId> {
        match self {
            Self::ToolCall(e) => Some(&e.call),
            Self::ToolDecision(e) => Some(&e.call),
            Self::ApprovalRequested(e) => Some(&e.call),
            Self::ToolStart(e) => Some(&e.call),
            Self::ToolOutput(e) => Some(&e.call),
            Self::SecretPrinted(e) => Some(&e.call),
            Self::ToolResult(e) => Some(&e.call),
            Self::ToolDenied(e) => Some(&e.call),
            Self::ToolCancelled(e) => Some(&e.call),
            Self::ToolOutcomeUnknown(e) => Some(&e.call),
            Self::CallResolved(e) => Some(&e.call),
            Self::QuestionAsked(e) => Some(&e.call),
            _ => None,
        }
    }

    /// The attempt this fact is about, where it is about one.
    #[must_use]
    pub fn attempt(&self) -> Option<&AttemptId> {
        match self {
            Self::AttemptStart(e) => Some(&e.attempt),
            Self::AttemptEnd(e) => Some(&e.attempt),
            Self::AssistantDelta(e) => Some(&e.attempt),
            Self::AssistantAccepted(e) => Some(&e.attempt),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Answered;

    #[test]
    fn catalogue_names_are_noun_verb_and_unique() {
        let mut names: Vec<_> = CATALOGUE.iter().map(|kind| kind.name).collect();
        for name in &names {
            let (noun, verb) = name.split_once('/').expect("noun/verb");
            assert!(noun.chars().chain(verb.chars()).all(|c| c.is_ascii_lowercase() || c == '_'), "{name}");
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CATALOGUE.len());
        assert!(CATALOGUE.iter().all(|kind| !kind.doc.is_empty()));
    }

    /// Records written by earlier versions of this one read as they were meant.
    #[test]
    fn failures_written_before_they_said_who_answered_still_read() {
        let old = r#"{"attempt":"att_00000000000000000000000000000001","end":{"end":"failed","error":{"class":"server",
            "message":"oops (HTTP 500)","status":500}},"settled":{"usage":"unknown"}}"#;
        let Ok(Fact::AttemptEnd(AttemptEnd { end: AttemptEndKind::Failed { error, .. }, .. })) =
            Fact::decode("attempt/end", 1, old)
        else {
            panic!()
        };
        assert_eq!(
            error.answered,
            Answered { status: Some(500), address: None, quoted: false, certificate: None }
        );
        let old = r#"{"end":{"reason":"failed","code":"server","message":"oops (HTTP 500)"}}"#;
        let Ok(Fact::TurnEnd(TurnEnd { end })) = Fact::decode("turn/end", 1, old) else { panic!() };
        assert_eq!(end, End::failed("server", "oops (HTTP 500)"));
    }

    /// Each payload that says what changed in the folder is found by it.
    #[test]
    fn every_type_that_says_what_changed_is_marked() {
        let sources = [include_str!("tool.rs"), include_str!("job.rs"), include_str!("revision.rs")];
        let fields: usize =
            sources.iter().map(|source| source.matches("pub changed: Changed,").count()).sum();
        assert_eq!(CATALOGUE.iter().filter(|kind| Fact::changes(kind.name)).count(), fields);
    }

    #[test]
    fn an_unknown_type_names_what_is_needed() {
        let error = Fact::decode("goal/set", 1, "{}").unwrap_err();
        assert!(error.to_string().contains("newer Daybook"), "{error}");
        let error = Fact::decode("turn/end", 9, "{}").unwrap_err();
        assert_eq!(error, DecodeError::NewerVersion { kind: "turn/end".into(), found: 9, known: 1 });
    }
}
