//! What an editor was told of a session, and what is news to it.
//!
//! A **teller** carries a view forward with the patches that arrive and says what changed since, in order. Invariants: what
//! was told isn't told again; a view that was opened again, after a host went or a queue overflowed, gives only the rest.

use super::words::{Ask, Call, Update, mode_word, question};
use api::view::Indexed;
use api::wire::command::Mode;
use api::wire::view::{
    ApprovalState, ApprovalView, CallState, CallView, Entry, EntryBody, Patch, SessionView,
};
use std::collections::{HashMap, HashSet};

/// What changed.
#[derive(Debug, Default)]
pub(crate) struct News {
    pub(crate) updates: Vec<Update>,
    /// Requests for a yes that are new, each with its id and digest.
    pub(crate) asks: Vec<(String, String, Ask)>,
    /// Requests that were answered, here or elsewhere, or aren't asked any more.
    pub(crate) closed: Vec<String>,
    /// Calls among the updates that changed a file and ended well: their difference can be looked up now.
    pub(crate) changed: Vec<CallView>,
}

/// What was told.
pub(crate) struct Teller {
    shown: Indexed,
    told: Told,
}

/// What of a view was told.
struct Told {
    /// Answers: text and reasoning.
    answers: HashMap<String, (String, String)>,
    calls: HashMap<String, (CallState, String)>,
    asked: HashSet<String>,
    questions: HashSet<String>,
    plan: Option<u32>,
    mode: Mode,
    /// Entries that end a turn, in order, and those that wait for words or for what became of a call; by key.
    ends: Vec<String>,
    asking: Vec<String>,
    unknown: Vec<String>,
}

impl Teller {
    /// Nothing of the view is news, but what waits for a person.
    pub(crate) fn since(view: SessionView) -> Self {
        let (plan, mode) = (view.plan.as_ref().map(|plan| plan.version), view.mode);
        let (answers, calls, asked, questions) = Default::default();
        let (ends, asking, unknown) = Default::default();
        let mut told = Told { answers, calls, asked, questions, plan, mode, ends, asking, unknown };
        for entry in &view.entries {
            told.note(entry);
            match &entry.body {
                EntryBody::Answer { text, reasoning, .. } => {
                    told.answers.insert(entry.key.clone(), (text.clone(), reasoning.clone()));
                }
                EntryBody::Calls { calls } => {
                    let known = calls.iter().map(|call| (call.id.clone(), (call.state, call.output.clone())));
                    told.calls.extend(known);
                }
                _ => {}
            }
        }
        Self { shown: Indexed::new(view), told }
    }

    pub(crate) fn view(&self) -> &SessionView {
        self.shown.view()
    }

    /// A session from its beginning, as it stands.
    pub(crate) fn whole(view: &SessionView) -> Vec<Update> {
        let mut updates = Vec::new();
        for entry in &view.entries {
            match &entry.body {
                EntryBody::Said { text } => updates.push(Update::Said(text.clone())),
                EntryBody::Answer { text, reasoning, .. } => {
                    updates.extend(more(&entry.key, &mut String::new(), reasoning, |key, text| {
                        Update::Thought { key, text }
                    }));
                    updates.extend(more(&entry.key, &mut String::new(), text, |key, text| Update::Answer {
                        key,
                        text,
                    }));
                }
                EntryBody::Calls { calls } => {
                    let told = |call| Update::Call { call: Call::of(call, Vec::new()), new: true };
                    updates.extend(calls.iter().map(told));
                }
                _ => {}
            }
        }
        updates.extend(view.plan.iter().map(|plan| Update::Plan(plan.items.clone())));
        updates
    }

    /// Takes patches, and says what is news; what they don't touch isn't looked at.
    pub(crate) fn patched(&mut self, seq: u64, patches: &[Patch]) -> News {
        let touched = self.shown.take(seq, patches);
        let view = self.shown.view();
        self.told.news(view, touched.into_iter().filter_map(|place| view.entries.get(place)))
    }

    /// Takes the view as it stands now, and says what is news.
    pub(crate) fn reopened(&mut self, view: SessionView) -> News {
        self.shown = Indexed::new(view);
        for noted in [&mut self.told.ends, &mut self.told.asking, &mut self.told.unknown] {
            noted.clear();
        }
        let view = self.shown.view();
        self.told.news(view, view.entries.iter())
    }

