//! Taking back one part of what a file's difference shows: the others stay, a person's edits stay, and it can be undone.

use crate::play::{Play, alone, script, text, write};
use domain::call::Mode;
use domain::digest::Digest;
use domain::event::{RestoreOf, RestoreScope};
use domain::ids::TurnId;
use engine::ledger::Ledger;
use engine::{CommandFailure, show};
use std::collections::BTreeSet;
use std::path::PathBuf;
use store::Point;
use tests::Rig;

/// Forty lines, some of them changed.
fn lines(changed: &[usize]) -> String {
    (0..40).map(|n| if changed.contains(&n) { format!("new {n}\n") } else { format!("line {n}\n") }).collect()
}

/// A turn that changed three parts of one file, with the name of each.
struct Parted {
    play: Play,
    file: PathBuf,
    turn: TurnId,
    names: Vec<Digest>,
}

impl Parted {
    async fn new() -> Self {
        let steps = [write("list.txt", &lines(&[2, 20, 37])), text("Done."), text("Heard.")];
        let mut rig = Rig::new(&script(&steps.iter().map(String::as_str).collect::<Vec<_>>()));
        rig.mode = Mode::Auto;
        let file = rig.folder().join("list.txt");
        std::fs::write(&file, lines(&[])).expect("written");
        let play = Play::on(rig).await;
        play.through("Change it.").await;
        let ledger = Ledger::read(play.process.engine.store(), &play.session).expect("read");
        let turn = ledger.turns[0].turn.clone();
        let of = RestoreOf::Turn { turn: turn.clone() };
        let net = ledger.net(&RestoreScope { of, paths: Vec::new() });
        let parts = show::parts(play.process.engine.store(), &net[0]).expect("read").expect("a text");
        let names: Vec<Digest> = parts.1.names().collect();
        assert_eq!(names.len(), 3);
        Self { play, file, turn, names }
    }

    async fn take(&self, part: Digest) -> Result<(), CommandFailure> {
        let of = RestoreOf::Part { turn: Some(self.turn.clone()), part };
        self.restore(RestoreScope { of, paths: vec!["list.txt".to_owned()] }).await
    }

    async fn restore(&self, scope: RestoreScope) -> Result<(), CommandFailure> {
        self.play.process.engine.restore(&self.play.session, scope, Vec::new()).await?;
        self.play.until(|state| state.restoring.is_none()).await;
        Ok(())
    }

    /// Undoes the newest return.
    async fn redo(&self) {
        let last = self.play.facts().into_iter().rev().find_map(|fact| match fact {
            domain::event::Fact::RevisionRestored(done) => Some(done.revision),
            _ => None,
        });
        let of = RestoreOf::Restore { revision: last.expect("something was taken back") };
        self.restore(RestoreScope { of, paths: Vec::new() }).await.expect("it comes again");
    }

    fn ledger(&self) -> Ledger {
        Ledger::read(self.play.process.engine.store(), &self.play.session).expect("read")
    }

    #[track_caller]
    fn holds(&self, expect: &str) {
        assert_eq!(std::fs::read_to_string(&self.file).expect("there"), expect);
    }
}

