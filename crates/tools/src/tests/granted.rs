//! What a person allowed for more than one call: what it covers, what it never does, and what is offered.

use super::rig::Rig;
use crate::clear::clear;
use crate::launch::Hold;
use crate::policy::{Cage, judge, offers};
use crate::rules::{About, Layer, Rule};
use domain::call::{Facts, Grant, Mode, Undo, Verdict};
use domain::ids::GrantId;
use serde_json::json;
use std::collections::BTreeMap;

/// A command's facts as they are once a revision was taken.
fn command(rig: &Rig, text: &str) -> Facts {
    let mut facts = rig.survey("run_command", &json!({ "command": text })).unwrap().facts;
    facts.undo = Undo::Yes;
    facts
}

fn word(rig: &Rig, text: &str) -> &'static str {
    match judge(&command(rig, text), &rig.policy()) {
        Verdict::Allow { .. } => "allow",
        Verdict::Ask { .. } => "ask",
        Verdict::Deny { .. } => "deny",
    }
}

fn granted(grants: &[Grant]) -> Rig {
    let mut rig = Rig::with(&[("p/a.txt", b"a\n")]);
    rig.mode = Mode::Ask;
    rig.cage = Some(Cage::Full);
    rig.grants =
        grants.iter().cloned().enumerate().map(|(n, grant)| (GrantId::from_bits(n as u128), grant)).collect();
    rig
}

fn kind(words: &str) -> Grant {
    Grant::Command {
        words: words.split(' ').map(str::to_owned).collect(),
        exact: false,
        files: BTreeMap::new(),
    }
}

fn exact(words: &[&str]) -> Grant {
    Grant::Command {
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        exact: true,
        files: BTreeMap::new(),
    }
}

#[test]
fn a07_a_line_asks_nothing_when_every_part_of_it_is_allowed() {
    let rig = granted(&[kind("cargo test")]);
    assert_eq!(
        word(&rig, "cd p && git diff --name-only | head -3"),
        "ask",
        "git after cd obeys another folder"
    );
    assert_eq!(word(&rig, "ls p && cat p/a.txt | head -3"), "allow");
    assert_eq!(word(&rig, "ls p && cargo test | head -3"), "allow");
    assert_eq!(word(&rig, "ls p && cargo test | head -3 && rm p/a.txt"), "ask");
    assert_eq!(word(&rig, "cargo run"), "ask");
}

#[test]
fn a02_an_interpreter_is_granted_for_its_very_words_alone() {
    let rig = granted(&[exact(&["python3", "-c", "print(1)"])]);
    assert_eq!(word(&rig, "python3 -c 'print(1)'"), "allow");
    assert_eq!(word(&rig, "python3 -c 'import os; os.remove(\"p/a.txt\")'"), "ask");
    assert_eq!(word(&rig, "env A=1 python3 x"), "ask");
    // A rule that somebody wrote for the whole interpreter covers nothing.
    assert_eq!(word(&granted(&[kind("python3")]), "python3 -c 'print(1)'"), "ask");
}

#[test]
fn a06_a_denied_command_is_denied_in_any_dress() {
    let mut rig = granted(&[Grant::Commands]);
    let rule = Rule::of(About::command("git push").unwrap(), true);
    rig.layers = vec![Layer { origin: "user".into(), rules: vec![rule] }];
    for mode in [Mode::Ask, Mode::Edit, Mode::Auto] {
        rig.mode = mode;
        for text in
            ["git push", "git -C p push", "git --no-pager push", "env X=1 git push", "bash -c 'git push'"]
        {
            assert_eq!(word(&rig, text), "deny", "{text}");
        }
        assert_eq!(word(&rig, "x=push; git $x"), "ask", "what can't be told is asked, in every mode");
    }
}

#[test]
fn what_only_looks_runs_unasked_and_can_not_write() {
    for mode in [Mode::Ask, Mode::Edit, Mode::Plan, Mode::Auto] {
        let mut rig = granted(&[]);
        rig.mode = mode;
        let call = rig.check("run_command", &json!({"command": "cat p/a.txt"}));
        let surveyed = call.survey(&rig.ctx).unwrap();
        let cleared = clear(&call, surveyed, &rig.policy(), None, 0).unwrap();
        assert_eq!((cleared.hold(), cleared.semantics().has_effects()), (Hold::ReadOnly, false), "{mode:?}");
    }
    let mut rig = granted(&[]);
    rig.cage = Some(Cage::None);
    let facts =
        Facts { cannot_touch: Vec::new(), can_touch: vec![".".into()], ..command(&rig, "cat p/a.txt") };
    assert!(matches!(judge(&facts, &rig.policy()), Verdict::Ask { .. }), "no cage, no promise");
}

