//! Contents kept for undo are let go by the rule: old, beyond the limit, oldest first; and what went says so.

use crate::play::{Play, script, text, write};
use domain::digest::Digest;
use domain::event::{Fact, RestoreOf, RestoreScope};
use domain::ids::TurnId;
use engine::thinning::{DAY_MS, KEPT_DAYS};
use engine::{CommandFailure, Reach, Thinned};
use store::{BlobError, Gone, Point};
use tests::{Answers, DieAt, Rig};

/// Each turn writes this much over one file, so each keeps what stood there before.
const BYTES: usize = 60_000;

fn content(n: usize) -> String {
    format!("{n} ").repeat(BYTES / 2)
}

/// Four turns, one a day, the last today.
async fn played() -> Play {
    let answers: Vec<String> = (1..=4).flat_map(|n| [write("big.txt", &content(n)), text("Done.")]).collect();
    let rig = Rig::new(&script(&answers.iter().map(String::as_str).collect::<Vec<_>>()));
    std::fs::write(rig.folder().join("big.txt"), content(0)).expect("writes");
    let play = Play::on(rig).await;
    for _ in 0..4 {
        play.through("Write it anew.").await;
        play.rig.world.pass(DAY_MS);
    }
    play
}

/// Another process: what the one before has kept itself is let go only after its end.
async fn later(play: Play, days: u64) -> Play {
    play.rig.world.pass(days * DAY_MS);
    play.restart().await
}

fn turns(play: &Play) -> Vec<TurnId> {
    let begun = play.facts().into_iter().filter_map(|fact| match fact {
        Fact::TurnStart(turn) => Some(turn.turn),
        _ => None,
    });
    begun.collect()
}

fn thinned(play: &Play) -> Vec<TurnId> {
    let went = play.facts().into_iter().filter_map(|fact| match fact {
        Fact::RevisionThinned(thinned) => Some(thinned.turns),
        _ => None,
    });
    went.flatten().collect()
}

async fn undo(play: &Play, turn: &TurnId) -> Result<(), CommandFailure> {
    let scope = RestoreScope { of: RestoreOf::Turn { turn: turn.clone() }, paths: Vec::new() };
    play.process.engine.restore(&play.session, scope, Vec::new()).await.map(drop)
}

#[tokio::test(start_paused = true)]
async fn what_is_young_or_fits_stays() {
    let play = later(played().await, 1).await;
    let engine = &play.process.engine;
    engine.set_undo_limit(1).expect("saved");
    assert_eq!(engine.thin().await, Ok(Thinned::default()), "all of it is young");
    let play = later(play, KEPT_DAYS).await;
    let engine = &play.process.engine;
    engine.set_undo_limit(1 << 30).expect("saved");
    assert_eq!(engine.thin().await, Ok(Thinned::default()), "all of it fits");
    let kept = engine.kept_for_undo().expect("readable");
    assert!(kept.bytes > 4 * BYTES as u64 && kept.thinned == 0 && kept.since.is_some(), "{kept:?}");
}

#[tokio::test(start_paused = true)]
async fn r_log_02_the_oldest_go_first_until_the_rest_fits_and_no_event_is_changed() {
    let play = later(played().await, KEPT_DAYS).await;
    let (engine, all) = (&play.process.engine, turns(&play));
    let before = engine.kept_for_undo().expect("readable");
    let log = play.rig.log(&play.session);
    // Room for all but one content.
    engine.set_undo_limit(before.bytes - 1).expect("saved");
    let went = engine.thin().await.expect("thins");
    assert_eq!((went.turns, thinned(&play)), (1, all[..1].to_vec()));
    let after = engine.kept_for_undo().expect("readable");
    assert_eq!((after.bytes, after.thinned), (before.bytes - went.bytes, 1));
    assert!(after.since > before.since);
    engine.set_undo_limit(1).expect("saved");
    engine.thin().await.expect("thins");
    assert_eq!(thinned(&play), all[..3].to_vec(), "never the last");
    let now = play.rig.log(&play.session);
    assert_eq!((&now[..log.len()], now.len()), (&log[..], log.len() + 2), "only added to");
    play.clean();
}

#[tokio::test(start_paused = true)]
async fn an_undo_that_is_not_possible_any_more_is_refused_whole_and_others_work() {
    let play = later(played().await, KEPT_DAYS).await;
    let (engine, all) = (&play.process.engine, turns(&play));
    engine.set_undo_limit(1).expect("saved");
    engine.thin().await.expect("thins");
    let gone = engine.store().blob(&Digest::of(content(0).as_bytes()));
    assert!(matches!(gone, Err(BlobError::Gone { why: Gone::Thinned, .. })), "{gone:?}");
    for refused in [undo(&play, &all[0]).await, undo(&play, &all[1]).await] {
        let Err(CommandFailure::Refused(error)) = refused else { panic!("{refused:?}") };
        assert_eq!(error.code, "content/thinned");
    }
    assert_eq!(play.rig.file("big.txt"), content(4), "nothing was half done");
    undo(&play, &all[3]).await.expect("the last turn's contents stay");
    play.until(|state| state.restoring.is_none()).await;
    assert_eq!(play.rig.file("big.txt"), content(3));
    play.clean();
}

