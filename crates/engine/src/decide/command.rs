//! Client commands: what a person or program may ask of a session, and the events that record it.
//!
//! Invariant: a command is recorded before it is answered; a repeat of one with the same id is answered with what the
//! first one recorded; a command that doesn't fit the state is a clear error and records nothing.

use super::{Decision, Env, Past};
use domain::call::{Grant, Mode};
use domain::digest::Digest;
use domain::event::{
    ApprovalExpired, ApprovalGranted, ApprovalRefused, CallResolved, CancelBy, Draft, FolderAdded,
    FolderIdentified, FolderIdentity, GrantGiven, GrantRevoked, InboxCancelled, InboxPosted, ModelChoice,
    Origin, QuestionAnswered, Resolution, SessionCreated, SessionEffort, SessionMode, SessionModel,
    SessionRenamed, Target, ToolDenied, ToolOutcome, TurnCancel,
};
use domain::ids::{ApprovalId, CallId, CommandId, FolderId, GrantId, JobId, MessageId, QuestionId};
use domain::model::Effort;
use domain::state::{ApprovalState, MOST_GRANTS, State};

/// What may be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Begin the session.
    Create(SessionCreated),
    /// Put words into the inbox.
    Say {
        /// The words.
        text: String,
        /// When they are read.
        target: Target,
        /// The client's id of this command.
        command: Option<CommandId>,
    },
    /// Go on past a limit of money that was shown.
    GoOn {
        /// Which.
        past: Past,
        /// The words that the model reads.
        text: String,
        /// The client's id of this command.
        command: Option<CommandId>,
    },
    /// Take back a message that waits.
    TakeBack(MessageId),
    /// Say a message that waits now: read before the next step, and free to start a turn.
    SendNow(MessageId),
    /// Stop the running turn, or call off a return that waits for the folder.
    Stop(CancelBy),
    /// Stop a job.
    StopJob(JobId),
    /// Say that a job that was lost sight of has ended.
    SettleJob(JobId),
    /// Say yes to one call.
    Grant {
        /// The approval.
        approval: ApprovalId,
        /// What was shown.
        digest: Digest,
        /// Allow this one of what was offered, too, for the rest of the session.
        offer: Option<u32>,
    },
    /// Say no to one call.
    Refuse {
        /// The approval.
        approval: ApprovalId,
        /// Why.
        why: Option<String>,
    },
    /// Answer a question.
    Answer {
        /// The question.
        question: QuestionId,
        /// The answer.
        text: String,
    },
    /// Settle an unknown outcome.
    Resolve {
        /// The call.
        call: CallId,
        /// What was found out.
        resolution: Resolution,
    },
    /// Change the mode.
    SetMode(Mode),
    /// Change the model.
    SetModel(ModelChoice),
    /// Change how much the model is asked to think.
    SetEffort(Option<Effort>),
    /// Name the session.
    Rename(String),
    /// Take changes back.
    Restore(super::Restore),
    /// Take such a permission back.
    Revoke(GrantId),
    /// Go on in the folder that stands at the session's path now.
    UseFolder(FolderIdentity),
    /// Let the session look at another folder: one that was looked at just now.
    AddFolder {
        /// Its path, links resolved.
        path: String,
        /// Its name.
        name: String,
        /// Which folder it is.
        identity: FolderIdentity,
    },
    /// Take that back.
    RemoveFolder(FolderId),
    /// Summarise earlier work before the next request, or now when nothing runs.
    Summarise,
    /// Let the model read the full history again.
    UseFullHistory,
}

/// What a command recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandReply {
    /// The message it posted, for [`Command::Say`].
    pub message: Option<MessageId>,
    /// The recorded position, where it was a repeat.
    pub repeated_at: Option<u64>,
}

/// Why a command can't be done. `code` and message are the contract with clients.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CommandError {
    /// `noun/problem`.
    pub code: &'static str,
    /// What was attempted, on what, why not, what next.
    pub message: String,
}

pub(super) fn no<T>(code: &'static str, message: impl Into<String>) -> Result<T, CommandError> {
    Err(CommandError { code, message: message.into() })
}

