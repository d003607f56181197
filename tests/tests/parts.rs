//! Taking back one part of what a file's difference shows: the others stay, a person's edits stay, and it can be undone.

use crate::play::{Play, script, text, write};
use domain::call::Mode;
use domain::digest::Digest;
use domain::event::{RestoreOf, RestoreScope};
use domain::ids::TurnId;
use engine::ledger::Ledger;
use engine::{CommandFailure, show};
use std::path::PathBuf;
use tests::Rig;

fn alone<T>(run: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.expect("a runtime").block_on(run)
}

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
