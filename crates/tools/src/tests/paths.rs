//! Paths that lead elsewhere, however they are written.

use super::rig::Rig;
use crate::Place;
use crate::path::{Names, RelPath, is_protected};
use serde_json::json;
use std::sync::Arc;

#[track_caller]
fn check(given: &str, expect: Result<&str, &str>) {
    check_for(Names::Unix, given, expect);
}

#[track_caller]
fn check_for(names: Names, given: &str, expect: Result<&str, &str>) {
    let got = RelPath::parse_for(given, names);
    match (&got, expect) {
        (Ok(path), Ok(want)) => assert_eq!(path.as_str(), want),
        (Err(error), Err(code)) => assert_eq!(error.code, code, "{given}"),
        _ => panic!("{given:?}: {got:?}, wanted {expect:?}"),
    }
}

#[test]
fn a33_paths_out_of_the_folder_are_denied() {
    let outside = [
        "../../etc/passwd",
        "a/../../b",
        "..",
        "%2e%2e/",
        "%2e%2e%2fetc",
        "%252e%252e/x",
        "a/%2e%2e/../../x",
        "..%5cx",
        "..\\",
        "..\\..\\x",
        "C:\\",
        "C:\\x",
        "C:/x",
        "c:",
        "\\\\?\\C:\\x",
        "\\\\server\\share",
        "//server/share",
        "/proc/self/root/etc/passwd",
        "/dev/fd/3",
        "/etc/passwd",
        "~",
        "~/x",
        "~root/.ssh/id_rsa",
        "~user",
        "a%00b%2f",
    ];
    for given in outside {
        check(given, Err("path/outside"));
        check_for(Names::Windows, given, Err("path/outside"));
    }
    check("a\0b", Err("path/unusable"));
    check(&"x/".repeat(200), Err("path/unusable"));
    check(&"x".repeat(5_000), Err("path/unusable"));
}

#[test]
fn a33_names_that_windows_reads_differently_are_denied_there() {
    for given in [
        "file:stream",
        "a/f.txt::$DATA",
        "dir./x",
        "trailing ",
        "x.",
        "PROGRA~1/x",
        "CON",
        "nul.txt",
        "a/COM1",
        "lpt9.log",
        "what?",
        "a|b",
        "\u{1}x",
    ] {
        check_for(Names::Windows, given, Err("path/unusable"));
        assert!(RelPath::parse_for(given, Names::Unix).is_ok(), "{given}");
    }
}

#[test]
fn ordinary_paths_stay_what_they_are() {
    for (given, want) in [
        ("", "."),
        (".", "."),
        ("./", "."),
        ("a/./b//c/", "a/b/c"),
        ("a/../b", "b"),
        ("100%25.txt", "100%25.txt"),
        ("100%.txt", "100%.txt"),
        ("多agent文档.md", "多agent文档.md"),
        ("~$report.docx", "~$report.docx"),
        ("./~user", "~user"),
        ("12:30 notes", "12:30 notes"),
        ("-rf", "-rf"),
        ("a\nb", "a\nb"),
        ("...", "..."),
    ] {
        check(given, Ok(want));
    }
}

#[test]
fn a39_protected_names_are_known_in_any_spelling() {
    let protected = [
        ".git/hooks/pre-commit",
        ".GIT/hooks",
        ".Git",
        "sub/.git/config",
        ".git::$INDEX_ALLOCATION",
        ".git:x/hooks",
        ".git./hooks",
        ".git /x",
        "GIT~1/hooks",
        "git~2",
        ".g\u{200c}it/x",
        ".gi\u{301}t/x",
        "\u{feff}.git",
        ".\u{ff47}\u{ff49}\u{ff54}/x",
        ".daybook/settings.toml",
        ".DayBook",
        ".vscode/tasks.json",
        "AGENTS.md",
        "deep/agents.MD",
        "A\u{200d}GENTS.md",
        ".claude/skills/x/SKILL.md",
        ".envrc",
        ".npmrc",
        ".gitmodules",
        ".s\u{17f}h",
        ".\u{212a}x/.git",
        ".pro\u{fb01}le",
        ".prof\u{131}le",
    ];
    for path in protected {
        assert!(is_protected(path), "{path:?}");
    }
    for path in [
        "git/hooks",
        ".github/workflows/x.yml",
        "agents.md/x",
        "src/agents.rs",
        ".gitignore",
        "notes.md",
        "a.git/x",
        "git~x",
    ] {
        assert!(!is_protected(path), "{path:?}");
    }
}

#[test]
fn a33_every_tool_refuses_them() {
    let rig = Rig::new();
    for path in ["../../etc/passwd", "/etc/passwd", "~root/x", "..\\x", "%2e%2e/x"] {
        for (name, args) in [
            ("list_files", json!({"path": path})),
            ("read_file", json!({"path": path})),
            ("search_files", json!({"pattern": "root", "path": path})),
            ("write_file", json!({"path": path, "content": "x"})),
            ("edit_file", json!({"path": path, "old_text": "a", "new_text": "b"})),
            ("delete_path", json!({"path": path})),
        ] {
            assert_eq!(rig.error(name, args).code, "path/outside", "{name} {path}");
        }
    }
}

