//! Whose a change is: what a person made stays the person's through undo and redo, and what undo doesn't cover is said.

use crate::play::{Play, alone, run, script, text, write};
use domain::call::{Effect, Mode, Parted};
use domain::event::{CheckedCall, Draft, Fact, RestoreOf, RestoreScope, ToolOutcome, Uncovered};
use domain::ids::RevisionId;
use engine::CommandFailure;
use engine::ledger::Ledger;
use engine::show::{Hindrance, State, standing};
use store::{Append, Durability};
use tests::{DieAt, Rig};

fn rig(steps: &[&str]) -> Rig {
    let mut rig = Rig::new(&script(steps));
    rig.mode = Mode::Auto;
    rig
}

async fn undo(play: &Play, of: RestoreOf, overwrite: &[&str]) -> RevisionId {
    let scope = RestoreScope { of, paths: Vec::new() };
    let overwrite = overwrite.iter().map(|path| (*path).to_owned()).collect();
    play.process.engine.restore(&play.session, scope, overwrite).await.expect("it is taken");
    play.until(|state| state.restoring.is_none()).await;
    let last = play.facts().into_iter().rev().find_map(|fact| match fact {
        Fact::RevisionRestored(done) => Some(done.revision),
        _ => None,
    });
    last.expect("something was taken back")
}

fn ledger(play: &Play) -> Ledger {
    Ledger::read(play.process.engine.store(), &play.session).expect("it is read")
}

fn net(play: &Play) -> Vec<Effect> {
    ledger(play).net(&RestoreScope { of: RestoreOf::Session, paths: Vec::new() })
}

#[test]
fn r_undo_what_a_forced_undo_took_and_a_redo_brought_is_still_the_persons() {
    let (a, n, end) = (write("a.txt", "the model's\n"), write("n.txt", "made\n"), text("Done."));
    let rig = rig(&[&a, &n, &end]);
    std::fs::write(rig.folder().join("a.txt"), "at first\n").expect("written");
    alone(async {
        let play = Play::on(rig).await;
        play.through("Change things.").await;
        let ours = net(&play);
        let files =
            || (play.rig.file("a.txt"), std::fs::read_to_string(play.rig.folder().join("n.txt")).ok());
        let mine = ("mine\n".to_owned(), Some("mine, too\n".to_owned()));
        std::fs::write(play.rig.folder().join("a.txt"), &mine.0).expect("written");
        std::fs::write(play.rig.folder().join("n.txt"), "mine, too\n").expect("written");
        let forced = undo(&play, RestoreOf::Session, &["a.txt", "n.txt"]).await;
        assert_eq!(files(), ("at first\n".to_owned(), None));
        assert_eq!(net(&play), [], "all of it is taken back");
        let again = undo(&play, RestoreOf::Restore { revision: forced }, &[]).await;
        assert_eq!(files(), mine);
        assert_eq!(net(&play), ours, "what stands there is as little the session's as before");
        undo(&play, RestoreOf::Session, &[]).await;
        assert_eq!(files(), mine, "a plain undo leaves it alone");
        undo(&play, RestoreOf::Restore { revision: again }, &[]).await;
        assert_eq!(files(), ("at first\n".to_owned(), None), "the undo of the redo");
        assert_eq!(net(&play), []);
    });
}

#[test]
fn r_undo_the_persons_part_that_a_merged_undo_left_is_not_taken_by_the_next() {
    let lines = |changed: &[(usize, &str)]| -> String {
        let line = |n: usize| {
            let own = changed.iter().find(|(at, _)| *at == n);
            own.map_or(format!("line {n}\n"), |(_, text)| format!("{text}\n"))
        };
        (0..10).map(line).collect()
    };
    let (list, end) = (write("list.txt", &lines(&[(1, "theirs")])), text("Done."));
    let rig = rig(&[&list, &end]);
    std::fs::write(rig.folder().join("list.txt"), lines(&[])).expect("written");
    alone(async {
        let play = Play::on(rig).await;
        play.through("Change things.").await;
        std::fs::write(play.rig.folder().join("list.txt"), lines(&[(1, "theirs"), (8, "mine")]))
            .expect("written");
        let done = undo(&play, RestoreOf::Session, &[]).await;
        assert_eq!(play.rig.file("list.txt"), lines(&[(8, "mine")]));
        assert_eq!(net(&play), [], "what is left is the person's alone");
        undo(&play, RestoreOf::Restore { revision: done }, &[]).await;
        undo(&play, RestoreOf::Session, &[]).await;
        assert_eq!(play.rig.file("list.txt"), lines(&[(8, "mine")]), "as often as it is done");
    });
}