    /// The answer to this request came to nothing: where it is still open, it is news again.
    pub(crate) fn unanswered(&mut self, approval: &str) {
        self.told.asked.remove(approval);
    }

    /// Is this message, which the record has at `seq`, neither read nor waiting any more? Somebody took it back then.
    pub(crate) fn is_taken_back(&self, message: &str, seq: u64) -> bool {
        self.view().seq >= seq
            && !self.view().waiting.iter().any(|waiting| waiting.id == message)
            && self.shown.place(message).is_none()
    }

    /// The open question that wasn't told yet; it is told with this.
    pub(crate) fn question(&mut self) -> Option<String> {
        let entry = self.told.asking.iter().rev().find_map(|key| at(&self.shown, key))?;
        let EntryBody::Question { question: open } = &entry.body else { return None };
        self.told.questions.insert(open.id.clone()).then(|| question(open))
    }

    /// Is there a call that nobody saw the end of?
    pub(crate) fn is_unknown(&self) -> bool {
        self.told.unknown.iter().any(|key| self.shown.place(key).is_some())
    }

    /// How the turn that read this message ended, or the first turn that ended after this place where there is none.
    pub(crate) fn end(&self, message: Option<&str>, place: usize) -> Option<&Entry> {
        let from = match message {
            Some(message) => self.shown.place(message)?,
            None => place,
        };
        let before = |key: &String| self.shown.place(key).is_none_or(|place| place < from);
        let first = self.told.ends.partition_point(before);
        at(&self.shown, self.told.ends.get(first)?)
    }
}

fn at<'a>(shown: &'a Indexed, key: &str) -> Option<&'a Entry> {
    shown.place(key).and_then(|place| shown.view().entries.get(place))
}

impl Told {
    fn news<'a>(&mut self, view: &SessionView, entries: impl Iterator<Item = &'a Entry>) -> News {
        let mut news = News::default();
        for entry in entries {
            self.note(entry);
            match &entry.body {
                EntryBody::Answer { text, reasoning, .. } => {
                    let told = self.answers.entry(entry.key.clone()).or_default();
                    let thought =
                        more(&entry.key, &mut told.1, reasoning, |key, text| Update::Thought { key, text });
                    let answer =
                        more(&entry.key, &mut told.0, text, |key, text| Update::Answer { key, text });
                    news.updates.extend(thought.into_iter().chain(answer));
                }
                EntryBody::Calls { calls } => {
                    calls.iter().for_each(|call| one(call, &mut self.calls, &mut news))
                }
                EntryBody::Approval { approval } => asked(approval, &mut self.asked, &mut news),
                _ => {}
            }
        }
        if let Some(plan) = view.plan.as_ref().filter(|plan| Some(plan.version) != self.plan) {
            self.plan = Some(plan.version);
            news.updates.push(Update::Plan(plan.items.clone()));
        }
        if view.mode != self.mode {
            self.mode = view.mode;
            news.updates.push(Update::Mode(mode_word(self.mode)));
        }
        news
    }

    /// Notes what ends and what is open, so that nobody has to look for it among all that was said.
    fn note(&mut self, entry: &Entry) {
        let (noted, holds) = match &entry.body {
            EntryBody::TurnEnd { .. } => (&mut self.ends, true),
            EntryBody::Question { question } => (&mut self.asking, question.answer.is_none()),
            EntryBody::Unknown { resolution, .. } => (&mut self.unknown, resolution.is_none()),
            _ => return,
        };
        match noted.iter().rposition(|key| *key == entry.key) {
            Some(place) if !holds => drop(noted.remove(place)),
            None if holds => noted.push(entry.key.clone()),
            Some(_) | None => {}
        }
    }
}

fn one(call: &CallView, calls: &mut HashMap<String, (CallState, String)>, news: &mut News) {
    let before = calls.get(&call.id).map(|(state, output)| (*state, output == &call.output));
    if before == Some((call.state, true)) {
        return;
    }
    calls.insert(call.id.clone(), (call.state, call.output.clone()));
    let ended = call.state == CallState::Done && before.is_none_or(|(state, _)| state != CallState::Done);
    if ended && matches!(call.tool.as_str(), "write_file" | "edit_file" | "delete_path") {
        news.changed.push(call.clone());
    }
    news.updates.push(Update::Call { call: Call::of(call, Vec::new()), new: before.is_none() });
}

