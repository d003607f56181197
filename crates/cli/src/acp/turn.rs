//! One prompt, from what the person says in their editor to the end of the turn that reads it.
//!
//! Invariants: a yes carries the digest of the request that was shown, so it allows exactly that; what another client
//! answers first is not asked any more, and what nobody's answer reached is asked again; a prompt that the editor stops ends
//! as stopped, however early that was.

use super::teller::{News, Teller};
use super::words::{Diff, Stop, Update, Yes, diffs};
use super::{Editor, open};
use api::wire::ApiError;
use api::wire::command::{Command, Intent, Notification, Reply, Topic};
use api::wire::view::{Activity, CallView, EntryBody, Patch, SessionView};
use host::Seat;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

/// Asks that may be answered at the same moment.
const ANSWERS: usize = 16;
/// How often a request whose answer came to nothing is asked again.
const AGAIN: u32 = 3;

/// A prompt under way.
struct Turn<E> {
    seat: Arc<Seat>,
    editor: E,
    session: String,
    teller: Teller,
    /// The message that the turn reads, and where the record has it; none where it answers a question.
    message: Option<(String, u64)>,
    /// Where its turn's end is looked for then.
    place: usize,
    asking: HashMap<String, AbortHandle>,
    answered: mpsc::Sender<(String, String, Yes)>,
    /// Answers that came to nothing, by request.
    lost: HashMap<String, u32>,
    stopping: Stopping,
}

/// Whether the editor wants it stopped, and how far that has come.
struct Stopping {
    wanted: CancellationToken,
    /// Was it heard here?
    heard: bool,
    /// Was a turn told to stop?
    told: bool,
}

impl<E> Drop for Turn<E> {
    fn drop(&mut self) {
        // Nobody is asked about what is over.
        self.asking.values().for_each(AbortHandle::abort);
    }
}

/// Says it, tells the editor what comes of it, and gives how it ended. Nothing is said any more once it is to stop.
pub(crate) async fn prompt<E: Editor>(
    seat: Arc<Seat>,
    editor: E,
    session: String,
    text: String,
    stop: CancellationToken,
) -> Result<Stop, ApiError> {
    let view = open(&seat, &session).await?;
    if stop.is_cancelled() {
        return Ok(Stop::Cancelled);
    }
    let place = view.entries.len();
    let message = say(&seat, &view, &session, text).await?;
    let source = listen(&seat, &session, view.seq + 1).await?;
    let (answered, answers) = mpsc::channel(ANSWERS);
    let mut turn = Turn {
        seat,
        editor,
        session,
        teller: Teller::since(view.clone()),
        message,
        place,
        asking: HashMap::new(),
        answered,
        lost: HashMap::new(),
        stopping: Stopping { wanted: stop, heard: false, told: false },
    };
    let first = turn.teller.reopened(view);
    turn.take(first).await;
    turn.run(source, answers).await
}

/// A message, or the answer where the model's question is open.
async fn say(
    seat: &Seat,
    view: &SessionView,
    session: &str,
    text: String,
) -> Result<Option<(String, u64)>, ApiError> {
    let session = session.to_owned();
    let asked = view.entries.iter().rev().find_map(|entry| match &entry.body {
        EntryBody::Question { question } if question.answer.is_none() => Some(question.id.clone()),
        _ => None,
    });
    if let Some(question) = asked {
        return seat.call(Command::Answer { session, question, text }).await.map(|_| None);
    }
    let command = crate::exec::fresh_command();
    match seat.call(Command::Send { session, text, intent: Intent::Steer, command }).await? {
        Reply::Sent { message, seq } => Ok(Some((message, seq))),
        other => Err(api::error("internal", format!("expected a message, got {other:?}"), "")),
    }
}

async fn listen(
    seat: &Arc<Seat>,
    session: &str,
    from: u64,
) -> Result<mpsc::Receiver<Notification>, ApiError> {
    seat.subscribe(Topic::Session { session: session.to_owned(), from }).await
}