#[test]
fn a_grant_covers_nothing_protected_published_deleted_or_beyond_undo() {
    let rig = granted(&[Grant::Commands, Grant::Write { under: ".".into() }]);
    assert_eq!(word(&rig, "make all"), "allow");
    assert_eq!(word(&rig, "rm p/a.txt"), "ask", "deleting is a permission of its own");
    assert_eq!(word(&rig, "git push"), "ask");
    assert_eq!(word(&rig, "cp p/a.txt AGENTS.md"), "ask");
    let beyond = Facts { undo: Undo::No, ..command(&rig, "make all") };
    assert!(matches!(judge(&beyond, &rig.policy()), Verdict::Ask { .. }));
    let mut caged = granted(&[Grant::Commands]);
    caged.cage = Some(Cage::None);
    assert_eq!(word(&caged, "make all"), "ask", "without a cage no session grants");
    let verdict = rig.judge("write_file", &json!({"path": ".git/hooks/x", "content": "x"}));
    assert!(matches!(verdict, Verdict::Ask { .. }));
    let deleting = granted(&[Grant::Commands, Grant::Delete { under: ".".into() }]);
    assert_eq!(word(&deleting, "rm p/a.txt"), "allow");
}

#[test]
fn a_path_grant_ends_at_its_path() {
    let rig = granted(&[Grant::Write { under: "p".into() }, Grant::Delete { under: "p".into() }]);
    let allows = |tool: &str, path: &str| {
        let args = if tool == "write_file" {
            json!({"path": path, "content": "x"})
        } else {
            json!({ "path": path })
        };
        matches!(rig.judge(tool, &args), Verdict::Allow { .. })
    };
    rig.put("pp/a.txt", b"a");
    assert!(
        allows("write_file", "p/b.txt")
            && allows("write_file", "p/deep/b.txt")
            && allows("delete_path", "p/a.txt")
    );
    assert!(
        !allows("write_file", "b.txt")
            && !allows("write_file", "pp/b.txt")
            && !allows("delete_path", "pp/a.txt")
    );
}

#[test]
fn a_grant_for_deleting_ends_at_what_is_protected_in_a_folder() {
    let mut rig = granted(&[Grant::Delete { under: ".".into() }]);
    for path in ["q/plain/a.txt", "q/sub/.vscode/b/c.json", "q/sub/.vscode/d.json", "q/sub/AGENTS.md"] {
        rig.put(path, b"x");
    }
    let judged = |rig: &Rig, path: &str| rig.judge("delete_path", &json!({ "path": path }));
    assert!(matches!(judged(&rig, "q/plain"), Verdict::Allow { .. }));
    let named = rig.check("delete_path", &json!({"path": "q"})).survey(&rig.ctx).unwrap().facts.can_touch;
    assert_eq!(named, ["q", "q/sub/.vscode", "q/sub/AGENTS.md"], "the folder that protects, not all in it");
    assert!(matches!(judged(&rig, "q"), Verdict::Ask { .. }));
    // More than is looked at: nobody knows what is in the rest.
    let call = rig.check("delete_path", &json!({ "path": "q/plain" }));
    let mut facts = call.survey(&rig.ctx).unwrap().facts;
    facts.words.insert("more".into(), "true".into());
    assert!(matches!(judge(&facts, &rig.policy()), Verdict::Ask { .. }));
    rig.grants.clear();
    assert_eq!(offers(&facts, &rig.policy()), []);
}

#[test]
fn a43_a_secret_is_read_by_asking_and_then_nothing_goes_out_unasked() {
    let mut rig = granted(&[Grant::Commands, Grant::Site { site: "example.com:443".into() }]);
    rig.put(".env", b"KEY=1\n");
    rig.mode = Mode::Auto;
    assert!(
        matches!(rig.judge("read_file", &json!({"path": ".env"})), Verdict::Ask { rule } if rule == "builtin/secret:.env")
    );
    let facts = command(&rig, "cat .env");
    assert!(!crate::policy::only_looks(&facts), "a command that names it isn't free either");
    assert_eq!(word(&rig, "cat .env"), "ask", "not even in Auto");
    assert_eq!(word(&rig, "git show HEAD:.env"), "ask");
    let out = Facts { reach: vec!["example.com:443".into()], ..command(&rig, "make upload") };
    assert!(matches!(judge(&out, &rig.policy()), Verdict::Allow { .. }), "granted");
    rig.read_secrets = vec![".env".into()];
    let verdict = judge(&out, &rig.policy());
    assert!(
        matches!(verdict, Verdict::Ask { rule } if rule == "builtin/taint:.env"),
        "a53 and the file is named"
    );
}