fn asked(approval: &ApprovalView, known: &mut HashSet<String>, news: &mut News) {
    let open = approval.state == ApprovalState::Open;
    if open && known.insert(approval.id.clone()) {
        news.asks.push((approval.id.clone(), approval.digest.clone(), Ask::of(approval)));
    }
    if !open && known.remove(&approval.id) {
        news.closed.push(approval.id.clone());
    }
}

/// What a text has beyond what was told, which it is then; one that became another is told whole.
fn more(
    key: &str,
    told: &mut String,
    now: &str,
    update: impl Fn(String, String) -> Update,
) -> Option<Update> {
    let rest = now.strip_prefix(told.as_str()).unwrap_or_else(|| {
        told.clear();
        now
    });
    told.push_str(rest);
    (!rest.is_empty()).then(|| update(key.to_owned(), rest.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use api::wire::command::Intent;
    use api::wire::store::Folder;
    use api::wire::view::{Activity, QuestionView, Tokens, WaitingMessage};

    fn view(entries: Vec<Entry>) -> SessionView {
        let (id, name, place) = ("fol_1".to_owned(), "project".to_owned(), "~/project".to_owned());
        SessionView {
            id: "ses_1".to_owned(),
            title: String::new(),
            folder: Folder { id, name, place, exists: true, wide: None },
            added: Vec::new(),
            mode: Mode::Ask,
            model: None,
            effort: None,
            tour: false,
            activity: Activity::Idle,
            seq: 0,
            entries,
            plan: None,
            jobs: Vec::new(),
            waiting: Vec::new(),
            changed_files: 0,
            tokens: Tokens::default(),
            spent: Default::default(),
            read_only: None,
        }
    }

    fn answer(key: &str, text: &str, streaming: bool) -> Entry {
        let (text, reasoning) = (text.to_owned(), String::new());
        Entry { key: key.to_owned(), time: 0, body: EntryBody::Answer { text, reasoning, streaming } }
    }

    fn told(news: &News) -> Vec<&str> {
        let mut told = Vec::new();
        for update in &news.updates {
            if let Update::Answer { text, .. } = update {
                told.push(text.as_str());
            }
        }
        told
    }

    #[test]
    fn what_was_told_is_not_told_again_also_after_the_view_was_opened_again() {
        let mut teller = Teller::since(view(vec![answer("old", "before", false)]));
        let entry = answer("a", "one ", true);
        assert_eq!(told(&teller.patched(1, &[Patch::Entry { entry }])), ["one "]);
        let more = Patch::Text { key: "a".to_owned(), text: "two".to_owned() };
        assert_eq!(told(&teller.patched(2, &[more])), ["two"]);
        let now = vec![answer("old", "before", false), answer("a", "one two three", false)];
        assert_eq!(told(&teller.reopened(view(now.clone()))), [" three"]);
        assert_eq!(told(&teller.reopened(view(now))), Vec::<&str>::new());
    }

    /// A call that nobody saw the end of is settled later, behind what came since; what isn't touched isn't told.
    #[test]
    fn what_changes_is_told_wherever_it_stands_and_nothing_else_is() {
        let call = |id: &str, state| CallView {
            id: id.to_owned(),
            tool: "run_command".to_owned(),
            facts: Default::default(),
            state,
            started: true,
            ms: None,
            added: None,
            removed: None,
            output: String::new(),
            error: None,
            halt: None,
        };
        let calls = |states: &[CallState]| {
            let calls =
                states.iter().enumerate().map(|(n, state)| call(&format!("cal_{n}"), *state)).collect();
            Entry { key: "stp_1".to_owned(), time: 0, body: EntryBody::Calls { calls } }
        };
        let before = vec![calls(&[CallState::Unknown]), answer("a", "since", false)];
        let mut teller = Teller::since(view(before));
        let entry = calls(&[CallState::Unknown, CallState::Running]);
        let news = teller.patched(1, &[Patch::Entry { entry }]);
        let told = |news: &News| {
            let of = |update: &Update| match update {
                Update::Call { call, new } => (call.id.clone(), call.state, *new),
                other => panic!("{other:?}"),
            };
            news.updates.iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(told(&news), [("cal_1".to_owned(), CallState::Running, true)]);
        let text = "more\n".to_owned();
        let news = teller.patched(2, &[Patch::Output { call: "cal_1".to_owned(), text }]);
        assert_eq!(told(&news), [("cal_1".to_owned(), CallState::Running, false)]);
        let news = teller.patched(3, &[Patch::Activity { activity: Activity::Idle }]);
        assert_eq!(told(&news), []);
    }

    #[test]
    fn a_message_that_somebody_took_back_waits_no_more_and_was_not_read() {
        let (id, text, intent) = ("msg_1".to_owned(), "and this".to_owned(), Intent::Steer);
        let waiting = vec![WaitingMessage { id, text, intent, held: false, time: 0 }];
        let mut teller = Teller::since(view(Vec::new()));
        assert!(!teller.is_taken_back("msg_1", 3), "it isn't even there yet");
        teller.patched(3, &[Patch::Waiting { waiting }]);
        assert!(!teller.is_taken_back("msg_1", 3), "it waits");
        let read = Entry { key: "msg_1".to_owned(), time: 0, body: EntryBody::Said { text: String::new() } };
        let mut reading = Teller::since(view(Vec::new()));
        reading.patched(4, &[Patch::Entry { entry: read }]);
        assert!(!reading.is_taken_back("msg_1", 3), "it was read");
        teller.patched(4, &[Patch::Waiting { waiting: Vec::new() }]);
        assert!(teller.is_taken_back("msg_1", 3));
    }

    #[test]
    fn the_end_is_that_of_the_turn_which_read_the_message_and_what_was_answered_is_open_no_more() {
        let entry = |key: &str, body| Entry { key: key.to_owned(), time: 0, body };
        let said = |key: &str| entry(key, EntryBody::Said { text: String::new() });
        let ended = |key: &str, end: &str| {
            entry(key, EntryBody::TurnEnd { end: end.to_owned(), facts: Default::default(), ms: 0 })
        };
        let asked = |answer: Option<&str>| {
            let question = QuestionView {
                id: "q".to_owned(),
                text: "Which?".to_owned(),
                options: Vec::new(),
                free_text: true,
                sensitive: false,
                answer: answer.map(str::to_owned),
            };
            entry("q", EntryBody::Question { question })
        };
        let patch = |entry| Patch::Entry { entry };
        let before = vec![said("old"), ended("turn 1", "failed")];
        let mut teller = Teller::since(view(before));
        let brought = [said("new"), answer("half", "an ans", true), asked(None)].map(patch);
        teller.patched(3, &brought);
        let key = |teller: &Teller, message| teller.end(message, 2).map(|entry| entry.key.clone());
        assert_eq!((key(&teller, Some("new")), key(&teller, None)), (None, None));
        assert_eq!(key(&teller, Some("old")), Some("turn 1".to_owned()));
        assert!(teller.question().is_some_and(|text| text.contains("Which?")));
        assert_eq!(teller.question(), None, "it was told");
        teller.told.questions.clear();
        let gone = Patch::Removed { key: "half".to_owned() };
        teller.patched(5, &[gone, patch(asked(Some("This."))), patch(ended("turn 2", "completed"))]);
        assert_eq!(teller.question(), None, "it was answered");
        assert_eq!(key(&teller, Some("new")), Some("turn 2".to_owned()), "behind what went");
        let now = teller.view().clone();
        teller.reopened(now);
        assert_eq!(key(&teller, Some("new")), Some("turn 2".to_owned()));
        assert_eq!((key(&teller, Some("never")), teller.told.ends.len()), (None, 2));
    }

    #[test]
    fn an_answer_that_was_tried_again_is_told_under_its_own_key() {
        let mut teller = Teller::since(view(Vec::new()));
        teller.patched(1, &[Patch::Entry { entry: answer("first", "half an ans", true) }]);
        let gone = Patch::Removed { key: "first".to_owned() };
        let news = teller.patched(2, &[gone, Patch::Entry { entry: answer("second", "whole", false) }]);
        let key = "second".to_owned();
        assert_eq!(news.updates, [Update::Answer { key, text: "whole".to_owned() }]);
    }
}
