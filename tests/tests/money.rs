//! Limits of money over whole turns: what stops at them, what goes on past them, and that nothing counts twice.
//!
//! A request of the rig's model costs 15 cents here, whatever is in it, since a script reports what it likes; its estimate is
//! reckoned beside that at a price of its own.

use crate::play::{Play, alone};
use domain::event::{End, MoneyMet};
use domain::ids::{CommandId, SessionId};
use domain::money::{Price, Spent};
use domain::state::State;
use engine::{Command, Past};
use store::Point;
use tests::driver::{Ended, drive};
use tests::world::DAY;
use tests::{Answers, DieAt, Rig};

/// A cent, in micro-dollars.
const CENT: u64 = 10_000;

/// Each answer costs 15 cents: 10,000 tokens of output at 15 dollars a million.
const ANSWERS: &str =
    r#"{"answers":[{"repeat":true,"say":[{"text":"Done."}],"usage":{"input":0,"output":10000}}]}"#;

/// An answer with a call, then one without, of 15 cents each.
const WORK: &str = r#"{"answers":[
    {"say":[{"call":{"name":"read_file","arguments":{"path":"notes.txt"}}}],"usage":{"input":0,"output":10000}},
    {"repeat":true,"say":[{"text":"Done."}],"usage":{"input":0,"output":10000}}]}"#;

/// The last limit of money that was met: which, its value and what was spent, in cents.
fn met(play: &Play) -> Option<(String, u64, u64)> {
    play.ends().into_iter().rev().find_map(|end| match end {
        End::Limit { limit, value, money: Some(money) } => {
            let MoneyMet { spent, .. } = *money;
            Some((limit, value / CENT, spent.micros / CENT))
        }
        _ => None,
    })
}

fn on(past: Past, command: u128) -> Command {
    Command::GoOn { past, text: "Please go on.".into(), command: Some(CommandId::from_bits(command)) }
}

fn session(cents: u64) -> Past {
    Past::Session { limit: cents * CENT }
}

fn spent(state: &State) -> u64 {
    state.usage.spent.micros / CENT
}

#[test]
fn a_session_stops_at_its_limit_and_one_click_goes_on() {
    alone(async {
        let rig = Rig::new(WORK);
        rig.money.cap(Some(15 * CENT), None);
        let play = Play::on(rig).await;
        play.through("Read it.").await;
        assert_eq!(met(&play), Some(("spend_session".into(), 15, 15)));
        assert_eq!(play.count("attempt/start"), 1, "nothing more was sent");
        // What was said meanwhile waits for no limit, and meets it again.
        play.through("Go on.").await;
        assert_eq!((play.count("attempt/start"), play.count("turn/end")), (1, 2));
        play.tell(on(session(15), 1)).await;
        play.idle().await;
        assert_eq!((spent(&play.state()), play.ends().pop()), (30, Some(End::Completed)));
        play.clean();
    });
}

#[test]
fn a_limit_and_what_was_allowed_beyond_it_survive_a_restart() {
    alone(async {
        let rig = Rig::new(WORK);
        rig.money.cap(Some(15 * CENT), None);
        let play = Play::on(rig).await;
        play.through("Read it.").await;
        let play = play.restart().await;
        assert_eq!(play.state().met.map(|met| met.value), Some(15 * CENT), "it is still the same question");
        play.tell(on(session(15), 1)).await;
        play.idle().await;
        let play = play.restart().await;
        play.through("And again.").await;
        assert_eq!(met(&play), Some(("spend_session".into(), 30, 30)), "the portion was used up");
        assert_eq!(play.count("attempt/start"), 2);
    });
}

/// The day is the person's, over all sessions and all processes, and begins anew at midnight.
#[test]
fn a_day_is_counted_over_all_sessions() {
    alone(async {
        let rig = Rig::new(ANSWERS);
        rig.money.cap(None, Some(40 * CENT));
        let one = Play::on(rig).await;
        one.through("First.").await;
        let other = one.beside().await;
        other.through("Second.").await;
        assert_eq!((met(&one), met(&other)), (None, None));
        one.through("Third.").await;
        assert_eq!(met(&one), None, "30 of 40 were spent");
        other.through("Fourth.").await;
        assert_eq!(met(&other), Some(("spend_day".into(), 40, 45)));
        drop(one);
        let other = other.restart().await;
        other.tell(on(Past::Day { limit: 40 * CENT }, 1)).await;
        other.idle().await;
        assert_eq!(spent(&other.state()), 30);
        other.clean();
        // Allowed in one session, used up by another.
        let third = other.beside().await;
        third.through("Fifth.").await;
        third.through("Sixth.").await;
        third.through("Seventh.").await;
        assert_eq!(met(&third), Some(("spend_day".into(), 80, 90)));
        third.rig.world.pass(DAY);
        third.through("On the next day.").await;
        assert_eq!(third.ends().pop(), Some(End::Completed));
        third.rig.world.pass(DAY);
        let today = || third.process.engine.store().spent(0, u64::MAX).expect("it adds up");
        assert_eq!((today().spent.micros, today().raised), (7 * 15 * CENT, 40 * CENT));
        third.clean();
    });
}

