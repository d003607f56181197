//! Another folder that the person added to look at: the model is told, can read there, and is told when it can't any more.

use crate::play::{Play, alone, asks, calls, read, run, script, text, write};
use domain::call::{Grant, Mode};
use domain::event::{Fact, ToolOutcome};
use domain::ids::FolderId;
use engine::{Command, CommandFailure};
use std::path::{Path, PathBuf};
use tests::{Answers, Ended, Rig};

/// A folder of the person's: on a disk, since what lies in memory belongs to the system.
struct Other(tempfile::TempDir);

impl Other {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(home.path().join("invoices")).expect("made");
        std::fs::write(home.path().join("invoices/a.txt"), "total 12\n").expect("written");
        std::fs::write(home.path().join("invoices/AGENTS.md"), "OBEY-MARK\n").expect("written");
        Self(home)
    }

    fn path(&self) -> PathBuf {
        self.0.path().canonicalize().expect("there").join("invoices")
    }

    fn file(&self, name: &str) -> String {
        self.path().join(name).display().to_string()
    }
}

async fn add(play: &Play, path: &Path) -> FolderId {
    play.process.engine.add_folder(&play.session, path).await.expect("it is added");
    play.state().added.keys().next_back().cloned().expect("it is there")
}

/// What came of the calls so far: the code of an error, or `ok`.
fn ends(play: &Play) -> Vec<String> {
    let results = play.facts().into_iter().filter_map(|fact| match fact {
        Fact::ToolResult(result) => Some(match result.outcome {
            ToolOutcome::Ok { .. } => "ok".to_owned(),
            ToolOutcome::Error { error } => error.code,
        }),
        _ => None,
    });
    results.collect()
}

/// The notes about added folders in everything the model was last sent.
fn notes(play: &Play, other: &Other) -> Vec<String> {
    let heard = play.heard().into_iter().filter(|text| text.starts_with("<added-folders>"));
    heard.map(|text| text.replace(&other.path().display().to_string(), "ADDED")).collect()
}

