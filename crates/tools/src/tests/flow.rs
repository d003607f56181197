//! The way of a call: reading arguments, checking, visibility, words for the model, running together, ending.

use super::rig::Rig;
use crate::call::Interaction;
use crate::parallel::waves;
use crate::registry::{Lists, RegistryError, Visibility};
use crate::run::{End, error_text};
use crate::tool::{Concurrency, Ctx, Declared, Raw, Tool, Trouble, View};
use crate::{Checked, Cleared, Limits, Registry, Surveyed};
use domain::call::{Facts, Semantics, ToolError};
use futures_util::future::{BoxFuture, FutureExt};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// A tool of any name that ends as told.
struct Fake {
    declared: Declared,
    semantics: Semantics,
    ends: Ends,
}

#[derive(Clone, Copy)]
enum Ends {
    /// At once, with this text.
    With(&'static str),
    /// Only when told to, and says so.
    WhenTold,
    /// Never.
    Never,
}

fn fake(name: &'static str, ends: Ends, semantics: Semantics) -> Arc<dyn Tool> {
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": false});
    let (concurrency, view) = (Concurrency::Parallel, View::Plain);
    let declared =
        Declared { name, version: 1, description: "Fake.", schema, output: json!(true), concurrency, view };
    Arc::new(Fake { declared, semantics, ends })
}

impl Tool for Fake {
    fn declared(&self) -> &Declared {
        &self.declared
    }

    fn survey(&self, call: &Checked, _: &Ctx) -> Result<Surveyed, ToolError> {
        let facts = json!({"act": "read", "can_touch": [], "cannot_touch": [], "undo": "yes", "risk": 1, "exact": call.arguments()});
        Ok(Surveyed { facts: serde_json::from_value(facts).unwrap(), semantics: self.semantics.clone() })
    }

    fn run<'a>(&'a self, _: &'a Cleared, ctx: &'a Ctx) -> BoxFuture<'a, Result<Raw, Trouble>> {
        match self.ends {
            Ends::With(text) => {
                std::future::ready(Ok(Raw { text: text.to_owned(), ..Raw::default() })).boxed()
            }
            Ends::WhenTold => async {
                ctx.cancel.cancelled().await;
                Err(Trouble::Stopped(Raw::default()))
            }
            .boxed(),
            Ends::Never => std::future::pending().boxed(),
        }
    }
}

fn effects() -> Semantics {
    Semantics::Possible { recovery: domain::call::Recovery::Manual }
}

fn rig_of(tools: Vec<Arc<dyn Tool>>) -> Rig {
    let mut rig = Rig::new();
    rig.visible = Registry::new(tools, &Limits::default()).unwrap().visible(&Visibility::default());
    rig
}

#[test]
fn what_the_model_reads_of_the_tools() {
    let rig = Rig::new();
    let specs: Vec<String> = rig
        .visible
        .specs()
        .iter()
        .map(|spec| format!("{}\n  {}\n  {}", spec.name, spec.description, spec.schema["properties"]))
        .collect();
    insta::assert_snapshot!(specs.join("\n"));
    let whole = serde_json::to_string(&rig.visible.specs()).unwrap();
    // About four bytes to a token; the system text needs the rest of the 2,500.
    assert!(whole.len() < 4_800, "{}", whole.len());
    let fields = |spec: &serde_json::Value| spec.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(
        fields(&serde_json::to_value(&rig.visible.specs()[0]).unwrap()),
        ["name", "description", "schema"]
    );
}

#[test]
fn a_name_is_used_once_and_a_schema_is_one() {
    let new = |tools| Registry::new(tools, &Limits::default()).err();
    let plain = |name| fake(name, Ends::Never, Semantics::None { retry: true });
    assert_eq!(
        new(vec![plain("one"), plain("two"), plain("one")]),
        Some(RegistryError::Duplicate("one".into()))
    );
    assert_eq!(new(vec![plain("a.b")]), Some(RegistryError::Name("a.b".into())));
    let declared = Declared { schema: json!({"type": 5}), ..plain("x").declared().clone() };
    let broken = Fake { declared, semantics: effects(), ends: Ends::Never };
    assert!(matches!(new(vec![Arc::new(broken)]), Some(RegistryError::Schema { .. })));
}

