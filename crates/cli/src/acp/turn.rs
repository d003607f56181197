//! One prompt, from what the person says in their editor to the end of the turn that reads it.
//!
//! Invariants: a yes carries the digest of the request that was shown, so it allows exactly that; what another client
//! answers first is not asked any more; a prompt that the editor stops ends as stopped.

use super::teller::{News, Teller};
use super::words::{Diff, Stop, Update, Yes, diffs};
use super::{Editor, open};
use api::wire::ApiError;
use api::wire::command::{Command, Intent, Notification, Reply, Topic};
use api::wire::view::{CallView, EntryBody, SessionView};
use host::Seat;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

/// Asks that may be answered at the same moment.
const ANSWERS: usize = 16;

/// A prompt under way.
struct Turn<E> {
    seat: Arc<Seat>,
    editor: E,
    session: String,
    teller: Teller,
    /// The message that the turn reads; none where it answers a question.
    message: Option<String>,
    /// Where its turn's end is looked for then.
    place: usize,
    asking: HashMap<String, AbortHandle>,
    answered: mpsc::Sender<(String, String, Yes)>,
}

impl<E> Drop for Turn<E> {
    fn drop(&mut self) {
        // Nobody is asked about what is over.
        self.asking.values().for_each(AbortHandle::abort);
    }
}

/// Says it, tells the editor what comes of it, and gives how it ended.
pub(crate) async fn prompt<E: Editor>(
    seat: Arc<Seat>,
    editor: E,
    session: String,
    text: String,
) -> Result<Stop, ApiError> {
    let view = open(&seat, &session).await?;
    let place = view.entries.len();
    let message = say(&seat, &view, &session, text).await?;
    let mut source = listen(&seat, &session, view.seq + 1).await?;
    let (answered, mut answers) = mpsc::channel(ANSWERS);
    let asking = HashMap::new();
    let mut turn =
        Turn { seat, editor, session, teller: Teller::since(view.clone()), message, place, asking, answered };
    let first = turn.teller.reopened(view);
    turn.take(first).await;
    loop {
        let news = tokio::select! {
            told = source.recv() => match told {
                Some(Notification::Session { seq, patches, .. }) => turn.teller.patched(seq, &patches),
                Some(Notification::Resync { .. }) => {
                    let view = open(&turn.seat, &turn.session).await?;
                    source = listen(&turn.seat, &turn.session, view.seq + 1).await?;
                    turn.teller.reopened(view)
                }
                Some(_) => continue,
                None => return Err(host::door::DoorError::Closed.to_api()),
            },
            Some((approval, digest, yes)) = answers.recv() => {
                turn.answer(approval, digest, yes).await;
                continue;
            }
        };
        turn.take(news).await;
        if let Some(ended) = turn.ended() {
            return ended;
        }
    }
}

/// A message, or the answer where the model's question is open.
async fn say(
    seat: &Seat,
    view: &SessionView,
    session: &str,
    text: String,
) -> Result<Option<String>, ApiError> {
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
        Reply::Sent { message, .. } => Ok(Some(message)),
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

impl<E: Editor> Turn<E> {
    async fn take(&mut self, news: News) {
        for mut update in news.updates {
            if let Update::Call { call, .. } = &mut update
                && let Some(changed) = news.changed.iter().find(|changed| changed.id == call.id)
            {
                call.diffs = self.diffs(changed).await.unwrap_or_default();
            }
            self.editor.tell(&self.session, update);
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

    async fn answer(&mut self, approval: String, digest: String, yes: Yes) {
        self.asking.remove(&approval);
        let session = self.session.clone();
        let command = match yes {
            Yes::No => Command::Refuse { session, approval, why: None },
            Yes::Once => Command::Approve { session, approval, digest, offer: None, lasting: false },
            Yes::Session => Command::Approve { session, approval, digest, offer: Some(0), lasting: false },
            Yes::Folder => Command::Approve { session, approval, digest, offer: Some(0), lasting: true },
        };
        if let Err(refused) = self.seat.call(command).await {
            // Somebody else answered, or it isn't asked any more: the view says which.
            tracing::warn!(message = refused.message, "an answer came to nothing");
        }
    }

    /// What a call's turn changed in its file.
    async fn diffs(&self, call: &CallView) -> Option<Vec<Diff>> {
        let session = self.session.clone();
        let path = call.facts.get("path")?.trim_start_matches("./").to_owned();
        let asked = self.seat.call(Command::Changes { session: session.clone() }).await;
        let Ok(Reply::Changes(changes)) = asked else { return None };
        let turn = changes.turns.iter().max_by_key(|turn| turn.number)?;
        let file = turn.files.iter().find(|file| file.path == path)?;
        let (new, turn) = (file.change == "created", Some(turn.turn.clone()));
        match self.seat.call(Command::Diff { session, path, turn }).await {
            Ok(Reply::Diff(diff)) => Some(diffs(&diff, new)),
            Ok(_) | Err(_) => None,
        }
    }

    fn ended(&mut self) -> Option<Result<Stop, ApiError>> {
        let message = self.message.as_deref();
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
        let held = |message: &str| self.teller.view.waiting.iter().any(|one| one.held && one.id == message);
        if message.is_some_and(held) {
            return Some(Ok(Stop::Cancelled));
        }
        // What has to be answered in words is answered by the next prompt.
        let key = "question".to_owned();
        if let Some(text) = self.teller.question() {
            self.editor.tell(&self.session, Update::Answer { key, text });
            return Some(Ok(Stop::Ended));
        }
        let unknown = self
            .teller
            .view
            .entries
            .iter()
            .any(|entry| matches!(&entry.body, EntryBody::Unknown { resolution: None, .. }));
        if unknown && matches!(self.teller.view.activity, api::wire::view::Activity::NeedsYou { .. }) {
            let text = "Nobody saw how a call ended. Say what became of it in Daybook, or with `daybook approvals` \
                        and `daybook answer ID done|again|skip`; the work goes on then.";
            self.editor.tell(&self.session, Update::Answer { key, text: text.to_owned() });
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
