//! An editor at `daybook acp`: the official library's client, from outside.

use crate::rig::{Rig, call, payloads, text, wait_for};
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CancelNotification, ContentBlock, InitializeRequest, LoadSessionRequest, NewSessionRequest,
    PromptRequest, RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    SelectedPermissionOutcome, SessionId, SessionNotification, SessionUpdate, SetSessionModeRequest,
    StopReason, ToolCallContent, ToolCallStatus,
};
use agent_client_protocol::{Agent, ByteStreams, Client, Error, on_receive_notification, on_receive_request};
use serde_json::json;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio_util::compat::{TokioAsyncReadCompatExt as _, TokioAsyncWriteCompatExt as _};

type To = ConnectionTo<Agent>;

/// What the editor's person saw.
#[derive(Clone, Default)]
struct Seen {
    updates: Arc<Mutex<Vec<SessionUpdate>>>,
    asked: Arc<Mutex<Vec<RequestPermissionRequest>>>,
}

impl Seen {
    /// All that the model said, in one piece.
    fn answer(&self) -> String {
        let said = |update: &SessionUpdate| match update {
            SessionUpdate::AgentMessageChunk(chunk) => match &chunk.content {
                ContentBlock::Text(text) => Some(text.text.clone()),
                _ => None,
            },
            _ => None,
        };
        self.updates.lock().expect("whole").iter().filter_map(said).collect()
    }

    /// Somebody is asked.
    #[cfg(unix)]
    async fn until_asked(&self) {
        while self.asked.lock().expect("whole").is_empty() {
            tokio::task::yield_now().await;
        }
    }

    fn statuses(&self) -> Vec<ToolCallStatus> {
        let status = |update: &SessionUpdate| match update {
            SessionUpdate::ToolCall(call) => Some(call.status),
            SessionUpdate::ToolCallUpdate(update) => update.fields.status,
            _ => None,
        };
        self.updates.lock().expect("whole").iter().filter_map(status).collect()
    }

    /// Differences that were shown with calls.
    fn diffs(&self) -> Vec<(Option<String>, String)> {
        let updates = self.updates.lock().expect("whole");
        let contents = updates.iter().filter_map(|update| match update {
            SessionUpdate::ToolCall(call) => Some(call.content.clone()),
            SessionUpdate::ToolCallUpdate(update) => update.fields.content.clone(),
            _ => None,
        });
        contents
            .flatten()
            .filter_map(|content| match content {
                ToolCallContent::Diff(diff) => Some((diff.old_text, diff.new_text)),
                _ => None,
            })
            .collect()
    }
}

fn started(rig: &Rig, args: &[&str]) -> Child {
    let mut all = vec!["acp"];
    all.extend(args);
    let mut command = Command::from(rig.command(&all));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    command.spawn().expect("it starts")
}