/// With all that came since, so that an editor that is slow is told where it stands and not each step on the way; `None`
/// where the view has to be opened again.
fn gathered(
    mut seq: u64,
    mut patches: Vec<Patch>,
    source: &mut mpsc::Receiver<Notification>,
) -> Option<(u64, Vec<Patch>)> {
    while let Ok(told) = source.try_recv() {
        match told {
            Notification::Session { seq: later, patches: more, .. } => {
                seq = later;
                patches.extend(more);
            }
            Notification::Resync { .. } => return None,
            _ => {}
        }
    }
    Some((seq, patches))
}

impl<E: Editor> Turn<E> {
    /// From what was said to how it ended.
    async fn run(
        &mut self,
        mut source: mpsc::Receiver<Notification>,
        mut answers: mpsc::Receiver<(String, String, Yes)>,
    ) -> Result<Stop, ApiError> {
        let wanted = self.stopping.wanted.clone();
        loop {
            let news = tokio::select! {
                told = source.recv() => match told {
                    Some(Notification::Session { seq, patches, .. }) => {
                        match gathered(seq, patches, &mut source) {
                            Some((seq, patches)) => self.teller.patched(seq, &patches),
                            None => self.reopen(&mut source).await?,
                        }
                    }
                    Some(Notification::Resync { .. }) => self.reopen(&mut source).await?,
                    Some(_) => continue,
                    None => return Err(host::door::DoorError::Closed.to_api()),
                },
                Some((approval, digest, yes)) = answers.recv() => {
                    match self.answer(approval, digest, yes).await {
                        Ok(()) => continue,
                        Err(lost) => self.unanswered(lost, &mut source).await?,
                    }
                }
                () = wanted.cancelled(), if !self.stopping.heard => {
                    self.stopping.heard = true;
                    self.stop().await;
                    continue;
                }
            };
            self.take(news).await;
            if let Some(ended) = self.ended().await {
                return ended;
            }
            if self.stopping.heard && !self.stopping.told && self.works() {
                self.stop().await;
            }
        }
    }

    /// The view as it stands now, and what comes after it.
    async fn reopen(&mut self, source: &mut mpsc::Receiver<Notification>) -> Result<News, ApiError> {
        let view = open(&self.seat, &self.session).await?;
        *source = listen(&self.seat, &self.session, view.seq + 1).await?;
        Ok(self.teller.reopened(view))
    }

    /// Stops the turn. Where none was seen to run yet, the one that begins is stopped then: a stop with no turn stops nothing.
    async fn stop(&mut self) {
        self.stopping.told = self.works();
        let stop = Command::Interrupt { session: self.session.clone() };
        if let Err(failed) = self.seat.call(stop).await {
            self.stopping.told = false;
            tracing::warn!(message = failed.message, "nothing could be stopped");
        }
    }

    fn works(&self) -> bool {
        !matches!(self.teller.view().activity, Activity::Idle | Activity::Stopping)
    }

    /// An answer came to nothing: where it is still asked about, it is asked again, but not for ever.
    async fn unanswered(
        &mut self,
        (approval, refused): (String, ApiError),
        source: &mut mpsc::Receiver<Notification>,
    ) -> Result<News, ApiError> {
        let times = self.lost.entry(approval.clone()).or_default();
        *times += 1;
        if *times > AGAIN {
            return Err(refused);
        }
        self.teller.unanswered(&approval);
        self.reopen(source).await
    }

    async fn take(&mut self, news: News) {
        for mut update in news.updates {
            if let Update::Call { call, .. } = &mut update
                && let Some(changed) = news.changed.iter().find(|changed| changed.id == call.id)
            {
                call.diffs = self.diffs(changed).await.unwrap_or_default();
            }
            self.editor.tell(&self.session, update).await;
        }
        for (approval, digest, ask) in news.asks {
            let (editor, session, answered) =
                (self.editor.clone(), self.session.clone(), self.answered.clone());
            let of = approval.clone();
            let asking = tokio::spawn(async move {
                let yes = editor.ask(&session, ask).await;
                // The prompt may be over.
                drop(answered.send((approval, digest, yes)).await);
            });
            self.asking.insert(of, asking.abort_handle());
        }
        for approval in news.closed {
            if let Some(asking) = self.asking.remove(&approval) {
                asking.abort();
            }
        }
    }