#[track_caller]
fn check_visible(
    global: (&[&str], &[&str]),
    mode: (&[&str], &[&str]),
    subagent: (&[&str], &[&str]),
    expect: &[&str],
) {
    let set = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<BTreeSet<_>>();
    let lists = |(allow, deny): (&[&str], &[&str])| Lists {
        allow: (!allow.is_empty()).then(|| set(allow)),
        deny: set(deny),
    };
    let tools = ["a", "b", "c"].map(|name| fake(name, Ends::Never, effects())).to_vec();
    let registry = Registry::new(tools, &Limits::default()).unwrap();
    let layers = Visibility { global: lists(global), mode: lists(mode), subagent: lists(subagent) };
    assert_eq!(registry.visible(&layers).names().collect::<Vec<_>>(), expect);
}

#[test]
fn visibility_is_layered_and_a_denial_stays() {
    check_visible((&[], &[]), (&[], &[]), (&[], &[]), &["a", "b", "c"]);
    check_visible((&["a"], &[]), (&["a", "b"], &[]), (&[], &[]), &["a", "b"]);
    check_visible((&["a", "b"], &[]), (&[], &[]), (&["b", "c"], &[]), &["b"]);
    check_visible((&[], &["a"]), (&["a", "b"], &[]), (&["a", "b"], &[]), &["b"]);
    check_visible((&[], &[]), (&[], &["b"]), (&["b"], &[]), &[]);
}

#[track_caller]
fn check_refused(name: &str, arguments: &str, expect: &str) {
    let error = Rig::new().visible.check(name, arguments).unwrap_err();
    assert_eq!(error_text(&error), expect);
}

#[test]
fn a_bad_call_is_a_result_that_names_every_fault() {
    check_refused(
        "read_file",
        r#"{"offset":"3","lines":4}"#,
        "Error (arguments/invalid): the arguments of read_file don't fit: `lines` isn't known; `offset` must be an integer, not a string; `path` is missing\nIts arguments are: {path: string, offset?: integer, limit?: integer}.",
    );
    check_refused(
        "update_plan",
        r#"{"items":[{"text":"x","status":"maybe"}]}"#,
        "Error (arguments/invalid): the arguments of update_plan don't fit: `items.0.status`: \"maybe\" is not one of \"pending\", \"in_progress\" or \"completed\"\nIts arguments are: {items: array}.",
    );
    check_refused(
        "red_file",
        "{}",
        "Error (tool/unknown): there is no tool called \"red_file\"\nThe tools are: ask_user, delete_path, edit_file, job, list_files, read_file, run_command, search_files, update_plan, write_file.",
    );
    check_refused(
        "list_files",
        r#"{"q""#,
        "Error (arguments/unreadable): the arguments can't be read: not usable as arguments: EOF while parsing an object at line 1 column 4\nSend the call again with one complete JSON object as arguments.",
    );
}

