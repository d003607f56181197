//! What the person allowed for more than one call: it holds for the session, over a restart, and until it is revoked.

use crate::play::{Play, alone, asks, calls, read, run, script, text, write};
use domain::call::{Grant, Mode};
use domain::event::Fact;
use domain::ids::GrantId;
use domain::state::State;
use engine::Command;
use tests::Rig;

fn commanding() -> Rig {
    let steps: Vec<String> =
        (0..4).flat_map(|n| [run(&format!("note {n}")), text(&format!("Done {n}."))]).collect();
    Rig::new(&script(&steps.iter().map(String::as_str).collect::<Vec<_>>()))
}

/// Says yes to the open request, with one of its offers.
async fn yes(play: &Play, offer: Option<u32>) {
    let state = play.until(asks).await;
    let approval = calls(&state).iter().find_map(|call| call.approval.clone()).expect("a request");
    play.tell(Command::Grant { approval: approval.id, digest: approval.digest, offer }).await;
    play.idle().await;
}

fn only(state: &State) -> GrantId {
    let mut grants = state.grants.iter();
    let (id, given) = grants.next().expect("a grant");
    assert_eq!((&given.what, grants.next()), (&Grant::Commands, None));
    id.clone()
}

/// How often a person was asked.
fn asked(play: &Play) -> usize {
    play.count("approval/requested")
}

#[test]
fn what_is_allowed_for_the_session_also_answers_the_other_open_requests() {
    alone(async {
        let both = format!("{},{}", run("note 1"), run("note 2"));
        let play = Play::of(&script(&[&both, &text("Done.")])).await;
        play.say("Both.").await;
        play.until(|state| state.needs_you() == 2).await;
        yes(&play, Some(1)).await;
        assert_eq!(play.rig.world.commands(), ["note 1", "note 2"], "nobody was asked again");
        let covered = play.facts().into_iter().filter_map(|fact| match fact {
            Fact::ApprovalExpired(expired) => Some(expired.why),
            _ => None,
        });
        assert_eq!((asked(&play), covered.collect::<Vec<_>>()), (2, vec!["allowed".to_owned()]));
        play.clean();
    });
}

#[test]
fn what_was_allowed_for_the_session_asks_no_more_until_it_is_revoked() {
    alone(async {
        let play = Play::on(commanding()).await;
        play.say("One.").await;
        let offers = |play: &Play| {
            play.facts().into_iter().find_map(|fact| match fact {
                Fact::ApprovalRequested(asked) => Some(asked.offers),
                _ => None,
            })
        };
        play.until(asks).await;
        let exact =
            Grant::Command { words: vec!["note".into(), "0".into()], exact: true, files: Default::default() };
        let narrow_first = Some(vec![exact, Grant::Commands]);
        assert_eq!(offers(&play), narrow_first, "no kind of an unknown program is offered");
        yes(&play, Some(1)).await;
        let grant = only(&play.state());
        play.say("Two.").await;
        play.idle().await;
        assert_eq!((asked(&play), play.rig.world.commands().len()), (1, 2), "the second one ran unasked");
        assert!(play.state().grants[&grant].used.is_some());

        let play = play.restart().await;
        play.say("Three.").await;
        play.idle().await;
        assert_eq!((asked(&play), play.rig.world.commands().len()), (1, 3), "a restart forgets nothing");

        play.tell(Command::Revoke(grant)).await;
        play.say("Four.").await;
        play.until(asks).await;
        assert_eq!(asked(&play), 2, "revoked is revoked");
        yes(&play, None).await;
        assert!(play.state().grants.is_empty(), "a plain yes is for one call");
        play.clean();
    });
}

#[test]
fn r_pol_10_the_record_says_by_which_permission_a_call_ran() {
    alone(async {
        let play = Play::on(commanding()).await;
        play.say("One.").await;
        yes(&play, Some(1)).await;
        let grant = only(&play.state());
        play.say("Two.").await;
        play.idle().await;
        let rules: Vec<String> = play
            .facts()
            .into_iter()
            .filter_map(|fact| match fact {
                Fact::ToolDecision(decided) => Some(match decided.decision {
                    domain::call::Verdict::Allow { rule } | domain::call::Verdict::Ask { rule } => rule,
                    domain::call::Verdict::Deny { rule, .. } => rule,
                }),
                _ => None,
            })
            .collect();
        assert_eq!(rules.first().map(String::as_str), Some("mode/ask"));
        assert_eq!(rules.last(), Some(&format!("grant/{grant}")));
    });
}

#[test]
fn only_what_was_offered_can_be_allowed() {
    alone(async {
        let play = Play::on(commanding()).await;
        play.say("One.").await;
        let state = play.until(asks).await;
        let approval = calls(&state).iter().find_map(|call| call.approval.clone()).expect("a request");
        let wrong = Command::Grant { approval: approval.id, digest: approval.digest, offer: Some(7) };
        let refused = play.process.engine.command(&play.session, wrong).await;
        assert!(refused.is_err_and(|error| error.to_string().contains("wasn't offered")));
        assert!(play.state().grants.is_empty() && asks(&play.state()), "and nothing was decided");
    });
}

/// Words aren't a switch: the mode is changed by an explicit command alone, and each call is checked before it runs.
#[test]
fn case_a12_saying_that_the_plan_is_fine_switches_nothing() {
    alone(async {
        let steps =
            [text("Here is a plan."), write("made.txt", "x"), run("make made.txt"), text("I couldn't.")];
        let mut rig = Rig::new(&script(&steps.iter().map(String::as_str).collect::<Vec<_>>()));
        rig.mode = Mode::Plan;
        let play = Play::on(rig).await;
        play.say("Plan it.").await;
        play.idle().await;
        play.say("Looks good, go ahead!").await;
        play.idle().await;
        assert!(!play.rig.folder().join("made.txt").exists(), "nothing was written");
        let denied = play.facts().into_iter().filter(|fact| matches!(fact, Fact::ToolDenied(_))).count();
        assert_eq!((denied, play.count("session/mode")), (1, 0), "the write was refused before it ran");
        play.clean();
    });
}

#[test]
fn a43_that_a_secret_was_read_is_remembered_even_when_the_file_is_gone() {
    alone(async {
        let steps = [read(".env"), run("drop .env"), text("Done."), text("Again.")];
        let rig = Rig::new(&script(&steps.iter().map(String::as_str).collect::<Vec<_>>()));
        std::fs::write(rig.folder().join(".env"), "KEY=1\n").expect("written");
        let play = Play::on(rig).await;
        play.through("Read it.").await;
        assert_eq!(asked(&play), 2, "reading it asks, and so does the command");
        assert!(!play.rig.folder().join(".env").exists());
        let play = play.restart().await;
        play.through("Go on.").await;
        assert!(play.state().secrets.contains(".env"), "{:?}", play.state().secrets);
    });
}
