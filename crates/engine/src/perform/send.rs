//! Sending a prepared request: the stream is shown at once, logged in batches, and ends as one input.

use super::prepare::{Cache, current, prepared_body};
use crate::decide::Op;
use crate::input::Input;
use crate::perform::{Done, Pieces};
use crate::ports::ModelRequest;
use crate::prompt;
use crate::shared::{Live, Shared};
use bytes::{Bytes, BytesMut};
use domain::digest::Digest;
use domain::event::Fact;
use domain::ids::{AttemptId, SessionId};
use domain::model::{ErrorClass, ModelDelta, ModelError};
use domain::state::{Request, State, Step};
use providers::{Body, SendError, Sink};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

pub(crate) async fn send(
    shared: Arc<Shared>,
    session: SessionId,
    state: Arc<State>,
    attempt: AttemptId,
    cache: Cache,
    pieces: Pieces,
    cancel: CancellationToken,
) -> Done {
    let op = Op::Send(attempt.clone());
    let input = match stream(&shared, &session, &state, &attempt, &cache, &pieces, &cancel).await {
        Ok(input) => input,
        Err(message) => Input::SendFailed { attempt, error: failure(message), raw: None },
    };
    Done::with(op, Some(input))
}

async fn stream(
    shared: &Arc<Shared>,
    session: &SessionId,
    state: &State,
    attempt: &AttemptId,
    cache: &Cache,
    pieces: &Pieces,
    cancel: &CancellationToken,
) -> Result<Input, String> {
    let step = state.step().map(|(_, step)| step);
    let Some((step, request)) = step.and_then(|step| Some((step, step.request.as_ref()?))) else {
        return Err("there is no prepared request".into());
    };
    // What was hashed when it was prepared is what is sent; after a restart it is put together and hashed again.
    let body = match prepared_body(cache, request.body) {
        Some(body) => body,
        None => {
            let body = body(shared, session, state, step, request, cache)?;
            if body.digest() != request.body {
                return Err("the rebuilt request differs from the prepared one; it was not sent".into());
            }
            Arc::new(body)
        }
    };
    let waiting = Arc::new(Mutex::new(Waiting::default()));
    let mut sink = Show {
        shared: Arc::clone(shared),
        session: session.clone(),
        attempt: attempt.clone(),
        waiting: Arc::clone(&waiting),
        shown: request.about.is_none().then(Shown::default),
    };
    let asked = ModelRequest { model: &step.model, body: &body, conversation: session.as_str() };
    let mut sending = shared.ports.models.send(asked, &mut sink, cancel);
    let every = Duration::from_millis(shared.limits.delta_every_ms);
    let ended = loop {
        tokio::select! {
            biased;
            ended = &mut sending => break ended,
            () = tokio::time::sleep(every) => flush(&waiting, attempt, pieces).await,
        }
    };
    drop(sending);
    flush(&waiting, attempt, pieces).await;
    let raw = std::mem::take(&mut lock(&waiting).raw);
    let raw = keep(shared, &raw.freeze());
    let attempt = attempt.clone();
    Ok(match ended {
        Ok(outcome) => Input::Answered { attempt, outcome, raw },
        Err(SendError::Failed(error)) => Input::SendFailed { attempt, error, raw },
        Err(SendError::Cancelled(partial)) => {
            Input::SendStopped { attempt, text: partial.text, usage: partial.usage }
        }
    })
}

/// The prepared body, put together again.
fn body(
    shared: &Shared,
    session: &SessionId,
    state: &State,
    step: &Step,
    request: &Request,
    cache: &Cache,
) -> Result<Body, String> {
    let dialect = providers::dialect_of(&step.model).map_err(|error| error.to_string())?;
    if request.about.is_some() {
        let prepared = prompt::facts(&shared.store, session, request.seq, request.seq + 1);
        return match prepared.map_err(|error| error.to_string())?.first() {
            Some((_, Fact::SummaryPrepared(prepared))) => {
                prompt::summary(&shared.store, &*dialect, prepared).map_err(|error| error.to_string())
            }
            Some(_) | None => Err("there is no prepared request".into()),
        };
    }
    let Some(prefix) = &state.prefix else { return Err("there is no prepared request".into()) };
    let prompt = current(shared, session, prefix, cache).map_err(|error| error.to_string())?;
    Ok(prompt.body(&*dialect, &prompt.markers()))
}

/// Logs the pieces that came since the last time.
async fn flush(waiting: &Mutex<Waiting>, attempt: &AttemptId, pieces: &Pieces) {
    let deltas = std::mem::take(&mut lock(waiting).deltas);
    if !deltas.is_empty() {
        // A queue that is gone belongs to a session that has ended.
        let _ = pieces.send(Input::Deltas { attempt: attempt.clone(), deltas }).await;
    }
}

/// The raw answer as a blob, with secrets removed; not being able to keep it loses nothing that counts.
fn keep(shared: &Shared, raw: &Bytes) -> Option<Digest> {
    if raw.is_empty() {
        return None;
    }
    let clean = (shared.ports.secrets)().redact(&String::from_utf8_lossy(raw));
    shared.store.attach_blob(clean.as_bytes()).ok()
}

/// Pieces that wait to be logged, and the raw answer so far.
#[derive(Default)]
struct Waiting {
    deltas: Vec<ModelDelta>,
    raw: BytesMut,
}

struct Show {
    shared: Arc<Shared>,
    session: SessionId,
    attempt: AttemptId,
    waiting: Arc<Mutex<Waiting>>,
    /// What of it was shown; a summary isn't.
    shown: Option<Shown>,
}

/// Bytes shown so far, by kind of piece.
#[derive(Default)]
struct Shown {
    text: usize,
    reasoning: usize,
    arguments: usize,
}

impl Shown {
    /// Where this piece begins among its kind.
    fn place(&mut self, delta: &ModelDelta) -> usize {
        let (count, text) = match delta {
            ModelDelta::Text { text } => (&mut self.text, text),
            ModelDelta::Reasoning { text } => (&mut self.reasoning, text),
            ModelDelta::Arguments { text, .. } => (&mut self.arguments, text),
        };
        let at = *count;
        *count += text.len();
        at
    }
}

impl Sink for Show {
    fn delta(&mut self, delta: ModelDelta) {
        let Some(shown) = &mut self.shown else { return };
        let (session, attempt) = (self.session.clone(), self.attempt.clone());
        let at = shown.place(&delta);
        self.shared.show(Live::Delta { session, attempt, at, delta: delta.clone() });
        merge(&mut lock(&self.waiting).deltas, delta);
    }

    fn raw(&mut self, bytes: &Bytes) {
        lock(&self.waiting).raw.extend_from_slice(bytes);
    }
}

/// Pieces of the same kind become one.
fn merge(deltas: &mut Vec<ModelDelta>, delta: ModelDelta) {
    match (deltas.last_mut(), delta) {
        (Some(ModelDelta::Text { text }), ModelDelta::Text { text: more })
        | (Some(ModelDelta::Reasoning { text }), ModelDelta::Reasoning { text: more }) => {
            text.push_str(&more)
        }
        (
            Some(ModelDelta::Arguments { index, text, .. }),
            ModelDelta::Arguments { index: same, name: None, text: more },
        ) if *index == same => text.push_str(&more),
        (_, delta) => deltas.push(delta),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failure(message: String) -> ModelError {
    ModelError::new(ErrorClass::BadRequest, message)
}