pub(super) type Taken = Result<(Decision, CommandReply), CommandError>;

pub(super) fn done(drafts: Vec<Draft>) -> Taken {
    Ok((Decision::barrier(drafts), CommandReply { message: None, repeated_at: None }))
}

/// The events of a command.
///
/// # Errors
/// When it doesn't fit the state.
pub fn command(state: &State, command: Command, env: &Env<'_>) -> Taken {
    if state.session.is_none() != matches!(command, Command::Create(_)) {
        return no("session/state", "the session doesn't exist, or exists already");
    }
    match command {
        Command::Create(created) => done(vec![Draft::new(created)]),
        Command::Say { text, target, command } => say(state, text, target, command, env),
        Command::GoOn { past, text, command } => super::spending::go_on(state, &past, text, command, env),
        Command::TakeBack(message) => take_back(state, message),
        Command::SendNow(message) => send_now(state, message, env),
        Command::Stop(by) => stop(state, by),
        Command::StopJob(job) => super::jobs::stop(state, &job),
        Command::SettleJob(job) => super::jobs::settle(state, &job, env),
        Command::Grant { approval, digest, offer } => grant(state, approval, digest, offer, env),
        Command::Refuse { approval, why } => refuse(state, approval, why),
        Command::Answer { question, text } => answer(state, question, text),
        Command::Resolve { call, resolution } => resolve(state, call, resolution, env),
        Command::SetMode(mode) => done(vec![Draft::new(SessionMode { mode })]),
        Command::SetModel(model) => done(vec![Draft::new(SessionModel { model })]),
        Command::SetEffort(effort) => done(vec![Draft::new(SessionEffort { effort })]),
        Command::Rename(title) => rename(&title),
        Command::Restore(restore) => super::restore::command(state, restore, env),
        Command::Revoke(grant) => revoke(state, grant),
        Command::UseFolder(identity) => done(vec![Draft::new(FolderIdentified { identity })]),
        Command::AddFolder { path, name, identity } => {
            let folder = FolderId::new(env.ids);
            super::added::add(state, FolderAdded { folder, path, name, identity })
        }
        Command::RemoveFolder(folder) => super::added::remove(state, folder),
        Command::Summarise => super::shorter::summarise(state),
        Command::UseFullHistory => super::shorter::in_full(state, env),
    }
}

pub(super) fn say(
    state: &State,
    text: String,
    target: Target,
    command: Option<CommandId>,
    env: &Env<'_>,
) -> Taken {
    if let Some((_, message, seq)) = state.commands.iter().find(|(known, ..)| Some(known) == command.as_ref())
    {
        let reply = CommandReply { message: Some(message.clone()), repeated_at: Some(*seq) };
        return Ok((Decision::plain(Vec::new()), reply));
    }
    if text.trim().is_empty() {
        return no("message/empty", "the message has no words; write what you want done");
    }
    if text.len() > env.limits.message_bytes {
        let (bytes, most) = (text.len(), env.limits.message_bytes);
        return no(
            "message/too_long",
            format!(
                "the message has {bytes} bytes, {most} are allowed; put long text into a file in the folder"
            ),
        );
    }
    if state.inbox.len() >= env.limits.inbox_messages {
        return no(
            "inbox/full",
            format!("{} messages wait already; let some be read first", state.inbox.len()),
        );
    }
    let message = MessageId::new(env.ids);
    let posted =
        InboxPosted { message: message.clone(), text, target, wakeup: true, origin: Origin::User, command };
    let mut drafts = vec![Draft::new(posted)];
    if let Some(title) = first_title(state, &drafts) {
        drafts.push(Draft::new(SessionRenamed { title }));
    }
    Ok((Decision::barrier(drafts), CommandReply { message: Some(message), repeated_at: None }))
}

