//! The scenarios, each a script, a way to answer, and what must be true in the end. They are run whole, and
//! again killed at every append.

use domain::call::Mode;
use domain::event::{ModelChoice, Target};
use domain::ids::SessionId;
use engine::Command;
use tests::driver::{Ended, drive};
use tests::{Answers, DieAt, Process, Rig};

/// A scenario.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) script: &'static str,
    pub(crate) mode: Mode,
    pub(crate) says: &'static [(&'static str, Target)],
    pub(crate) answers: Answers,
    /// The commands of the shell, each at most once.
    pub(crate) commands: &'static [&'static str],
    /// What `notes.txt` holds in the end.
    pub(crate) notes: &'static str,
    /// The model's window.
    pub(crate) window: Option<u64>,
    /// Files of this many bytes, `long0.txt` and so on.
    pub(crate) long: &'static [usize],
}

const NOTES: &str = "one\ntwo\nthree\n";

fn scenario(name: &'static str, script: &'static str) -> Scenario {
    Scenario {
        name,
        script,
        mode: Mode::Edit,
        says: &[("Please see to the notes.", Target::NextStep)],
        answers: Answers::default(),
        commands: &[],
        notes: NOTES,
        window: Some(100_000),
        long: &[],
    }
}

pub(crate) fn all() -> Vec<Scenario> {
    vec![
        scenario("plain answer", r#"{"answers":[{"say":[{"text":"All is well."}]}]}"#),
        scenario(
            "three reads side by side",
            r#"{"answers":[
                {"say":[{"text":"Looking."},{"call":{"name":"read_file","arguments":{"path":"notes.txt"}}},
                        {"call":{"name":"list_files","arguments":{}}},
                        {"call":{"name":"search_files","arguments":{"pattern":"two"}}}]},
                {"say":[{"text":"Three lines."}]}]}"#,
        ),
        Scenario {
            notes: "one\nTWO\nthree\n",
            ..scenario(
                "an edit without asking",
                r#"{"answers":[
                    {"say":[{"call":{"name":"read_file","arguments":{"path":"notes.txt"}}}]},
                    {"say":[{"call":{"name":"edit_file","arguments":{"path":"notes.txt","old_text":"two","new_text":"TWO"}}}]},
                    {"say":[{"text":"Changed."}]}]}"#,
            )
        },
        Scenario {
            mode: Mode::Ask,
            commands: &["note made"],
            ..scenario(
                "a command after a yes",
                r#"{"answers":[
                    {"say":[{"call":{"name":"run_command","arguments":{"command":"note made"}}}]},
                    {"say":[{"text":"Ran it."}]}]}"#,
            )
        },
        Scenario {
            mode: Mode::Ask,
            answers: Answers { allow: |_| Err("Not on a Sunday.".into()), ..Answers::default() },
            ..scenario(
                "a command after a no",
                r#"{"answers":[
                    {"say":[{"call":{"name":"run_command","arguments":{"command":"note made"}}}]},
                    {"say":[{"text":"Then not."}]}]}"#,
            )
        },
        Scenario {
            mode: Mode::Auto,
            commands: &["note 1", "note 2"],
            notes: "new\n",
            ..scenario(
                "a wave with effects",
                r#"{"answers":[
                    {"say":[{"call":{"name":"run_command","arguments":{"command":"note 1"}}},
                            {"call":{"name":"run_command","arguments":{"command":"note 2"}}},
                            {"call":{"name":"write_file","arguments":{"path":"notes.txt","content":"new\n"}}}]},
                    {"say":[{"text":"All three."}]}]}"#,
            )
        },
        scenario(
            "trouble on the way",
            r#"{"answers":[
                {"say":[{"text":"Half an"}],"error":{"class":"cut"}},
                {"error":{"class":"rate_limited","retry_after_ms":3000}},
                {"error":{"class":"overloaded"}},
                {"say":[{"text":"Whole."}],"usage":{"input":10,"output":2}}]}"#,
        ),
        scenario(
            "a plan and a question",
            r#"{"answers":[
                {"say":[{"call":{"name":"update_plan","arguments":{"items":[
                    {"text":"Ask","status":"in_progress"},{"text":"Do","status":"pending"}]}}}]},
                {"say":[{"call":{"name":"ask_user","arguments":{"question":"Which one?","options":["yes","no"]}}}]},
                {"say":[{"text":"As you say."}]},
                {"say":[{"text":"The rest of the plan waits for you."}]}]}"#,
        ),
        Scenario {
            mode: Mode::Auto,
            commands: &["note job", "note 2"],
            ..scenario(
                "a job beside work",
                r#"{"answers":[
                    {"say":[{"call":{"name":"run_command","arguments":{"command":"note job","background":true,"notify":true}}}]},
                    {"say":[{"call":{"name":"run_command","arguments":{"command":"note 2"}}}]},
                    {"repeat":true,"say":[{"text":"As it is."}]}]}"#,
            )
        },
        scenario(
            "calls that can't be",
            r#"{"answers":[
                {"say":[{"call":{"name":"no_such_tool","arguments":{}}},
                        {"call":{"name":"read_file","arguments":"{\"path\": 7}"}},
                        {"call":{"name":"read_file","arguments":"{\"path\""}},
                        {"call":{"name":"read_file","arguments":{"path":"../secret"}}}]},
                {"say":[{"text":"I see."}]}]}"#,
        ),
        scenario(
            "eight reads side by side",
            r#"{"answers":[
                {"say":[{"call":{"name":"read_file","arguments":{"path":"notes.txt"}}},
                        {"call":{"name":"read_file","arguments":{"path":"AGENTS.md"}}},
                        {"call":{"name":"list_files","arguments":{}}},
                        {"call":{"name":"search_files","arguments":{"pattern":"one"}}},
                        {"call":{"name":"search_files","arguments":{"pattern":"two"}}},
                        {"call":{"name":"search_files","arguments":{"pattern":"three"}}},
                        {"call":{"name":"read_file","arguments":{"path":"notes.txt","offset":2}}},
                        {"call":{"name":"read_file","arguments":{"path":"missing.txt"}}}]},
                {"say":[{"text":"All of it."}]}]}"#,
        ),
        Scenario {
            notes: "one\nTWO\nTHREE\n",
            ..scenario(
                "two edits of one file",
                r#"{"answers":[
                    {"say":[{"call":{"name":"edit_file","arguments":{"path":"notes.txt","old_text":"two","new_text":"TWO"}}},
                            {"call":{"name":"edit_file","arguments":{"path":"notes.txt","old_text":"three","new_text":"THREE"}}}]},
                    {"say":[{"text":"Both."}]}]}"#,
            )
        },
        Scenario {
            mode: Mode::Ask,
            ..scenario(
                "something made and deleted again",
                r#"{"answers":[
                    {"say":[{"call":{"name":"write_file","arguments":{"path":"new/file.txt","content":"new\n"}}}]},
                    {"say":[{"call":{"name":"delete_path","arguments":{"path":"new"}}}]},
                    {"say":[{"text":"As it was."}]}]}"#,
            )
        },
        Scenario {
            mode: Mode::Auto,
            commands: &["fail loudly", "fill 200000", "note after"],
            ..scenario(
                "a failure, a flood and one more",
                r#"{"answers":[
                    {"say":[{"call":{"name":"run_command","arguments":{"command":"fail loudly"}}}]},
                    {"say":[{"call":{"name":"run_command","arguments":{"command":"fill 200000"}}}]},
                    {"say":[{"text":"Once more."},{"call":{"name":"run_command","arguments":{"command":"note after"}}}]},
                    {"say":[{"text":"Done."}]}]}"#,
            )
        },
        Scenario {
            mode: Mode::Plan,
            ..scenario(
                "a plan that may change nothing",
                r#"{"answers":[
                    {"say":[{"call":{"name":"update_plan","arguments":{"items":[{"text":"Look","status":"in_progress"}]}}},
                            {"call":{"name":"read_file","arguments":{"path":"notes.txt"}}},
                            {"call":{"name":"write_file","arguments":{"path":"notes.txt","content":"no\n"}}}]},
                    {"say":[{"text":"This is what I would do."}]}]}"#,
            )
        },
        Scenario {
            mode: Mode::Ask,
            answers: Answers {
                allow: |facts| {
                    if facts.exact.contains("rough") { Err("Gently, please.".into()) } else { Ok(()) }
                },
                ..Answers::default()
            },
            commands: &["note gentle"],
            ..scenario(
                "another way after a no",
                r#"{"answers":[
                    {"say":[{"call":{"name":"run_command","arguments":{"command":"note rough"}}}]},
                    {"say":[{"call":{"name":"run_command","arguments":{"command":"note gentle"}}}]},
                    {"say":[{"text":"Gently."}]}]}"#,
            )
        },
        Scenario {
            mode: Mode::Auto,
            commands: &["note after the cut"],
            ..scenario(
                "a stream that is cut before a call",
                r#"{"answers":[
                    {"say":[{"text":"I will"}],"error":{"class":"cut"}},
                    {"say":[{"text":"I will."},{"call":{"name":"run_command","arguments":{"command":"note after the cut"}}}]},
                    {"error":{"class":"server"}},
                    {"say":[{"text":"Done."}]}]}"#,
            )
        },
        Scenario {
            mode: Mode::Auto,
            commands: &["note once"],
            ..scenario(
                "another model goes on",
                r#"{"answers":[
                    {"when":{"model":"script"},"repeat":true,"error":{"class":"billing"}},
                    {"say":[{"call":{"name":"run_command","arguments":{"command":"note once"}}}]},
                    {"say":[{"text":"Done."}]}]}"#,
            )
        },
        Scenario {
            says: &[
                ("First.", Target::NextStep),
                ("Second.", Target::NextTurn),
                ("Third.", Target::NextTurn),
            ],
            ..scenario(
                "a queue of messages",
                r#"{"answers":[
                    {"say":[{"text":"One."}]},{"say":[{"text":"Two."}]},{"say":[{"text":"Three."}]}]}"#,
            )
        },
        Scenario {
            notes: "one\nTWO\nthree\n",
            window: None,
            long: &[20_000, 24_000],
            ..scenario(
                "a history that gets shorter",
                r#"{"answers":[
                    {"when":{"contains":"<transcript>"},"repeat":true,"say":[{"text":"The notes are to be seen to; three long files were read."}]},
                    {"say":[{"call":{"name":"read_file","arguments":{"path":"long0.txt"}}}]},
                    {"say":[{"call":{"name":"read_file","arguments":{"path":"long1.txt"}}}]},
                    {"when":{"contains":"a line of a long file"},"error":{"class":"context_overflow"}},
                    {"say":[{"call":{"name":"read_file","arguments":{"path":"notes.txt"}}}]},
                    {"say":[{"call":{"name":"edit_file","arguments":{"path":"notes.txt","old_text":"two","new_text":"TWO"}}}]},
                    {"repeat":true,"say":[{"text":"Changed."}]}]}"#,
            )
        },
    ]
}

