//! The Agent Client Protocol: the one file that knows its library.
//!
//! Invariants: what takes long never holds up the loop that reads the editor's words, so a stop is always heard; one prompt a
//! session at a time, begun and stopped in the order the editor said it.

use super::flow::Flow;
use super::words::{Ask, Call, Diff, Kind, Stop, Update, Yes, mode_word};
use super::{Desk, Editor, teller::Teller, turn};
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, Content, ContentBlock, ContentChunk, CurrentModeUpdate,
    Diff as WireDiff, Implementation, InitializeRequest, InitializeResponse, LoadSessionRequest,
    LoadSessionResponse, MessageId, NewSessionRequest, NewSessionResponse, PermissionOption,
    PermissionOptionKind, Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus, PromptRequest, PromptResponse,
    RequestPermissionOutcome, RequestPermissionRequest, SessionMode, SessionModeState, SessionNotification,
    SessionUpdate, SetSessionModeRequest, SetSessionModeResponse, StopReason, ToolCall, ToolCallContent,
    ToolCallLocation, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Agent, ByteStreams, Client, Error, on_receive_notification, on_receive_request};
use api::wire::ApiError;
use api::wire::command::Mode;
use api::wire::view::{CallState, PlanItem, PlanStatus};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::compat::{TokioAsyncReadCompatExt as _, TokioAsyncWriteCompatExt as _};
use tokio_util::sync::CancellationToken;

type To = ConnectionTo<Client>;
type Done = Result<(), Error>;

/// All sessions of one editor.
#[derive(Clone)]
struct Office {
    desk: Arc<Desk>,
    flow: Flow,
    /// Folders as the editor named them, and what stops the prompt under way.
    sessions: Arc<Mutex<HashMap<String, Place>>>,
}

#[derive(Debug, Clone)]
struct Place {
    folder: PathBuf,
    /// Of the prompt that is under way, if one is.
    stop: Option<CancellationToken>,
}

/// A prompt that may begin.
struct Begun {
    session: String,
    text: String,
    folder: PathBuf,
    stop: CancellationToken,
}

/// The editor at the other end.
#[derive(Clone)]
struct Peer {
    to: To,
    folder: PathBuf,
    flow: Flow,
    /// Once this is so, nothing waits for an editor that doesn't read.
    stop: CancellationToken,
}