#[track_caller]
fn refused(done: Result<(), CommandFailure>, code: &str) {
    match done {
        Err(CommandFailure::Refused(why)) => assert_eq!(why.code, code),
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_part_goes_back_alone_and_comes_again() {
    alone(async {
        let it = Parted::new().await;
        it.take(it.names[1]).await.expect("it goes back");
        it.holds(&lines(&[2, 37]));
        assert!(it.ledger().undone_parts("list.txt").contains(&it.names[1]));
        assert!(it.ledger().undone(&it.turn).is_empty(), "the file is still changed");
        refused(it.take(it.names[1]).await, "restore/nothing");
        it.redo().await;
        it.holds(&lines(&[2, 20, 37]));
        assert!(it.ledger().undone_parts("list.txt").is_empty());
        it.redo().await;
        it.holds(&lines(&[2, 37]));
        it.take(it.names[2]).await.expect("it goes back");
        it.take(it.names[0]).await.expect("it goes back");
        it.holds(&lines(&[]));
        assert!(it.ledger().undone(&it.turn).contains("list.txt"), "all of it is as it was before");
        it.redo().await;
        it.holds(&lines(&[2]));
        assert!(it.ledger().undone(&it.turn).is_empty(), "and now it isn't any more");
        it.play.clean();
    });
}

#[test]
fn a_part_goes_back_around_what_a_person_changed_and_never_over_it() {
    alone(async {
        let it = Parted::new().await;
        std::fs::write(&it.file, lines(&[2, 20, 37]).replace("line 10\n", "mine\n")).expect("written");
        it.take(it.names[0]).await.expect("it goes back");
        it.holds(&lines(&[20, 37]).replace("line 10\n", "mine\n"));
        let mixed = lines(&[20, 37]).replace("new 20\n", "mine, too\n");
        std::fs::write(&it.file, &mixed).expect("written");
        let before = it.play.count("revision/restoring");
        refused(it.take(it.names[1]).await, "restore/mixed");
        it.holds(&mixed);
        refused(it.take(Digest::of(b"another difference")).await, "restore/stale");
        std::fs::remove_file(&it.file).expect("removed");
        refused(it.take(it.names[2]).await, "restore/mixed");
        assert!(!it.file.exists());
        assert_eq!(it.play.count("revision/restoring"), before, "what is refused isn't on record");
        it.play.clean();
    });
}

#[test]
fn the_whole_file_goes_back_after_a_part_of_it_did() {
    alone(async {
        let it = Parted::new().await;
        it.take(it.names[1]).await.expect("it goes back");
        let of = RestoreOf::Turn { turn: it.turn.clone() };
        it.restore(RestoreScope { of, paths: vec!["list.txt".to_owned()] }).await.expect("it goes back");
        it.holds(&lines(&[]));
        it.redo().await;
        it.holds(&lines(&[2, 37]));
        it.play.clean();
    });
}

/// Takes the middle part back in a process that dies at this point of its append with this number, and looks what the next
/// one makes of it. Gives whether it died, and whether the return was on record by then.
fn killed_in_between(more: u64, point: Point) -> (bool, bool) {
    let (whole, without) = (lines(&[2, 20, 37]), lines(&[2, 37]));
    let it = alone(Parted::new());
    let Parted { play, file, turn, names } = it;
    let beside = |play: &Play| std::fs::read_dir(play.rig.folder()).expect("readable").count();
    let at_first = beside(&play);
    let (died, play) = alone(async {
        // The runtime of before is gone, and its process with it.
        let play = play.restart().await;
        play.process.faults.after(more, point);
        let of = RestoreOf::Part { turn: Some(turn), part: names[1] };
        let scope = RestoreScope { of, paths: vec!["list.txt".to_owned()] };
        let taken = play.process.engine.restore(&play.session, scope, Vec::new()).await;
        while taken.is_ok() && !play.process.faults.is_dead() && play.count("revision/restored") == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        (play.process.faults.is_dead(), play)
    });
    let at = format!("{point:?} of append {more}");
    let (began, ended) = (play.count("revision/restoring"), play.count("revision/restored"));
    let text = std::fs::read_to_string(&file).expect("there");
    match (began, ended) {
        (0, _) => assert_eq!(text, whole, "{at}: nothing is on record, so nothing happened"),
        (_, 0) => assert!(text == whole || text == without, "{at}: a mixture: {text}"),
        _ => assert_eq!(text, without, "{at}: it is on record"),
    }
    alone(async {
        let play = play.restart().await;
        play.until(|state| state.restoring.is_none()).await;
        let ledger = Ledger::read(play.process.engine.store(), &play.session).expect("read");
        assert_eq!(play.count("revision/restored"), began, "{at}: what was begun is ended");
        assert_eq!(
            ledger.undone_parts("list.txt").contains(&names[1]),
            began == 1,
            "{at}: the record says which"
        );
        let expect = if began == 1 { &without } else { &whole };
        assert_eq!(std::fs::read_to_string(&file).expect("there"), *expect, "{at}");
        assert_eq!(beside(&play), at_first, "{at}: nothing is left beside the file");
        play.clean();
    });
    (died, began == 1)
}

#[test]
fn a_part_that_goes_back_while_the_process_dies_is_whole_and_on_record_as_what_it_is() {
    let mut met = BTreeSet::new();
    for point in [Point::BeforeBegin, Point::BeforeCommit, Point::AfterCommit] {
        let mut more = 0;
        loop {
            let (died, began) = killed_in_between(more, point);
            if !died {
                break;
            }
            met.insert(began);
            more += 1;
        }
        assert!(more >= 2, "it died before and after the end was recorded: {more}");
    }
    assert_eq!(met.len(), 2, "it died before and after the beginning was recorded");
}
