//! Erasing words from the record: what it would touch, and doing it.
//!
//! Invariant: once it is done, no view made before it is given to anybody again.

use crate::failure::{error, of_command, of_read};
use crate::room::{Done, Inside, Room, lock};
use crate::wire::ApiError;
use crate::wire::command::Reply;
use crate::wire::storage::{ErasePlace, ErasePreview, EraseWhy, ErasedView};
use domain::event::{ErasedWhy, Fact};
use domain::ids::SessionId;
use engine::{Erasable, Erase, Erased};
use std::collections::BTreeMap;

/// Events read at once.
const PAGE: usize = 500;

impl Room {
    pub(crate) async fn preview_erase(&self, session: &str, place: String, text: Option<String>) -> Done {
        let session = self.known(session)?;
        let preview = self.off_thread(move |inside| {
            let seq = inside.seq_of(&session, &place)?;
            let erase = Erase { chosen: seq, text, why: ErasedWhy::Other };
            let found =
                inside.engine()?.erasable(&session, &erase).map_err(|failure| of_command(&failure))?;
            Ok(preview(seq, found))
        });
        preview.await.map(Reply::ErasePreview)
    }

    pub(crate) async fn erase(
        &self,
        session: &str,
        place: String,
        text: Option<String>,
        why: EraseWhy,
    ) -> Done {
        let session = self.known(session)?;
        let id = session.clone();
        let chosen = self.off_thread(move |inside| inside.seq_of(&id, &place)).await?;
        let erase = Erase { chosen, text, why: to_why(why) };
        let erased = self.inside.engine()?.erase(&session, erase).await;
        // Whatever came of it: a view that was kept may hold the words.
        lock(&self.inside.opened).remove(&session);
        self.inside.record.forget(&session);
        let Erased { seq, events, blobs, copies, unfinished } =
            erased.map_err(|failure| of_command(&failure))?;
        let unfinished = unfinished.is_some();
        Ok(Reply::Erased(ErasedView { seq, events, contents: blobs, copies, unfinished }))
    }
}

impl Inside {
    /// The event that the view means by an entry's key, a call's id or a number.
    fn seq_of(&self, session: &SessionId, place: &str) -> Result<u64, ApiError> {
        if let Ok(seq) = place.parse() {
            return Ok(seq);
        }
        let mut found = None;
        let mut next = 0;
        loop {
            let page = self.reader.events(session, next, PAGE).map_err(|read| of_read(&read))?;
            let Some(last) = page.last() else { break };
            next = last.seq + 1;
            for recorded in page {
                let seq = recorded.seq;
                let fact = recorded.decode().ok().and_then(|event| event.fact);
                if fact.is_some_and(|fact| says(&fact).is_some_and(|id| id == place)) {
                    found = Some(seq);
                }
            }
        }
        found.ok_or_else(|| {
            let message = format!("nothing in this session is called {place}");
            error("erase/unknown", message, "Open the session again.")
        })
    }
}

/// What the view calls an event that says something. Of several the last counts: what was read, and how a call ended.
fn says(fact: &Fact) -> Option<&str> {
    match fact {
        Fact::InboxPosted(e) => Some(e.message.as_str()),
        Fact::UserMessage(e) => Some(e.message.as_str()),
        Fact::AssistantAccepted(e) => Some(e.attempt.as_str()),
        Fact::QuestionAnswered(e) => Some(e.question.as_str()),
        Fact::ApprovalRefused(e) => Some(e.approval.as_str()),
        Fact::ToolResult(e) => Some(e.call.as_str()),
        Fact::ToolCancelled(e) => Some(e.call.as_str()),
        Fact::ToolOutcomeUnknown(e) => Some(e.call.as_str()),
        _ => None,
    }
}

fn preview(seq: u64, found: Erasable) -> ErasePreview {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for (_, kind) in &found.places {
        *counts.entry(place(kind)).or_default() += 1;
    }
    let places = counts.into_iter().map(|(kind, count)| ErasePlace { kind: kind.to_owned(), count });
    ErasePreview { seq, says: found.says, places: places.collect() }
}

/// What an event is to a person.
fn place(kind: &str) -> &'static str {
    match kind {
        "user/message" | "question/answered" => "message",
        // The same words on their way to being read.
        "inbox/posted" => "waiting",
        "session/renamed" => "title",
        "assistant/accepted" => "answer",
        "assistant/delta" | "tool/output" => "shown",
        "tool/call" | "tool/decision" | "tool/start" | "approval/requested" => "call",
        "tool/result" | "tool/cancelled" | "tool/outcome_unknown" | "tool/denied" => "result",
        "context/note" => "note",
        _ => "other",
    }
}

fn to_why(why: EraseWhy) -> ErasedWhy {
    match why {
        EraseWhy::Secret => ErasedWhy::Secret,
        EraseWhy::Private => ErasedWhy::Private,
        EraseWhy::Other => ErasedWhy::Other,
    }
}
