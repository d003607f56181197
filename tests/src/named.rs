//! What events name: every blob that a record stands on, so that a test can read them all.
//!
//! Digests of things that aren't kept (bodies put together from parts, arguments, facts) aren't among them. Invariant: a new
//! field that names a blob is added here, or the crash tests say nothing of it.

use domain::digest::Digest;
use domain::event::{Event, Fact};
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
    let mut named = match fact {
        Fact::DocumentLoaded(e) => vec![e.content],
        Fact::RequestPrepared(e) => e.added.iter().copied().chain(e.head).collect(),
        Fact::SummaryPrepared(e) => vec![e.head, e.segment],
        Fact::AttemptEnd(e) => e.raw.into_iter().collect(),
        Fact::ApprovalRequested(e) => e.facts.proposed.into_iter().collect(),
        Fact::ToolStart(e) => e.tree.into_iter().collect(),
        Fact::ToolResult(e) => e.kept.values().copied().collect(),
        Fact::JobStarted(e) => e.tree.into_iter().collect(),
        Fact::JobEnded(e) => e.kept.values().copied().collect(),
        Fact::RevisionRestoring(e) => vec![e.steps.list],
        _ => Vec::new(),
    };
    if let Some(changed) = fact.changed() {
        named.extend(changed.all.as_ref().map(|all| all.list));
        let sides = changed.effects.iter();
        named.extend(sides.flat_map(|effect| [effect.content_before(), effect.content_after()]).flatten());
    }
    named
}