#[test]
fn a_hidden_tool_is_unknown() {
    let registry = Registry::builtin(&Limits::default()).unwrap();
    let deny = BTreeSet::from(["run_command".to_owned()]);
    let visible =
        registry.visible(&Visibility { subagent: Lists { allow: None, deny }, ..Visibility::default() });
    assert_eq!(visible.check("run_command", r#"{"command":"ls"}"#).unwrap_err().code, "tool/unknown");
    assert!(visible.specs().iter().all(|spec| spec.name != "run_command"));
}

#[test]
fn arguments_are_frozen_as_one_canonical_text() {
    let rig = Rig::new();
    let one = rig.visible.check("read_file", r#"{"path":"a","limit":1}"#).unwrap();
    let two =
        rig.visible.check("read_file", "```json\n{ \"limit\": 1, \"path\": \"\\u0061\", }\n```").unwrap();
    assert_eq!((one.arguments(), one.digest()), (two.arguments(), two.digest()));
    assert_eq!(one.arguments(), r#"{"limit":1,"path":"a"}"#);
    assert_ne!(one.digest(), rig.visible.check("read_file", r#"{"path":"b","limit":1}"#).unwrap().digest());
}

#[test]
fn schemas_and_structs_know_the_same_fields() {
    let rig = Rig::new();
    let minimal = |name: &str| match name {
        "update_plan" => json!({"items": []}),
        "ask_user" => json!({"question": "?"}),
        _ => {
            json!({"path": "x", "content": "c", "pattern": "p", "old_text": "a", "new_text": "b", "command": "true"})
        }
    };
    for spec in rig.visible.specs() {
        let known = spec.schema["properties"].as_object().unwrap();
        let given = minimal(&spec.name);
        let mut args: serde_json::Map<_, _> = given
            .as_object()
            .unwrap()
            .clone()
            .into_iter()
            .filter(|(key, _)| known.contains_key(key))
            .collect();
        for (name, field) in known {
            let sample = match field["type"].as_str().unwrap() {
                "integer" => json!(1),
                "boolean" => json!(true),
                "array" => json!([]),
                _ => field["enum"].get(0).cloned().unwrap_or(json!("x")),
            };
            args.entry(name.clone()).or_insert(sample);
        }
        // The struct refuses unknown fields, so a field that only the schema knows fails here.
        let call = rig.check(&spec.name, &json!(args));
        let error = call.survey(&rig.ctx).err().map(|error| error.code);
        assert_ne!(error.as_deref(), Some("arguments/invalid"), "{}", spec.name);
        assert_eq!(spec.schema["additionalProperties"], false);
        // And one that the schema doesn't demand must be one the struct can do without.
        let required = spec.schema["required"].as_array().unwrap();
        args.retain(|name, _| required.contains(&json!(name)));
        let error = rig.check(&spec.name, &json!(args)).survey(&rig.ctx).err().map(|error| error.code);
        assert_ne!(error.as_deref(), Some("arguments/invalid"), "{}", spec.name);
        for name in required.iter().map(|name| name.as_str().unwrap()) {
            let mut less = args.clone();
            less.remove(name);
            let error = rig.visible.check(&spec.name, &json!(less).to_string()).unwrap_err();
            assert!(error.message.contains(&format!("`{name}` is missing")), "{error}");
        }
    }
}

#[test]
fn each_tool_declares_how_it_is_run_and_shown() {
    let rig = Rig::new();
    let lines: Vec<String> = rig
        .visible
        .names()
        .map(|name| {
            let one = rig.visible.declared(name).unwrap();
            format!("{name} v{} {:?} {:?}", one.version, one.concurrency, one.view)
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    ask_user v1 Exclusive Plain
    delete_path v1 Parallel Plain
    edit_file v2 Parallel Diff
    job v1 Parallel Terminal
    list_files v1 Parallel Plain
    read_file v1 Parallel Plain
    run_command v2 Exclusive Terminal
    search_files v1 Parallel Plain
    update_plan v1 Exclusive Plain
    write_file v1 Parallel Diff
    ");
}

/// Name, words, arguments, result, how it is run, for how long at most, and how it is shown: nothing of it is left to guess.
#[test]
fn r_tool_01_each_tool_declares_all_of_it() {
    let rig = Rig::new();
    for name in rig.visible.names() {
        let one = rig.visible.declared(name).unwrap();
        assert!(one.description.len() > 20 && one.version > 0, "{name}");
        for schema in [&one.schema, &one.output] {
            assert!(jsonschema::validator_for(schema).is_ok(), "{name}: {schema}");
        }
        assert!(
            !one.gives(&json!(null)) && !one.gives(&json!({"anything": 1})),
            "{name}: any result would do"
        );
    }
    let read = rig.check("read_file", &json!({"path": "f"}));
    assert_eq!(read.tool.time_ms(&read, &rig.ctx.limits), rig.ctx.limits.tool_ms);
    assert!(rig.visible.declared("job").unwrap().gives(&json!({"job": "job_1", "phase": "running"})));
    assert!(rig.visible.declared("write_file").unwrap().gives(&json!({"path": "f", "found_done": true})));
}

#[test]
fn questions_and_plans_are_requests_to_the_engine() {
    let rig = Rig::new();
    let asked =
        rig.check("ask_user", &json!({"question": "Which?", "options": ["a", "b"], "free_text": false}));
    let Some(Interaction::Ask(question)) = asked.interaction() else { panic!("{asked:?}") };
    assert_eq!((question.text.as_str(), question.options.len(), question.free_text), ("Which?", 2, false));
    let Some(Interaction::Ask(open)) =
        rig.check("ask_user", &json!({"question": "?", "free_text": false})).interaction().cloned()
    else {
        panic!()
    };
    assert!(open.free_text, "without options there must be a way to answer");
    let item = |status: &str| json!({"text": "x", "status": status});
    let plan = rig
        .check("update_plan", &json!({"items": [item("completed"), item("in_progress"), item("pending")]}));
    assert!(matches!(plan.interaction(), Some(Interaction::Plan(items)) if items.len() == 3));
    let two = rig.error("update_plan", json!({"items": [item("in_progress"), item("in_progress")]}));
    assert_eq!(
        error_text(&two),
        "Error (plan/in_progress): 2 items are in_progress, at most one may be\nSend the whole plan again with one item in_progress."
    );
    assert!(rig.check("read_file", &json!({"path": "x"})).interaction().is_none());
    assert!(
        matches!(rig.call("ask_user", json!({"question": "?"})).end, End::Fault(_)),
        "it is answered, not run"
    );
}

#[track_caller]
fn check_waves(calls: &[(&str, serde_json::Value)], expect: &[&[usize]]) {
    let rig = Rig::with(&[("a", b"1"), ("b", b"1"), ("d/x", b"1")]);
    let calls: Vec<(Checked, Facts)> = calls
        .iter()
        .map(|(name, args)| {
            let call = rig.check(name, args);
            let facts = call.survey(&rig.ctx).unwrap().facts;
            (call, facts)
        })
        .collect();
    let calls: Vec<_> = calls.iter().map(|(call, facts)| (call, facts)).collect();
    assert_eq!(waves(&calls, 8), expect);
}

#[test]
fn calls_run_together_only_where_they_do_not_meet() {
    let (read, write) = (
        |path: &str| ("read_file", json!({"path": path})),
        |path: &str| ("write_file", json!({"path": path, "content": "x"})),
    );
    check_waves(&[read("a"), read("a"), ("list_files", json!({}))], &[&[0, 1, 2]]);
    check_waves(&[write("a"), write("b"), read("d/x")], &[&[0, 1, 2]]);
    check_waves(&[write("a"), read("a"), write("b")], &[&[0], &[1, 2]]);
    check_waves(&[write("a"), write("A")], &[&[0], &[1]]);
    check_waves(&[("delete_path", json!({"path": "d"})), read("d/x")], &[&[0], &[1]]);
    check_waves(&[write("a"), ("search_files", json!({"pattern": "x"}))], &[&[0], &[1]]);
    let run = || ("run_command", json!({"command": "true"}));
    check_waves(&[run(), run(), read("a")], &[&[0], &[1], &[2]]);
    check_waves(&vec![read("a"); 10], &[&[0, 1, 2, 3, 4, 5, 6, 7], &[8, 9]]);
}

#[tokio::test(start_paused = true)]
async fn a_stuck_tool_ends_and_only_a_confirmed_stop_is_called_cancelled() {
    use Ends::{Never, WhenTold};
    let none = Semantics::None { retry: true };
    let table = [
        ("told, no effects", WhenTold, none.clone(), false, "call/timeout"),
        ("told, effects", WhenTold, effects(), false, "call/timeout"),
        ("never, no effects", Never, none.clone(), false, "call/timeout"),
        ("never, effects", Never, effects(), false, "call/outcome_unknown"),
        ("cancel, told", WhenTold, effects(), true, "call/cancelled"),
        ("cancel, never, no effects", Never, none, true, "call/cancelled"),
        ("cancel, never, effects", Never, effects(), true, "call/outcome_unknown"),
    ];
    for (case, ends, semantics, cancel, code) in table {
        let rig = rig_of(vec![fake("fake", ends, semantics)]);
        let call = rig.check("fake", &json!({}));
        let cleared = crate::clear(&call, call.survey(&rig.ctx).unwrap(), &rig.policy(), None, 0).unwrap();
        if cancel {
            let token = rig.ctx.cancel.clone();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                token.cancel();
            });
        }
        let finished = crate::run(cleared, &rig.ctx).await;
        assert!(finished.text.starts_with(&format!("Error ({code})")), "{case}: {}", finished.text);
        assert_eq!(finished.value["error"]["code"], code, "{case}");
        assert_eq!(matches!(finished.end, End::Unknown(_)), code == "call/outcome_unknown", "{case}");
        assert_eq!(finished.end == End::Cancelled, code == "call/cancelled", "{case}");
    }
}

#[test]
fn a_call_cancelled_before_it_ran_did_nothing() {
    let rig = Rig::new();
    rig.ctx.cancel.cancel();
    let finished = rig.call("write_file", json!({"path": "a", "content": "x"}));
    assert_eq!((finished.end, rig.names().len()), (End::Cancelled, 0));
}

#[test]
fn any_result_is_bounded_and_the_whole_is_kept() {
    let text: &'static str = "0123456789".repeat(20_000).leak();
    let rig = rig_of(vec![fake("fake", Ends::With(text), effects())]);
    let finished = rig.call("fake", json!({}));
    assert!(finished.text.len() < 66 << 10 && finished.text.contains("[… 134464 bytes left out …]"));
    assert_eq!(rig.ctx.blobs.get(&finished.blobs[0]).unwrap(), text.as_bytes());
}

#[test]
fn a_huge_value_becomes_a_blob() {
    let mut rig = Rig::new();
    for n in 0..40 {
        rig.put(&format!("{}/{n}", vec!["long-name-".repeat(20); 10].join("/")), b"");
    }
    assert!(rig.call("list_files", json!({})).value["value"]["entries"].is_array());
    rig.limits(|limits| limits.value_bytes = 10_000);
    let finished = rig.call("list_files", json!({}));
    let kept = rig.ctx.blobs.get(&finished.blobs[0]).unwrap();
    let kept: serde_json::Value = serde_json::from_slice(&kept).unwrap();
    assert_eq!(kept["entries"].as_array().unwrap().len(), 50);
    assert_eq!(finished.value["value"]["blob"], json!(finished.blobs[0]));
}

#[test]
fn i16_secrets_stand_in_no_result() {
    let mut rig = Rig::with(&[("k.conf", b"KEY=hunter2hunter2\n")]);
    rig.secrets(&["hunter2hunter2"]);
    let read = rig.call("read_file", json!({"path": "k.conf"}));
    assert_eq!(read.text, "KEY=[secret removed]\n");
    assert!(!read.value.to_string().contains("hunter2"));
    let wrong = json!({"path": "k.conf", "old_text": "KEY=hunter2hunter3", "new_text": "x"});
    let near = rig.error("edit_file", wrong);
    assert!(near.suggestion.is_some_and(|text| text.contains("KEY=[secret removed]")));
    let run = rig.call(
        "run_command",
        json!({"command": "cat k.conf; base64 k.conf; printf 'hunter2\\033[0mhunter2'"}),
    );
    assert!(!run.text.contains("hunter2hunter2") && !run.value.to_string().contains("hunter2hunter2"));
    let kept = rig.ctx.blobs.get(&run.blobs[0]).unwrap();
    assert!(!String::from_utf8(kept).unwrap().contains("hunter2hunter2"), "the kept output has none either");
}

#[test]
fn results_have_one_shape() {
    let rig = Rig::with(&[("a", b"x")]);
    let good = rig.call("read_file", json!({"path": "a"}));
    assert_eq!((good.value["ok"].clone(), good.value["value"]["lines"].clone()), (json!(true), json!(1)));
    let bad = rig.call("read_file", json!({"path": "b"}));
    assert_eq!(bad.value["ok"], false);
    assert_eq!(bad.value["error"]["code"], "file/not_found");
    assert!(bad.value["error"]["message"].is_string() && bad.value["error"]["suggestion"].is_string());
    assert!(!bad.text.contains(rig.outside.path().to_str().unwrap()), "no path of this machine");
}
