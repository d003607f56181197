//! The person's own rules: what they deny and ask in every mode, and what a rule about a path keeps out of sight.

use super::rig::Rig;
use crate::policy::{Cage, judge};
use crate::rules::{About, Layer, Rule, as_found};
use domain::call::{Facts, Grant, Mode, Undo, Verdict};
use domain::ids::GrantId;
use serde_json::{Value, json};
use std::sync::Arc;

/// A rig in which everything is allowed that can be, and these rules hold.
fn ruled(rules: &[(About, bool)]) -> Rig {
    let mut rig = Rig::with(&[("p/a.txt", b"a\n"), ("accounts/2025.csv", b"canary\n"), (".env", b"KEY=1\n")]);
    rig.mode = Mode::Auto;
    rig.cage = Some(Cage::Full);
    let all = [Grant::Commands, Grant::Write { under: ".".into() }, Grant::Delete { under: ".".into() }];
    rig.grants =
        all.into_iter().enumerate().map(|(n, grant)| (GrantId::from_bits(n as u128), grant)).collect();
    let rules = rules.iter().cloned().map(|(about, never)| Rule::of(about, never)).collect();
    rig.layers = vec![Layer { origin: "user".into(), rules }];
    under(&mut rig);
    rig
}

/// The rules as they are found in the folder now.
fn under(rig: &mut Rig) {
    let place = crate::Place::open(&rig.path("."), Vec::new()).unwrap();
    rig.layers = as_found(&rig.layers, &place, &rig.ctx.added);
    rig.ctx.place = Arc::new(place.under_rules(&rig.layers));
}

fn verdict(rig: &Rig, name: &str, args: &Value) -> Verdict {
    let call = rig.check(name, args);
    let facts = Facts { undo: Undo::Yes, ..call.survey(&rig.ctx).unwrap().facts };
    judge(&facts, &rig.policy())
}

fn word(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Allow { .. } => "allow".to_owned(),
        Verdict::Ask { rule } => format!("ask {rule}"),
        Verdict::Deny { rule, .. } => format!("deny {rule}"),
    }
}

fn run(command: &str) -> (&'static str, Value) {
    ("run_command", json!({ "command": command }))
}

