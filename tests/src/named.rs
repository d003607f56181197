//! What events name: every blob that a record stands on, so that a test can read them all.
//!
//! Digests of things that aren't kept (bodies put together from parts, arguments, facts) aren't among them. Invariant: a new
//! field that names a blob is added here, or the crash tests say nothing of it.

use domain::digest::Digest;
use domain::event::{Changed, Event, Fact};
use store::{BlobError, Reader};

/// Names in these events that can't be read, each with its event; empty when all is well.
#[must_use]
pub fn unread(reader: &Reader, events: &[Event]) -> Vec<String> {
    let all = events.iter().filter_map(|event| Some((event, event.fact.as_ref()?)));
    let names = all.flat_map(|(event, fact)| named(fact).into_iter().map(move |name| (event, name)));
    let unread = names.filter_map(|(event, name)| {
        // What was taken out on purpose isn't lost.
        let error = reader.blob(&name).err().filter(|error| !matches!(error, BlobError::Gone { .. }))?;
        Some(format!(
            "event {} ({}) names what can't be read: {error}",
            event.envelope.seq, event.envelope.kind
        ))
    });
    unread.collect()
}

/// The blobs that an event names.
fn named(fact: &Fact) -> Vec<Digest> {
    let list = |changed: &Changed| changed.all.as_ref().map(|all| all.list);
    match fact {
        Fact::DocumentLoaded(e) => vec![e.content],
        Fact::RequestPrepared(e) => e.added.iter().copied().chain(e.head).collect(),
        Fact::SummaryPrepared(e) => vec![e.head, e.segment],
        Fact::AttemptEnd(e) => e.raw.into_iter().collect(),
        Fact::ApprovalRequested(e) => e.facts.proposed.into_iter().collect(),
        Fact::ToolStart(e) => e.tree.into_iter().collect(),
        Fact::ToolResult(e) => {
            let sides = e.changed.effects.iter();
            let sides = sides.flat_map(|effect| [effect.content_before(), effect.content_after()]);
            e.kept.values().copied().chain(list(&e.changed)).chain(sides.flatten()).collect()
        }
        Fact::JobStarted(e) => e.tree.into_iter().collect(),
        Fact::JobEnded(e) => {
            let sides = e.changed.effects.iter();
            let sides = sides.flat_map(|effect| [effect.content_before(), effect.content_after()]);
            e.kept.values().copied().chain(list(&e.changed)).chain(sides.flatten()).collect()
        }
        Fact::ToolCancelled(e) => list(&e.changed).into_iter().collect(),
        Fact::ToolOutcomeUnknown(e) => list(&e.changed).into_iter().collect(),
        Fact::RevisionRestoring(e) => vec![e.steps.list],
        Fact::RevisionRestored(e) => list(&e.changed).into_iter().collect(),
        _ => Vec::new(),
    }
}