/// The first message names the session: its first line, cut at a word.
fn first_title(state: &State, drafts: &[Draft]) -> Option<String> {
    const MOST: usize = 60;
    let unnamed = state.session.as_ref().is_some_and(|session| session.title.is_empty());
    let domain::event::Fact::InboxPosted(posted) = &drafts.first()?.fact else { return None };
    let line = posted.text.lines().map(str::trim).find(|line| !line.is_empty()).filter(|_| unnamed)?;
    if line.chars().count() <= MOST {
        return Some(line.to_owned());
    }
    let cut: String = line.chars().take(MOST).collect();
    let at = cut.rfind(char::is_whitespace).filter(|at| *at > MOST / 2).unwrap_or(cut.len());
    Some(format!("{}…", cut[..at].trim_end()))
}

fn take_back(state: &State, message: MessageId) -> Taken {
    match state.inbox.iter().find(|waiting| waiting.message == message) {
        Some(waiting) if waiting.reserved.is_none() => done(vec![Draft::new(InboxCancelled { message })]),
        Some(_) | None => no("message/read", "the message is being read already and can't be taken back"),
    }
}

/// The same words as a new message, in one transaction: they wait once, whatever happens in between.
fn send_now(state: &State, message: MessageId, env: &Env<'_>) -> Taken {
    let waits = state.inbox.iter().find(|waiting| waiting.message == message && waiting.reserved.is_none());
    let Some(waiting) = waits.filter(|waiting| waiting.origin == Origin::User) else {
        return no("message/read", "the message is being read already, or was taken back");
    };
    let new = MessageId::new(env.ids);
    let posted = InboxPosted {
        message: new.clone(),
        text: waiting.text.clone(),
        target: Target::NextStep,
        wakeup: true,
        origin: Origin::User,
        command: None,
    };
    let drafts = vec![Draft::new(InboxCancelled { message }), Draft::new(posted)];
    Ok((Decision::barrier(drafts), CommandReply { message: Some(new), repeated_at: None }))
}

fn stop(state: &State, by: CancelBy) -> Taken {
    let returning = state.restoring.as_ref().filter(|open| open.called_off.is_none());
    match &state.turn {
        Some(turn) if turn.cancel.is_none() => done(vec![Draft::of_turn(&turn.id, TurnCancel { by })]),
        None if by == CancelBy::User && returning.is_some() => super::restore::call_off(returning),
        // Stopping what is being stopped, or nothing, is what was wanted.
        Some(_) | None => {
            Ok((Decision::plain(Vec::new()), CommandReply { message: None, repeated_at: None }))
        }
    }
}

fn open_approval<'a>(
    state: &'a State,
    id: &ApprovalId,
) -> Result<(&'a domain::state::Call, &'a domain::state::Approval), CommandError> {
    match state.approval(id) {
        Some((call, approval)) if approval.state == ApprovalState::Open && !call.ended() => {
            Ok((call, approval))
        }
        Some(_) => no("approval/closed", "this was answered already, or it lapsed"),
        None => no("approval/unknown", "there is no such request in the running turn"),
    }
}

fn grant(state: &State, id: ApprovalId, digest: Digest, offer: Option<u32>, env: &Env<'_>) -> Taken {
    let (_, approval) = open_approval(state, &id)?;
    if approval.digest != digest {
        return no("approval/changed", "what would be done is not what was shown; look at the request again");
    }
    let valid = env.now >= approval.asked && env.now - approval.asked < approval.valid_ms;
    if !valid {
        return no(
            "approval/expired",
            "the request is too old; it will be asked again if it is still wanted",
        );
    }
    let offered = match offer.map(|at| approval.offers.get(usize::try_from(at).unwrap_or(usize::MAX))) {
        None => None,
        Some(Some(what)) => Some(what.clone()),
        Some(None) => return no("approval/offer", "that wasn't offered with this request"),
    };
    let mut drafts = scoped(state, ApprovalGranted { approval: id.clone(), digest });
    if let Some(what) = offered {
        drafts.extend(given(state, what, id, env)?);
    }
    done(drafts)
}

fn refuse(state: &State, id: ApprovalId, why: Option<String>) -> Taken {
    let (call, _) = open_approval(state, &id)?;
    let why = why.map(|why| why.trim().to_owned()).filter(|why| !why.is_empty());
    let text = match &why {
        Some(why) => format!("The person did not allow this. They said: {why}"),
        None => "The person did not allow this and gave no reason.".to_owned(),
    };
    let call = call.id.clone();
    let mut drafts = scoped(state, ApprovalRefused { approval: id, why, nobody: false });
    drafts.extend(scoped(state, ToolDenied { call, by: "refused".into(), text }));
    done(drafts)
}