/// Each act under *never* and under *ask*.
#[track_caller]
fn check(about: &About, cases: &[((&'static str, Value), &str, &str)]) {
    let (never, asks) = (ruled(&[(about.clone(), true)]), ruled(&[(about.clone(), false)]));
    let name = about.name();
    for ((tool, args), with_never, with_ask) in cases {
        let full = |word: &str| if word == "allow" { word.to_owned() } else { format!("{word} user/{name}") };
        assert_eq!(word(&verdict(&never, tool, args)), full(with_never), "never {name}: {tool} {args}");
        assert_eq!(word(&verdict(&asks, tool, args)), full(with_ask), "ask {name}: {tool} {args}");
    }
}

fn read(path: &str) -> (&'static str, Value) {
    ("read_file", json!({ "path": path }))
}

fn write(path: &str) -> (&'static str, Value) {
    ("write_file", json!({ "path": path, "content": "x" }))
}

fn delete(path: &str) -> (&'static str, Value) {
    ("delete_path", json!({ "path": path }))
}

fn list(path: &str) -> (&'static str, Value) {
    ("list_files", json!({ "path": path }))
}

#[test]
fn r_pol_12_a_rule_about_a_kind_of_act_holds_in_every_tool_and_no_permission_lifts_it() {
    let looks = || run("cat p/a.txt");
    let makes = || run("make all");
    let (deny, ask, allow) = ("deny", "ask", "allow");
    check(
        &About::Read,
        &[
            (read("p/a.txt"), deny, ask),
            (list("."), deny, ask),
            (looks(), deny, ask),
            // A command reads what it likes; that it does can't be told.
            (makes(), ask, ask),
            (write("p/b.txt"), allow, allow),
        ],
    );
    check(
        &About::Change,
        &[
            (write("p/b.txt"), deny, ask),
            (("edit_file", json!({"path": "p/a.txt", "old_text": "a", "new_text": "b"})), deny, ask),
            (makes(), deny, ask),
            (looks(), allow, allow),
            (read("p/a.txt"), allow, allow),
        ],
    );
    check(
        &About::Delete,
        &[
            (delete("p/a.txt"), deny, ask),
            (run("rm p/a.txt"), deny, ask),
            (run("sh -c 'rm p/a.txt'"), deny, ask),
            (makes(), ask, ask),
            (looks(), allow, allow),
            (write("p/b.txt"), allow, allow),
        ],
    );
    check(&About::Run, &[(looks(), deny, ask), (makes(), deny, ask), (write("p/b.txt"), allow, allow)]);
    let publish = ruled(&[(About::Publish, true)]);
    for command in ["git -C p push", "sh -c 'npm publish'", "gh pr create --body x"] {
        let (tool, args) = run(command);
        assert_eq!(word(&verdict(&publish, tool, &args)), "deny user/publish", "{command}");
    }
    for command in ["eval mailx -s x a@example.com", "eval mutt a@example.com", "eval hub release create v1"]
    {
        let (tool, args) = run(command);
        assert!(word(&verdict(&publish, tool, &args)).starts_with("ask"), "{command}");
    }
    let (tool, args) = makes();
    assert_eq!(word(&verdict(&publish, tool, &args)), "allow");
    let secrets = ruled(&[(About::Secrets, true)]);
    for (tool, args) in [read(".env"), run("cat .env"), run("git show HEAD:.env")] {
        assert_eq!(word(&verdict(&secrets, tool, &args)), "deny user/secrets", "{args}");
    }
    let (tool, args) = read("p/a.txt");
    assert_eq!(word(&verdict(&secrets, tool, &args)), "allow");
}

#[test]
fn r_pol_12_a_rule_about_going_online_beats_a_granted_site() {
    let mut rig = ruled(&[(About::Online, true)]);
    rig.grants.push((GrantId::from_bits(9), Grant::Site { site: "example.com:443".into() }));
    let online = json!({"command": "make fetch", "sites": ["example.com"]});
    assert_eq!(word(&verdict(&rig, "run_command", &online)), "deny user/online");
    let (tool, args) = run("make all");
    assert_eq!(word(&verdict(&rig, tool, &args)), "allow");
    rig.cage = Some(Cage::None);
    assert_eq!(word(&verdict(&rig, tool, &args)), "ask user/online", "without a cage it can't be told");
}

#[test]
fn r_pol_12_a_rule_about_a_command_holds_in_any_dress() {
    let rig = ruled(&[(About::command("git push").unwrap(), true)]);
    for text in [
        "git push",
        "git -C p push",
        "git --no-pager push",
        "env A=1 git push",
        "sh -c 'git push'",
        "bash -c \"sh -c 'git push origin main'\"",
        "timeout 5 nice git push",
        "ls && git push",
        "/usr/bin/git push",
        "git -c a=b push --force",
    ] {
        let (tool, args) = run(text);
        assert_eq!(word(&verdict(&rig, tool, &args)), "deny user/command:git push", "{text}");
    }
    for text in ["x=push; git $x", "git $(echo push)", "eval git push", "alias g=git; g push"] {
        let (tool, args) = run(text);
        assert_eq!(word(&verdict(&rig, tool, &args)), "ask user/command:git push", "{text}");
    }
    let (tool, args) = run("git log");
    assert_eq!(word(&verdict(&rig, tool, &args)), "allow");
}

#[test]
fn r_pol_12_options_wrappers_and_gits_own_programs_hide_no_command() {
    let words = |rule: &str, text: &str| {
        let rig = ruled(&[(About::command(rule).unwrap(), true)]);
        let (tool, args) = run(text);
        word(&verdict(&rig, tool, &args)).split(' ').next().unwrap_or_default().to_owned()
    };
    for (rule, text, expect) in [
        ("git push --force", "git push --force", "deny"),
        ("git push --force", "git push --force origin main", "deny"),
        ("git push --force", "git push origin main --force", "deny"),
        ("git push --force", "git push -f", "ask"),
        ("git reset --hard", "git reset --hard HEAD~1", "deny"),
        ("git clean -f", "git clean -xfd", "deny"),
        ("rm -rf", "rm -fr p", "deny"),
        ("rm -rf", "rm -r -f p", "deny"),
        ("rm -rf", "rm --recursive p", "ask"),
        ("npm install --global", "npm install --global x", "deny"),
        ("npm install --global", "npm install", "allow"),
        ("sudo apt", "sudo -n apt install x", "deny"),
        ("sudo apt", "sudo -n ls", "allow"),
        ("git push", "/usr/lib/git-core/git-push origin", "deny"),
    ] {
        assert_eq!(words(rule, text), expect, "never {rule}: {text}");
    }
}

#[test]
#[cfg(unix)]
fn r_pol_12_a_rule_about_a_path_holds_under_every_name_of_it() {
    let about = |under: &str| About::path(under).unwrap();
    let mut rig = ruled(&[(about("books"), true), (about("ACCOUNTS"), true)]);
    std::fs::create_dir_all(rig.path("data/acc")).unwrap();
    std::fs::write(rig.path("data/acc/1.csv"), "canary").unwrap();
    std::os::unix::fs::symlink("data/acc", rig.path("books")).unwrap();
    under(&mut rig);
    let hidden: Vec<&str> = rig.ctx.place.kept_out().iter().map(crate::path::RelPath::as_str).collect();
    assert!(hidden.contains(&"data/acc") && hidden.contains(&"accounts"), "{hidden:?}");
    for path in ["books/1.csv", "data/acc/1.csv", "accounts/2025.csv"] {
        for (tool, args) in [read(path), write(path), delete(path)] {
            let verdict = word(&verdict(&rig, tool, &args));
            assert!(verdict.starts_with("deny user/path:"), "{tool} {path}: {verdict}");
        }
    }
}

#[test]
fn r_pol_12_a_path_that_is_never_touched_is_touched_by_no_tool() {
    let (deny, ask, allow) = ("deny", "ask", "allow");
    let about = About::path("./accounts/").unwrap();
    assert_eq!(about, About::Path { under: "accounts".into() });
    assert_eq!((About::path("../x"), About::path("."), About::path("/etc")), (None, None, None));
    check(
        &about,
        &[
            (read("accounts/2025.csv"), deny, ask),
            (read("p/../accounts/2025.csv"), deny, ask),
            (list("accounts"), deny, ask),
            (write("accounts/new.csv"), deny, ask),
            (write("Accounts/new.csv"), deny, ask),
            (delete("accounts"), deny, ask),
            (run("cat accounts/2025.csv"), deny, ask),
            (run("cd accounts && cat 2025.csv"), deny, ask),
            (run("sort < accounts/2025.csv"), deny, ask),
            (run("tar --file=accounts/x.tar -c p"), deny, ask),
            // git would take what it can't see for deleted, and remembers what stood there.
            (run("git add -A"), ask, ask),
            (write("p/b.txt"), allow, allow),
            // Left out of what is listed, and hidden by the cage.
            (list("."), allow, allow),
            (run("make all"), allow, allow),
            (run("cat acc*/*"), allow, allow),
        ],
    );
    let mut rig = ruled(&[(about, true)]);
    for cage in [Cage::Partial, Cage::None] {
        rig.cage = Some(cage);
        let (tool, args) = run("make all");
        assert!(word(&verdict(&rig, tool, &args)).starts_with("ask"), "{cage:?} hides nothing, so it asks");
    }
}

#[test]
fn r_pol_12_a_folder_above_a_path_that_is_never_touched_isnt_deleted() {
    let mut rig = ruled(&[(About::path("p/deep/private").unwrap(), true)]);
    rig.put("p/deep/private/x", b"x");
    let (tool, args) = delete("p");
    assert_eq!(word(&verdict(&rig, tool, &args)), "deny user/path:p/deep/private");
    rig.mode = Mode::Ask;
    assert_eq!(word(&verdict(&rig, tool, &args)), "deny user/path:p/deep/private", "whatever the mode");
}

#[cfg(unix)]
#[test]
fn r_pol_12_a_link_leads_no_tool_to_a_path_that_is_never_touched() {
    let rig = ruled(&[(About::path("accounts").unwrap(), true)]);
    std::os::unix::fs::symlink("accounts/2025.csv", rig.path("innocent")).unwrap();
    std::os::unix::fs::symlink("accounts", rig.path("dir")).unwrap();
    for (tool, args) in [read("innocent"), read("dir/2025.csv"), write("dir/new"), list("dir")] {
        assert!(word(&verdict(&rig, tool, &args)).starts_with("deny"), "{tool} {args}");
    }
    let listed = rig.call("list_files", json!({}));
    assert!(!listed.text.contains("2025"), "{}", listed.text);
    assert!(listed.text.contains("the person set a rule about it: \"accounts\""), "{}", listed.text);
    let found = rig.call("search_files", json!({"pattern": "canary"}));
    assert!(!found.text.contains("2025.csv"), "{}", found.text);
}

#[cfg(unix)]
#[test]
fn r_pol_12_another_name_of_a_file_that_is_never_touched_is_touched_by_no_tool_and_no_command() {
    let mut rig = ruled(&[(About::path("accounts").unwrap(), true), (About::path("p").unwrap(), false)]);
    std::fs::hard_link(rig.path("accounts/2025.csv"), rig.path("innocent.csv")).unwrap();
    std::fs::hard_link(rig.path("p/a.txt"), rig.path("asked.txt")).unwrap();
    rig.put("other.csv", b"plain\n");
    under(&mut rig);
    for (tool, args) in [read("innocent.csv"), write("innocent.csv"), delete("innocent.csv")] {
        assert_eq!(word(&verdict(&rig, tool, &args)), "deny user/path:accounts", "{tool}");
    }
    assert_eq!(
        word(&verdict(&rig, "run_command", &json!({"command": "cat innocent.csv"}))),
        "deny user/path:accounts"
    );
    assert_eq!(word(&verdict(&rig, "read_file", &json!({"path": "asked.txt"}))), "ask user/path:p");
    assert_eq!(word(&verdict(&rig, "read_file", &json!({"path": "other.csv"}))), "allow");
    let told = rig.error("read_file", json!({"path": "innocent.csv"}));
    insta::assert_snapshot!(told.message, @r#"not allowed (user/path:accounts): the person set the rule that "accounts" is never touched, and "innocent.csv" is another name of a file there"#);
    let listed = rig.call("list_files", json!({}));
    assert!(!listed.text.contains("innocent.csv\n"), "{}", listed.text);
    let found = rig.call("search_files", json!({"pattern": "canary"}));
    assert!(!found.text.contains("csv:"), "{}", found.text);
    if rig.ctx.launcher.cage() == Cage::Full {
        for command in ["cat *.csv", "grep -r canary .", "x=innocent; cat $x.csv"] {
            let seen = rig.call("run_command", json!({ "command": command }));
            assert!(!seen.text.contains("canary"), "{command}: {}", seen.text);
        }
    }
}

#[cfg(unix)]
#[test]
fn r_pol_12_where_not_all_names_of_a_file_can_be_kept_out_everything_asks() {
    let mut rig = ruled(&[(About::path("accounts").unwrap(), true)]);
    let outside = rig.outside.path().join("elsewhere");
    std::fs::create_dir(&outside).unwrap();
    std::fs::hard_link(rig.path("accounts/2025.csv"), outside.join("also.csv")).unwrap();
    under(&mut rig);
    let (tool, args) = read("p/a.txt");
    assert_eq!(word(&verdict(&rig, tool, &args)), "allow", "nothing reaches a name outside the folder");
    let outside = outside.canonicalize().unwrap();
    let identity = crate::added::identity_of(&crate::Place::open(&outside, Vec::new()).unwrap()).unwrap();
    let added = crate::added::AddedPlace::open(outside.to_str().unwrap(), identity, Vec::new());
    rig.ctx.added = Arc::new(vec![added]);
    under(&mut rig);
    for (tool, args) in
        [read(&format!("{}/also.csv", outside.display())), run("make all"), run("cat p/a.txt")]
    {
        assert_eq!(word(&verdict(&rig, tool, &args)), "ask user/names:accounts", "{tool} {args}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn r_pol_12_the_cage_hides_a_path_that_a_command_doesnt_name() {
    let rig = ruled(&[(About::path("accounts").unwrap(), true)]);
    if rig.ctx.launcher.cage() != Cage::Full {
        return;
    }
    for command in
        ["cat acc*/*", "grep -r canary .", "find . -type f | xargs cat", "x=accounts; cat $x/2025.csv"]
    {
        let seen = rig.call("run_command", json!({ "command": command }));
        assert!(!seen.text.contains("canary"), "{command}: {}", seen.text);
    }
    let gone = rig.call("run_command", json!({"command": "x=accounts; rm -rf $x; echo y > $x/new; ls p"}));
    assert!(gone.text.contains("a.txt"), "the rest is there: {}", gone.text);
    assert_eq!(rig.get("accounts/2025.csv"), b"canary\n");
    assert!(!rig.path("accounts/new").exists());
}

#[test]
fn r_pol_12_an_edit_that_is_refused_quotes_nothing_of_a_path_a_rule_is_about() {
    let rig = ruled(&[(About::path("accounts").unwrap(), true)]);
    let args = json!({"path": "accounts/2025.csv", "old_text": "canaries", "new_text": "b"});
    let error = rig.error("edit_file", args);
    assert!(!format!("{error:?}").contains("canary"), "{error:?}");
    let near = rig.error("read_file", json!({"path": "accounts/2026.csv"}));
    assert!(!format!("{near:?}").contains("2025"), "{near:?}");
}

#[test]
fn r_pol_16_a_denial_by_a_rule_tells_the_model_why_and_not_to_try_again() {
    let rig = ruled(&[(About::command("git push").unwrap(), true)]);
    let error = rig.error("run_command", json!({"command": "git push"}));
    insta::assert_snapshot!(crate::run::error_text(&error), @r"
    Error (policy/denied): not allowed (user/command:git push): the person set the rule that `git push` is never run, in no other form either
    Don't try the same again; choose another way or ask the person.
    ");
}