#[tokio::test(start_paused = true)]
async fn a_thinning_that_was_killed_is_finished_or_never_began() {
    for point in [Point::BeforeCommit, Point::AfterCommit] {
        let play = later(played().await, KEPT_DAYS).await;
        let first = Digest::of(content(0).as_bytes());
        play.process.engine.set_undo_limit(1).expect("saved");
        let Play { rig, process, session } = play;
        drop(process);
        let process = rig.start(DieAt::append(0, point));
        assert!(process.engine.thin().await.is_err(), "{point:?}");
        drop(process);
        let process = std::sync::Arc::new(rig.start(DieAt::never()));
        let play = Play { rig, process, session };
        let found = play.process.engine.store().blob(&first);
        match point {
            Point::AfterCommit => assert!(matches!(found, Err(BlobError::Gone { .. })), "{found:?}"),
            Point::BeforeBegin | Point::BeforeCommit => assert!(found.is_ok(), "{found:?}"),
        }
        play.clean();
    }
}

/// Two sessions that wrote over the same content, the one that was made first a day after the other. A newer turn follows
/// in each, so that these may go; what both need is let go with the younger.
async fn sharing() -> (Play, Play) {
    let over = |file: &str, words: &str| [write(file, words), text("Done.")];
    // Each session plays it from its beginning.
    let answers = [over("b.txt", "one"), over("a.txt", "two"), over("a.txt", "three")].concat();
    let rig = Rig::new(&script(&answers.iter().map(String::as_str).collect::<Vec<_>>()));
    let first = Play::on(rig).await;
    let second = first.beside().await;
    assert!(first.session < second.session);
    for play in [&second, &first] {
        std::fs::write(play.rig.folder().join("b.txt"), content(0)).expect("writes");
        play.through("Write over it.").await;
        play.rig.world.pass(DAY_MS);
    }
    for play in [&second, &first] {
        play.through("Go on.").await;
    }
    (first, second)
}

/// The same in another process.
async fn both_later((first, second): (Play, Play), faults: DieAt) -> (Play, Play) {
    let (Play { rig, process, session }, other) = (first, second.session.clone());
    drop((process, second.process, second.rig));
    rig.world.pass(KEPT_DAYS * DAY_MS);
    let process = std::sync::Arc::new(rig.start(faults));
    let of = |session| Play { rig: rig.clone(), process: process.clone(), session };
    (of(session), of(other))
}

