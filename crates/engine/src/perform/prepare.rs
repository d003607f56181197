//! Building a request: what it adds is encoded once and stored by digest, then the whole body is put together. Where it would
//! be too large for the model's window, what comes out is how the history gets shorter instead.

use super::shorter;
use crate::actor::STALL;
use crate::input::{Input, PreparedRequest, Shorter};
use crate::own;
use crate::ports::Problem;
use crate::prompt::{Prompt, RebuildError, facts};
use crate::shared::{Hold, Shared};
use bytes::Bytes;
use context::{Addition, Document, Documents, Environment};
use domain::digest::Digest;
use domain::event::{EpochReason, Fact, Source};
use domain::ids::{SessionId, StepId};
use domain::state::{Session, State, Step};
use providers::{Begun, Body, Dialect};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use store::{BlobError, ReadError};
use tokio_util::sync::CancellationToken;
use tools::{Cage, Place};

/// A session's prompt cache, shared with the operation that fills it.
pub(crate) type Cache = Arc<Mutex<Kept>>;

/// What is kept of the last request, so that the next one costs what it adds.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    prompt: Prompt,
    /// The hash of what a later body of this prefix epoch begins with.
    begun: Begun,
    /// The body as it was hashed.
    body: Option<(Digest, Arc<Body>)>,
}

/// The body that was prepared, where it is the one with this digest.
pub(super) fn prepared_body(cache: &Cache, digest: Digest) -> Option<Arc<Body>> {
    let kept = cache.lock().unwrap_or_else(PoisonError::into_inner);
    kept.body.as_ref().filter(|(of, _)| *of == digest).map(|(_, body)| Arc::clone(body))
}

pub(crate) async fn prepare(
    shared: Arc<Shared>,
    session: SessionId,
    state: Arc<State>,
    step: StepId,
    cache: Cache,
    cancel: CancellationToken,
) -> Input {
    let mut waiting = None;
    loop {
        match build(&shared, &session, &state, &cache).await {
            Ok(Built::Request(request)) => return Input::Prepared { step, request },
            Ok(Built::Shorter(shorter)) => return Input::Shorter { step, shorter },
            // A disk that fails for now is waited for, like everywhere else.
            Err(Problem { code, .. }) if code == STORE_AWAY && !cancel.is_cancelled() => {
                waiting.get_or_insert_with(|| shared.wait_for(&session, Hold::Store));
                tokio::select! {
                    () = tokio::time::sleep(STALL) => {}
                    () = cancel.cancelled() => {}
                }
            }
            Err(Problem { code, message }) => return Input::NotPrepared { step, code, message },
        }
    }
}

/// The store can't be read or written for now.
pub(super) const STORE_AWAY: &str = "store/away";

/// The code of what can't be read.
pub(super) fn unread(error: &RebuildError) -> &'static str {
    match error {
        RebuildError::Read(ReadError::Sql { .. }) | RebuildError::Part(BlobError::Io { .. }) => STORE_AWAY,
        _ => "store/read",
    }
}

enum Built {
    Request(Box<PreparedRequest>),
    Shorter(Shorter),
}

/// What every request of a step is built from.
pub(super) struct Ground<'a> {
    pub(super) shared: &'a Shared,
    pub(super) session: &'a SessionId,
    pub(super) state: &'a State,
    pub(super) step: &'a Step,
    pub(super) dialect: Box<dyn Dialect>,
    pub(super) head: Bytes,
    pub(super) head_tokens: u64,
    environment: Environment,
    pub(super) folder: Folder,
}