#[test]
fn the_network_asks_in_every_mode_unless_that_very_site_is_granted() {
    let args = |site: &str| json!({"command": "make fetch", "sites": [site]});
    for mode in [Mode::Ask, Mode::Edit, Mode::Auto] {
        let mut rig = granted(&[Grant::Commands]);
        rig.mode = mode;
        let call = rig.check("run_command", &args("Example.com"));
        let facts = Facts { undo: Undo::Yes, ..call.survey(&rig.ctx).unwrap().facts };
        assert_eq!(facts.reach, ["example.com:443"]);
        assert!(!facts.cannot_touch.contains(&"network".to_owned()), "no promise that isn't kept");
        assert!(matches!(judge(&facts, &rig.policy()), Verdict::Ask { .. }), "{mode:?}");
        rig.grants.push((GrantId::from_bits(9), Grant::Site { site: "example.com:443".into() }));
        assert!(matches!(judge(&facts, &rig.policy()), Verdict::Allow { .. }), "{mode:?}");
        let other = Facts { reach: vec!["example.com:8443".into()], ..facts };
        assert!(matches!(judge(&other, &rig.policy()), Verdict::Ask { .. }), "{mode:?}");
    }
    let rig = granted(&[]);
    for site in ["127.0.0.1", "localhost", "169.254.169.254", "http://x"] {
        assert_eq!(rig.error("run_command", args(site)).code, "command/site", "{site}");
    }
}

#[test]
fn what_is_offered_is_narrow_first_and_turns_this_very_question_into_a_yes() {
    #[track_caller]
    fn check(text: &str, expect: &[Grant]) {
        let rig = granted(&[]);
        let facts = command(&rig, text);
        let offered = offers(&facts, &rig.policy());
        assert_eq!(offered, expect, "{text}");
        for grant in offered {
            assert_eq!(word(&granted(&[grant]), text), "allow", "{text}");
        }
        let mut bare = granted(&[]);
        bare.cage = Some(Cage::None);
        assert_eq!(offers(&facts, &bare.policy()), [], "no cage, no offer");
        assert_eq!(offers(&Facts { undo: Undo::No, ..facts }, &rig.policy()), []);
    }
    check("cargo test --lib", &[kind("cargo test"), Grant::Commands]);
    check("ls && npm run build", &[kind("npm run build"), Grant::Commands]);
    check("python3 tool.py", &[exact(&["python3", "tool.py"]), Grant::Commands]);
    check("make > out.txt", &[]);
    check("rm p/a.txt", &[]);
    check("git push", &[]);
    check("base64 .env > out", &[]);
    let rig = granted(&[]);
    let write = |path: &str| {
        let call = rig.check("write_file", &json!({"path": path, "content": "x"}));
        offers(&call.survey(&rig.ctx).unwrap().facts, &rig.policy())
    };
    assert_eq!(write("p/b.txt"), [Grant::Write { under: "p".into() }]);
    assert_eq!(write("AGENTS.md"), []);
}

#[test]
fn a_site_is_offered_where_nothing_else_is_asked() {
    let site = Grant::Site { site: "example.com:443".into() };
    for (mode, expect) in [(Mode::Ask, vec![]), (Mode::Edit, vec![]), (Mode::Auto, vec![site.clone()])] {
        let mut rig = granted(&[]);
        rig.mode = mode;
        let call = rig.check("run_command", &json!({"command": "make fetch", "sites": ["example.com"]}));
        let facts = Facts { undo: Undo::Yes, ..call.survey(&rig.ctx).unwrap().facts };
        assert_eq!(offers(&facts, &rig.policy()), expect, "{mode:?}");
        rig.grants.push((GrantId::from_bits(3), site.clone()));
        let allowed = matches!(judge(&facts, &rig.policy()), Verdict::Allow { .. });
        assert_eq!(allowed, mode == Mode::Auto, "{mode:?}: the command itself is judged as ever");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a43_a_command_that_only_looks_never_sees_a_secret_file() {
    let mut rig = granted(&[]);
    rig.put(".env", b"KEY=canary\n");
    rig.put("deep/er/id_rsa", b"canary\n");
    rig.put("seen.txt", b"canary in the open\n");
    std::os::unix::fs::symlink(".env", rig.path("innocent")).unwrap();
    let free = |text: &str| crate::policy::only_looks(&command(&rig, text));
    assert!(free("grep -r canary .") && free("cat innocent") && free("ls"));
    assert!(!free("git log -p") && !free("git diff"), "what a repository remembers can't be hidden");
    rig.mode = Mode::Ask;
    if rig.ctx.launcher.cage() == Cage::Full {
        let looked = rig.call("run_command", json!({"command": "grep -r canary ."}));
        assert!(
            looked.text.contains("in the open") && !looked.text.contains("KEY=canary"),
            "{}",
            looked.text
        );
        let link = rig.call("run_command", json!({"command": "cat innocent"}));
        assert!(!link.text.contains("canary"), "{}", link.text);
    }
}