/// The time of an approval is over: nobody said yes, so no.
pub(super) fn expire(state: &State, id: &ApprovalId) -> Decision {
    let Ok((call, _)) = open_approval(state, id) else { return Decision::plain(Vec::new()) };
    let text = "Not allowed: the request was open too long without an answer.".to_owned();
    let call = call.id.clone();
    let mut drafts = scoped(state, ApprovalExpired { approval: id.clone(), why: "time".into() });
    drafts.extend(scoped(state, ToolDenied { call, by: "expired".into(), text }));
    Decision::barrier(drafts)
}

fn answer(state: &State, id: QuestionId, text: String) -> Taken {
    let asked = state.step().and_then(|(_, step)| {
        step.calls.iter().find(|call| !call.ended() && call.question.as_ref().is_some_and(|q| q.id == id))
    });
    let Some((call, question)) = asked.and_then(|call| Some((call, call.question.as_ref()?))) else {
        return no("question/closed", "this question was answered already, or its turn ended");
    };
    if !question.body.free_text && !question.body.options.contains(&text) {
        return no("question/option", "the answer isn't one of the choices");
    }
    let value = serde_json::json!({ "answer": text });
    let result =
        super::judged::result(&call.id, ToolOutcome::Ok { value }, format!("The person answered: {text}"));
    let mut drafts = scoped(state, QuestionAnswered { question: id, answer: text });
    drafts.extend(scoped(state, result));
    done(drafts)
}

fn resolve(state: &State, call: CallId, resolution: Resolution, env: &Env<'_>) -> Taken {
    let Some(unknown) = state.unknown.iter().find(|unknown| unknown.call == call) else {
        return no("call/settled", "the outcome of this call isn't unknown, or it was settled already");
    };
    let said = match resolution {
        Resolution::Done => "it did happen; don't do it again",
        Resolution::Again => "it did not happen; do it again if it is still needed",
        Resolution::Skip => "leave it as it is and go on without it",
    };
    let text = format!(
        "<note>About the {} call whose outcome was unknown, the person says: {said}.</note>",
        unknown.name
    );
    let idle = state.turn.is_none() && state.continuation.is_none();
    let posted = InboxPosted {
        message: MessageId::new(env.ids),
        text,
        target: Target::NextStep,
        wakeup: idle && resolution == Resolution::Again,
        origin: Origin::Host,
        command: None,
    };
    done(vec![Draft::new(CallResolved { call, resolution }), Draft::new(posted)])
}

fn rename(title: &str) -> Taken {
    let title = title.trim();
    if title.is_empty() || title.chars().count() > 200 {
        return no("session/title", "a name has 1 to 200 characters");
    }
    done(vec![Draft::new(SessionRenamed { title: title.to_owned() })])
}

/// Allowing the same thing twice is one permission.
fn given(
    state: &State,
    what: Grant,
    approval: ApprovalId,
    env: &Env<'_>,
) -> Result<Option<Draft>, CommandError> {
    if state.grants.values().any(|known| known.what == what) {
        return Ok(None);
    }
    if state.grants.len() >= MOST_GRANTS {
        return no("grant/count", format!("{MOST_GRANTS} permissions are in force; revoke some first"));
    }
    Ok(Some(Draft::new(GrantGiven { grant: GrantId::new(env.ids), what, approval: Some(approval) })))
}

fn revoke(state: &State, grant: GrantId) -> Taken {
    match state.grants.contains_key(&grant) {
        true => done(vec![Draft::new(GrantRevoked { grant })]),
        false => no("grant/unknown", "this permission was revoked already"),
    }
}

/// A draft in the scope of the open step.
fn scoped(state: &State, fact: impl Into<domain::event::Fact>) -> Vec<Draft> {
    state.step().map(|(turn, step)| Draft::of_step(&turn.id, &step.id, fact)).into_iter().collect()
}
