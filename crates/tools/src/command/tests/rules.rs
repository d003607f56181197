//! Rules of a person: what they cover, what they never cover, and what a denial catches.

use super::{bash, check_free, kind, understood};
use crate::command::{Denial, Dialect, Pattern, covers, denied_by, harmless, read};

fn rules(texts: &[&str]) -> Vec<Pattern> {
    texts.iter().map(|text| kind(text)).collect()
}

#[track_caller]
fn check(granted: &[&str], text: &str, expect: bool) {
    assert_eq!(
        covers(&bash(text), &rules(granted), &[]),
        expect,
        "{text:?} with {granted:?}: {:?}",
        bash(text)
    );
}

#[test]
fn a07_a_line_of_allowed_commands_does_not_ask() {
    let granted = ["cd", "git", "head"];
    check(&granted, "cd p && git diff --name-only | head -3", true);
    check(&granted, "cd p && git diff --name-only | head -3 && rm x", false);
    check(&granted, "cd p && git diff --name-only | head -3; rm x", false);
    check(&granted, "rm x; cd p && git diff --name-only | head -3", false);
    check(&granted, "cd p && git diff --name-only | tee x", false);
    check(&granted, "cd p && git diff --name-only > x", false);
    check(&granted, "cd .. && git diff --name-only | head -3", false);
    check(&["cargo test"], "timeout 60 cargo test -p engine -- --nocapture 2>&1 | tail -20", true);
    check(&["cargo test"], "bash -c 'cargo test && git status'", true);
    check(&["cargo test"], "bash -lc 'cargo test'", false);
    check(&["cargo test"], "cargo build", false);
    check(&["cargo"], "cargo install x", false);
    check(&[], "cargo test", false);
    check(&["npm run build"], "npm run build", true);
    check(&["npm run build"], "npm run deploy", false);
    check(&["go test"], "go test ./...", true);
    check(&["go test"], "go test -exec ./x ./...", false);
}

#[test]
fn what_only_looks_does_not_ask() {
    for text in [
        "ls -la",
        "ls -la src 2>/dev/null | head -20",
        "pwd && ls",
        "git status --short\ngit log --oneline -5",
        "cat a.txt b.txt | sort | uniq -c | sort -rn | head",
        "grep -rn 'fn main' src --include='*.rs'",
        "rg -n foo src | wc -l",
        "[ -f a ] && echo yes || echo no",
        "test -d sub && echo \"it's there\"",
        "find . -name '*.md' -type f | head -50",
        "wc -l < /dev/null",
        "time ls",
        "# what is there\nls # all",
        "command ls",
        "command -v rg || which rg",
        "tree -L 2 src",
        "timeout 5 grep x f",
        "r''ev f",
        "\\ls",
        "diff -u a b &>/dev/null",
        "git show HEAD~1:src/lib.rs | sed -n 1,20p",
        "date +%s",
    ] {
        check_free(text);
    }
    for text in
        ["rm x", "touch x", "unknown", "curl x", "git push", "git commit -m x", "tee x", "r''m x", "\\rm x"]
    {
        assert_eq!(harmless(&bash(text), &[]), None, "{text}");
    }
}

#[test]
fn a02_an_interpreter_is_granted_word_for_word() {
    let granted: Vec<Pattern> = ["python3 -c 'print(1)'", "sh build.sh", "curl http://a/b"]
        .iter()
        .filter_map(|text| Pattern::of(&understood(text)[0], &[]))
        .collect();
    assert!(granted.iter().all(|one| matches!(one, Pattern::Exact(_))) && granted.len() == 3, "{granted:?}");
    let check = |text: &str, expect: bool| assert_eq!(covers(&bash(text), &granted, &[]), expect, "{text}");
    check("python3 -c 'print(1)'", true);
    check("python3 -c print\\(1\\)", true);
    check("python3 -c 'import os; os.remove(\"x\")'", false);
    check("env A=1 python3 x", false);
    check("env A=1 python3 -c 'print(1)'", false);
    check("A=1 python3 -c 'print(1)'", false);
    check("python3 -c 'print(1)' x", false);
    check("python3", false);
    check("sh build.sh", true);
    check("cd sub && sh build.sh", false);
    check("echo x | sh build.sh", false);
    check("xargs sh build.sh", false);
    check("curl http://a/c", false);
    check("sudo sh build.sh", false);
    for program in ["python3", "sh", "bash", "node", "curl", "ssh", "env", "xargs", "sudo", "npx", "awk"] {
        let rule = rules(&[program]);
        for text in
            [format!("{program} x.y"), format!("{program} -c 'import os'"), format!("env A=1 {program} x")]
        {
            assert!(!covers(&bash(&text), &rule, &[]), "{text}");
        }
    }
}