/// Serves one editor on standard input and output, until it goes.
pub(super) async fn serve(desk: Arc<Desk>) -> Done {
    let (flow, output) = Flow::of(tokio::io::stdout());
    let (input, output) = (tokio::io::stdin().compat(), output.compat_write());
    let office = Office { desk, flow, sessions: Arc::default() };
    let (new, load, mode, prompt, cancel) =
        (office.clone(), office.clone(), office.clone(), office.clone(), office);
    Agent
        .v1()
        .name("daybook")
        .on_receive_request(
            async move |_: InitializeRequest, responder: Responder<InitializeResponse>, _: To| {
                responder.respond(hello())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |asked: NewSessionRequest, responder: Responder<NewSessionResponse>, to: To| {
                let office = new.clone();
                to.spawn(async move { responder.respond_with_result(office.begin(asked).await) })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |asked: LoadSessionRequest, responder: Responder<LoadSessionResponse>, to: To| {
                let (office, peer) = (load.clone(), to.clone());
                to.spawn(async move { responder.respond_with_result(office.load(asked, peer).await) })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |asked: SetSessionModeRequest,
                        responder: Responder<SetSessionModeResponse>,
                        to: To| {
                let office = mode.clone();
                to.spawn(async move { responder.respond_with_result(office.set_mode(asked).await) })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |asked: PromptRequest, responder: Responder<PromptResponse>, to: To| {
                let (office, peer) = (prompt.clone(), to.clone());
                // Here and not in the task, so that a stop that comes next finds it.
                match office.start(asked) {
                    Ok(begun) => to.spawn(async move { office.prompt(begun, responder, peer).await }),
                    Err(refused) => responder.respond_with_error(refused),
                }
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |asked: CancelNotification, to: To| {
                let (office, session) = (cancel.clone(), asked.session_id.to_string());
                if office.stopped(&session) {
                    return Ok(());
                }
                to.spawn(async move {
                    office.stop(&session).await;
                    Ok(())
                })
            },
            on_receive_notification!(),
        )
        .connect_to(ByteStreams::new(output, input))
        .await
}

fn hello() -> InitializeResponse {
    let about = Implementation::new("daybook", env!("CARGO_PKG_VERSION")).title("Daybook".to_owned());
    InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(AgentCapabilities::new().load_session(true))
        .agent_info(about)
}

impl Office {
    async fn begin(&self, asked: NewSessionRequest) -> Result<NewSessionResponse, Error> {
        unsupported(asked.mcp_servers.len(), asked.additional_directories.len());
        let view = self.desk.begin(&asked.cwd).await.map_err(refused)?;
        self.remember(&view.id, &asked.cwd);
        Ok(NewSessionResponse::new(view.id).modes(self.modes(view.mode).await))
    }

    async fn load(&self, asked: LoadSessionRequest, to: To) -> Result<LoadSessionResponse, Error> {
        unsupported(asked.mcp_servers.len(), asked.additional_directories.len());
        let session = asked.session_id.to_string();
        let view = self.desk.load(&session, &asked.cwd).await.map_err(refused)?;
        self.remember(&session, &asked.cwd);
        let peer = Peer { to, folder: asked.cwd, flow: self.flow.clone(), stop: CancellationToken::new() };
        for update in Teller::whole(&view) {
            peer.tell(&session, update).await;
        }
        Ok(LoadSessionResponse::new().modes(self.modes(view.mode).await))
    }

    async fn set_mode(&self, asked: SetSessionModeRequest) -> Result<SetSessionModeResponse, Error> {
        let known = self.desk.modes().await;
        let mode = known.into_iter().find(|mode| mode_word(*mode) == asked.mode_id.0.as_ref());
        let mode = mode.ok_or_else(|| Error::invalid_params().data("there is no such mode here"))?;
        self.desk.set_mode(&asked.session_id.to_string(), mode).await.map_err(refused)?;
        Ok(SetSessionModeResponse::new())
    }

    async fn prompt(&self, begun: Begun, responder: Responder<PromptResponse>, to: To) -> Done {
        let Begun { session, text, folder, stop } = begun;
        let cancellation = responder.cancellation();
        let peer = Peer { to, folder, flow: self.flow.clone(), stop: stop.clone() };
        let work = turn::prompt(Arc::clone(&self.desk.seat), peer, session.clone(), text, stop.clone());
        let mut work = std::pin::pin!(work);
        let ended = tokio::select! {
            ended = &mut work => ended,
            // Taken back as a request: the same as a stop, and the turn's end is waited for.
            () = cancellation.cancelled() => {
                stop.cancel();
                work.await
            }
        };
        self.over(&session);
        match ended {
            Ok(stop) => responder.respond(PromptResponse::new(reason(stop))),
            Err(failed) => responder.respond_with_error(refused(failed)),
        }
    }

    /// Stops what no prompt of this editor waits for.
    async fn stop(&self, session: &str) {
        if let Err(failed) = self.desk.stop(session).await {
            tracing::warn!(message = failed.message, "nothing could be stopped");
        }
    }

    async fn modes(&self, current: Mode) -> SessionModeState {
        let shown = |mode: Mode| {
            let name = match mode {
                Mode::Ask => "Ask first",
                Mode::Edit => "Edit freely",
                Mode::Plan => "Plan only",
                Mode::Auto => "Auto",
            };
            SessionMode::new(mode_word(mode), name)
        };
        let known = self.desk.modes().await.into_iter().map(shown).collect();
        SessionModeState::new(mode_word(current), known)
    }

    /// Remembers the folder; a prompt that is under way stays so.
    fn remember(&self, session: &str, folder: &Path) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let place = sessions.entry(session.to_owned());
        let place = place.or_insert_with(|| Place { folder: PathBuf::new(), stop: None });
        folder.clone_into(&mut place.folder);
    }

    /// Begins a prompt, unless one is under way.
    fn start(&self, asked: PromptRequest) -> Result<Begun, Error> {
        let session = asked.session_id.to_string();
        let text = said(asked.prompt)?;
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        match sessions.get_mut(&session) {
            None => Err(Error::invalid_params().data("this session wasn't begun or loaded here")),
            Some(Place { stop: Some(_), .. }) => {
                Err(Error::invalid_request().data("a prompt is under way in this session; cancel it first"))
            }
            Some(place) => {
                let stop = CancellationToken::new();
                place.stop = Some(stop.clone());
                Ok(Begun { session, text, folder: place.folder.clone(), stop })
            }
        }
    }

    /// Stops the prompt that is under way; false where none is.
    fn stopped(&self, session: &str) -> bool {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let stop = sessions.get(session).and_then(|place| place.stop.as_ref());
        stop.map(CancellationToken::cancel).is_some()
    }

    fn over(&self, session: &str) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = sessions.get_mut(session) {
            place.stop = None;
        }
    }
}

/// What is given and not taken is said, where the editor's log shows it.
fn unsupported(servers: usize, folders: usize) {
    if servers > 0 {
        crate::output::diagnose(&format!("{servers} MCP servers of the editor aren't used"));
    }
    if folders > 0 {
        crate::output::diagnose(&format!("{folders} more folders of the editor aren't used"));
    }
}

/// The words of a prompt; a link becomes the text that names it.
fn said(blocks: Vec<ContentBlock>) -> Result<String, Error> {
    let mut text = String::new();
    for block in blocks {
        match block {
            ContentBlock::Text(part) => text.push_str(&part.text),
            ContentBlock::ResourceLink(link) => {
                let place = link.uri.strip_prefix("file://").unwrap_or(&link.uri);
                text.push_str(&format!(" {place} "));
            }
            _ => return Err(Error::invalid_params().data("only text and links can be said here")),
        }
    }
    Ok(text)
}

fn reason(stop: Stop) -> StopReason {
    match stop {
        Stop::Ended => StopReason::EndTurn,
        Stop::Length => StopReason::MaxTokens,
        Stop::Limit => StopReason::MaxTurnRequests,
        Stop::Refused => StopReason::Refusal,
        Stop::Cancelled => StopReason::Cancelled,
    }
}

fn refused(failed: ApiError) -> Error {
    let kind = match failed.code.split('/').next() {
        Some("turn" | "internal" | "store" | "app" | "door") => Error::internal_error(),
        _ => Error::invalid_params(),
    };
    let words = match &failed.hint {
        Some(hint) if !hint.is_empty() => format!("{}. {hint}", failed.message),
        _ => failed.message,
    };
    kind.data(serde_json::json!({ "code": failed.code, "message": words }))
}

impl Editor for Peer {
    async fn tell(&self, session: &str, update: Update) {
        tokio::select! {
            () = self.flow.free() => {}
            () = self.stop.cancelled() => {}
        }
        let told = SessionNotification::new(session.to_owned(), self.worded(update));
        if let Err(gone) = self.to.send_notification(told) {
            tracing::debug!(%gone, "the editor has gone");
        }
    }

    async fn ask(&self, session: &str, ask: Ask) -> Yes {
        let choices = ask.choices.iter().map(|choice| {
            let (id, kind) = option(choice.yes);
            PermissionOption::new(id, choice.name.clone(), kind)
        });
        let choices = choices.collect();
        let mut fields = self.fields(&ask.call);
        let mut content = vec![ToolCallContent::from(ask.text)];
        content.extend(self.diffs(&ask.call.diffs));
        fields = fields.content(content);
        let call = ToolCallUpdate::new(ask.call.id.clone(), fields);
        let request = RequestPermissionRequest::new(session.to_owned(), call, choices);
        match self.to.send_request(request).block_task().await.map(|answer| answer.outcome) {
            Ok(RequestPermissionOutcome::Selected(chosen)) => {
                let offered = ask.choices.iter().map(|choice| choice.yes);
                let chosen = offered.into_iter().find(|yes| option(*yes).0 == chosen.option_id.0.as_ref());
                // What wasn't offered allows nothing.
                chosen.unwrap_or(Yes::No)
            }
            Ok(_) | Err(_) => Yes::No,
        }
    }
}

fn option(yes: Yes) -> (&'static str, PermissionOptionKind) {
    match yes {
        Yes::Once => ("once", PermissionOptionKind::AllowOnce),
        Yes::Session => ("session", PermissionOptionKind::AllowAlways),
        Yes::Folder => ("folder", PermissionOptionKind::AllowAlways),
        Yes::No => ("no", PermissionOptionKind::RejectOnce),
    }
}

impl Peer {
    fn worded(&self, update: Update) -> SessionUpdate {
        let chunk = |key: String, text: String| {
            ContentChunk::new(ContentBlock::from(text)).message_id(MessageId::new(key))
        };
        match update {
            Update::Said(text) => {
                SessionUpdate::UserMessageChunk(ContentChunk::new(ContentBlock::from(text)))
            }
            Update::Answer { key, text } => SessionUpdate::AgentMessageChunk(chunk(key, text)),
            Update::Thought { key, text } => SessionUpdate::AgentThoughtChunk(chunk(key, text)),
            Update::Call { call, new: true } => SessionUpdate::ToolCall(
                ToolCall::new(call.id.clone(), call.title.clone())
                    .kind(kind(call.kind))
                    .status(status(call.state))
                    .locations(self.locations(&call))
                    .content(self.content(&call)),
            ),
            Update::Call { call, new: false } => {
                let fields = self.fields(&call).content(self.content(&call));
                SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(call.id.clone(), fields))
            }
            Update::Plan(items) => SessionUpdate::Plan(Plan::new(items.into_iter().map(item).collect())),
            Update::Mode(mode) => SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new(mode)),
        }
    }

    fn fields(&self, call: &Call) -> ToolCallUpdateFields {
        ToolCallUpdateFields::new()
            .title(call.title.clone())
            .kind(kind(call.kind))
            .status(status(call.state))
            .locations(self.locations(call))
    }

    fn content(&self, call: &Call) -> Vec<ToolCallContent> {
        if !call.diffs.is_empty() {
            return self.diffs(&call.diffs);
        }
        if call.output.is_empty() {
            return Vec::new();
        }
        vec![ToolCallContent::Content(Content::new(ContentBlock::from(call.output.clone())))]
    }

    fn diffs(&self, diffs: &[Diff]) -> Vec<ToolCallContent> {
        let of = |diff: &Diff| {
            let wire = WireDiff::new(self.folder.join(&diff.path), diff.new.clone());
            ToolCallContent::Diff(wire.old_text(diff.old.clone()))
        };
        diffs.iter().map(of).collect()
    }

    fn locations(&self, call: &Call) -> Vec<ToolCallLocation> {
        call.path.iter().map(|path| ToolCallLocation::new(self.folder.join(path))).collect()
    }
}

fn item(item: PlanItem) -> PlanEntry {
    let status = match item.status {
        PlanStatus::Pending => PlanEntryStatus::Pending,
        PlanStatus::InProgress => PlanEntryStatus::InProgress,
        PlanStatus::Completed => PlanEntryStatus::Completed,
    };
    PlanEntry::new(item.text, PlanEntryPriority::Medium, status)
}

fn kind(kind: Kind) -> ToolKind {
    match kind {
        Kind::Read => ToolKind::Read,
        Kind::Search => ToolKind::Search,
        Kind::Edit => ToolKind::Edit,
        Kind::Delete => ToolKind::Delete,
        Kind::Run => ToolKind::Execute,
        Kind::Fetch => ToolKind::Fetch,
        Kind::Think => ToolKind::Think,
        Kind::Other => ToolKind::Other,
    }
}

fn status(state: CallState) -> ToolCallStatus {
    match state {
        CallState::Proposed | CallState::Waiting => ToolCallStatus::Pending,
        CallState::Running => ToolCallStatus::InProgress,
        CallState::Done => ToolCallStatus::Completed,
        CallState::Failed | CallState::Denied | CallState::Cancelled | CallState::Unknown => {
            ToolCallStatus::Failed
        }
    }
}
