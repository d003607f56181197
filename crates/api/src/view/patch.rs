//! Applying a patch: the one way a view changes, here and on the client's side alike.
//!
//! Invariant: a view and its patches are enough; an entry keeps its place from the patch that brought it.

use super::jobs;
use crate::wire::view::{CallView, Entry, EntryBody, Patch, SessionView};
use std::collections::{BTreeSet, HashMap};

/// Lines of an output that are kept for showing; the record has all of it.
pub const OUTPUT_LINES: usize = 200;
/// And bytes of these.
const OUTPUT_BYTES: usize = 16 * 1024;

/// A view with an index of its entries, for whoever carries it forward patch by patch.
#[derive(Debug, Clone)]
pub struct Indexed {
    pub(super) view: SessionView,
    places: HashMap<String, usize>,
    calls: HashMap<String, String>,
}

impl Indexed {
    /// Of a view as it stands.
    #[must_use]
    pub fn new(view: SessionView) -> Self {
        let mut indexed = Self { view, places: HashMap::new(), calls: HashMap::new() };
        indexed.index();
        indexed
    }

    /// The view.
    #[must_use]
    pub fn view(&self) -> &SessionView {
        &self.view
    }

    /// Takes the patches up to an event, and gives the places of the entries that they brought or changed.
    pub fn take(&mut self, seq: u64, patches: &[Patch]) -> BTreeSet<usize> {
        let mut touched = Vec::new();
        for patch in patches {
            self.apply(patch);
            touched.extend(match patch {
                Patch::Entry { entry } => Some(entry.key.clone()),
                Patch::Text { key, .. } => Some(key.clone()),
                Patch::Output { call, .. } => self.calls.get(call).cloned(),
                Patch::Removed { .. }
                | Patch::Job { .. }
                | Patch::JobOutput { .. }
                | Patch::Plan { .. }
                | Patch::Waiting { .. }
                | Patch::Added { .. }
                | Patch::Activity { .. }
                | Patch::Meta { .. } => None,
            });
        }
        self.view.seq = seq;
        touched.iter().filter_map(|key| self.places.get(key).copied()).collect()
    }

    /// Where the entry of this key stands.
    #[must_use]
    pub fn place(&self, key: &str) -> Option<usize> {
        self.places.get(key).copied()
    }

    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        self.places.get(key).and_then(|place| self.view.entries.get(*place))
    }

    /// The call and the key of its entry.
    pub(super) fn call(&self, id: &str) -> Option<(&CallView, &Entry)> {
        let entry = self.entry(self.calls.get(id)?)?;
        let EntryBody::Calls { calls } = &entry.body else { return None };
        calls.iter().find(|call| call.id == id).map(|call| (call, entry))
    }

    pub(super) fn apply(&mut self, patch: &Patch) {
        match patch {
            Patch::Entry { entry } => self.put(entry),
            Patch::Text { key, text } => {
                if let Some(EntryBody::Answer { text: said, .. }) = self.body(key) {
                    said.push_str(text);
                }
            }
            Patch::Output { call, text } => self.output(call, text),
            Patch::Removed { key } => self.remove(key),
            Patch::Job { job } => jobs::put(&mut self.view.jobs, job),
            Patch::JobOutput { job, text } => jobs::more(&mut self.view.jobs, job, text),
            Patch::Plan { plan } => self.view.plan = Some(plan.clone()),
            Patch::Waiting { waiting } => self.view.waiting.clone_from(waiting),
            Patch::Added { added } => self.view.added.clone_from(added),
            Patch::Activity { activity } => self.view.activity = activity.clone(),
            Patch::Meta { title, mode, model, effort, changed_files, tokens, spent } => {
                self.view.title.clone_from(title);
                self.view.mode = *mode;
                self.view.model.clone_from(model);
                self.view.effort = *effort;
                self.view.changed_files = *changed_files;
                self.view.tokens = *tokens;
                self.view.spent = *spent;
            }
        }
    }

    fn put(&mut self, entry: &Entry) {
        if let EntryBody::Calls { calls } = &entry.body {
            for call in calls {
                self.calls.insert(call.id.clone(), entry.key.clone());
            }
        }
        match self.places.get(&entry.key) {
            // Place and time are those of the first.
            Some(place) => self.view.entries[*place].body = entry.body.clone(),
            None => {
                self.places.insert(entry.key.clone(), self.view.entries.len());
                self.view.entries.push(entry.clone());
            }
        }
    }

    fn output(&mut self, call: &str, text: &str) {
        let Some(key) = self.calls.get(call).cloned() else { return };
        if let Some(EntryBody::Calls { calls }) = self.body(&key)
            && let Some(call) = calls.iter_mut().find(|other| other.id == call)
        {
            append_output(&mut call.output, text);
        }
    }

    fn remove(&mut self, key: &str) {
        if let Some(place) = self.places.get(key).copied() {
            self.view.entries.remove(place);
            self.index();
        }
    }

    fn body(&mut self, key: &str) -> Option<&mut EntryBody> {
        let place = *self.places.get(key)?;
        self.view.entries.get_mut(place).map(|entry| &mut entry.body)
    }

    fn index(&mut self) {
        self.places.clear();
        for (place, entry) in self.view.entries.iter().enumerate() {
            self.places.insert(entry.key.clone(), place);
            if let EntryBody::Calls { calls } = &entry.body {
                for call in calls {
                    self.calls.insert(call.id.clone(), entry.key.clone());
                }
            }
        }
    }
}

