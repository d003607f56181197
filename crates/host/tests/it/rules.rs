//! The person's rules and permissions through the room: set, listed, in force at once, and truthful about their use.

use crate::rig::{Rig, call, text};
use api::wire::command::{Command, Mode, Reply};
use api::wire::permission::{Offer, OwnRule, Permissions, RuleAbout, RuleWord, Tried, WhatIf};
use api::wire::view::{Activity, ApprovalState, ApprovalView, EntryBody, SessionView};
use serde_json::json;

fn open(view: &SessionView) -> Option<ApprovalView> {
    view.entries.iter().find_map(|entry| match &entry.body {
        EntryBody::Approval { approval } if approval.state == ApprovalState::Open => Some(approval.clone()),
        _ => None,
    })
}

fn rested(view: &SessionView) -> bool {
    view.activity == Activity::Idle
        && view.entries.iter().any(|entry| matches!(entry.body, EntryBody::TurnEnd { .. }))
}

async fn set(rig: &Rig, about: RuleAbout, folder: Option<String>, word: Option<RuleWord>) -> Permissions {
    match rig.call(Command::SetRule { about, folder, word }).await {
        Reply::Permissions(all) => all,
        other => panic!("{other:?}"),
    }
}

async fn listed(rig: &Rig) -> Permissions {
    match rig.call(Command::Permissions).await {
        Reply::Permissions(all) => all,
        other => panic!("{other:?}"),
    }
}

async fn what_if(rig: &Rig, session: &str, what: Tried) -> WhatIf {
    match rig.call(Command::WhatIf { session: session.to_owned(), what }).await {
        Reply::WhatIf(what) => what,
        other => panic!("{other:?}"),
    }
}

