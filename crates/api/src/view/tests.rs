//! Scripted event sequences, folded: what a client sees, in one line an entry.

mod added;
mod history;
mod jobs;
mod money;
mod returned;
mod stopped;
mod switched;

use super::*;
use crate::wire::store::AddedFolder;
use crate::wire::view::{CallState, CallView, Halt};
use domain::call::{Act, Effect, Entry, Facts, LineCount, Question, Recovery, Semantics, ToolError, Undo};
use domain::event::*;
use domain::ids::*;
use domain::model::{Answered, Block, ErrorClass, ModelDelta, ModelError, ModelSnapshot, StopReason, Usage};
use engine::Live;
use proptest::prelude::*;

/// Blobs by content.
#[derive(Default)]
struct Blobs(HashMap<Digest, Vec<u8>>);

impl Shelf for Blobs {
    fn blob(&self, digest: &Digest) -> Option<Vec<u8>> {
        self.0.get(digest).cloned()
    }

    fn folder(&self, id: &FolderId, root: &str) -> Folder {
        Folder { id: id.to_string(), name: "bakery".into(), place: root.into(), exists: true, wide: None }
    }

    fn added(&self, id: &FolderId, added: &Added) -> AddedFolder {
        let (name, place) = (added.name.clone(), added.path.clone());
        AddedFolder { id: id.to_string(), name, place, state: "here".into() }
    }
}

fn session() -> SessionId {
    SessionId::from_bits(1)
}

/// Facts become events of one session, one second apart.
fn events(facts: Vec<Fact>) -> Vec<Event> {
    let recorded = |(seq, fact): (usize, Fact)| {
        let seq = seq as u64;
        let envelope = Recorded {
            session: session(),
            pos: seq,
            seq,
            kind: fact.kind().name.to_owned(),
            version: 1,
            time: 1_000 + seq * 1_000,
            epoch: 1,
            turn: Some(TurnId::from_bits(1)),
            step: Some(StepId::from_bits(1)),
            ignorable: false,
            sources: vec![],
            prev_hash: Digest::ZERO,
            hash: Digest::ZERO,
            payload: Payload::Erased(Digest::ZERO),
        };
        Event { envelope, fact: Some(fact) }
    };
    facts.into_iter().enumerate().map(recorded).collect()
}

fn begin() -> Vec<Fact> {
    let model = ModelSnapshot {
        provider: "ollama".into(),
        dialect: "openai-chat".into(),
        model: "m".into(),
        context_tokens: None,
        max_output_tokens: 100,
        parallel_calls: true,
        calls_as_text: false,
        abilities: Default::default(),
        effort: None,
        price: None,
    };
    let (turn, step, message) = (TurnId::from_bits(1), StepId::from_bits(1), MessageId::from_bits(1));
    let text = "tidy the menu".to_owned();
    vec![
        SessionCreated {
            folder: FolderId::from_bits(1),
            root: "/home/ada/bakery".into(),
            mode: domain::call::Mode::Ask,
            model: Some(event::ModelChoice { provider: "ollama".into(), model: "m".into() }),
            tour: false,
            identity: None,
        }
        .into(),
        InboxPosted {
            message: message.clone(),
            text: text.clone(),
            target: Target::NextStep,
            wakeup: true,
            origin: Origin::User,
            command: None,
        }
        .into(),
        SessionRenamed { title: text.clone() }.into(),
        TurnStart { turn, source: Source::Message { message: message.clone() } }.into(),
        StepStart { step: step.clone(), n: 1, model }.into(),
        InboxReserved { messages: vec![message.clone()], step }.into(),
        UserMessage { message, text }.into(),
    ]
}

fn attempt(n: u128) -> AttemptId {
    AttemptId::from_bits(n)
}

fn start(n: u32) -> Fact {
    AttemptStart { attempt: attempt(n.into()), n, body: Digest::ZERO, purpose: Purpose::Answer }.into()
}