#[test]
fn a40_the_root_comes_from_the_session_alone() {
    let rig = Rig::new();
    for field in ["cwd", "workdir", "root", "folder"] {
        for (name, args) in
            [("run_command", json!({"command": "ls", field: "/"})), ("list_files", json!({field: "/"}))]
        {
            assert_eq!(rig.error(name, args).code, "arguments/invalid");
        }
    }
    let pwd = rig.call("run_command", json!({"command": "pwd"})).text;
    assert!(pwd.starts_with(rig.ctx.place.path().to_str().unwrap()));
}

#[cfg(unix)]
#[test]
fn links_out_of_the_folder_lead_nowhere() {
    use std::os::unix::fs::symlink;
    let rig = Rig::with(&[("real/x", b"inside")]);
    let outside = rig.outside.path().join("canary");
    std::fs::write(&outside, "CANARY").unwrap();
    symlink(&outside, rig.path("abs")).unwrap();
    symlink("../canary", rig.path("rel")).unwrap();
    symlink("..", rig.path("up")).unwrap();
    symlink("real", rig.path("in")).unwrap();
    for path in ["abs", "rel", "up/canary"] {
        for (name, args) in [
            ("read_file", json!({"path": path})),
            ("write_file", json!({"path": path, "content": "x"})),
            ("edit_file", json!({"path": path, "old_text": "CANARY", "new_text": "b"})),
            ("search_files", json!({"pattern": "CANARY", "path": path})),
        ] {
            assert_eq!(rig.error(name, args).code, "path/outside", "{name} {path}");
        }
    }
    assert_eq!(rig.error("list_files", json!({"path": "up"})).code, "path/outside");
    assert_eq!(rig.error("delete_path", json!({"path": "up/canary"})).code, "path/outside");
    assert!(rig.call("search_files", json!({"pattern": "CANARY"})).text.starts_with("No line matches"));
    assert_eq!(rig.call("read_file", json!({"path": "in/x"})).text, "inside", "links inside the folder work");
    assert_eq!(std::fs::read(&outside).unwrap(), b"CANARY");
    assert!(rig.call("list_files", json!({})).text.contains("up (link)"));
}

#[test]
fn our_own_folders_do_not_exist_for_a_call() {
    let mut rig = Rig::with(&[("data/store.db", b"secret store"), ("data2/x", b"fine")]);
    rig.ctx.place = Arc::new(Place::open(&rig.path("."), vec![rig.path("data")]).unwrap());
    for (name, args) in [
        ("read_file", json!({"path": "data/store.db"})),
        ("list_files", json!({"path": "data"})),
        ("write_file", json!({"path": "data/new", "content": "x"})),
        ("delete_path", json!({"path": "data"})),
    ] {
        assert_eq!(rig.error(name, args).code, "path/outside", "{name}");
    }
    assert!(!rig.call("search_files", json!({"pattern": "secret"})).text.contains("store.db"));
    assert_eq!(rig.call("list_files", json!({})).text, "data2/\ndata2/x");
    assert_eq!(rig.call("read_file", json!({"path": "data2/x"})).text, "fine");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("data/store.db", rig.path("link")).unwrap();
        std::os::unix::fs::symlink("data", rig.path("dir")).unwrap();
        assert_eq!(rig.error("read_file", json!({"path": "link"})).code, "path/outside");
        assert_eq!(rig.error("write_file", json!({"path": "link", "content": "x"})).code, "path/outside");
        assert_eq!(
            rig.error("search_files", json!({"path": "dir", "pattern": "secret"})).code,
            "path/outside"
        );
        assert_eq!(rig.error("list_files", json!({"path": "dir"})).code, "path/outside");
        assert_eq!(rig.error("delete_path", json!({"path": "dir/store.db"})).code, "path/outside");
    }
    let seen = rig.call("run_command", json!({"command": "ls data; cat data/store.db"})).text;
    assert!(!seen.contains("secret store"), "{seen}");
}

#[test]
fn x23_odd_names_work_or_are_refused_cleanly() {
    let rig = Rig::new();
    let long = "n".repeat(255);
    for path in ["with\nline break", "émoji 🌍.txt", "你好/世界.md", long.as_str(), "-rf", "$(id)", "a'b\"c"]
    {
        rig.call("write_file", json!({"path": path, "content": "one\n"}));
        rig.call("edit_file", json!({"path": path, "old_text": "one", "new_text": "two"}));
        assert_eq!(rig.call("read_file", json!({"path": path})).text, "two\n", "{path}");
    }
    let too_long = rig.error("write_file", json!({"path": "n".repeat(256), "content": "x"}));
    assert_eq!(too_long.code, "file/io", "{too_long}");
    assert!(rig.names().iter().all(|name| !name.ends_with("daybook-tmp")));
    let folder = rig.outside.path().join("a folder\nwith 🌍 line break");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("x"), "there").unwrap();
    let mut odd = Rig::new();
    odd.ctx.place = Arc::new(Place::open(&folder, Vec::new()).unwrap());
    assert_eq!(odd.call("read_file", json!({"path": "x"})).text, "there");
    assert_eq!(odd.call("run_command", json!({"command": "cat x"})).text, "there\n[exit code 0]");
}
