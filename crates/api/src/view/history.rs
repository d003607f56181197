//! Replacements in what the model reads, as shown: one quiet line each, and which of them are in force.
//!
//! Invariant: the conversation itself stays whole, whatever the model reads of it; a line says that it is in force exactly
//! while the full history can be asked for because of it.

use super::Fold;
use crate::wire::view::{EntryBody, HistoryView, Patch};
use domain::event::{CheckpointCommitted, Event, HistoryShortened, ShortenWhy, Shrunk};

impl Fold {
    pub(super) fn shortened(&mut self, e: &HistoryShortened, event: &Event, out: &mut Vec<Patch>) {
        let view = HistoryView { results: e.results, ..of(e.tokens, e.why) };
        self.put_history(view, event, out);
    }

    pub(super) fn checkpoint(&mut self, e: &CheckpointCommitted, event: &Event, out: &mut Vec<Patch>) {
        // The newest stands for what the earlier ones stood for.
        self.not_in_force(|history| history.steps > 0, out);
        let by_model = e.summary.is_some();
        let view = HistoryView { steps: e.steps, text: e.text.clone(), by_model, ..of(e.tokens, e.why) };
        self.put_history(view, event, out);
    }

    pub(super) fn full_history(&mut self, event: &Event, out: &mut Vec<Patch>) {
        self.not_in_force(|_| true, out);
        self.told(event, "history/restored", &[], out);
    }

    fn put_history(&mut self, history: HistoryView, event: &Event, out: &mut Vec<Patch>) {
        let key = format!("history_{}", event.envelope.seq);
        self.put(event, key, EntryBody::History { history }, out);
    }

    fn not_in_force(&mut self, which: impl Fn(&HistoryView) -> bool, out: &mut Vec<Patch>) {
        let mut changed = Vec::new();
        for entry in &self.shown.view.entries {
            if let EntryBody::History { history } = &entry.body
                && history.in_force
                && which(history)
            {
                let mut entry = entry.clone();
                entry.body =
                    EntryBody::History { history: HistoryView { in_force: false, ..history.clone() } };
                changed.push(entry);
            }
        }
        for entry in changed {
            self.push(Patch::Entry { entry }, out);
        }
    }
}

fn of(tokens: Shrunk, why: ShortenWhy) -> HistoryView {
    let why = match why {
        ShortenWhy::Budget => "budget",
        ShortenWhy::Overflow => "overflow",
        ShortenWhy::Asked => "asked",
    };
    HistoryView {
        steps: 0,
        results: 0,
        before: tokens.before,
        after: tokens.after,
        why: why.to_owned(),
        text: String::new(),
        by_model: false,
        in_force: true,
    }
}