fn say(n: u128, text: &str) -> Fact {
    AssistantDelta { attempt: attempt(n), deltas: vec![ModelDelta::Text { text: text.into() }] }.into()
}

fn accepted(n: u128, words: &str) -> Vec<Fact> {
    let tokens = Usage { input: 900, output: 40, cache_read: 100, cache_write: 0 };
    let (blocks, settled) = (vec![Block::Text { text: words.into() }], Settled::Reported { tokens });
    vec![
        AssistantAccepted { attempt: attempt(n), blocks, stop: StopReason::Stop }.into(),
        AttemptEnd { attempt: attempt(n), end: AttemptEndKind::Accepted, settled, raw: None }.into(),
    ]
}

fn call(n: u128, name: &str, arguments: &str) -> Fact {
    let digest = Digest::of(arguments.as_bytes());
    let checked = CheckedCall::Good { version: 1, arguments: arguments.into(), digest, mended: false };
    let (call, index) = (CallId::from_bits(n), u32::try_from(n).unwrap() - 1);
    let (provider_call_id, name) = (format!("p{n}"), name.to_owned());
    ToolCall { call, index, provider_call_id, name, checked, retry_of: None }.into()
}

fn call_start(n: u128) -> Fact {
    let semantics = Semantics::Possible { recovery: Recovery::Manual };
    ToolStart {
        call: CallId::from_bits(n),
        arguments: Digest::ZERO,
        semantics,
        tree: None,
        secrets: Vec::new(),
    }
    .into()
}

fn output(n: u128, text: &str) -> Fact {
    ToolOutput { call: CallId::from_bits(n), text: text.into() }.into()
}

fn ok(n: u128, text: &str, value: serde_json::Value, effects: Vec<Effect>) -> Fact {
    let (kept, seen, outcome) = (BTreeMap::new(), BTreeMap::new(), ToolOutcome::Ok { value });
    ToolResult {
        call: CallId::from_bits(n),
        outcome,
        text: text.into(),
        changed: Changed { effects, ..Changed::default() },
        kept,
        seen,
        ms: 42,
    }
    .into()
}

fn requested(of: u128, facts: Facts) -> Fact {
    let (tool, version, digest) = ("edit_file".into(), 1, Digest::of(b"shown"));
    let (approval, call) = (ApprovalId::from_bits(1), CallId::from_bits(of));
    ApprovalRequested {
        approval,
        call,
        tool,
        version,
        arguments: Digest::ZERO,
        facts,
        digest,
        valid_ms: 1,
        offers: Vec::new(),
    }
    .into()
}

fn folded(facts: Vec<Fact>, shelf: &Blobs) -> Fold {
    let mut fold = Fold::new(&session());
    for event in events(facts) {
        fold.event(&event, shelf);
    }
    fold
}

/// One line an entry.
fn drawn(view: &SessionView) -> String {
    let (title, activity, tokens) = (&view.title, &view.activity, view.tokens);
    let (input, cached, output) = (tokens.input, tokens.cached, tokens.output);
    let mut lines =
        vec![format!("{title:?} {activity:?} {input}/{cached}/{output} changed {}", view.changed_files)];
    lines.extend(view.entries.iter().map(|entry| {
        let body = match &entry.body {
            EntryBody::Approval { approval: a } => format!(
                "asks {} {} can {:?} cannot {:?} risk {} undo {} exact {:?} says {:?} diff {} {:?}",
                a.tool,
                a.act,
                a.can_touch,
                a.cannot_touch,
                a.risk,
                a.undo,
                a.exact,
                a.model_says,
                a.diff.is_some(),
                a.state
            ),
            EntryBody::Calls { calls } => calls.iter().map(call_drawn).collect::<Vec<_>>().join(" | "),
            other => format!("{other:?}"),
        };
        format!("{} {body}", entry.key.replace(&"0".repeat(31), "*"))
    }));
    lines.join("\n")
}

