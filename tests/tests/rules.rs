//! The person's own rules on the whole engine: read for each verdict, lifted by nothing, told to the model.

use crate::play::{Play, asks, calls, read, run, script, text, write};
use domain::call::{Grant, Mode, Verdict};
use domain::event::{Fact, ToolDenied};
use engine::Command;
use tests::Rig;
use tools::rules::About;

fn denials(play: &Play) -> Vec<ToolDenied> {
    let denied = play.facts().into_iter().filter_map(|fact| match fact {
        Fact::ToolDenied(denied) => Some(denied),
        _ => None,
    });
    denied.collect()
}

/// The rules of all decisions, with their words.
fn decisions(play: &Play) -> Vec<String> {
    let decided = play.facts().into_iter().filter_map(|fact| match fact {
        Fact::ToolDecision(decided) => Some(match decided.decision {
            Verdict::Allow { rule } => format!("allow {rule}"),
            Verdict::Ask { rule } => format!("ask {rule}"),
            Verdict::Deny { rule, .. } => format!("deny {rule}"),
        }),
        _ => None,
    });
    decided.collect()
}

async fn yes(play: &Play, offer: Option<u32>) {
    let state = play.until(asks).await;
    let approval = calls(&state).iter().find_map(|call| call.approval.clone()).expect("a request");
    play.tell(Command::Grant { approval: approval.id, digest: approval.digest, offer }).await;
}

#[tokio::test(start_paused = true)]
async fn r_pol_05_a_never_set_while_a_card_is_open_denies_at_the_yes() {
    let play = Play::of(&script(&[&run("note 1"), &text("Understood.")])).await;
    play.say("Do it.").await;
    play.until(asks).await;
    play.rig.rules.set(About::Run, true);
    yes(&play, None).await;
    play.idle().await;
    assert!(play.rig.world.commands().is_empty(), "nothing ran");
    assert_eq!(decisions(&play), ["ask mode/ask", "deny user/run"]);
    let denied = denials(&play);
    assert_eq!(denied.iter().map(|one| one.by.as_str()).collect::<Vec<_>>(), ["policy"]);
    assert_eq!(play.count("tool/start"), 0);
    play.clean();
}

#[tokio::test(start_paused = true)]
async fn r_pol_06_a_never_is_lifted_by_no_mode_no_permission_and_no_yes() {
    let steps = [run("note 1"), text("One."), run("note 2"), text("Two."), run("note 3"), text("Three.")];
    let rig = Rig::new(&script(&steps.iter().map(String::as_str).collect::<Vec<_>>()));
    let play = Play::on(rig).await;
    play.say("One.").await;
    yes(&play, Some(1)).await;
    play.idle().await;
    let granted = play.state().grants.into_values().map(|given| given.what).collect::<Vec<_>>();
    assert_eq!(granted, [Grant::Commands], "all commands are allowed for the session");
    play.rig.rules.set(About::command("note").expect("words"), true);
    play.say("Two.").await;
    play.idle().await;
    play.tell(Command::SetMode(Mode::Auto)).await;
    play.say("Three.").await;
    play.idle().await;
    assert_eq!(play.rig.world.commands(), ["note 1"]);
    assert_eq!(decisions(&play).split_off(2), ["deny user/command:note", "deny user/command:note"]);
    assert_eq!(play.count("approval/requested"), 1, "what is never done isn't asked about");
    play.clean();
}

#[tokio::test(start_paused = true)]
async fn r_pol_16_the_model_reads_why_a_rule_denies_and_not_to_try_again() {
    let play = Play::of(&script(&[&run("git -C . push"), &text("I can't.")])).await;
    play.rig.rules.set(About::command("git push").expect("words"), true);
    play.say("Push it.").await;
    play.idle().await;
    let heard = play.heard();
    insta::assert_snapshot!(heard.last().map_or("", String::as_str), @"Not allowed: the person set the rule that `git push` is never run, in no other form either. Don't try the same again; choose another way or ask the person.");
    play.clean();
}

#[tokio::test(start_paused = true)]
async fn r_pol_12_a_rule_about_a_path_holds_for_files_and_is_asked_where_a_word_is_ask() {
    let steps =
        [read("accounts/a.csv"), write("accounts/b.csv", "x"), text("No."), read("notes.txt"), text("Yes.")];
    let mut rig = Rig::new(&script(&steps.iter().map(String::as_str).collect::<Vec<_>>()));
    rig.mode = Mode::Auto;
    let play = Play::on(rig).await;
    std::fs::create_dir(play.rig.folder().join("accounts")).expect("made");
    std::fs::write(play.rig.folder().join("accounts/a.csv"), "canary").expect("written");
    play.rig.rules.set(About::path("accounts").expect("a path"), true);
    play.rig.rules.set(About::Read, false);
    play.say("Look.").await;
    play.idle().await;
    assert_eq!(decisions(&play), ["deny user/path:accounts", "deny user/path:accounts"]);
    assert!(!play.requests().iter().any(|request| request.to_string().contains("canary")));
    play.say("And the notes.").await;
    yes(&play, None).await;
    play.idle().await;
    assert_eq!(decisions(&play).last().map(String::as_str), Some("ask user/read"), "asked, in Auto, too");
    play.clean();
}

#[tokio::test(start_paused = true)]
async fn a25_what_a_folder_holds_sets_and_lifts_no_rule() {
    let play = Play::of(&script(&[&run("note 1"), &text("No.")])).await;
    let says = r#"{"rules":[],"about":{"kind":"run"},"never":false,"word":"allow","trusted":true}"#;
    for path in [".daybook/rules.json", ".daybook/rules", "rules.json", "AGENTS.md", ".daybook/settings.json"]
    {
        let path = play.rig.folder().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, says).expect("written");
    }
    play.rig.rules.set(About::Run, true);
    play.say("Do it.").await;
    play.idle().await;
    assert_eq!(decisions(&play), ["deny user/run"]);
    assert!(play.rig.world.commands().is_empty());
}
