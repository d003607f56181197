//! The same words in several sessions: counted, and erased from all of them in one go or from none.

use crate::erase::{CANARY, exact, holding, planted, seq_of, sound};
use crate::play::{Play, asks, script, text, write};
use domain::event::Recorded;
use engine::{CommandFailure, Erase, Reach};
use std::sync::Arc;
use store::Point;
use tests::{Answers, DieAt};

fn everywhere(chosen: u64) -> Erase {
    Erase { reach: Reach::Everywhere, ..exact(chosen) }
}

/// One session, another that was told the same words, and one that wasn't.
async fn three() -> [Play; 3] {
    let play = planted().await;
    let (other, third) = (play.beside().await, play.beside().await);
    other.through(&format!("I have {CANARY} as well.")).await;
    [play, other, third]
}

fn logs(plays: &[Play; 3]) -> Vec<Vec<Recorded>> {
    plays.iter().map(|play| play.rig.log(&play.session)).collect()
}

#[tokio::test(start_paused = true)]
async fn words_go_from_every_session_that_holds_them_in_one_go() {
    let plays = three().await;
    let [play, other, third] = &plays;
    let (engine, chosen) = (&play.process.engine, seq_of(play, "user/message"));
    let found = engine.erasable(&play.session, &exact(chosen)).expect("it can be");
    assert_eq!(found.elsewhere, std::slice::from_ref(&other.session));
    let before = play.rig.log(&third.session);
    let done = engine.erase(&play.session, everywhere(chosen)).await.expect("it is erased");
    assert_eq!((done.sessions, done.unfinished.as_ref()), (1, None));
    assert_eq!(holding(play.rig.data()), Vec::<String>::new());
    sound(play);
    sound(other);
    assert_eq!(play.rig.log(&third.session), before, "a session without them is left as it was");
    other.through("Go on.").await;
    play.through("Go on.").await;
    let found = engine.erasable(&play.session, &exact(chosen));
    assert!(matches!(found, Err(CommandFailure::Refused(error)) if error.code == "erase/nothing"));
}

#[tokio::test(start_paused = true)]
async fn an_erasure_from_all_that_was_killed_is_finished_everywhere_or_never_began() {
    for point in [Point::BeforeCommit, Point::AfterCommit] {
        let [Play { rig, process, session }, other, third] = three().await;
        let others = [other.session.clone(), third.session.clone()];
        drop((process, other, third));
        let chosen = 1;
        let process = rig.start(DieAt::append(0, point));
        assert!(process.engine.erase(&session, everywhere(chosen)).await.is_err(), "{point:?}");
        drop(process);
        let process = Arc::new(rig.start(DieAt::never()));
        let [second, _] = others.map(|session| Play { rig: rig.clone(), process: process.clone(), session });
        let play = Play { rig, process, session };
        if point == Point::BeforeCommit {
            assert_eq!((play.count("record/erased"), second.count("record/erased")), (0, 0));
            play.process.engine.erase(&play.session, everywhere(chosen)).await.expect("it is erased");
        }
        assert_eq!(holding(play.rig.data()), Vec::<String>::new(), "{point:?}");
        sound(&play);
        sound(&second);
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_at_work_keeps_all_of_it_from_being_done() {
    let answers = [write("a.txt", CANARY), text("Done.")];
    let play = Play::of(&script(&answers.iter().map(String::as_str).collect::<Vec<_>>())).await;
    play.through(&format!("Use {CANARY}.")).await;
    let (other, third) = (play.beside().await, play.beside().await);
    other.say("Write it.").await;
    other.until(asks).await;
    let plays = [play, other, third];
    let [play, other, _] = &plays;
    let (engine, chosen) = (&play.process.engine, seq_of(play, "user/message"));
    let before = logs(&plays);
    let refused = engine.erase(&play.session, everywhere(chosen)).await;
    let Err(CommandFailure::Refused(error)) = refused else { panic!("{refused:?}") };
    assert_eq!(error.code, "erase/busy_elsewhere");
    assert_eq!(logs(&plays), before, "nothing was changed");
    engine.erase(&play.session, exact(chosen)).await.expect("it is erased from this one alone");
    other.rest(&Answers::default()).await;
    assert_ne!(holding(play.rig.data()), Vec::<String>::new());
    engine.erase(&other.session, exact(seq_of(other, "tool/call"))).await.expect("and from the other");
    assert_eq!(holding(play.rig.data()), Vec::<String>::new());
}