#[tokio::test(start_paused = true)]
async fn a_crash_between_sessions_that_share_contents_leaves_no_undo_that_is_refused_only_when_it_is_pressed()
{
    for point in [Point::BeforeBegin, Point::BeforeCommit, Point::AfterCommit] {
        let plays = both_later(sharing().await, DieAt::never()).await;
        plays.0.process.engine.set_undo_limit(1).expect("saved");
        let plays = both_later(plays, DieAt::append(0, point)).await;
        assert!(plays.0.process.engine.thin().await.is_err(), "{point:?}");
        let (first, second) = both_later(plays, DieAt::never()).await;
        let store = first.process.engine.store();
        let content = |store: &store::StoreHandle| store.blob(&Digest::of(content(0).as_bytes()));
        let recorded = |play: &Play| thinned(play) == turns(play)[..1];
        match point {
            Point::AfterCommit => {
                assert!(matches!(content(store), Err(BlobError::Gone { .. })), "what was left is removed");
                assert!(recorded(&first) && recorded(&second), "each says so");
            }
            Point::BeforeBegin | Point::BeforeCommit => {
                assert!(content(store).is_ok() && thinned(&first).is_empty() && thinned(&second).is_empty());
                assert_eq!(first.process.engine.thin().await.expect("thins").turns, 2);
                assert!(matches!(content(store), Err(BlobError::Gone { .. })));
                assert!(recorded(&first) && recorded(&second));
            }
        }
        assert_eq!(first.process.engine.thin().await, Ok(Thinned::default()), "{point:?}: nothing is left");
        first.clean();
        second.clean();
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_waits_for_the_person_keeps_what_it_needs_and_is_counted() {
    let plays = both_later(sharing().await, DieAt::never()).await;
    let (first, second) = (&plays.0, &plays.1);
    first.process.engine.set_undo_limit(1).expect("saved");
    second.say("Write once more.").await;
    second.until(crate::play::asks).await;
    let went = first.process.engine.thin().await.expect("thins");
    assert_eq!((went.turns, went.left), (1, 1));
    assert_eq!((thinned(first), thinned(second)), (turns(first)[..1].to_vec(), Vec::new()));
    let content = first.process.engine.store().blob(&Digest::of(content(0).as_bytes()));
    assert!(content.is_ok(), "the session at work needs it too");
    second.rest(&Answers::default()).await;
    let went = first.process.engine.thin().await.expect("thins");
    assert_eq!(went.left, 0);
    assert_eq!(thinned(second), turns(second)[..2].to_vec());
}

#[tokio::test(start_paused = true)]
async fn it_is_looked_at_once_a_day() {
    let play = later(played().await, KEPT_DAYS).await;
    let engine = &play.process.engine;
    engine.set_undo_limit(1).expect("saved");
    assert_eq!(engine.thin_daily().await.expect("thins").turns, 3);
    play.rig.world.pass(DAY_MS / 2);
    assert_eq!(engine.thin_daily().await, Ok(Thinned::default()));
}

/// Undoing what an undo did needs contents as well; where they went, it is refused before anything is looked at.
#[tokio::test(start_paused = true)]
async fn a_return_whose_contents_went_can_not_be_taken_back() {
    let answers: Vec<String> = (1..=3).flat_map(|n| [write("big.txt", &content(n)), text("Done.")]).collect();
    let rig = Rig::new(&script(&answers.iter().map(String::as_str).collect::<Vec<_>>()));
    std::fs::write(rig.folder().join("big.txt"), content(0)).expect("writes");
    let play = Play::on(rig).await;
    play.through("Write it.").await;
    play.through("Write it anew.").await;
    play.rig.world.pass(DAY_MS);
    undo(&play, &turns(&play)[1]).await.expect("undone");
    play.until(|state| state.restoring.is_none()).await;
    play.rig.world.pass(DAY_MS);
    play.through("Write it once more.").await;
    let play = later(play, KEPT_DAYS + 1).await;
    play.process.engine.set_undo_limit(1).expect("saved");
    assert_eq!(play.process.engine.thin().await.expect("thins").turns, 3);
    let revision = play.facts().into_iter().find_map(|fact| match fact {
        Fact::RevisionThinned(thinned) => thinned.restores.into_iter().next(),
        _ => None,
    });
    let of = RestoreOf::Restore { revision: revision.expect("the return's contents went") };
    // Of no file in particular, so that no content is asked for.
    let scope = RestoreScope { of, paths: vec!["other.txt".to_owned()] };
    let refused = play.process.engine.restore(&play.session, scope, Vec::new()).await;
    let Err(CommandFailure::Refused(error)) = refused else { panic!("{refused:?}") };
    assert_eq!(error.code, "content/thinned");
}

#[tokio::test(start_paused = true)]
async fn the_last_turn_stays_when_something_was_undone_after_it() {
    let play = played().await;
    let all = turns(&play);
    undo(&play, &all[3]).await.expect("undone");
    play.until(|state| state.restoring.is_none()).await;
    let play = later(play, KEPT_DAYS + 1).await;
    let engine = &play.process.engine;
    engine.set_undo_limit(1).expect("saved");
    engine.thin().await.expect("thins");
    assert_eq!(thinned(&play), all[..3].to_vec());
    play.clean();
}

#[tokio::test(start_paused = true)]
async fn an_erased_name_of_a_file_keeps_nothing_else_from_being_thinned_or_undone() {
    use domain::event::ErasedWhy;
    let name = "private-person.txt";
    let answers = [write(name, "one"), text("Done."), write("big.txt", &content(1)), text("Done.")];
    let play = Play::of(&script(&answers.iter().map(String::as_str).collect::<Vec<_>>())).await;
    play.through("Write it.").await;
    play.through("And that.").await;
    let all = turns(&play);
    let chosen =
        play.rig.log(&play.session).into_iter().find(|event| event.kind == "tool/result").expect("there");
    let erase = engine::Erase {
        chosen: chosen.seq,
        text: Some(name.into()),
        why: ErasedWhy::Private,
        reach: Reach::Session,
    };
    play.process.engine.erase(&play.session, erase).await.expect("it is erased");
    undo(&play, &all[0]).await.expect("its name is gone, and that is said");
    play.until(|state| state.restoring.is_none()).await;
    let began = play.facts().into_iter().find_map(|fact| match fact {
        domain::event::Fact::RevisionRestoring(began) => Some(began),
        _ => None,
    });
    let kept: Vec<String> = began.expect("it began").kept.into_iter().map(|kept| kept.why).collect();
    assert_eq!(kept, ["name_erased"]);
    assert_eq!(play.rig.file(name), "one", "nothing was touched");
    undo(&play, &all[1]).await.expect("the other turn goes back");
    play.until(|state| state.restoring.is_none()).await;
    let play = later(play, KEPT_DAYS + 1).await;
    play.process.engine.set_undo_limit(1).expect("saved");
    play.process.engine.thin().await.expect("it is looked at");
    play.process.engine.kept_for_undo().expect("readable");
    play.clean();
}
