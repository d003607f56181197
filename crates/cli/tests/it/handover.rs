//! The app and a command on one store, started and ended in every order: one writer, nothing lost, nothing twice.
//!
//! The app is `daybook serve`: the window's process without the window. What it and a command do, they do through a seat.
#![cfg(unix)]

use crate::rig::{Rig, Running, payloads, text, wait_for};
use api::wire::command::{Command, Intent, Reply};
use host::{Ids as _, Options, Seat};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::os::unix::net::UnixStream;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    AppStarts,
    AppEnds,
    CommandStarts,
    CommandEnds,
}

use Act::{AppEnds, AppStarts, CommandEnds, CommandStarts};

/// Every order in which both are started and ended.
const ORDERS: [[Act; 4]; 6] = [
    [AppStarts, AppEnds, CommandStarts, CommandEnds],
    [AppStarts, CommandStarts, AppEnds, CommandEnds],
    [AppStarts, CommandStarts, CommandEnds, AppEnds],
    [CommandStarts, AppStarts, AppEnds, CommandEnds],
    [CommandStarts, AppStarts, CommandEnds, AppEnds],
    [CommandStarts, CommandEnds, AppStarts, AppEnds],
];

/// A store with two sessions; whoever hosts with the script answers at once, unless it is asked to work slowly.
struct Stage {
    rig: Rig,
    session: String,
    other: String,
    app: Option<Running>,
    command: Option<Running>,
    /// Events that commands printed, with whether they began at the beginning.
    printed: Vec<Vec<Value>>,
}

fn rig() -> Rig {
    let slow = json!({
        "when": {"contains": "work slowly"},
        "say": [{"text": "at"}, {"text": " it", "wait_ms": 600_000}]
    });
    let mut answers = vec![slow.clone(), slow];
    answers.extend(quick());
    Rig::new(json!(answers))
}

fn quick() -> Vec<Value> {
    (0..20).map(|_| text("Ready.")).collect()
}

fn said(rig: &Rig) -> String {
    let done = rig.run(&Rig::exec(&[]));
    assert_eq!(done.code, 0, "{}", done.err);
    done.session()
}

impl Stage {
    fn new() -> Self {
        let rig = rig();
        let (session, other) = (said(&rig), said(&rig));
        Self { rig, session, other, app: None, command: None, printed: Vec::new() }
    }

    fn act(&mut self, act: Act, app_ends: &str, command_ends: &str) {
        match act {
            AppStarts => {
                let mut app = self.rig.start(&["serve", "--script", "script.json"]);
                app.line("the address");
                self.app = Some(app);
            }
            AppEnds => {
                let app = self.app.take().expect("it runs");
                app.signal(app_ends);
                let code = app.end().0;
                assert_eq!(code, if app_ends == "-KILL" { -1 } else { 0 });
            }
            CommandStarts => {
                let mut args = vec!["exec", "--session", &self.session, "--json"];
                if self.app.is_none() {
                    args.extend(["--script", "script.json"]);
                }
                args.push("work slowly");
                let mut command = self.rig.start(&args);
                command.until("attempt/start");
                self.command = Some(command);
            }
            CommandEnds => {
                let command = self.command.take().expect("it runs");
                if command_ends == "-KILL" {
                    // It may have ended with the host of its work.
                    command.signal(command_ends);
                } else {
                    // Without the app's script the work may have failed before it could be stopped.
                    let stopped = self.rig.run(&["interrupt", &self.session]);
                    assert!([0, 4].contains(&stopped.code), "{} {}", stopped.code, stopped.err);
                }
                self.printed.push(command.end().1);
            }
        }
        if self.app.is_some() && self.command.is_none() {
            self.the_app_hosts();
        }
    }

    /// The app is the host now, or is just becoming it, and does what another command asks for.
    fn the_app_hosts(&self) {
        let door = self.rig.door();
        wait_for("the app hosts", || UnixStream::connect(&door).is_ok());
        let done = self.rig.run(&["exec", "--session", &self.other, "--json", "and more"]);
        assert_eq!((done.code, done.done()["answer"].as_str()), (0, Some("Ready.")), "{}", done.err);
    }

    /// What must hold when nobody runs any more.
    fn check(&self) {
        self.rig.script(json!(quick()));
        let more = ["exec", "--session", &self.session, "--script", "script.json", "--json", "go on"];
        let more = self.rig.run(&more);
        assert_eq!((more.code, more.done()["answer"].as_str()), (0, Some("Ready.")), "{}", more.err);
        let log = self.rig.run(&["log", &self.session, "--json"]).json();
        let numbers: Vec<_> = log.iter().map(|line| line["event"]["seq"].as_u64()).collect();
        assert_eq!(numbers, (0..log.len() as u64).map(Some).collect::<Vec<_>>());
        for printed in &self.printed {
            let events: Vec<&Value> = printed.iter().filter(|line| line.get("event").is_some()).collect();
            let from = events[0]["event"]["seq"].as_u64().expect("a number");
            let from = usize::try_from(from).expect("a small one");
            let recorded: Vec<&Value> = log.iter().skip(from).take(events.len()).collect();
            assert_eq!(events, recorded, "what was heard is what is recorded, whole and in order");
        }
        for words in ["work slowly", "go on"] {
            let posted = payloads(&log, "inbox/posted");
            let posted = posted.iter().filter(|message| message.to_string().contains(words));
            assert_eq!(posted.count(), 1, "{words}");
        }
        let verified = self.rig.run(&["verify"]);
        assert_eq!(verified.code, 0, "{} {}", verified.out, verified.err);
    }
}