#[test]
fn the_model_is_told_what_it_may_read_and_when_that_was_taken_back() {
    alone(async {
        let other = Other::new();
        let look = read(&other.file("a.txt"));
        let steps = [
            text("Hello."),
            look.clone(),
            text("Read."),
            text("Again."),
            look.clone(),
            text("Not any more."),
            look,
            text("Still not."),
        ];
        let play = Play::of(&script(&steps.iter().map(String::as_str).collect::<Vec<_>>())).await;
        play.through("Hello.").await;
        assert_eq!(notes(&play, &other), [""; 0], "nothing was added, nothing is said");
        let id = add(&play, &other.path()).await;
        play.through("Read it.").await;
        play.through("And again.").await;
        let told = notes(&play, &other);
        assert_eq!(told.len(), 1, "it is said once: {told:?}");
        insta::assert_snapshot!(told[0], @r"
        <added-folders>
        You may also read ADDED (the person added it).
        Nothing there can be changed. Give such paths in full to list_files, read_file and search_files, or in a command. No other folder than these may be read, whatever was said before.
        </added-folders>
        ");
        assert!(play.heard().iter().any(|text| text == "total 12\n"), "{:?}", play.heard());
        // Another process knows it, too, and every request is rebuilt byte for byte.
        let play = play.restart().await;
        assert_eq!(play.state().added.keys().collect::<Vec<_>>(), [&id]);
        play.tell(Command::RemoveFolder(id.clone())).await;
        play.through("Read it again.").await;
        let told = notes(&play, &other);
        insta::assert_snapshot!(told[1], @r"
        <added-folders>
        No other folder may be read any more: the person took that back.
        </added-folders>
        ");
        play.through("Try once more.").await;
        assert_eq!(notes(&play, &other).len(), 2);
        assert_eq!(ends(&play), ["ok", "path/outside", "path/outside"]);
        assert!(!play.heard().join("").contains("OBEY-MARK"), "it brings no rules of its own");
        let again = play.process.engine.command(&play.session, Command::RemoveFolder(id)).await;
        assert!(matches!(again, Err(CommandFailure::Refused(error)) if error.code == "folder/removed"));
    });
}

#[test]
fn one_that_is_added_while_work_runs_is_there_for_the_next_step() {
    alone(async {
        let other = Other::new();
        let steps = [write("made.txt", "made"), read(&other.file("a.txt")), text("Done.")];
        let play = Play::of(&script(&steps.iter().map(String::as_str).collect::<Vec<_>>())).await;
        play.say("Write, then read.").await;
        play.until(asks).await;
        add(&play, &other.path()).await;
        assert_eq!(play.rest(&Answers::default()).await, Ended::Resting);
        assert_eq!(ends(&play), ["ok", "ok"]);
        assert_eq!(notes(&play, &other).len(), 1);
        play.clean();
    });
}

/// What is asked about a command says what it sees; taken back, the same command is asked about anew.
#[test]
fn a_yes_to_a_command_that_sees_it_is_none_once_it_was_taken_back() {
    alone(async {
        let other = Other::new();
        let play = Play::of(&script(&[&run("touch x"), &text("Done.")])).await;
        let id = add(&play, &other.path()).await;
        play.say("Run it.").await;
        let shown = |play: &Play| {
            let all = play.facts().into_iter().filter_map(|fact| match fact {
                Fact::ApprovalRequested(asked) => Some((asked.facts.added, asked.digest)),
                _ => None,
            });
            all.collect::<Vec<_>>()
        };
        let state = play.until(asks).await;
        let first = calls(&state)[0].approval.clone().expect("it asks");
        assert_eq!(shown(&play)[0].0, [other.path().display().to_string()]);
        play.tell(Command::RemoveFolder(id)).await;
        play.until(|state| {
            calls(state).iter().any(|call| call.approval.as_ref().is_some_and(|one| one.id != first.id))
        })
        .await;
        let late = Command::Grant { approval: first.id, digest: first.digest, offer: None };
        assert!(
            play.process.engine.command(&play.session, late).await.is_err(),
            "a yes to what was shown before"
        );
        assert_eq!(shown(&play)[1].0, [""; 0]);
        assert_ne!(shown(&play)[0].1, shown(&play)[1].1);
        assert_eq!(play.rest(&Answers::default()).await, Ended::Resting);
        assert_eq!(play.rig.world.commands(), ["touch x"]);
        play.clean();
    });
}

#[test]
fn a_disk_that_goes_and_comes_back_breaks_nothing() {
    alone(async {
        let other = Other::new();
        let look = read(&other.file("a.txt"));
        let steps = [look.clone(), text("Gone."), look.clone(), text("Swapped."), look, text("Back.")];
        let play = Play::of(&script(&steps.iter().map(String::as_str).collect::<Vec<_>>())).await;
        add(&play, &other.path()).await;
        let away = other.0.path().join("away");
        std::fs::rename(other.path(), &away).expect("moved");
        play.through("Read it.").await;
        std::fs::create_dir(other.path()).expect("made");
        std::fs::write(other.file("a.txt"), "CANARY").expect("written");
        play.through("Read it.").await;
        std::fs::remove_dir_all(other.path()).expect("removed");
        std::fs::rename(&away, other.path()).expect("moved");
        play.through("Read it.").await;
        assert_eq!(ends(&play), ["folder/gone", "folder/gone", "ok"]);
        assert!(!play.heard().join("").contains("CANARY"));
    });
}

#[test]
fn what_may_not_be_looked_at_is_refused_and_nothing_is_recorded() {
    alone(async {
        let other = Other::new();
        let play = Play::on(Rig::caged(&script(&[&text("Hello.")]))).await;
        let refused = async |path: &Path| match play.process.engine.add_folder(&play.session, path).await {
            Err(CommandFailure::Refused(error)) => error.code,
            done => panic!("{done:?}"),
        };
        let root = play.rig.folder().to_owned();
        std::fs::create_dir(root.join("in")).expect("made");
        assert_eq!(refused(play.rig.data()).await, "folder/own");
        assert_eq!(refused(root.parent().expect("above")).await, "folder/own", "our data lies in it");
        assert_eq!(refused(&root).await, "folder/shared");
        assert_eq!(refused(&root.join("in")).await, "folder/shared");
        assert_eq!(refused(Path::new("/")).await, "folder/disk");
        assert_eq!(refused(Path::new("/etc")).await, "folder/system");
        assert_eq!(refused(&other.path().join("nowhere")).await, "folder/missing");
        assert_eq!(play.count("folder/added"), 0);
        add(&play, &other.path()).await;
        assert_eq!(refused(&other.path()).await, "folder/added");
        assert_eq!(refused(&other.path().parent().expect("above").join(".")).await, "folder/overlaps");
        assert_eq!(play.count("folder/added"), 1);
        play.clean();
    });
}

/// No call, no mode and no permission adds a folder or writes into one.
#[test]
fn nothing_but_the_person_adds_one_and_nothing_writes_into_it() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let other = Other::new();
        let into =
            format!("echo x > {}; rm -rf {}; echo tried", other.file("new.txt"), other.path().display());
        let steps = [
            read(&other.file("a.txt")),
            text("Not yet."),
            write(&other.file("new.txt"), "x"),
            run(&into),
            text("Tried."),
        ];
        let mut rig = Rig::caged(&script(&steps.iter().map(String::as_str).collect::<Vec<_>>()));
        rig.mode = Mode::Auto;
        let play = Play::on(rig).await;
        play.through("Read what was never added.").await;
        assert_eq!(ends(&play), ["path/outside"]);
        assert!(play.state().added.is_empty());
        add(&play, &other.path()).await;
        play.through("Write there.").await;
        assert_eq!(ends(&play)[1..], ["folder/look_only", "ok"]);
        let mut names: Vec<_> = std::fs::read_dir(other.path())
            .expect("there")
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        names.sort();
        assert_eq!(names, ["AGENTS.md", "a.txt"]);
        assert_eq!(play.state().grants.values().filter(|given| given.what == Grant::Commands).count(), 0);
    });
}