impl Scenario {
    pub(crate) fn rig(&self) -> Rig {
        self.fitted(Rig::new(self.script))
    }

    /// The scenario's rig over folders that somebody else keeps.
    pub(crate) fn rig_over(&self, data: &std::path::Path, project: &std::path::Path) -> Rig {
        self.fitted(Rig::over(self.script, data, project))
    }

    fn fitted(&self, mut rig: Rig) -> Rig {
        (rig.mode, rig.window) = (self.mode, self.window);
        // A process that begins the script again reads all of it again.
        rig.limits.checkpoints_in_a_row = 20;
        for (n, bytes) in self.long.iter().enumerate() {
            let file = rig.folder().join(format!("long{n}.txt"));
            std::fs::write(file, "a line of a long file\n".repeat(bytes / 22)).expect("a file");
        }
        rig.instead = vec![ModelChoice { provider: "scripted".into(), model: "second".into() }];
        rig
    }

    /// Begins, or goes on where the log is: whatever wasn't acknowledged is said again, under the same command id.
    pub(crate) async fn play(&self, rig: &Rig, process: &Process, session: &mut Option<SessionId>) -> Ended {
        if session.is_none() {
            match process.engine.create(rig.created()).await {
                Ok(id) => *session = Some(id),
                Err(_) => return Ended::Dead,
            }
        }
        let Some(id) = session.clone() else { return Ended::Dead };
        for (n, (text, target)) in self.says.iter().enumerate() {
            let command = Some(domain::ids::CommandId::from_bits(n as u128 + 1));
            let say = Command::Say { text: (*text).to_owned(), target: *target, command };
            if process.engine.command(&id, say).await.is_err() {
                return Ended::Dead;
            }
        }
        drive(process, &id, &self.answers).await
    }