fn verdict(all: &Permissions, act: &str) -> Vec<(String, String)> {
    let of = all.rules.iter().filter(|rule| rule.act == act);
    of.map(|rule| (rule.verdict.clone(), rule.rule.clone())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn r_pol_12_a_rule_is_set_listed_tried_and_taken_away() {
    let rig = Rig::new(json!([text("unused")])).await;
    let session = rig.session(Mode::Edit).await;
    let folder = rig.view(&session).await.folder.id;
    let path = RuleAbout::Path { under: "accounts/".to_owned() };
    let all = set(&rig, path, Some(folder.clone()), Some(RuleWord::Never)).await;
    let tidied = RuleAbout::Path { under: "accounts".to_owned() };
    let brief = |all: &[OwnRule]| -> Vec<(RuleAbout, bool, RuleWord)> {
        all.iter().map(|one| (one.about.clone(), one.folder.is_some(), one.word)).collect()
    };
    assert_eq!(brief(&all.own), [(tidied.clone(), true, RuleWord::Never)]);
    // Its kind of act, for every folder, shows in the table of modes.
    let all = set(&rig, RuleAbout::Delete, None, Some(RuleWord::Never)).await;
    let told: Vec<String> =
        verdict(&all, "delete").into_iter().map(|(word, rule)| format!("{word} {rule}")).collect();
    assert_eq!(told, ["deny user/delete", "deny user/delete", "deny mode/plan", "deny user/delete"]);
    assert_eq!(verdict(&all, "read"), vec![("allow".to_owned(), "builtin/read".to_owned()); 4]);

    let write = |path: &str| Tried::Change { path: path.to_owned() };
    let kept = what_if(&rig, &session, write("accounts/x.csv")).await;
    assert_eq!((kept.verdict.as_str(), kept.rule.as_str()), ("deny", "user/path:accounts"));
    assert_eq!(kept.own.expect("a rule of the person").folder.map(|one| one.id), Some(folder.clone()));
    let free = what_if(&rig, &session, write("x.csv")).await;
    assert_eq!((free.verdict.as_str(), free.touches, free.own), ("allow", vec!["x.csv".to_owned()], None));
    std::fs::write(rig.root.path().join("project/old.txt"), "x").expect("written");
    let delete = what_if(&rig, &session, Tried::Delete { path: "old.txt".to_owned() }).await;
    assert_eq!((delete.verdict.as_str(), delete.rule.as_str()), ("deny", "user/delete"));
    assert!(rig.root.path().join("project/old.txt").exists(), "nothing is done");

    // The same thing in the same place has one rule.
    let all = set(&rig, tidied.clone(), Some(folder.clone()), Some(RuleWord::Ask)).await;
    assert_eq!(all.own.len(), 2);
    let asked = what_if(&rig, &session, write("accounts/x.csv")).await;
    assert_eq!(asked.verdict, "ask");
    let all = set(&rig, tidied, Some(folder), None).await;
    assert_eq!(brief(&all.own), [(RuleAbout::Delete, false, RuleWord::Never)]);
    let outside = RuleAbout::Path { under: "../x".to_owned() };
    let refused = Command::SetRule { about: outside, folder: None, word: Some(RuleWord::Never) };
    assert_eq!(rig.host.room().call(refused).await.expect_err("it leads out").code, "rule/unfit");
}

#[tokio::test(flavor = "multi_thread")]
async fn r_pol_05_a_never_set_while_a_request_is_open_denies_at_the_yes() {
    let write = call("write_file", json!({"path": "a.txt", "content": "x"}));
    let rig = Rig::new(json!([write, text("I see.")])).await;
    let session = rig.session(Mode::Ask).await;
    let mut client = rig.client(&session).await;
    rig.say(&session, "Write it.").await;
    client.until(|view| open(view).is_some()).await;
    set(&rig, RuleAbout::Change, None, Some(RuleWord::Never)).await;
    let asked = open(&client.view).expect("it is open");
    let (approval, digest) = (asked.id, asked.digest);
    rig.call(Command::Approve { session: session.clone(), approval, digest, offer: None, lasting: false })
        .await;
    client.until(rested).await;
    assert!(!rig.root.path().join("project/a.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn r_pol_10_a_lasting_permission_says_when_it_was_used_and_stays_revocable_without_its_folder() {
    let write = |name: &str| call("write_file", json!({"path": name, "content": "x"}));
    let rig = Rig::new(json!([write("p/a.txt"), text("One."), write("p/b.txt"), text("Two.")])).await;
    let session = rig.session(Mode::Ask).await;
    let mut client = rig.client(&session).await;
    rig.say(&session, "One.").await;
    client.until(|view| open(view).is_some()).await;
    let asked = open(&client.view).expect("it is open");
    let under = "p".to_owned();
    assert_eq!(asked.offers, [Offer::Write { under }]);
    let (approval, digest) = (asked.id, asked.digest);
    let yes = Command::Approve { session: session.clone(), approval, digest, offer: Some(0), lasting: true };
    rig.call(yes).await;
    client.until(rested).await;
    let given = listed(&rig).await.grants;
    let lasting: Vec<_> = given.iter().filter(|one| one.session.is_none()).collect();
    // The call that it was given with may have run by it already.
    assert_eq!(lasting.iter().map(|one| one.used_known).collect::<Vec<_>>(), [true]);
    let before = lasting[0].used;

    let mut client = rig.client(&session).await;
    let turns = |view: &SessionView| {
        view.entries.iter().filter(|entry| matches!(entry.body, EntryBody::TurnEnd { .. })).count()
    };
    rig.say(&session, "Two.").await;
    client.until(|view| turns(view) == 2 && view.activity == Activity::Idle).await;
    assert!(rig.root.path().join("project/p/b.txt").exists(), "unasked");
    let used = listed(&rig).await.grants;
    assert!(used[0].used.is_some() && used[0].used > before, "{used:?}");

    std::fs::remove_dir_all(rig.root.path().join("project")).expect("removed");
    let absent = listed(&rig).await.grants;
    assert_eq!(absent.len(), 1);
    assert!(!absent[0].folder.exists && absent[0].used.is_some(), "{absent:?}");
    let revoke = Command::Revoke { grant: absent[0].id.clone(), session: None };
    let Reply::Permissions(left) = rig.call(revoke).await else { panic!() };
    assert_eq!(left.grants, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn r_pol_12_rules_that_cannot_be_read_keep_nothing_from_being_revoked_and_can_be_started_over() {
    // A rule of a kind that this version doesn't know, beside one it does, and something allowed for good.
    let rules = json!([
        {"about": {"kind": "delete"}, "never": true, "given": 1},
        {"about": {"kind": "from_the_future"}, "never": true, "given": 2},
    ]);
    let id = |kind: &str| format!("{kind}_{:032x}", 7);
    let what = json!({"kind": "write", "under": "p"});
    let allowed = json!([{"id": id("gra"), "folder": id("fol"), "what": what, "given": 1}]);
    let kept = [("rules", &*rules.to_string()), ("permissions", &*allowed.to_string())];
    let rig = Rig::with_kept(json!([text("unused")]), &kept).await;
    let session = rig.session(Mode::Edit).await;
    let change = || Tried::Change { path: "b.txt".to_owned() };
    let asked = what_if(&rig, &session, change()).await;
    assert_eq!((asked.verdict.as_str(), asked.rule.as_str()), ("ask", "user/unreadable"));

    let all = listed(&rig).await;
    assert!(all.own_unreadable && all.own.is_empty() && all.rules.is_empty(), "{all:?}");
    assert_eq!((all.grants.len(), all.grants[0].session.as_ref()), (1, None));
    let revoke = Command::Revoke { grant: all.grants[0].id.clone(), session: None };
    let Reply::Permissions(left) = rig.call(revoke).await else { panic!() };
    assert!(left.own_unreadable && left.grants.is_empty(), "{left:?}");
    // Setting one would write over what may be a *never*.
    let one = Command::SetRule { about: RuleAbout::Run, folder: None, word: Some(RuleWord::Ask) };
    assert_eq!(rig.host.room().call(one).await.expect_err("unreadable").code, "rule/unreadable");

    let Reply::Permissions(fresh) = rig.call(Command::ResetRules).await else { panic!() };
    assert!(!fresh.own_unreadable && fresh.own.is_empty() && !fresh.rules.is_empty(), "{fresh:?}");
    let free = what_if(&rig, &session, change()).await;
    assert_eq!(free.verdict, "allow");
    // What can be read isn't started over.
    let set = set(&rig, RuleAbout::Delete, None, Some(RuleWord::Never)).await;
    let again = rig.host.room().call(Command::ResetRules).await;
    assert_eq!(again.expect_err("they can be read").code, "rule/readable");
    assert_eq!(listed(&rig).await.own, set.own);
}

#[tokio::test(flavor = "multi_thread")]
async fn r_pol_permissions_that_cannot_be_read_allow_nothing_hide_nothing_and_can_be_let_go() {
    // One of a kind that this version doesn't know beside one it does; then a text that is none at all.
    let id = |n: u32| format!("gra_{n:032x}");
    let folder = format!("fol_{:032x}", 7);
    let allowed = json!([
        {"id": id(1), "folder": folder, "what": {"kind": "from_the_future"}, "given": 1},
        {"id": id(2), "folder": folder, "what": {"kind": "write", "under": "p"}, "given": 2},
    ]);
    let rule = json!([{"about": {"kind": "delete"}, "never": true, "given": 1}]).to_string();
    for (permissions, readable) in [(allowed.to_string(), 1), ("{".to_owned(), 0)] {
        let kept = [("permissions", &*permissions), ("rules", &*rule)];
        let rig = Rig::with_kept(json!([text("unused")]), &kept).await;
        let session = rig.session(Mode::Ask).await;
        let all = listed(&rig).await;
        assert!(all.grants_unreadable && all.grants.len() == readable, "{all:?}");
        assert!(all.own.len() == 1 && !all.rules.is_empty(), "the rest is shown: {all:?}");
        let asked = what_if(&rig, &session, Tried::Change { path: "p/b.txt".to_owned() }).await;
        assert_eq!((asked.verdict.as_str(), asked.rule.as_str()), ("ask", "mode/ask"));
        // Taking one back lets go of no other.
        for one in &all.grants {
            let revoke = Command::Revoke { grant: one.id.clone(), session: None };
            let Reply::Permissions(left) = rig.call(revoke).await else { panic!() };
            assert!(left.grants_unreadable && left.grants.is_empty(), "{left:?}");
        }
        let Reply::Permissions(fresh) = rig.call(Command::ResetPermissions).await else { panic!() };
        assert!(!fresh.grants_unreadable && fresh.own == all.own, "{fresh:?}");
        let again = rig.host.room().call(Command::ResetPermissions).await;
        assert_eq!(again.expect_err("they can be read").code, "grant/readable");
    }
}
