//! A hostile repository: what git, shells and package managers obey is data for us, and changing it asks.
#![cfg(unix)]

use super::rig::Rig;
use crate::path::is_protected;
use domain::call::{Mode, Verdict};
use domain::digest::Digest;
use serde_json::json;
use std::collections::HashSet;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// The folder beside the project, with a file that nobody may read or change.
fn canary(rig: &Rig) -> std::path::PathBuf {
    let out = rig.outside.path().join("out");
    std::fs::create_dir_all(&out).unwrap();
    std::fs::write(out.join("canary"), "CANARY").unwrap();
    out
}

#[track_caller]
fn unharmed(out: &Path) {
    let names: Vec<_> = std::fs::read_dir(out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["canary"], "nothing was made or deleted outside");
    assert_eq!(std::fs::read(out.join("canary")).unwrap(), b"CANARY");
}

fn git(folder: &Path, args: &[&str]) {
    let mut git = Command::new("git");
    git.args([
        "-c",
        "user.name=a\";touch pwned;\"b",
        "-c",
        "user.email=$(touch pwned)",
        "-c",
        "protocol.file.allow=always",
    ]);
    let done = git.args(args).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Lists, searches and reads all there is.
fn look_around(rig: &Rig) -> String {
    let mut seen = rig.call("list_files", json!({})).text;
    let paths: Vec<String> = rig.call("list_files", json!({})).value["value"]["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry.as_str().unwrap().to_owned())
        .collect();
    seen.push_str(&rig.call("search_files", json!({"pattern": "."})).text);
    for path in paths {
        let path = path.trim_end_matches(" (link)");
        for (name, args) in [
            ("read_file", json!({"path": path})),
            ("list_files", json!({"path": path})),
            ("search_files", json!({"path": path, "pattern": "."})),
        ] {
            seen.push_str(&rig.try_call(name, args).map_or_else(|error| error.to_string(), |done| done.text));
        }
    }
    seen
}

#[test]
fn a29_repositories_that_point_outside_lead_nobody_there() {
    let rig = Rig::new();
    let out = canary(&rig);
    let real = rig.outside.path().join("elsewhere");
    std::fs::create_dir(&real).unwrap();
    git(&real, &["init", "-q"]);
    std::fs::write(real.join("canary-file"), "CANARY").unwrap();
    git(&real, &["add", "."]);
    git(&real, &["commit", "-qm", "CANARY"]);
    // A `.git` file, a worktree whose folder is elsewhere, a submodule above, links for all of them.
    rig.put("file/.git", format!("gitdir: {}/.git\n", real.display()).as_bytes());
    rig.put("tree/.git/commondir", format!("{}/.git\n", real.display()).as_bytes());
    rig.put("tree/.git/gitdir", format!("{}/.git\n", out.display()).as_bytes());
    rig.put(".gitmodules", b"[submodule \"x\"]\n\tpath = ../out\n\turl = ../elsewhere\n");
    symlink(real.join(".git"), rig.path("linked.git")).unwrap();
    symlink(&out, rig.path("module")).unwrap();
    std::fs::create_dir(rig.path("rules")).unwrap();
    symlink(out.join("canary"), rig.path("rules/.gitignore")).unwrap();
    let seen = look_around(&rig);
    assert!(!seen.contains("CANARY"), "{seen}");
    let taken = crate::revision::take(
        &rig.ctx.place,
        &*rig.ctx.blobs,
        &mut crate::revision::Index::open(&rig.ctx.private, &rig.ctx.place, &*rig.ctx.blobs),
        &crate::revision::Bounds::default(),
        None,
        &rig.ctx.cancel,
    )
    .unwrap();
    let all =
        crate::revision::reach_new(&*rig.ctx.blobs, taken.tree, &mut HashSet::new(), &|_| false).unwrap();
    assert!(!all.contains(&Digest::of(b"CANARY")), "a revision holds nothing of outside");
    for command in [
        "cd file && git log -p",
        "cd tree && git log -p",
        "GIT_DIR=linked.git git log -p",
        "cat module/canary",
    ] {
        let said = rig.call("run_command", json!({"command": command})).text;
        assert!(!said.contains("CANARY"), "{command}: the cage has no such place: {said}");
    }
    for path in ["module/new", "linked.git/hooks/pre-commit"] {
        assert_eq!(
            rig.error("write_file", json!({"path": path, "content": "x"})).code,
            "path/outside",
            "{path}"
        );
    }
    unharmed(&out);
    assert!(!real.join(".git/hooks/pre-commit").exists());
}

#[test]
fn a29_a_repository_inside_a_repository_is_not_made_unasked() {
    let mut rig = Rig::with(&[("bare/objects/x", b""), ("bare/refs/x", b""), ("hooks/x", b"")]);
    for mode in [Mode::Edit, Mode::Auto] {
        rig.mode = mode;
        for path in [
            "bare/HEAD",
            "bare/head",
            "HEAD",
            "sub/.git",
            "sub/.git/config",
            ".gitmodules",
            "bare/hooks/pre-commit",
            "any/HOOKS/post-checkout",
            ".git/worktrees/x/gitdir",
            ".git/modules/x/config",
            ".husky/pre-push",
            ".githooks/anything",
            ".pre-commit-config.yaml",
            "lefthook.yml",
        ] {
            let verdict = rig.judge("write_file", &json!({"path": path, "content": "x"}));
            assert!(matches!(verdict, Verdict::Ask { .. }), "{path}: {verdict:?}");
        }
    }
}

/// No file with secrets is there any more, so git only looks and runs unasked; what it prints is told.
#[test]
fn a43_secrets_that_only_a_repository_remembers_are_told_when_git_prints_them() {
    let mut rig = Rig::new();
    let root = rig.path(".");
    git(&root, &["init", "-q"]);
    rig.put(".env", b"KEY=CANARY\n");
    rig.put("menu.md", b"bread\n");
    git(&root, &["add", "."]);
    git(&root, &["commit", "-qm", "one"]);
    git(&root, &["rm", "-q", ".env"]);
    git(&root, &["commit", "-qm", "two"]);
    rig.mode = Mode::Ask;
    for (command, secrets) in [
        ("git log -p", &[".env"][..]),
        ("git log -p --graph --no-prefix", &[".env"]),
        ("git diff HEAD~1", &[".env"]),
        ("git show HEAD", &[".env"]),
        ("git log --oneline --name-only", &[]),
        ("git log -p -- menu.md", &[]),
    ] {
        let done = rig.call("run_command", json!({"command": command}));
        assert_eq!(done.secrets, secrets, "{command}");
        assert_eq!(done.text.contains("CANARY"), !secrets.is_empty(), "{command}");
    }
}

/// Everything that could run is a program whose running leaves a file.
#[test]
fn a30_names_from_a_repository_are_data() {
    let mut rig = Rig::new();
    let out = canary(&rig);
    let root = rig.path(".");
    git(&root, &["init", "-q"]);
    let names = [
        "-rf",
        "--output=pwned",
        "a\nb",
        "$(touch pwned)",
        "`touch pwned`",
        ";touch pwned;",
        "\"; touch pwned; \"",
        "*",
        "|touch pwned",
    ];
    for name in names {
        rig.put(name, b"one\n");
    }
    git(&root, &["add", "--", "."]);
    git(&root, &["commit", "-qm", "$(touch pwned)\n\n`touch pwned`"]);
    git(&root, &["branch", "$(touch${IFS}pwned)"]);
    git(&root, &["update-ref", "refs/tags/--upload-pack=touch${IFS}pwned", "HEAD"]);
    rig.mode = Mode::Auto;
    for name in names {
        let path = format!("./{name}");
        assert_eq!(rig.call("read_file", json!({"path": path})).text, "one\n", "{name:?}");
        assert_eq!(
            rig.call("search_files", json!({"pattern": "one", "path": path})).value["value"]["files"],
            1
        );
        rig.call("edit_file", json!({"path": path, "old_text": "one", "new_text": "two"}));
        assert_eq!(rig.get(name), b"two\n", "{name:?}");
    }
    let listed = rig.call("list_files", json!({})).value["value"]["entries"].clone();
    assert_eq!(listed.as_array().unwrap().len(), names.len(), "{listed}");
    // What git says of them is text in a result, and the next call's words are still one argument.
    let said = rig
        .call("run_command", json!({"command": "git branch --list; git tag; git log --format='%an %ae %s'"}))
        .text;
    assert!(
        said.contains("$(touch") && said.contains("--upload-pack=") && said.contains("a\";touch pwned;\"b"),
        "{said}"
    );
    let command = "git show-ref --heads | while read -r _ ref; do git log --oneline -1 \"$ref\" --; done";
    assert!(rig.call("run_command", json!({"command": command})).text.contains("touch pwned"));
    for name in names {
        rig.call("delete_path", json!({"path": format!("./{name}")}));
    }
    assert_eq!(rig.names(), [".git"], "each was deleted by its name, and nothing was run");
    unharmed(&out);
}

#[test]
fn a31_what_programs_obey_when_a_folder_is_opened_asks() {
    let mut rig = Rig::new();
    for mode in [Mode::Edit, Mode::Auto] {
        rig.mode = mode;
        for path in [
            ".envrc",
            "sub/.envrc",
            ".vscode/tasks.json",
            ".vscode/settings.json",
            ".idea/workspace.xml",
            ".npmrc",
            "web/.NPMRC",
            ".yarnrc",
            ".yarnrc.yml",
            ".yarn/releases/yarn.cjs",
            "web/.yarn/plugins/x.cjs",
            ".pnp.cjs",
            "rust-toolchain",
            "rust-toolchain.toml",
            ".cargo/config.toml",
            "crates/x/.cargo/config",
            "pip.conf",
            "pip.ini",
            ".pypirc",
            "sitecustomize.py",
            ".tool-versions",
            "mise.toml",
            ".devcontainer/devcontainer.json",
            ".zed/tasks.json",
            ".mvn/extensions.xml",
            ".bundle/config",
            ".exrc",
            ".mcp.json",
        ] {
            let verdict = rig.judge("write_file", &json!({"path": path, "content": "x"}));
            assert!(matches!(verdict, Verdict::Ask { .. }), "{path}: {verdict:?}");
        }
        // What the person builds on purpose stays free: else nothing could be written.
        for path in [
            "pyproject.toml",
            "package.json",
            "Makefile",
            "build.rs",
            "src/hooks/useUpdate.ts",
            "docs/HEADER.md",
        ] {
            let verdict = rig.judge("write_file", &json!({"path": path, "content": "x"}));
            assert!(matches!(verdict, Verdict::Allow { .. }), "{path}: {verdict:?}");
        }
    }
}

/// Every name that decides how we behave, in any spelling a file system may take for it.
#[test]
fn a54_what_tells_us_how_to_behave_is_protected_in_any_spelling() {
    let names = [
        "AGENTS.md",
        "AGENTS.override.md",
        "CLAUDE.md",
        "GEMINI.md",
        "SKILL.md",
        ".cursorrules",
        ".mcp.json",
        "copilot-instructions.md",
        ".daybook/memory/x.md",
        ".daybook/config.toml",
        ".agents/skills/x/run.sh",
        ".claude/settings.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".cursor/rules/x.mdc",
    ];
    let wide = |name: &str| -> String {
        let wide = |ch: char| match ch {
            '/' => ch,
            ch => char::from_u32(u32::from(ch) + 0xfee0).unwrap(),
        };
        name.chars().map(wide).collect()
    };
    for name in names {
        let marked: String =
            name.chars().flat_map(|ch| [ch, '\u{301}']).collect::<String>().replace("/\u{301}", "/");
        for spelling in [
            name.to_owned(),
            name.to_uppercase(),
            name.to_lowercase(),
            wide(name),
            marked,
            format!("deep/er/{name}"),
            format!("{name}."),
            format!("{name} "),
            format!("{name}::$DATA"),
            name.replace('s', "\u{17f}"),
            name.replace('i', "\u{131}"),
            format!("\u{200b}{name}"),
            format!("\u{feff}{name}"),
            name.replace('.', "\u{2024}"),
            name.replace('e', "e\u{200d}"),
            name.replace('k', "\u{212a}"),
        ] {
            assert!(is_protected(&spelling), "{spelling:?}");
        }
    }
}

#[test]
fn a40_no_argument_of_any_tool_moves_the_root() {
    let rig = Rig::new();
    let out = canary(&rig);
    for spec in rig.visible.specs() {
        let fields = spec.schema["properties"].as_object().unwrap();
        for field in ["cwd", "workdir", "root", "folder", "workspace", "directory", "base", "env"] {
            assert!(!fields.contains_key(field), "{} takes {field}", spec.name);
            let args = json!({"path": "x", field: out});
            assert_eq!(rig.error(&spec.name, args).code, "arguments/invalid", "{} {field}", spec.name);
        }
        if fields.contains_key("path") {
            for path in [out.to_str().unwrap(), "../out", "x/../../out", "..", "../project"] {
                let mut args =
                    json!({"path": path, "content": "x", "old_text": "C", "new_text": "x", "pattern": "C"});
                args.as_object_mut().unwrap().retain(|name, _| fields.contains_key(name));
                assert_eq!(rig.error(&spec.name, args).code, "path/outside", "{} {path}", spec.name);
            }
        }
    }
    // The folder of a session stays the one that was opened, also when another takes its name.
    std::fs::rename(rig.outside.path().join("project"), rig.outside.path().join("moved")).unwrap();
    symlink(&out, rig.outside.path().join("project")).unwrap();
    rig.call("write_file", json!({"path": "canary", "content": "inside"}));
    assert_eq!(std::fs::read(rig.outside.path().join("moved/canary")).unwrap(), b"inside");
    unharmed(&out);
}

#[test]
fn a41_no_tool_makes_links_modes_or_names_elsewhere() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let rig = Rig::with(&[("real", b"old\n"), ("one", b"x\n")]);
    let out = canary(&rig);
    let fields: std::collections::BTreeSet<String> = rig
        .visible
        .specs()
        .iter()
        .filter(|spec| spec.schema["properties"].as_object().unwrap().contains_key("path"))
        .flat_map(|spec| spec.schema["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>())
        .collect();
    let known = [
        "content",
        "edits",
        "glob",
        "limit",
        "new_text",
        "offset",
        "old_text",
        "path",
        "pattern",
        "replace_all",
    ];
    assert_eq!(
        fields.iter().map(String::as_str).collect::<Vec<_>>(),
        known,
        "none names a mode, a link or a second path"
    );
    // A patch is only text, wherever it says it leads.
    let patch = "diff --git a/x b/../../out/x\nnew file mode 120000\n--- /dev/null\n+++ b/../../out/x\n@@ -0,0 +1 @@\n+../out/canary\n";
    rig.call("write_file", json!({"path": "p.diff", "content": patch}));
    let made = std::fs::symlink_metadata(rig.path("p.diff")).unwrap();
    assert!(made.is_file() && made.mode() & 0o7111 == 0, "a plain file that nobody runs");
    assert_eq!(rig.get("p.diff"), patch.as_bytes());
    // Through a link inside, the file it leads to is written and the link stays; a link out leads nowhere.
    symlink("real", rig.path("in")).unwrap();
    symlink(out.join("canary"), rig.path("away")).unwrap();
    symlink("../out/new", rig.path("dangling")).unwrap();
    rig.call("write_file", json!({"path": "in", "content": "new\n"}));
    assert!(std::fs::symlink_metadata(rig.path("in")).unwrap().is_symlink());
    assert_eq!(rig.get("real"), b"new\n");
    for path in ["away", "dangling"] {
        assert_eq!(
            rig.error("write_file", json!({"path": path, "content": "x"})).code,
            "path/outside",
            "{path}"
        );
        rig.call("delete_path", json!({"path": path}));
    }
    unharmed(&out);
    // New content never runs as somebody else, whether the file is replaced or, for its other name, written in place.
    std::fs::hard_link(rig.path("one"), rig.path("other")).unwrap();
    for path in ["real", "one"] {
        for (name, args) in [
            ("write_file", json!({"path": path, "content": "a\n"})),
            ("edit_file", json!({"path": path, "old_text": "a", "new_text": "b"})),
        ] {
            std::fs::set_permissions(rig.path(path), std::fs::Permissions::from_mode(0o6755)).unwrap();
            let done = rig.call(name, args);
            assert_eq!(std::fs::metadata(rig.path(path)).unwrap().mode() & 0o7777, 0o755, "{name} {path}");
            let Some(domain::call::Entry::File { mode, .. }) = done.effects[0].before else {
                panic!("{done:?}")
            };
            assert_eq!(mode, Some(0o6755), "what it was is recorded");
        }
    }
}