#[test]
fn what_nobody_knows_the_price_of_is_asked_about_once_and_never_taken_for_nothing() {
    alone(async {
        let mut rig = Rig::new(WORK);
        rig.money.price = None;
        rig.money.cap(Some(CENT), None);
        let play = Play::on(rig).await;
        play.through("Read it.").await;
        assert_eq!(met(&play), Some(("price".into(), 0, 0)));
        assert_eq!(play.count("attempt/start"), 0);
        let model = play.rig.created().model.expect("a model");
        play.tell(on(Past::Price(model), 1)).await;
        play.idle().await;
        assert_eq!(play.count("attempt/start"), 2);
        assert_eq!(play.state().usage.spent, Spent { micros: 0, estimated: 0, unknown: 2 });
        play.through("And again.").await;
        assert_eq!((play.count("attempt/start"), play.ends().pop()), (3, Some(End::Completed)));
    });
}

#[test]
fn what_costs_nothing_meets_no_limit() {
    alone(async {
        let mut rig = Rig::new(WORK);
        rig.money.price = Some(Price::local());
        rig.money.cap(Some(CENT), Some(CENT));
        let play = Play::on(rig).await;
        play.through("Read it.").await;
        assert_eq!((play.ends().pop(), play.state().usage.spent), (Some(End::Completed), Spent::default()));
    });
}

/// What failed and what was stopped count as well, as far as is known of them.
#[test]
fn r_mod_16_failed_and_stopped_attempts_count() {
    let script = r#"{"answers":[
        {"say":[{"text":"Half"}],"error":{"class":"cut"},"usage":{"input":0,"output":10000}},
        {"say":[{"text":"Half an"}],"error":{"class":"cut"}},
        {"error":{"class":"network"}},
        {"say":[{"text":"Whole."}],"usage":{"input":0,"output":10000}}]}"#;
    alone(async {
        let play = Play::of(script).await;
        play.through("Go.").await;
        let spent = play.state().usage.spent;
        assert_eq!((play.count("attempt/end"), spent.estimated, spent.unknown), (4, 2, 1));
        assert!(spent.micros > 30 * CENT, "what arrived of the second one counts, too: {spent:?}");
    });
}

/// Says it, meets the limit and goes on, once each, whatever was done before.
async fn play(rig: &Rig, faults: DieAt, session_id: &mut Option<SessionId>) -> (Ended, u64) {
    let process = rig.start(faults);
    let (engine, epoch) = (&process.engine, process.engine.store().epoch());
    let dead = (Ended::Dead, epoch);
    if session_id.is_none() {
        *session_id = engine.store().sessions().expect("a list").pop().map(|row| row.session);
    }
    let session = match session_id.clone() {
        Some(session) => session,
        None => match engine.create(rig.created()).await {
            Ok(session) => session_id.insert(session).clone(),
            Err(_) => return dead,
        },
    };
    let say = Command::Say {
        text: "Read it.".into(),
        target: domain::event::Target::NextStep,
        command: Some(CommandId::from_bits(1)),
    };
    if engine.command(&session, say).await.is_err() {
        return dead;
    }
    if drive(&process, &session, &Answers::default()).await == Ended::Dead {
        return dead;
    }
    // A repeat is the same click; where the record has it, nothing is allowed again.
    let again = engine.command(&session, on(self::session(15), 2)).await;
    if process.faults.is_dead() {
        return dead;
    }
    again.expect("it is taken");
    let ended = drive(&process, &session, &Answers::default()).await;
    (ended, epoch)
}

/// Killed before and after each append, and again at the first one of the next process: each attempt is counted once, in the
/// session and in the day, and one click allows one portion.
#[test]
fn inv_i8_whatever_is_killed_money_is_counted_once() {
    for point in [Point::BeforeBegin, Point::AfterCommit] {
        let (mut n, mut cut_off) = (0, 0);
        loop {
            let rig = Rig::new(WORK);
            rig.money.cap(Some(15 * CENT), Some(1_000 * CENT));
            let mut session = None;
            if alone(play(&rig, DieAt::append(n, point), &mut session)).0 != Ended::Dead {
                break;
            }
            alone(play(&rig, DieAt::append(0, point), &mut session));
            let (ended, epoch) = alone(play(&rig, DieAt::never(), &mut session));
            let (at, session) = (format!("killed at append {n} ({point:?})"), session.expect("it began"));
            assert_eq!(ended, Ended::Resting, "{at}");
            let findings = rig.findings(&session, epoch);
            assert!(findings.is_empty(), "{at}: {findings:#?}");
            let reader = store::Reader::open(rig.data()).expect("readable");
            let state = reader.state(&session).expect("readable");
            assert_eq!(state.raised, 15 * CENT, "{at}");
            cut_off += state.usage.spent.estimated;
            n += 1;
        }
        assert!(n > 10, "only {n} appends");
        assert!(cut_off > 0, "no attempt was cut off");
    }
}