async fn build(shared: &Shared, id: &SessionId, state: &State, cache: &Cache) -> Result<Built, Problem> {
    let (Some(session), Some((turn, step))) = (&state.session, state.step()) else {
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
    let ground = Ground {
        shared,
        session: id,
        state,
        step,
        dialect,
        head,
        head_tokens: context::head::tokens(&head_spec),
        environment: environment(shared, session),
        folder: Folder(own::open(state, Vec::new()).ok()),
    };
    let whole = ground.whole(cache)?;
    let room = context::budget::room(state, step);
    let only_summary = turn.source == Source::Summary;
    if state.history.asked || only_summary || room.is_some_and(|room| whole.tokens > room) {
        let shorter = shorter::shorter(&ground, &whole, room, &credential)?;
        match shorter {
            Shorter::Nothing if !only_summary => {}
            // What an earlier request's refusal suggests is a guess about this one: the service has the last word.
            Shorter::CannotFit { .. }
                if step.refused.is_none()
                    && context::budget::in_window(state, &step.model)
                        .is_none_or(|room| whole.tokens <= room) => {}
            shorter => return Ok(Built::Shorter(shorter)),
        }
    }
    ground.request(whole, cache, credential).map(|request| Built::Request(Box::new(request)))
}

/// A request before anything of it is stored.
pub(super) struct Whole {
    opened: Option<EpochReason>,
    before: Option<Prompt>,
    addition: Addition,
    segment: Bytes,
    /// Estimated tokens of all of it.
    pub(super) tokens: u64,
}

impl Ground<'_> {
    /// The request as it would go out now.
    fn whole(&self, cache: &Cache) -> Result<Whole, Problem> {
        let (shared, state) = (self.shared, self.state);
        let mut opened = reason(state, self.step, &self.head, self.dialect.adapter_version());
        let mut before = None;
        if let (Some(prefix), None) = (&state.prefix, opened) {
            match current(shared, self.session, prefix, cache) {
                Ok(prompt) => before = Some(prompt),
                // The same words were erased from another session: what held them here went, too.
                Err(RebuildError::Part(BlobError::Gone { .. })) => opened = Some(EpochReason::Erased),
                Err(error) => return Err(problem(unread(&error), error.to_string())),
            }
        }
        let (since, held) = match (&state.prefix, opened) {
            (Some(prefix), None) => (prefix.last + 1, prefix.tokens),
            (Some(_) | None, _) => (0, self.head_tokens),
        };
        let (addition, segment) = self.adds(state, &self.facts(since)?)?;
        let tokens = held + tokens_of(&segment);
        Ok(Whole { opened, before, addition, segment, tokens })
    }

    /// The facts from this one on.
    pub(super) fn facts(&self, since: u64) -> Result<Vec<(u64, Fact)>, Problem> {
        facts(&self.shared.store, self.session, since, self.state.next_seq)
            .map_err(|error| problem(unread(&error), error.to_string()))
    }

    /// What a request in this state adds to these facts, and its segment.
    fn adds(&self, state: &State, since: &[(u64, Fact)]) -> Result<(Addition, Bytes), Problem> {
        let addition = context::addition(state, since, &self.environment, &self.folder)
            .map_err(|error| problem("history/open_call", error.to_string()))?;
        let segment = Bytes::from(self.dialect.segment(&addition.messages));
        Ok((addition, segment))
    }

    /// Estimated tokens of a request that opens a prefix epoch in this state after these facts.
    pub(super) fn measure(&self, state: &State, facts: &[(u64, Fact)]) -> Result<u64, Problem> {
        let (_, segment) = self.adds(state, facts)?;
        Ok(self.head_tokens + tokens_of(&segment))
    }

    /// Stores a request's parts and puts it together.
    fn request(
        &self,
        whole: Whole,
        cache: &Cache,
        credential: Option<(String, String)>,
    ) -> Result<PreparedRequest, Problem> {
        let Whole { opened, before, addition, segment, tokens } = whole;
        for document in &addition.documents {
            self.attach(document.text.as_bytes())?;
        }
        let mut added = Vec::new();
        if !segment.is_empty() {
            added.push(self.attach(&segment)?);
        }
        let mut prompt =
            before.unwrap_or_else(|| Prompt { epoch: 0, head: self.head.clone(), segments: Vec::new() });
        prompt.epoch =
            self.state.prefix.as_ref().map_or(0, |prefix| prefix.epoch) + u32::from(opened.is_some());
        if !segment.is_empty() {
            prompt.segments.push(segment);
        }
        let markers = prompt.markers();
        let body = Arc::new(prompt.body(&*self.dialect, &markers));
        let fresh = opened.is_some();
        let opened = match opened {
            Some(reason) => Some((reason, self.keep_head(&self.head)?)),
            None => None,
        };
        let mut kept = cache.lock().unwrap_or_else(PoisonError::into_inner);
        if fresh || kept.prompt.epoch != prompt.epoch {
            kept.begun = Begun::default();
        }
        let digest = body.digest_from(&mut kept.begun, prompt.same_chunks(&body, &markers));
        (kept.body, kept.prompt) = (Some((digest, Arc::clone(&body))), prompt);
        drop(kept);
        let request = PreparedRequest {
            generation: self.state.history.generation,
            asked: self.state.history.asked,
            facts: addition.facts,
            included: addition.included,
            opened,
            dialect: (self.dialect.name().to_owned(), self.dialect.adapter_version()),
            added,
            markers,
            body: digest,
            bytes: body.len() as u64,
            tokens,
            credential,
        };
        Ok(request)
    }

    /// Keeps what only the request's own event will name.
    pub(super) fn attach(&self, bytes: &[u8]) -> Result<Digest, Problem> {
        self.shared.store.attach_blob(bytes).map_err(|error| unkept(&error))
    }

    /// Keeps a head: it is the same for many sessions, and once it is a file.
    pub(super) fn keep_head(&self, head: &[u8]) -> Result<Digest, Problem> {
        self.shared.store.put_blob(head).map_err(|error| unkept(&error))
    }
}

fn unkept(error: &BlobError) -> Problem {
    problem(STORE_AWAY, error.to_string())
}

/// Estimated tokens of an encoded part.
pub(super) fn tokens_of(encoded: &[u8]) -> u64 {
    context::estimate::tokens(&String::from_utf8_lossy(encoded))
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
    if state.history.generation != prefix.generation {
        return Some(EpochReason::History);
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
    {
        let kept = cache.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = &kept.prompt;
        if cached.epoch == prefix.epoch && u32::try_from(cached.segments.len()) == Ok(prefix.segments) {
            return Ok(cached.clone());
        }
    }
    Prompt::load(&shared.store, session, prefix)
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
pub(super) struct Folder(Option<Place>);

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