#[test]
fn what_always_would_mean_is_as_narrow_as_it_can_be() {
    let kind = |text| Some(super::kind(text));
    let exact = |words: &[&str]| Some(Pattern::Exact(words.iter().map(|word| (*word).to_owned()).collect()));
    for (text, expect) in [
        ("git diff --name-only", kind("git diff")),
        ("git commit -m x", kind("git commit")),
        ("git config user.name x", exact(&["git", "config", "user.name", "x"])),
        ("cargo test --workspace", kind("cargo test")),
        ("npm run build", kind("npm run build")),
        ("head -3 f", kind("head")),
        ("pytest tests", kind("pytest")),
        ("python3 x.py", exact(&["python3", "x.py"])),
        ("timeout 5 python3 x.py", exact(&["python3", "x.py"])),
        ("./run.sh", exact(&["./run.sh"])),
        ("unknown -c x", exact(&["unknown", "-c", "x"])),
        ("make test", exact(&["make", "test"])),
        ("sort -o a b", exact(&["sort", "-o", "a", "b"])),
        ("rm x", None),
        ("git push", None),
        ("git reset --hard", None),
        ("npm publish", None),
        ("sudo ls", None),
        ("su x", None),
        ("flock x rm y", None),
        ("strace ls", None),
        ("env", exact(&["env"])),
        ("sh", None),
        ("A=1 cargo test", None),
        ("cargo test > x", None),
        ("xargs ls", None),
    ] {
        assert_eq!(Pattern::of(&understood(text)[0], &[]), expect, "{text}");
    }
    assert_eq!(Pattern::of(&understood("cat x | sh")[1], &[]), None, "what it reads isn't known");
    let rule = super::kind("git diff");
    assert_eq!(serde_json::to_string(&rule).unwrap(), r#"{"kind":["git","diff"]}"#);
}

#[track_caller]
fn check_denied(denied: &str, text: &str, dialect: Dialect, expect: &str) {
    let got = match denied_by(&read(text, dialect), &rules(&[denied])) {
        Denial::None => "no",
        Denial::Perhaps(_) => "perhaps",
        Denial::Denied(_) => "denied",
    };
    assert_eq!(got, expect, "{text:?}: {:?}", read(text, dialect));
}

#[test]
fn a06_global_flags_do_not_defeat_a_denial() {
    for text in [
        "git push",
        "git -C /p push",
        "git --no-pager push",
        "git -c a.b=c push origin",
        "git --git-dir x --work-tree=y push",
        "/usr/bin/git push",
        "g''it pu\\sh",
        "env X=1 git push",
        "X=1 git push",
        "timeout 5 nice -n 3 git push",
        "command git push",
        "exec git push",
        "sudo -u me git push",
        "bash -c 'git push'",
        "sh -c \"bash -c 'git push'\"",
        "bash -euo pipefail -c 'ls; git push'",
        "find . -exec git push \\;",
        "echo push | xargs git",
        "echo x | xargs -n 1 git push",
        "ls && git push || true",
    ] {
        check_denied("git push", text, Dialect::Bash, "denied");
    }
    for text in [
        "$(git push)",
        "git ${x}",
        "if true; then git push; fi",
        "g''it \\\npush",
        "g\\\nit push",
        "eval 'git push'",
        "python3 -c 'import os; os.system(\"git push\")'",
        "git -c alias.p=push p",
        "git p",
        "git --attr-source HEAD --some-new x push",
        "flock x git push",
        "unknown git push",
        "ssh host git push",
        "cat <<EOF | sh\ngit push\nEOF",
    ] {
        check_denied("git push", text, Dialect::Bash, "perhaps");
    }
    for text in ["git log push", "git commit -m push", "git status", "echo git push", "ls"] {
        check_denied("git push", text, Dialect::Bash, "no");
    }
    check_denied("git push", "Git.exe push", Dialect::PowerShell, "denied");
    check_denied("git push", "& git push", Dialect::PowerShell, "perhaps");
    check_denied("git push", "git push", Dialect::Cmd, "perhaps");
    check_denied("git push", "g^it push", Dialect::Cmd, "perhaps");
    check_denied("npm publish", "npm --prefix x publish", Dialect::Bash, "denied");
    check_denied("sudo", "sudo ls", Dialect::Bash, "denied");
    check_denied("rm", "find . -exec rm {} +", Dialect::Bash, "denied");
    check_denied("python3", "python3.12 x", Dialect::Bash, "denied");
}
