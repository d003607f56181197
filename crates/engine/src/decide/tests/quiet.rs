//! A person's stop brings quiet: what waits then starts nothing until the person says so.
//!
//! **Held** messages lost the right to wake; it comes back with the next message that has it. Nothing is ever lost.

use super::*;

/// A stop brings quiet: what waits then waits on, until the person says something or sends it; a crash changes nothing.
#[test]
fn r_inb_13_what_waits_at_a_stop_waits_for_the_person() {
    let stopped = || {
        let mut bench = Bench::attempting();
        bench.say("Later.", Target::NextTurn);
        bench.say("Also this.", Target::NextStep);
        assert_eq!(bench.tell(Command::Stop(CancelBy::User)), "turn/cancel");
        let (attempt, text) = (bench.attempt(), String::new());
        bench.take(Input::SendStopped { attempt, text, usage: None });
        assert_eq!(bench.advance(), "step/end turn/end", "no turn begins by itself");
        assert_eq!(bench.with(wanted), [], "and none is wanted");
        bench
    };
    let texts = |bench: &Bench, claimed: bool| -> Vec<String> {
        let is = |w: &&domain::state::Waiting| w.reserved.is_some() == claimed;
        bench.state.inbox.iter().filter(is).map(|w| w.text.clone()).collect()
    };
    let mut bench = stopped();
    assert_eq!(bench.recover(), "");
    assert_eq!(bench.advance(), "", "a new process leaves it waiting, too");
    assert_eq!(texts(&bench, false), ["Later.", "Also this."], "nothing is lost");

    bench.say("Go on.", Target::NextStep);
    assert_eq!(bench.advance(), "turn/start step/start inbox/reserved");
    assert_eq!(texts(&bench, true), ["Also this.", "Go on."], "the earlier one goes with it");
    assert!(bench.state.inbox[0].wakeup, "the follow-up has its turn after this one");

    let mut bench = stopped();
    let later = bench.state.inbox[0].message.clone();
    assert_eq!(bench.tell(Command::SendNow(later.clone())), "inbox/cancelled inbox/posted");
    assert_eq!(bench.refuses(Command::SendNow(later)), "message/read");
    bench.advance();
    assert_eq!(texts(&bench, true), ["Also this.", "Later."]);

    let mut bench = stopped();
    while let Some(waiting) = bench.state.inbox.first() {
        bench.tell(Command::TakeBack(waiting.message.clone()));
    }
    assert_eq!(bench.advance(), "");
}

/// What is said while the stop still runs its course is said after it; a stop by the closing app holds nothing back.
#[test]
fn r_inb_13_only_the_persons_stop_holds_back_and_only_what_came_before() {
    let ends = |by, after: &[&str]| {
        let mut bench = Bench::attempting();
        bench.say("Before.", Target::NextStep);
        bench.tell(Command::Stop(by));
        after.iter().for_each(|text| drop(bench.say(text, Target::NextStep)));
        let (attempt, text) = (bench.attempt(), String::new());
        bench.take(Input::SendStopped { attempt, text, usage: None });
        bench.advance()
    };
    assert_eq!(ends(CancelBy::User, &[]), "step/end turn/end");
    let wakes = "step/end turn/end turn/start step/start inbox/reserved";
    assert_eq!(ends(CancelBy::User, &["After."]), wakes);
    assert_eq!(ends(CancelBy::Shutdown, &[]), wakes);
}