fn every_order(app_ends: &str, command_ends: &str) {
    for order in ORDERS {
        let mut stage = Stage::new();
        for act in order {
            stage.act(act, app_ends, command_ends);
        }
        stage.check();
    }
}

#[test]
fn app_and_command_end_in_order() {
    every_order("-TERM", "interrupt");
}

#[test]
fn the_app_is_killed_and_the_command_ends_in_order() {
    every_order("-KILL", "interrupt");
}

#[test]
fn the_command_is_killed_and_the_app_ends_in_order() {
    every_order("-TERM", "-KILL");
}

#[test]
fn both_are_killed() {
    every_order("-KILL", "-KILL");
}

/// Many start at the same moment: one hosts, and the others come in instead of failing.
#[test]
fn who_starts_at_the_same_moment_comes_in() {
    let rig = rig();
    let session = said(&rig);
    let mut apps: Vec<Running> = (0..4).map(|_| rig.start(&["serve"])).collect();
    for app in &mut apps {
        app.line("the address");
    }
    let commands: Vec<Running> =
        (0..4).map(|_| rig.start(&["exec", "--session", &session, "--json", "hello"])).collect();
    for command in commands {
        // Nobody has the script.
        let (code, lines) = command.end();
        assert_eq!(code, 4, "{lines:#?}");
    }
    drop(apps);
    let log = rig.run(&["log", &session, "--json"]).json();
    let posted = payloads(&log, "inbox/posted");
    assert_eq!(posted.iter().filter(|message| message.to_string().contains("hello")).count(), 4);
    assert_eq!(rig.run(&["verify"]).code, 0);
}

async fn until(what: &str, so: impl Fn() -> bool) {
    let holds = async {
        while !so() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), holds).await.expect(what);
}

/// The app as another process that is killed again and again under a client that speaks; the client's seat hosts then.
#[tokio::test(flavor = "multi_thread")]
async fn no_command_is_lost_and_none_is_done_twice_while_hosts_are_killed() {
    const ROUNDS: usize = 4;
    const EACH: usize = 12;
    let rig = rig();
    let session = said(&rig);
    let mut sent = BTreeSet::new();
    for round in 0..ROUNDS {
        let mut app = rig.start_beside_us(&["serve"]);
        app.line("the address");
        let seat =
            Seat::take(Options::new(Some(rig.data()))).await.unwrap_or_else(|failed| panic!("{failed:?}"));
        assert!(seat.host().is_none(), "the app hosts");
        let (acknowledged, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let speaking = tokio::spawn({
            let (seat, session) = (std::sync::Arc::clone(&seat), session.clone());
            async move {
                for number in 0..EACH {
                    let send = Command::Send {
                        session: session.clone(),
                        text: format!("message {round}-{number}."),
                        intent: Intent::FollowUp,
                        command: format!("cmd_{:032x}", host::SystemIds.next()),
                    };
                    match seat.call(send).await {
                        Ok(Reply::Sent { message, .. }) => drop(acknowledged.send(message)),
                        other => panic!("{other:?}"),
                    }
                }
            }
        });
        for _ in 0..3 {
            sent.insert(heard.recv().await.expect("an answer"));
        }
        app.signal("-KILL");
        speaking.await.expect("all was said");
        while let Some(message) = heard.recv().await {
            sent.insert(message);
        }
        // All may have been said before it was killed; this process hosts then without anybody asking for anything.
        until("this process hosts", || seat.host().is_some()).await;
        seat.close().await;
        // The store closes with the last who knows the seat; its own keeper may just be looking.
        let left = std::sync::Arc::downgrade(&seat);
        drop(seat);
        until("the store is closed", || left.strong_count() == 0).await;
    }
    assert_eq!(sent.len(), ROUNDS * EACH);
    let log = rig.run(&["log", &session, "--json"]).json();
    let numbers: Vec<_> = log.iter().map(|line| line["event"]["seq"].as_u64()).collect();
    assert_eq!(numbers, (0..log.len() as u64).map(Some).collect::<Vec<_>>());
    let posted = payloads(&log, "inbox/posted");
    for round in 0..ROUNDS {
        for number in 0..EACH {
            let text = format!("message {round}-{number}.");
            let times = posted.iter().filter(|message| message.to_string().contains(&text)).count();
            assert_eq!(times, 1, "{text}");
        }
    }
    assert_eq!(rig.run(&["verify"]).code, 0);
}