    /// Hands on what the person said. Where it came to nothing, says for which request: somebody else may have answered, it
    /// may not be asked any more, or the host went; the view says which.
    async fn answer(&mut self, approval: String, digest: String, yes: Yes) -> Result<(), (String, ApiError)> {
        self.asking.remove(&approval);
        let (session, of) = (self.session.clone(), approval.clone());
        let command = match yes {
            Yes::No => Command::Refuse { session, approval, why: None },
            Yes::Once => Command::Approve { session, approval, digest, offer: None, lasting: false },
            Yes::Session => Command::Approve { session, approval, digest, offer: Some(0), lasting: false },
            Yes::Folder => Command::Approve { session, approval, digest, offer: Some(0), lasting: true },
        };
        self.seat.call(command).await.map(drop).map_err(|refused| {
            tracing::warn!(message = refused.message, "an answer came to nothing");
            (of, refused)
        })
    }

    /// What a call changed in its file.
    async fn diffs(&self, call: &CallView) -> Option<Vec<Diff>> {
        let path = call.facts.get("path")?.trim_start_matches("./").to_owned();
        let (session, of) = (self.session.clone(), Some(call.id.clone()));
        match self.seat.call(Command::Diff { session, path, turn: None, call: of }).await {
            Ok(Reply::Diff(diff)) => Some(diffs(&diff)),
            Ok(_) | Err(_) => None,
        }
    }

    async fn ended(&mut self) -> Option<Result<Stop, ApiError>> {
        let message = self.message.as_ref().map(|(message, _)| message.as_str());
        if let Some(EntryBody::TurnEnd { end, facts, .. }) =
            self.teller.end(message, self.place).map(|entry| &entry.body)
        {
            return Some(match end.as_str() {
                "cancelled" => Ok(Stop::Cancelled),
                "length" => Ok(Stop::Length),
                "limit" => Ok(Stop::Limit),
                "refused" | "blocked" => Ok(Stop::Refused),
                "failed" => Err(failed(facts)),
                _ => Ok(Stop::Ended),
            });
        }
        let held = |message: &str| self.teller.view().waiting.iter().any(|one| one.held && one.id == message);
        let taken_back =
            self.message.as_ref().is_some_and(|(message, seq)| self.teller.is_taken_back(message, *seq));
        if message.is_some_and(held) || taken_back {
            return Some(Ok(Stop::Cancelled));
        }
        // What has to be answered in words is answered by the next prompt.
        let key = "question".to_owned();
        if let Some(text) = self.teller.question() {
            self.editor.tell(&self.session, Update::Answer { key, text }).await;
            return Some(Ok(Stop::Ended));
        }
        let needs_you = matches!(self.teller.view().activity, Activity::NeedsYou { .. });
        if needs_you && self.teller.is_unknown() {
            let text = "Nobody saw how a call ended. Say what became of it in Daybook, or with `daybook approvals` \
                        and `daybook answer ID done|again|skip`; the work goes on then.";
            self.editor.tell(&self.session, Update::Answer { key, text: text.to_owned() }).await;
            return Some(Ok(Stop::Ended));
        }
        None
    }
}

fn failed(facts: &std::collections::BTreeMap<String, String>) -> ApiError {
    let fact = |name: &str| facts.get(name).map(String::as_str);
    let said =
        fact("said").or_else(|| fact("message")).or_else(|| fact("class")).unwrap_or("the turn failed");
    api::error("turn/failed", said, "")
}

#[cfg(test)]
mod tests;