    /// What must be true once it rests, however often it was killed.
    #[track_caller]
    pub(crate) fn holds(&self, rig: &Rig, unknown_allowed: bool, at: &str) {
        let name = self.name;
        let mut counts = std::collections::BTreeMap::new();
        for command in rig.world.commands() {
            *counts.entry(command).or_insert(0) += 1;
        }
        for (command, count) in &counts {
            assert!(self.commands.contains(&command.as_str()), "{name} {at}: nobody asked for {command}");
            assert_eq!(*count, 1, "{name} {at}: {command} ran {count} times");
        }
        if !unknown_allowed {
            assert_eq!(counts.len(), self.commands.len(), "{name} {at}: {counts:?}");
            assert_eq!(rig.file("notes.txt"), self.notes, "{name} {at}");
        }
    }
}

/// Runs every scenario whole, and returns how many appends each takes.
#[tokio::test(start_paused = true)]
async fn every_scenario_ends_as_it_should() {
    for scenario in all() {
        let rig = scenario.rig();
        let process = rig.start(DieAt::never());
        let mut session = None;
        let ended = scenario.play(&rig, &process, &mut session).await;
        assert_eq!(ended, Ended::Resting, "{}", scenario.name);
        let session = session.expect("it began");
        scenario.holds(&rig, false, "whole");
        let findings = rig.findings(&session, process.engine.store().epoch());
        assert!(findings.is_empty(), "{}: {findings:#?}", scenario.name);
    }
}

/// Two runs of one scenario send byte-identical requests.
#[tokio::test(start_paused = true)]
async fn two_runs_send_the_same_bytes() {
    // When a job ends beside a turn is chance.
    for scenario in all().into_iter().filter(|scenario| scenario.name != "a job beside work") {
        let mut runs = Vec::new();
        for _ in 0..2 {
            let rig = scenario.rig();
            let process = rig.start(DieAt::never());
            scenario.play(&rig, &process, &mut None).await;
            runs.push(process.player.recorded());
        }
        assert!(!runs[0].is_empty(), "{}", scenario.name);
        assert_eq!(runs[0], runs[1], "{}", scenario.name);
    }
}