fn call_drawn(call: &CallView) -> String {
    let (added, removed) = (call.added, call.removed);
    format!(
        "{} {:?} {:?} {:?} ms +{added:?} -{removed:?} {:?} {:?}",
        call.tool, call.facts, call.state, call.ms, call.output, call.error
    )
}

fn work() -> Vec<Fact> {
    let mut facts = begin();
    facts.extend([start(1), say(1, "I'll "), say(1, "look.")]);
    facts.extend(accepted(1, "I'll look."));
    facts.extend([
        call(1, "read_file", r#"{"path":"menu.md"}"#),
        call(2, "run_command", r#"{"command":"wc -l menu.md"}"#),
        call_start(1),
        ok(1, "12 lines", serde_json::json!({"lines": 12}), vec![]),
        call_start(2),
        output(2, "12 menu.md\n"),
        ok(2, "12 menu.md\n[exit code 0]", serde_json::json!({"exit_code": 0}), vec![]),
        TurnEnd { end: End::Completed }.into(),
    ]);
    facts
}

#[test]
fn r_cli_07_a_turn_is_redrawn_from_the_log_alone() {
    insta::assert_snapshot!(drawn(folded(work(), &Blobs::default()).view()), @r#"
    "tidy the menu" Idle 1000/100/40 changed 0
    msg_*1 Said { text: "tidy the menu" }
    att_*1 Answer { text: "I'll look.", reasoning: "", streaming: false }
    stp_*1 read_file {"path": "menu.md"} Done Some(42) ms +None -None "12 lines" None | run_command {"command": "wc -l menu.md", "exit_code": "0"} Done Some(42) ms +None -None "12 menu.md\n[exit code 0]" None
    trn_*1 TurnEnd { end: "completed", facts: {}, ms: 16000 }
    "#);
}

fn edit_facts(old: &[u8], new: &[u8], exact: &str) -> Facts {
    Facts {
        act: Act::Edit,
        can_touch: vec!["menu.md".into()],
        cannot_touch: vec!["outside_folder".into(), "network".into()],
        added: Vec::new(),
        reach: Vec::new(),
        undo: Undo::Yes,
        risk: 2,
        exact: exact.into(),
        words: BTreeMap::from([("path".into(), "menu.md".into())]),
        depends_on: BTreeMap::from([("menu.md".into(), Digest::of(old))]),
        proposed: Some(Digest::of(new)),
    }
}

#[test]
fn an_approval_shows_the_engines_facts_and_the_difference_from_the_record() {
    let (old, new): (&[u8], &[u8]) = (b"one\nbnu\n", b"one\nbun\n");
    let shelf = Blobs([old, new].iter().map(|bytes| (Digest::of(bytes), bytes.to_vec())).collect());
    let mut facts = begin();
    facts.push(start(1));
    facts.extend(accepted(1, "It is misspelt."));
    facts.extend([
        call(1, "edit_file", r#"{"path":"menu.md","old_text":"bnu","new_text":"bun"}"#),
        requested(1, edit_facts(old, new, "menu.md")),
    ]);
    let asked = folded(facts.clone(), &shelf);
    insta::assert_snapshot!(drawn(asked.view()), @r#"
    "tidy the menu" NeedsYou { count: 1 } 1000/100/40 changed 0
    msg_*1 Said { text: "tidy the menu" }
    att_*1 Answer { text: "It is misspelt.", reasoning: "", streaming: false }
    stp_*1 edit_file {"path": "menu.md"} Waiting None ms +None -None "" None
    apr_*1 asks edit_file edit can ["menu.md"] cannot ["outside_folder", "network"] risk 2 undo yes exact "@@ -1,2 +1,2 @@\n one\n-bnu\n+bun\n" says Some("It is misspelt.") diff true Open
    "#);
    let EntryBody::Approval { approval } = &asked.view().entries.last().unwrap().body else { panic!() };
    let diff = approval.diff.as_ref().unwrap();
    let words = |line: &crate::wire::store::DiffLine| {
        line.spans.iter().map(|span| span.text.as_str()).collect::<String>()
    };
    let lines: Vec<String> =
        diff.hunks[0].lines.iter().map(|line| format!("{} {}", line.kind, words(line))).collect();
    assert_eq!(lines, ["same one", "removed bnu", "added bun"]);

    let effect = Effect {
        path: "menu.md".into(),
        before: Some(Entry::File { content: Digest::of(old), bytes: old.len() as u64, mode: None }),
        after: Some(Entry::File { content: Digest::of(new), bytes: new.len() as u64, mode: None }),
        lines: Some(LineCount { added: 1, removed: 1 }),
        kept_in: None,
        parted: None,
    };
    facts.extend([
        ApprovalGranted { approval: ApprovalId::from_bits(1), digest: Digest::of(b"shown") }.into(),
        call_start(1),
        ok(1, "Changed menu.md", serde_json::Value::Null, vec![effect]),
    ]);
    insta::assert_snapshot!(drawn(folded(facts, &shelf).view()), @r#"
    "tidy the menu" Working { since: 4000 } 1000/100/40 changed 1
    msg_*1 Said { text: "tidy the menu" }
    att_*1 Answer { text: "It is misspelt.", reasoning: "", streaming: false }
    stp_*1 edit_file {"path": "menu.md"} Done Some(42) ms +Some(1) -Some(1) "Changed menu.md" None
    apr_*1 asks edit_file edit can ["menu.md"] cannot ["outside_folder", "network"] risk 2 undo yes exact "@@ -1,2 +1,2 @@\n one\n-bnu\n+bun\n" says Some("It is misspelt.") diff true Granted
    "#);
}

#[test]
fn a20_hidden_and_look_alike_characters_are_written_out_and_flagged() {
    let mut facts = begin();
    let exact = "echo \u{202e}txt; c\u{430}\u{200b}t";
    facts.extend([
        call(1, "run_command", "{\"command\":\"echo \u{202e}txt\"}"),
        requested(1, Facts { proposed: None, act: Act::Run, ..edit_facts(b"", b"", exact) }),
    ]);
    let fold = folded(facts, &Blobs::default());
    let EntryBody::Approval { approval } = &fold.view().entries.last().unwrap().body else { panic!() };
    assert!(approval.suspicious);
    assert_eq!(approval.exact, "echo ⟨U+202E⟩txt; c⟨U+0430⟩⟨U+200B⟩t");
    let EntryBody::Calls { calls } = &fold.view().entries[1].body else { panic!() };
    assert_eq!(calls[0].facts["command"], "echo ⟨U+202E⟩txt");
}

#[test]
fn a21_exactly_what_is_written_is_shown_or_nothing_is() {
    #[track_caller]
    fn check(old: &[u8], new: &[u8], kept: &[&[u8]], expect: (&str, bool, bool)) {
        let shelf = Blobs(kept.iter().map(|bytes| (Digest::of(bytes), bytes.to_vec())).collect());
        let mut asked = edit_facts(old, new, "menu.md");
        if old.is_empty() {
            asked.depends_on.clear();
        }
        let mut facts = begin();
        facts.extend([call(1, "write_file", r#"{"path":"menu.md"}"#), requested(1, asked)]);
        let fold = folded(facts, &shelf);
        let EntryBody::Approval { approval } = &fold.view().entries.last().unwrap().body else { panic!() };
        assert_eq!((approval.exact.as_str(), approval.unshown, approval.suspicious), expect);
    }
    let (old, new, hides): (&[u8], &[u8], &[u8]) = (b"a\nb\n", b"a\nc\n", "c\u{430}t\u{202e}\n".as_bytes());
    check(b"", new, &[new], ("a\nc\n", false, false));
    check(old, new, &[old, new], ("@@ -1,2 +1,2 @@\n a\n-b\n+c\n", false, false));
    check(b"", hides, &[hides], ("c⟨U+0430⟩t⟨U+202E⟩\n", false, true));
    // A content that can't be had, is no text, or is too long to be looked at.
    check(old, new, &[old], ("", true, false));
    check(old, new, &[new], ("", true, false));
    check(b"", b"\xff\xfe\x00\xd8\x01", &[b"\xff\xfe\x00\xd8\x01"], ("", true, false));
    let long = vec![b'x'; 3 << 20];
    check(b"", &long, &[&long], ("", true, false));
}

#[test]
fn r_cli_08_every_end_says_why_and_by_whom() {
    let answered =
        Answered { status: Some(404), address: Some("http://a/v1".into()), quoted: true, certificate: None };
    let ends = [
        End::Completed,
        End::Cancelled { by: CancelBy::User },
        End::Cancelled { by: CancelBy::Shutdown },
        End::Rejected,
        End::failed("network", "couldn’t connect"),
        End::Failed { code: "not_found".into(), message: "no such model".into(), answered },
        End::Length,
        End::Blocked { why: "outcome_unknown".into() },
        End::limit("steps", 100),
    ];
    let shown = ends.map(|end| {
        let mut facts = begin();
        facts.push(TurnEnd { end }.into());
        let fold = folded(facts, &Blobs::default());
        match &fold.view().entries.last().unwrap().body {
            EntryBody::TurnEnd { end, facts, ms } => format!("{end} {facts:?} {ms}"),
            other => panic!("{other:?}"),
        }
    });
    insta::assert_snapshot!(shown.join("\n"), @r#"
    completed {} 4000
    cancelled {"by": "user"} 4000
    cancelled {"by": "shutdown"} 4000
    rejected {} 4000
    failed {"class": "network", "message": "couldn’t connect", "provider": "ollama"} 4000
    failed {"address": "http://a/v1", "class": "not_found", "provider": "ollama", "said": "no such model", "status": "404"} 4000
    length {} 4000
    blocked {"why": "outcome_unknown"} 4000
    limit {"limit": "steps", "value": "100"} 4000
    "#);
}

#[test]
fn questions_and_unknown_outcomes_wait_until_they_are_settled() {
    let mut facts = begin();
    facts.push(start(1));
    facts.extend(accepted(1, "Let me ask."));
    let body = Question {
        text: "Which price?".into(),
        options: vec!["5".into()],
        free_text: true,
        sensitive: false,
    };
    let (question, call_id) = (QuestionId::from_bits(1), CallId::from_bits(1));
    let evidence = BTreeMap::from([("reason".to_owned(), "crash".to_owned())]);
    facts.extend([
        call(1, "ask_user", r#"{"question":"Which price?"}"#),
        call(2, "run_command", r#"{"command":"make"}"#),
        call_start(1),
        QuestionAsked { question: question.clone(), call: call_id, body }.into(),
        call_start(2),
        ToolOutcomeUnknown {
            call: CallId::from_bits(2),
            evidence,
            text: "unknown".into(),
            changed: Changed::default(),
        }
        .into(),
    ]);
    insta::assert_snapshot!(drawn(folded(facts.clone(), &Blobs::default()).view()), @r#"
    "tidy the menu" NeedsYou { count: 2 } 1000/100/40 changed 0
    msg_*1 Said { text: "tidy the menu" }
    att_*1 Answer { text: "Let me ask.", reasoning: "", streaming: false }
    stp_*1 ask_user {"question": "Which price?"} Waiting None ms +None -None "" None | run_command {"command": "make"} Unknown None ms +None -None "" None
    que_*1 Question { question: QuestionView { id: "que_00000000000000000000000000000001", text: "Which price?", options: ["5"], free_text: true, sensitive: false, answer: None } }
    unknown_cal_*2 Unknown { call: CallView { id: "cal_00000000000000000000000000000002", tool: "run_command", facts: {"command": "make"}, state: Unknown, started: true, ms: None, added: None, removed: None, output: "", error: None, halt: None }, evidence: {"reason": "crash"}, resolution: None }
    "#);
    facts.extend([
        QuestionAnswered { question, answer: "5".into() }.into(),
        ok(1, "5", serde_json::Value::Null, vec![]),
        CallResolved { call: CallId::from_bits(2), resolution: Resolution::Skip }.into(),
    ]);
    insta::assert_snapshot!(drawn(folded(facts, &Blobs::default()).view()), @r#"
    "tidy the menu" Working { since: 4000 } 1000/100/40 changed 0
    msg_*1 Said { text: "tidy the menu" }
    att_*1 Answer { text: "Let me ask.", reasoning: "", streaming: false }
    stp_*1 ask_user {"question": "Which price?"} Done Some(42) ms +None -None "5" None | run_command {"command": "make"} Unknown None ms +None -None "" None
    que_*1 Question { question: QuestionView { id: "que_00000000000000000000000000000001", text: "Which price?", options: ["5"], free_text: true, sensitive: false, answer: Some("5") } }
    unknown_cal_*2 Unknown { call: CallView { id: "cal_00000000000000000000000000000002", tool: "run_command", facts: {"command": "make"}, state: Unknown, started: true, ms: None, added: None, removed: None, output: "", error: None, halt: None }, evidence: {"reason": "crash"}, resolution: Some(Skip) }
    "#);
}

#[test]
fn a81_denied_and_bad_calls_say_why_and_names_are_made_harmless() {
    let mut facts = begin();
    let error = ToolError { code: "arguments/invalid".into(), message: "no path".into(), suggestion: None };
    let timed_out = ToolError {
        code: "call/timeout".into(),
        message: "stopped after 1 s".into(),
        suggestion: Some("Do less in one call.".into()),
    };
    let printed = format!("{}\n\ny\ny\n", engine::show::error_text(&timed_out));
    let Fact::ToolResult(late) = ok(3, &printed, serde_json::Value::Null, vec![]) else { panic!() };
    let late = ToolResult { outcome: ToolOutcome::Error { error: timed_out }, ..late };
    let bad = ToolCall {
        call: CallId::from_bits(1),
        index: 0,
        provider_call_id: "p".into(),
        name: format!("read\u{202e}{}", "x".repeat(1 << 20)),
        checked: CheckedCall::Bad { error },
        retry_of: None,
    };
    facts.extend([
        bad.into(),
        call(2, "write_file", r#"{"path":"a","content":"long content"}"#),
        ToolDenied { call: CallId::from_bits(2), by: "policy".into(), text: "plan only".into() }.into(),
        call(3, "run_command", r#"{"command":"yes"}"#),
        call_start(3),
        late.into(),
    ]);
    let fold = folded(facts, &Blobs::default());
    let EntryBody::Calls { calls } = &fold.view().entries[1].body else { panic!() };
    assert!(calls[0].tool.starts_with("read⟨U+202E⟩x") && calls[0].tool.chars().count() <= 401);
    assert_eq!(calls[0].error.as_deref(), Some("arguments/invalid"));
    let (state, halt) = (calls[1].state, calls[1].halt.clone());
    assert_eq!((state, halt), (CallState::Denied, Some(Halt::Rule { rule: String::new() })));
    assert_eq!((calls[2].error.as_deref(), calls[2].output.as_str()), (Some("call/timeout"), "y\ny\n"));
    let shown = format!("{calls:?}");
    assert!(
        !shown.contains("no path") && !shown.contains("plan only") && !shown.contains("Do less"),
        "{shown}"
    );
    assert_eq!(calls[1].facts, BTreeMap::from([("path".to_owned(), "a".to_owned())]));
}

#[test]
fn outputs_are_bounded_as_the_page_bounds_them() {
    type Pieces = Vec<(String, usize)>;
    let cases: Vec<(Pieces, Pieces)> =
        serde_json::from_str(include_str!("../../../../ui/src/protocol/output.cases.json")).unwrap();
    let repeated = |(text, times): &(String, usize)| text.repeat(*times);
    for (pieces, shown) in cases {
        let mut facts = begin();
        facts.extend([call(1, "run_command", r#"{"command":"yes"}"#), call_start(1)]);
        facts.extend(pieces.iter().map(|piece| output(1, &repeated(piece))));
        let fold = folded(facts, &Blobs::default());
        let EntryBody::Calls { calls } = &fold.view().entries[1].body else { panic!() };
        assert_eq!(calls[0].output, shown.iter().map(repeated).collect::<String>());
    }
}

/// A text in logged batches of three pieces, and the live pieces of the same stream with their places.
fn streamed(pieces: &[String]) -> (Vec<Fact>, Vec<Live>) {
    let (mut live, mut at) = (Vec::new(), 0);
    for piece in pieces {
        let delta = ModelDelta::Text { text: piece.clone() };
        live.push(Live::Delta { session: session(), attempt: attempt(1), at, delta });
        at += piece.len();
    }
    (pieces.chunks(3).map(|batch| say(1, &batch.concat())).collect(), live)
}

fn answer_of(view: &SessionView) -> Option<&str> {
    view.entries.iter().find_map(|entry| match &entry.body {
        EntryBody::Answer { text, .. } => Some(text.as_str()),
        _ => None,
    })
}

proptest! {
    #[test]
    fn i17_patches_carry_any_earlier_view_to_that_of_the_whole_log(cut in 0usize..40, frame in 1usize..9) {
        let shelf = Blobs::default();
        let all = events(work());
        let cut = cut.min(all.len());
        let mut fold = Fold::new(&session());
        for event in &all[..cut] {
            fold.event(event, &shelf);
        }
        let mut client = fold.view().clone();
        for events in all[cut..].chunks(frame) {
            let patches: Vec<Patch> = events.iter().flat_map(|event| fold.event(event, &shelf)).collect();
            client = apply(client, &joined(patches));
        }
        let whole = folded(work(), &shelf);
        prop_assert_eq!(whole.view(), fold.view());
        // What a session is born with and its number come with the opening, not as patches.
        client.seq = whole.view().seq;
        client.folder = whole.view().folder.clone();
        prop_assert_eq!(&client, whole.view());
    }

    #[test]
    fn r_cli_03_live_and_logged_pieces_become_one_text_in_any_interleaving(
        pieces in prop::collection::vec("[a-z 你好é]{1,6}", 1..24),
        order in prop::collection::vec(any::<bool>(), 60),
        from in 0usize..12,
    ) {
        let shelf = Blobs::default();
        let whole = pieces.concat();
        let (logged, live) = streamed(&pieces);
        let mut facts = begin();
        facts.push(start(1));
        let before = facts.len();
        facts.extend(logged);
        let all = events(facts);
        let mut fold = Fold::new(&session());
        all[..before].iter().for_each(|event| drop(fold.event(event, &shelf)));
        let mut client = fold.view().clone();
        // Some live pieces at the beginning are missed, as by one who joins late.
        let mut live = live.into_iter().skip(from);
        let mut logged = all[before..].iter();
        for take_live in order {
            let patches = match take_live {
                true => live.next().map(|piece| fold.live(&piece)),
                false => logged.next().map(|event| fold.event(event, &shelf)),
            };
            client = apply(client, &patches.unwrap_or_default());
            let so_far = answer_of(&client).unwrap_or_default();
            prop_assert!(whole.starts_with(so_far), "{so_far:?} of {whole:?}");
        }
        for event in logged {
            client = apply(client, &fold.event(event, &shelf));
        }
        prop_assert_eq!(answer_of(&client), Some(whole.as_str()));
    }
}