/// Carries a view forward, as a client does.
pub fn apply(view: SessionView, patches: &[Patch]) -> SessionView {
    let mut indexed = Indexed::new(view);
    patches.iter().for_each(|patch| indexed.apply(patch));
    indexed.view
}

/// Joins patches of one frame: of several whole versions of an entry only the last is worth sending.
#[must_use]
pub fn joined(patches: Vec<Patch>) -> Vec<Patch> {
    let mut out: Vec<Patch> = Vec::with_capacity(patches.len());
    for patch in patches {
        match &patch {
            Patch::Entry { entry } => {
                // What an older version and its additions said is in this one; its place is the older one's.
                let since =
                    out.iter().rposition(|old| matches!(old, Patch::Removed { key } if *key == entry.key));
                let from = since.map_or(0, |at| at + 1);
                let first = out
                    .iter()
                    .skip(from)
                    .position(|old| matches!(old, Patch::Entry { entry: e } if e.key == entry.key));
                match first.map(|at| at + from) {
                    Some(at) => {
                        let time =
                            if let Patch::Entry { entry } = &out[at] { entry.time } else { entry.time };
                        out[at] = Patch::Entry { entry: Entry { time, ..entry.clone() } };
                        let calls: Vec<&str> = match &entry.body {
                            EntryBody::Calls { calls } => calls.iter().map(|call| call.id.as_str()).collect(),
                            _ => Vec::new(),
                        };
                        let mut place = 0;
                        out.retain(|old| {
                            let after = place > at;
                            place += 1;
                            let stale = match old {
                                Patch::Text { key, .. } => *key == entry.key,
                                Patch::Output { call, .. } => calls.contains(&call.as_str()),
                                _ => false,
                            };
                            !(after && stale)
                        });
                    }
                    None => out.push(patch),
                }
            }
            Patch::Text { key, text } => match out.last_mut() {
                Some(Patch::Text { key: same, text: said }) if same == key => said.push_str(text),
                _ => out.push(patch),
            },
            Patch::Output { call, text } => match out.last_mut() {
                Some(Patch::Output { call: same, text: said }) if same == call => said.push_str(text),
                _ => out.push(patch),
            },
            Patch::Job { job } => {
                // What an older version and its additions said is in this one; its place is the older one's.
                let same = |old: &Patch| matches!(old, Patch::Job { job: other } if other.id == job.id);
                out.retain(|old| !matches!(old, Patch::JobOutput { job: of, .. } if *of == job.id));
                match out.iter().position(same) {
                    Some(at) => out[at] = patch,
                    None => out.push(patch),
                }
            }
            Patch::JobOutput { job, text } => match out.last_mut() {
                Some(Patch::JobOutput { job: same, text: said }) if same == job => said.push_str(text),
                _ => out.push(patch),
            },
            Patch::Waiting { .. }
            | Patch::Added { .. }
            | Patch::Activity { .. }
            | Patch::Meta { .. }
            | Patch::Plan { .. } => {
                let kind = std::mem::discriminant(&patch);
                out.retain(|old| std::mem::discriminant(old) != kind);
                out.push(patch);
            }
            Patch::Removed { .. } => out.push(patch),
        }
    }
    out
}

/// Appends to an output and keeps its end, by lines and bytes.
pub(super) fn append_output(output: &mut String, text: &str) {
    output.push_str(text);
    let lines = output.len() - last_lines(output, OUTPUT_LINES).len();
    output.drain(..lines);
    let from = output.ceil_char_boundary(output.len().saturating_sub(OUTPUT_BYTES));
    if from > 0 {
        output.replace_range(..from, "…");
    }
}

/// The same end of a whole text.
pub(super) fn bounded(text: &str) -> String {
    let mut output = String::new();
    append_output(&mut output, text);
    output
}

/// The last lines of a text.
fn last_lines(text: &str, lines: usize) -> &str {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let mut at = body.len();
    for _ in 0..lines {
        match body[..at].rfind('\n') {
            Some(before) => at = before,
            None => return text,
        }
    }
    &text[at + 1..]
}
