//! Erasing words from the record: what it would touch, and doing it.
//!
//! Invariant: once it is done, no view made before it is given to anybody again.

use crate::failure::{error, of_command, of_read};
use crate::permissions::offer;
use crate::room::{Done, Inside, Room, id};
use crate::wire::ApiError;
use crate::wire::command::Reply;
use crate::wire::storage::{ErasePlace, ErasePreview, EraseWhy, ErasedView, HeldPermission};
use domain::call::Grant;
use domain::erasure::Words;
use domain::event::{ErasedWhy, Fact};
use domain::ids::{GrantId, SessionId};
use engine::{Erasable, Erase, Erased, Reach};
use std::collections::BTreeMap;

/// Stands before a call's id where what it was asked to do is meant.
const ASKED: &str = "asked:";
/// Events read at once.
const PAGE: usize = 500;

/// What is to be erased at a place.
pub(crate) struct Erasing {
    pub(crate) text: Option<String>,
    pub(crate) why: EraseWhy,
    pub(crate) everywhere: bool,
    pub(crate) revoke: Vec<String>,
}

impl Room {
    pub(crate) async fn preview_erase(&self, session: &str, place: String, text: Option<String>) -> Done {
        let session = self.known(session)?;
        let preview = self.off_thread(move |inside| {
            let seq = inside.seq_of(&session, &place)?;
            let erase = Erase { chosen: seq, text, why: ErasedWhy::Other, reach: Reach::Session };
            let found =
                inside.engine()?.erasable(&session, &erase).map_err(|failure| of_command(&failure))?;
            let permissions = inside.holding(&found.words);
            Ok(preview(seq, found, permissions))
        });
        preview.await.map(Reply::ErasePreview)
    }

    pub(crate) async fn erase(&self, session: &str, place: String, erasing: Erasing) -> Done {
        let session = self.known(session)?;
        let Erasing { text, why, everywhere, revoke } = erasing;
        let reach = if everywhere { Reach::Everywhere } else { Reach::Session };
        let revoke = revoke.iter().map(|grant| id(grant)).collect::<Result<Vec<GrantId>, _>>()?;
        let own = session.clone();
        let erase = self.off_thread(move |inside| {
            let chosen = inside.seq_of(&own, &place)?;
            let erase = Erase { chosen, text, why: to_why(why), reach };
            // Before anything is revoked: can it be?
            if !revoke.is_empty() {
                inside.engine()?.erasable(&own, &erase).map_err(|failure| of_command(&failure))?;
            }
            // First, so that their old bytes are scrubbed with the rest. One that is gone already is as wanted.
            revoke.iter().try_for_each(|grant| inside.desk.revoke(grant).map(drop))?;
            Ok(erase)
        });
        let erased = self.inside.engine()?.erase(&session, erase.await?).await;
        // Whatever came of it: a view that was kept may hold the words.
        match reach {
            Reach::Everywhere => {
                self.inside.opened.forget_all();
                self.inside.record.forget_all();
            }
            Reach::Session => {
                self.inside.opened.forget(&session);
                self.inside.record.forget(&session);
            }
        }
        let Erased { seq, events, sessions, blobs, copies, unfinished } =
            erased.map_err(|failure| of_command(&failure))?;
        let unfinished = unfinished.is_some();
        Ok(Reply::Erased(ErasedView { seq, events, sessions, contents: blobs, copies, unfinished }))
    }
}

impl Inside {
    /// What was allowed for good and holds the words. What can't be read allows nothing, and is left to the Permissions page.
    fn holding(&self, words: &Words) -> Vec<HeldPermission> {
        let lasting = self.desk.lasting().map(|kept| kept.lasting).unwrap_or_default().into_iter();
        let held = lasting.filter(|one| holds(&one.what, words)).map(|one| HeldPermission {
            id: one.id.to_string(),
            what: offer(&one.what),
            folder: self.desk.folder(&one.folder, &one.root.to_string_lossy()),
        });
        held.collect()
    }

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
                if fact.is_some_and(|fact| is_at(&fact, place)) {
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

/// Does the view mean this event by that place?
fn is_at(fact: &Fact, place: &str) -> bool {
    match (place.strip_prefix(ASKED), fact) {
        (Some(call), Fact::ToolCall(e)) => e.call.as_str() == call,
        (Some(_), _) => false,
        (None, fact) => says(fact).is_some_and(|id| id == place),
    }
}

/// Do the words stand in it, in one of its words or across several?
fn holds(what: &Grant, words: &Words) -> bool {
    match what {
        Grant::Write { under } | Grant::Delete { under } => words.within(under),
        Grant::Command { words: said, files, .. } => {
            words.within(&said.join(" ")) || files.keys().any(|file| words.within(file))
        }
        Grant::Site { site } => words.within(site),
        Grant::Commands => false,
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
        Fact::ToolDenied(e) => Some(e.call.as_str()),
        Fact::ToolCancelled(e) => Some(e.call.as_str()),
        Fact::ToolOutcomeUnknown(e) => Some(e.call.as_str()),
        _ => None,
    }
}

fn preview(seq: u64, found: Erasable, permissions: Vec<HeldPermission>) -> ErasePreview {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for (_, kind) in &found.places {
        *counts.entry(place(kind)).or_default() += 1;
    }
    let places = counts.into_iter().map(|(kind, count)| ErasePlace { kind: kind.to_owned(), count });
    let elsewhere = u32::try_from(found.elsewhere.len()).unwrap_or(u32::MAX);
    ErasePreview { seq, says: found.says, places: places.collect(), elsewhere, permissions }
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
