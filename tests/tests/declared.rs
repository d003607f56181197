//! What calls give back is what their tools declare, whoever answers them: the tool, the engine, the person.

use crate::play::{Play, read, run, text, write};
use domain::call::Mode;
use domain::event::{CheckedCall, Fact, ToolOutcome};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use tests::Rig;

fn call(name: &str, arguments: Value) -> String {
    json!({"call": {"name": name, "arguments": arguments}}).to_string()
}

#[tokio::test(start_paused = true)]
async fn r_tool_01_each_good_result_is_what_its_tool_declares() {
    let edit = json!({"path": "new.txt", "old_text": "one", "new_text": "two"});
    let answers = [
        call("update_plan", json!({"items": [{"text": "All of it", "status": "completed"}]})),
        call("ask_user", json!({"question": "Which?", "options": ["This", "That"]})),
        call("list_files", json!({})),
        read("notes.txt"),
        call("search_files", json!({"pattern": "two"})),
        write("new.txt", "one"),
        call("edit_file", edit),
        call("delete_path", json!({"path": "new.txt"})),
        run("note made"),
        call("run_command", json!({"command": "note more", "background": true})),
        call("job", json!({"action": "status", "id": "JOB"})),
        text("Done."),
    ];
    let mut rig = Rig::new(&crate::play::script(&answers.each_ref().map(String::as_str)));
    rig.mode = Mode::Edit;
    let tools = tools::Registry::builtin(&tools::Limits::default()).expect("tools");
    let tools = tools.visible(&tools::Visibility::default());
    let play = Play::on(rig).await;
    play.through("Do all of it.").await;
    let (mut names, mut good) = (BTreeMap::new(), BTreeSet::new());
    for fact in play.facts() {
        match fact {
            Fact::ToolCall(e) => {
                assert!(matches!(e.checked, CheckedCall::Good { .. }), "{e:?}");
                names.insert(e.call, e.name);
            }
            Fact::ToolResult(e) => {
                let name = &names[&e.call];
                if let ToolOutcome::Ok { value } = e.outcome {
                    // As the record has it, and without the pipeline's envelope.
                    let value = value.get("value").cloned().unwrap_or(value);
                    let declared = tools.declared(name).expect("a tool");
                    assert!(declared.gives(&value), "{name}: {value}");
                    good.insert(name.clone());
                }
            }
            _ => {}
        }
    }
    let all: BTreeSet<String> = tools.names().map(str::to_owned).collect();
    // Of a job that nobody made there is nothing to tell.
    assert_eq!(all.difference(&good).collect::<Vec<_>>(), ["job"], "{:?}", play.kinds());
}