#[test]
fn r_undo_what_a_command_did_to_what_is_not_covered_is_said_in_its_result_and_in_the_changes() {
    let (make, end) = (run("make ignored/more.txt"), text("Done."));
    let rig = rig(&[&make, &end]);
    std::fs::write(rig.folder().join(".gitignore"), "ignored\n").expect("written");
    std::fs::create_dir(rig.folder().join("ignored")).expect("made");
    alone(async {
        let play = Play::on(rig).await;
        play.through("Change things.").await;
        let result = play.facts().into_iter().find_map(|fact| match fact {
            Fact::ToolResult(done) => Some(done),
            _ => None,
        });
        let result = result.expect("it ended");
        assert!(result.text.ends_with("[Changed, and not covered by undo: \"ignored\"]"), "{}", result.text);
        let said = Some(Uncovered { paths: vec!["ignored".to_owned()], count: 1 });
        assert_eq!(
            (result.changed.effects.as_slice(), result.changed.uncovered),
            ([].as_slice(), said.clone())
        );
        let ledger = ledger(&play);
        let turn = ledger.turns[0].turn.clone();
        assert_eq!(
            (ledger.uncovered(&RestoreOf::Session), ledger.uncovered(&RestoreOf::Turn { turn })),
            (said.clone(), said)
        );
    });
}

/// What calls of a session came to, by their codes.
fn refused(play: &Play) -> Vec<String> {
    let code = |fact| match fact {
        Fact::ToolResult(done) => match done.outcome {
            ToolOutcome::Error { error } => Some(error.code),
            ToolOutcome::Ok { .. } => None,
        },
        Fact::ToolCall(call) => match call.checked {
            CheckedCall::Bad { error } => Some(error.code),
            CheckedCall::Good { .. } => None,
        },
        _ => None,
    };
    play.facts().into_iter().filter_map(code).collect()
}

#[test]
fn r_undo_another_folder_in_the_place_of_the_sessions_is_left_alone_until_the_person_says_so() {
    let (first, second, end) = (write("a.txt", "one\n"), write("b.txt", "two\n"), text("Done."));
    let rig = rig(&[&first, &end, &second, &end, &second, &end]);
    let root = rig.folder().to_owned();
    let away = root.with_extension("away");
    alone(async {
        let play = Play::on(rig).await;
        play.through("Write.").await;
        std::fs::rename(&root, &away).expect("moved");
        std::fs::create_dir(&root).expect("made");
        std::fs::write(root.join("a.txt"), "one\n").expect("the same content");
        let scope = || RestoreScope { of: RestoreOf::Session, paths: Vec::new() };
        let undone = play.process.engine.restore(&play.session, scope(), Vec::new()).await;
        let Err(CommandFailure::Refused(error)) = undone else { panic!("{undone:?}") };
        assert_eq!(error.code, "folder/other");
        play.through("Write again.").await;
        assert_eq!(refused(&play), ["folder/other"]);
        assert_eq!(std::fs::read_dir(&root).expect("there").count(), 1, "nothing was touched");
        play.process.engine.use_folder(&play.session).await.expect("it is taken");
        play.through("And again.").await;
        assert_eq!((refused(&play).len(), play.rig.file("b.txt")), (1, "two\n".to_owned()));
        play.clean();
        std::fs::remove_dir_all(&root).expect("removed");
        std::fs::rename(&away, &root).expect("moved back");
        let undone = play.process.engine.restore(&play.session, scope(), Vec::new()).await;
        assert!(matches!(undone, Err(CommandFailure::Refused(error)) if error.code == "folder/other"));
    });
}

#[test]
fn a_session_from_before_its_folder_was_on_record_takes_the_one_that_is_there() {
    let (first, end) = (write("a.txt", "one\n"), text("Done."));
    let rig = rig(&[&first, &end]);
    alone(async {
        let process = rig.start(DieAt::never());
        let session = tests::rig::session();
        let created = rig.created();
        let append = Append { session: session.clone(), expected_seq: 0, drafts: vec![Draft::new(created)] };
        process.engine.store().append_later(vec![append], Durability::Barrier).await.expect("it is recorded");
        let play = Play::in_process(rig, process, session);
        assert_eq!(play.state().session.expect("there").identity, None);
        play.through("Write.").await;
        assert!(play.state().session.expect("there").identity.is_some());
        assert_eq!(play.count("folder/identified"), 1);
        play.clean();
    });
}

