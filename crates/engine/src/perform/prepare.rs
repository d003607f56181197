//! Building a request: what it adds is encoded once and stored by digest, then the whole body is put together.

use crate::input::{Input, PreparedRequest};
use crate::own;
use crate::ports::Problem;
use crate::prompt::{Prompt, RebuildError, facts};
use crate::shared::Shared;
use bytes::Bytes;
use context::{Document, Documents, Environment};
use domain::digest::Digest;
use domain::event::EpochReason;
use domain::ids::{SessionId, StepId};
use domain::state::{Session, State, Step};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use store::BlobError;
use tools::{Cage, Place};

/// A session's prompt cache, shared with the operation that fills it.
pub(crate) type Cache = Arc<Mutex<Prompt>>;

pub(crate) async fn prepare(
    shared: Arc<Shared>,
    session: SessionId,
    state: Arc<State>,
    step: StepId,
    cache: Cache,
) -> Input {
    match build(&shared, &session, &state, &cache).await {
        Ok(request) => Input::Prepared { step, request: Box::new(request) },
        Err(Problem { code, message }) => Input::NotPrepared { step, code, message },
    }
}

async fn build(
    shared: &Shared,
    id: &SessionId,
    state: &State,
    cache: &Cache,
) -> Result<PreparedRequest, Problem> {
    let (Some(session), Some((_, step))) = (&state.session, state.step()) else {
        return Err(problem("internal", "no step is open"));
    };
    if step.model.dialect.is_empty() {
        return Err(match step.model.provider.as_str() {
            "" => problem("model/none", "no model is chosen for this session"),
            name => problem("provider/unknown", format!("there is no connection named {name}")),
        });
    }
    let credential = shared.ports.models.ready(&step.model).await?;
    let dialect =
        providers::dialect_of(&step.model).map_err(|error| problem("provider/dialect", error.to_string()))?;
    let head_spec = context::head::head(&shared.fragments, shared.tools.specs());
    let head = Bytes::from(dialect.head(&step.model, &head_spec));
    let mut opened = reason(state, step, &head, dialect.adapter_version());
    let mut before = None;
    if let (Some(prefix), None) = (&state.prefix, opened) {
        match current(shared, id, prefix, cache) {
            Ok(prompt) => before = Some(prompt),
            // The same words were erased from another session: what held them here went, too.
            Err(RebuildError::Part(BlobError::Gone { .. })) => opened = Some(EpochReason::Erased),
            Err(error) => return Err(problem("store/read", error.to_string())),
        }
    }
    let since = match (&state.prefix, opened) {
        (Some(prefix), None) => prefix.last + 1,
        (Some(_) | None, _) => 0,
    };
    let store_trouble = |error: &dyn std::fmt::Display| problem("store/read", error.to_string());
    let since = facts(&shared.store, id, since, state.next_seq).map_err(|error| store_trouble(&error))?;
    let folder = Folder(own::open(state, Vec::new()).ok());
    let addition = context::addition(state, &since, &environment(shared, session), &folder)
        .map_err(|error| problem("history/open_call", error.to_string()))?;

    let unkept = |error: store::BlobError| problem("store/write", error.to_string());
    // Only this request's own event will name these. The head is the same for many sessions, and once it is a file.
    let attach = |bytes: &[u8]| shared.store.attach_blob(bytes).map_err(unkept);
    for document in &addition.documents {
        attach(document.text.as_bytes())?;
    }
    let segment = Bytes::from(dialect.segment(&addition.messages));
    let mut added = Vec::new();
    if !segment.is_empty() {
        added.push(attach(&segment)?);
    }
    let mut prompt = before.unwrap_or_else(|| Prompt { epoch: 0, head: head.clone(), segments: Vec::new() });
    prompt.epoch = state.prefix.as_ref().map_or(0, |prefix| prefix.epoch) + u32::from(opened.is_some());
    if !segment.is_empty() {
        prompt.segments.push(segment.clone());
    }
    let markers = prompt.markers();
    let body = prompt.body(&*dialect, &markers);
    let before = match (&state.prefix, opened) {
        (Some(prefix), None) => prefix.tokens,
        (Some(_) | None, _) => context::head::tokens(&head_spec),
    };
    let request = PreparedRequest {
        facts: addition.facts,
        included: addition.included,
        opened: match opened {
            Some(reason) => Some((reason, shared.store.put_blob(&head).map_err(unkept)?)),
            None => None,
        },
        dialect: (dialect.name().to_owned(), dialect.adapter_version()),
        added,
        markers,
        body: body.digest(),
        bytes: body.len() as u64,
        tokens: before + context::estimate::tokens(&String::from_utf8_lossy(&segment)),
        credential,
    };
    *cache.lock().unwrap_or_else(PoisonError::into_inner) = prompt;
    Ok(request)
}

/// Why a new prefix epoch must open, if it must.
fn reason(state: &State, step: &Step, head: &[u8], adapter: u32) -> Option<EpochReason> {
    let Some(prefix) = &state.prefix else { return Some(EpochReason::First) };
    let same_model = prefix.provider == step.model.provider
        && prefix.model == step.model.model
        && prefix.dialect == step.model.dialect;
    if !same_model {
        return Some(EpochReason::ModelSwitch);
    }
    if state.erased.is_some_and(|erased| erased > prefix.last) {
        return Some(EpochReason::Erased);
    }
    let same_head = prefix.head == Digest::of(head) && prefix.adapter == adapter;
    (!same_head).then_some(EpochReason::Config)
}

/// The prompt the last request held: from the cache, or from the log where the cache is of another time.
pub(crate) fn current(
    shared: &Shared,
    session: &SessionId,
    prefix: &domain::state::Prefix,
    cache: &Cache,
) -> Result<Prompt, crate::prompt::RebuildError> {
    let cached = cache.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let fits = cached.epoch == prefix.epoch && u32::try_from(cached.segments.len()) == Ok(prefix.segments);
    if fits { Ok(cached) } else { Prompt::load(&shared.store, session, prefix) }
}

fn environment(shared: &Shared, session: &Session) -> Environment {
    let name = Path::new(&session.root).file_name().map(|name| name.to_string_lossy().into_owned());
    let system = match std::env::consts::OS {
        "linux" => "Linux",
        "macos" => "macOS",
        "windows" => "Windows",
        other => other,
    };
    let shell = match shared.ports.launcher.cage() {
        Cage::Full | Cage::Partial => "caged, no network",
        Cage::None => "each needs a yes",
    };
    Environment {
        date: (shared.ports.today)(),
        folder: name.unwrap_or_else(|| session.root.clone()),
        system: system.to_owned(),
        mode: session.mode,
        shell: shell.to_owned(),
    }
}

/// Project documents, read through the folder's handle.
struct Folder(Option<Place>);

impl Documents for Folder {
    fn read(&self, path: &str) -> Option<Document> {
        /// Larger files are named only; no more than this is read to digest them.
        const MOST: u64 = 1 << 20;
        let bytes = self.0.as_ref()?.read_small(path, MOST)?;
        let text =
            String::from_utf8(bytes.clone()).unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into_owned());
        let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
        if text.trim().is_empty() {
            return None;
        }
        Some(Document {
            path: path.to_owned(),
            digest: Digest::of(text.as_bytes()),
            bytes: bytes.len() as u64,
            text,
        })
    }
}

fn problem(code: &str, message: impl Into<String>) -> Problem {
    Problem { code: code.to_owned(), message: message.into() }
}