/// Runs an editor to the end of `work`. Its person answers each request with what they say of it; none leaves it open.
async fn edit<T: Send + 'static>(
    rig: &Rig,
    args: &[&str],
    says: impl Fn(&RequestPermissionRequest) -> Option<&'static str> + Send + Sync + 'static,
    work: impl AsyncFnOnce(To, Seen) -> Result<T, Error>,
) -> (T, Seen) {
    let mut child = started(rig, args);
    let (input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
    let seen = Seen::default();
    let (updates, asked) = (Arc::clone(&seen.updates), Arc::clone(&seen.asked));
    let (told, open) = mpsc::unbounded_channel();
    let done = Client
        .v1()
        .on_receive_notification(
            async move |told: SessionNotification, _: To| {
                updates.lock().expect("whole").push(told.update);
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _: To| {
                let answer = says(&request);
                asked.lock().expect("whole").push(request);
                match answer {
                    Some(id) => responder.respond(RequestPermissionResponse::new(
                        RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(id)),
                    )),
                    None => {
                        // Kept open until the editor goes.
                        drop(told.send(responder));
                        Ok(())
                    }
                }
            },
            on_receive_request!(),
        )
        .connect_with(ByteStreams::new(input.compat_write(), output.compat()), {
            let seen = seen.clone();
            async move |to: To| {
                to.send_request(InitializeRequest::new(ProtocolVersion::V1)).block_task().await?;
                work(to, seen).await
            }
        });
    let done = tokio::time::timeout(std::time::Duration::from_secs(60), done).await;
    let done = done.expect("in time").unwrap_or_else(|failed| panic!("{failed:?}"));
    drop(open);
    assert!(child.wait().await.expect("it ends").success(), "it ends with its editor");
    (done, seen)
}

async fn begun(to: &To, rig: &Rig) -> Result<SessionId, Error> {
    let begun = to.send_request(NewSessionRequest::new(rig.project())).block_task().await?;
    assert_eq!(begun.modes.expect("modes").current_mode_id.0.as_ref(), "ask");
    Ok(begun.session_id)
}

async fn said(to: &To, session: &SessionId, words: &str) -> Result<StopReason, Error> {
    Ok(to.send_request(prompt(session, words)).block_task().await?.stop_reason)
}

fn prompt(session: &SessionId, words: &str) -> PromptRequest {
    PromptRequest::new(session.clone(), vec![ContentBlock::from(words)])
}

/// The person's yes to the only open request, from another process than the editor's.
#[cfg(unix)]
fn allow_elsewhere(rig: &Rig) {
    let waiting = rig.run(&["approvals", "--json"]).json();
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    let (id, digest) = (waiting[0]["id"].as_str(), waiting[0]["body"]["digest"].as_str());
    let yes = ["approve", id.expect("an id"), "--digest", digest.expect("a digest")];
    assert_eq!(rig.run(&yes).code, 0);
}

fn writing() -> Rig {
    let refused = json!({"when": {"contains": "did not allow"}, "say": [{"text": "Then not."}]});
    Rig::new(json!([
        call("write_file", json!({"path": "a.txt", "content": "one\ntwo\n"})),
        refused,
        text("Written."),
        call("edit_file", json!({"path": "a.txt", "old_text": "two", "new_text": "three"})),
        text("Changed.")
    ]))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_editor_drives_a_task_with_an_approval() {
    let rig = writing();
    let (session, seen) = edit(
        &rig,
        &["--script", "script.json"],
        |_| Some("once"),
        async |to, _| {
            let session = begun(&to, &rig).await?;
            assert_eq!(said(&to, &session, "write it").await?, StopReason::EndTurn);
            assert_eq!(said(&to, &session, "change it").await?, StopReason::EndTurn);
            Ok(session.to_string())
        },
    )
    .await;
    assert_eq!(std::fs::read_to_string(rig.project().join("a.txt")).expect("a file"), "one\nthree\n");
    assert_eq!(seen.answer(), "Written.Changed.");
    let asked = seen.asked.lock().expect("whole").clone();
    assert_eq!(asked.len(), 2, "each is asked about");
    let options: Vec<String> = asked[0].options.iter().map(|one| one.option_id.0.to_string()).collect();
    assert_eq!(
        (options.first().map(String::as_str), options.last().map(String::as_str)),
        (Some("once"), Some("no"))
    );
    let shown = |request: &RequestPermissionRequest| {
        let content = request.tool_call.fields.content.clone().unwrap_or_default();
        content.into_iter().find_map(|content| match content {
            ToolCallContent::Diff(diff) => Some((diff.old_text, diff.new_text)),
            _ => None,
        })
    };
    assert_eq!(shown(&asked[0]), Some((None, "one\ntwo\n".to_owned())));
    let change = (Some("one\ntwo\n".to_owned()), "one\nthree\n".to_owned());
    assert_eq!(shown(&asked[1]), Some(change));
    assert!(seen.statuses().contains(&ToolCallStatus::Completed));
    assert_eq!(seen.diffs()[0], (None, "one\ntwo\n".to_owned()));
    // The same record as any client's, with the person's yes to exactly what was shown.
    let log = rig.run(&["log", &session, "--json"]).json();
    let (asked, granted) = (payloads(&log, "approval/requested"), payloads(&log, "approval/granted"));
    assert_eq!((granted.len(), &granted[0]["digest"]), (2, &asked[0]["digest"]));
    assert_eq!(rig.run(&["verify"]).code, 0);
}

/// Two calls of one turn on one file.
#[tokio::test(flavor = "multi_thread")]
async fn each_call_shows_what_it_changed_itself() {
    let rig = Rig::new(json!([
        call("write_file", json!({"path": "a.txt", "content": "one\ntwo\n"})),
        call("edit_file", json!({"path": "a.txt", "old_text": "two", "new_text": "three"})),
        text("Done.")
    ]));
    let (_, seen) = edit(
        &rig,
        &["--script", "script.json", "--mode", "edit"],
        |_| None,
        async |to, _| {
            let begun = to.send_request(NewSessionRequest::new(rig.project())).block_task().await?;
            assert_eq!(said(&to, &begun.session_id, "write it and change it").await?, StopReason::EndTurn);
            Ok(())
        },
    )
    .await;
    let written = (None, "one\ntwo\n".to_owned());
    let changed = (Some("one\ntwo\n".to_owned()), "one\nthree\n".to_owned());
    assert_eq!(seen.diffs(), [written, changed]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_in_the_editor_is_a_no_and_what_was_not_offered_allows_nothing() {
    for answer in ["no", "everything"] {
        let rig = writing();
        let (_, seen) = edit(
            &rig,
            &["--script", "script.json"],
            move |_| Some(answer),
            async |to, _| {
                let session = begun(&to, &rig).await?;
                assert_eq!(said(&to, &session, "write it").await?, StopReason::EndTurn);
                Ok(())
            },
        )
        .await;
        assert_eq!(seen.answer(), "Then not.");
        assert!(seen.statuses().contains(&ToolCallStatus::Failed));
        assert!(!rig.project().join("a.txt").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_the_prompt_and_a_session_is_told_again_from_its_beginning() {
    let slow = json!({"say": [{"text": "at"}, {"text": " it", "wait_ms": 600_000}]});
    let rig = Rig::new(json!([slow, text("Ready.")]));
    let (session, _) = edit(
        &rig,
        &["--script", "script.json"],
        |_| None,
        async |to, seen| {
            let session = begun(&to, &rig).await?;
            let under_way = to.send_request(prompt(&session, "work"));
            while seen.answer() != "at" {
                tokio::task::yield_now().await;
            }
            let second = said(&to, &session, "and this").await.expect_err("one prompt at a time");
            assert!(second.to_string().contains("under way"), "{second:?}");
            to.send_notification(CancelNotification::new(session.clone()))?;
            assert_eq!(under_way.block_task().await?.stop_reason, StopReason::Cancelled);
            assert_eq!(said(&to, &session, "again").await?, StopReason::EndTurn);
            Ok(session)
        },
    )
    .await;
    let (_, again) = edit(
        &rig,
        &["--script", "script.json"],
        |_| None,
        async |to, _| {
            let load = |folder| LoadSessionRequest::new(session.clone(), folder);
            let other = to.send_request(load(rig.root.path().join("home"))).block_task().await;
            assert!(other.expect_err("another folder").to_string().contains("works in"));
            to.send_request(load(rig.project())).block_task().await?;
            Ok(())
        },
    )
    .await;
    assert!(again.answer().ends_with("Ready."), "{}", again.answer());
    let said = |update: &SessionUpdate| matches!(update, SessionUpdate::UserMessageChunk(_));
    assert_eq!(again.updates.lock().expect("whole").iter().filter(|update| said(update)).count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn modes_are_the_sessions_and_a_question_is_answered_by_the_next_prompt() {
    let write = call("write_file", json!({"path": "a.txt", "content": "x\n"}));
    let ask = call("ask_user", json!({"question": "Which colour?", "options": ["red", "blue"]}));
    let rig = Rig::new(json!([write, ask, text("Blue it is.")]));
    let (_, seen) = edit(
        &rig,
        &["--script", "script.json"],
        |_| None,
        async |to, seen| {
            let session = begun(&to, &rig).await?;
            let strange =
                to.send_request(SetSessionModeRequest::new(session.clone(), "yolo")).block_task().await;
            assert!(strange.is_err());
            to.send_request(SetSessionModeRequest::new(session.clone(), "edit")).block_task().await?;
            assert_eq!(said(&to, &session, "write it").await?, StopReason::EndTurn);
            assert!(seen.answer().contains("Which colour?\n- red\n- blue"), "{}", seen.answer());
            assert_eq!(said(&to, &session, "blue").await?, StopReason::EndTurn);
            Ok(())
        },
    )
    .await;
    assert!(seen.answer().ends_with("Blue it is."));
    assert!(seen.asked.lock().expect("whole").is_empty(), "edits are free in this mode");
    assert!(rig.project().join("a.txt").exists());
}

/// A stop that is said right behind the prompt is heard before the prompt's words are recorded.
#[tokio::test(flavor = "multi_thread")]
async fn a_stop_that_comes_at_once_is_not_lost_and_a_session_that_is_loaded_stays_busy() {
    let slow = json!({
        "when": {"contains": "work slowly"},
        "say": [{"text": "at"}, {"text": " it", "wait_ms": 600_000}]
    });
    let rig = Rig::new(json!([slow.clone(), slow.clone(), slow, text("Ready.")]));
    edit(
        &rig,
        &["--script", "script.json"],
        |_| None,
        async |to, seen| {
            let session = begun(&to, &rig).await?;
            let slowly = || prompt(&session, "work slowly");
            for _ in 0..2 {
                let under_way = to.send_request(slowly());
                to.send_notification(CancelNotification::new(session.clone()))?;
                assert_eq!(under_way.block_task().await?.stop_reason, StopReason::Cancelled);
            }
            let under_way = to.send_request(slowly());
            while !seen.answer().ends_with("at") {
                tokio::task::yield_now().await;
            }
            to.send_request(LoadSessionRequest::new(session.clone(), rig.project())).block_task().await?;
            assert!(said(&to, &session, "and this").await.is_err(), "one prompt at a time");
            to.send_notification(CancelNotification::new(session.clone()))?;
            assert_eq!(under_way.block_task().await?.stop_reason, StopReason::Cancelled);
            Ok(())
        },
    )
    .await;
}

/// The app is killed while it waits for a yes: the editor's process hosts, and the yes counts.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn r_cli_01_a_request_that_is_open_when_the_app_is_killed_is_answered_where_the_editor_hosts() {
    let rig = writing();
    let mut app = rig.start(&["serve", "--script", "script.json"]);
    app.line("the address");
    let (_, seen) = edit(
        &rig,
        &["--script", "script.json"],
        |_| None,
        async |to, seen| {
            let session = begun(&to, &rig).await?;
            let under_way = to.send_request(prompt(&session, "write it"));
            seen.until_asked().await;
            app.signal("-KILL");
            drop(app);
            wait_for("the editor's process hosts", || {
                std::os::unix::net::UnixStream::connect(rig.door()).is_ok()
            });
            allow_elsewhere(&rig);
            assert_eq!(under_way.block_task().await?.stop_reason, StopReason::EndTurn);
            Ok(())
        },
    )
    .await;
    assert!(seen.answer().contains("Written."), "{}", seen.answer());
    assert_eq!(std::fs::read_to_string(rig.project().join("a.txt")).expect("a file"), "one\ntwo\n");
    assert_eq!(rig.run(&["verify"]).code, 0);
}

/// The editor comes in where an app runs; what is allowed there isn't asked here any more, and the prompt goes on; when the
/// app is killed, the editor's process hosts, and the session is there.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn an_editor_beside_the_app_shares_its_requests_and_outlives_it() {
    let rig = writing();
    let mut app = rig.start(&["serve", "--script", "script.json"]);
    app.line("the address");
    let (_, seen) = edit(
        &rig,
        &["--script", "script.json"],
        |_| None,
        async |to, seen| {
            let session = begun(&to, &rig).await?;
            let under_way = to.send_request(prompt(&session, "write it"));
            seen.until_asked().await;
            allow_elsewhere(&rig);
            assert_eq!(under_way.block_task().await?.stop_reason, StopReason::EndTurn);
            app.signal("-KILL");
            let loaded = LoadSessionRequest::new(session.clone(), rig.project());
            to.send_request(loaded).block_task().await?;
            Ok(())
        },
    )
    .await;
    assert!(seen.answer().contains("Written."));
    assert!(rig.project().join("a.txt").exists());
    assert_eq!(rig.run(&["verify"]).code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn standard_output_is_the_protocols() {
    let rig = writing();
    let mut child = started(&rig, &["--script", "script.json"]);
    let mut input = child.stdin.take().expect("a pipe");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let cwd = rig.project();
    let request = |id: u64, method: &str, params: serde_json::Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
    };
    let nowhere = rig.root.path().join("nowhere");
    let rounds = [
        vec!["rubbish".to_owned(), request(1, "initialize", json!({"protocolVersion": 1}))],
        vec![
            request(2, "no/such", json!({})),
            request(3, "session/new", json!({"cwd": cwd, "mcpServers": []})),
            request(4, "session/new", json!({"cwd": nowhere, "mcpServers": []})),
        ],
    ];
    let mut answers = std::collections::BTreeMap::new();
    let mut wanted = 0;
    for round in rounds {
        for request in &round {
            input.write_all(format!("{request}\n").as_bytes()).await.expect("written");
        }
        wanted += round.iter().filter(|request| request.starts_with('{')).count();
        while answers.len() < wanted {
            let line = lines.next_line().await.expect("read").expect("a line");
            let said: serde_json::Value =
                serde_json::from_str(&line).unwrap_or_else(|bad| panic!("{bad}: {line}"));
            assert_eq!(said["jsonrpc"], "2.0", "{line}");
            if let Some(id) = said["id"].as_u64() {
                answers.insert(id, said);
            }
        }
    }
    assert_eq!(answers[&1]["result"]["protocolVersion"], 1);
    assert_eq!(answers[&1]["result"]["agentCapabilities"]["loadSession"], true);
    assert_eq!(answers[&2]["error"]["code"], -32_601);
    assert!(answers[&3]["result"]["sessionId"].as_str().expect("an id").starts_with("ses_"));
    assert!(answers[&4]["error"]["message"].is_string());
    drop(input);
    assert!(child.wait().await.expect("it ends").success());
}