#[test]
fn r_undo_a_yes_to_replacing_a_file_is_a_yes_to_what_was_shown_alone() {
    let (first, end) = (write("a.txt", "one\n"), text("Done."));
    let rig = rig(&[&first, &end]);
    alone(async {
        let play = Play::on(rig).await;
        play.through("Write.").await;
        let put = |text: &str| std::fs::write(play.rig.folder().join("a.txt"), text).expect("written");
        put("mine\n");
        let place = tools::Place::open(play.rig.folder(), Vec::new()).expect("it opens");
        let states =
            engine::show::preview_undo(&play.process.engine, &place, &net(&play)).expect("looked at");
        let [(path, State::Kept { why: Hindrance::Changed { now } })] = &states[..] else {
            panic!("{states:?}")
        };
        let seen = [(path.clone(), standing(now.as_ref()))].into();
        let engine = &play.process.engine;
        let again = || {
            let scope = RestoreScope { of: RestoreOf::Session, paths: Vec::new() };
            engine.restore_seen(&play.session, scope, vec!["a.txt".to_owned()], &seen)
        };
        put("mine, and more since\n");
        let refused = again().await;
        assert!(
            matches!(refused, Err(CommandFailure::Refused(error)) if error.code == "restore/changed_again")
        );
        assert_eq!(play.rig.file("a.txt"), "mine, and more since\n");
        put("mine\n");
        again().await.expect("it is what was shown");
        play.until(|state| state.restoring.is_none()).await;
        assert!(!play.rig.folder().join("a.txt").exists());
    });
}

/// A file with several names, of which one went away, was replaced, or is deleted by a tool: an undo brings its content back
/// as a file of its own, and names the others. Doing it again says nothing, since it stood alone by then.
#[test]
fn r_undo_names_of_one_file_that_an_undo_brings_back_apart_are_told() {
    let table = [
        (run("drop a.txt"), vec!["b.txt"], 0),
        (run("anew a.txt"), vec!["b.txt"], 0),
        (delete("a.txt"), vec!["b.txt"], 0),
        (run("anew c.txt"), vec![], 1),
        // Written into the one file: it stays one.
        (write("a.txt", "other\n"), vec![], 0),
        (run("make a.txt"), vec![], 0),
    ];
    for (step, names, more) in table {
        let rig = rig(&[&step, &text("Done.")]);
        let at = |name: &str| rig.folder().join(name);
        std::fs::write(at("a.txt"), "one\n").expect("written");
        std::fs::hard_link(at("a.txt"), at("b.txt")).expect("linked");
        std::fs::write(at("c.txt"), "three\n").expect("written");
        std::fs::hard_link(at("c.txt"), rig.data().join("elsewhere.txt")).expect("linked");
        alone(async {
            let play = Play::on(rig).await;
            play.through("Change things.").await;
            let first = undo(&play, RestoreOf::Session, &[]).await;
            let expect = Parted::of(names.iter().map(|name| (*name).to_owned()).collect(), more);
            assert_eq!(told(&play, &first), expect, "{step}");
            assert_eq!((play.rig.file("a.txt"), play.rig.file("c.txt")), ("one\n".into(), "three\n".into()));
            let again = undo(&play, RestoreOf::Restore { revision: first }, &[]).await;
            let back = undo(&play, RestoreOf::Restore { revision: again }, &[]).await;
            assert_eq!(told(&play, &back), None, "{step}");
        });
    }
}

/// A name that became another file's goes back alone, and the file that it leaves is named.
#[test]
fn r_undo_a_name_that_leaves_the_file_it_was_linked_to_since_is_told() {
    let rig = rig(&[&write("c.txt", "new\n"), &text("Done.")]);
    std::fs::write(rig.folder().join("c.txt"), "old\n").expect("written");
    alone(async {
        let play = Play::on(rig).await;
        play.through("Change things.").await;
        let at = |name: &str| play.rig.folder().join(name);
        std::fs::hard_link(at("c.txt"), at("d.txt")).expect("linked");
        let done = undo(&play, RestoreOf::Session, &[]).await;
        assert_eq!((play.rig.file("c.txt"), play.rig.file("d.txt")), ("old\n".into(), "new\n".into()));
        assert_eq!(told(&play, &done), Parted::of(vec!["d.txt".to_owned()], 0));
    });
}

fn delete(path: &str) -> String {
    format!(r#"{{"call":{{"name":"delete_path","arguments":{{"path":"{path}"}}}}}}"#)
}

/// What a return says of the names that its one file isn't one with any more.
fn told(play: &Play, revision: &RevisionId) -> Option<Parted> {
    let done = play.facts().into_iter().find_map(|fact| match fact {
        Fact::RevisionRestored(done) if done.revision == *revision => Some(done),
        _ => None,
    });
    let mut effects = done.expect("it ended").changed.effects.into_iter();
    effects.find_map(|effect| effect.parted)
}
