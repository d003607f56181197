//! Files that hold secrets: nothing of them comes out of a call that doesn't name them.

use super::rig::Rig;
use crate::run::error_text;
use domain::call::Undo;
use serde_json::json;

const LINES: &[u8] = b"API_KEY=sk-CANARY-1234567890\nOTHER=1\n";

#[test]
fn a43_an_error_quotes_no_line_of_a_secret_file() {
    let rig = Rig::with(&[(".env", LINES), ("plain", LINES)]);
    let near = |path| {
        let args = json!({"path": path, "old_text": "API_KEY=sk-CANARY-123456789X\n", "new_text": "x"});
        error_text(&rig.error("edit_file", args))
    };
    assert!(near("plain").contains("CANARY-1234567890"), "elsewhere the near line helps");
    assert!(!near(".env").contains("CANARY"), "{}", near(".env"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(".env", rig.path("innocent")).unwrap();
        assert!(!near("innocent").contains("CANARY"), "a link to it is it");
    }
}

#[test]
fn a43_a_search_of_a_folder_leaves_secret_files_out_and_says_so() {
    let rig = Rig::with(&[
        (".env", LINES),
        ("app/id_rsa", LINES),
        ("app/main.rs", b"let key = \"CANARY\";\n"),
        (".aws/config", LINES),
    ]);
    let search = |args| rig.call("search_files", args).text;
    insta::assert_snapshot!(search(json!({"pattern": "CANARY"})), @r#"
    app/main.rs:1: let key = "CANARY";
    [3 files that seem to hold secrets were not searched: ".env", ".aws/config", "app/id_rsa"; give one as path to search it]
    "#);
    for args in [json!({"pattern": ".", "glob": ".env*"}), json!({"pattern": "K", "path": ".aws"})] {
        assert!(!search(args).contains("CANARY"));
    }
    let args = json!({"pattern": "CANARY", "path": ".env"});
    assert!(search(args.clone()).contains("sk-CANARY"), "named, it is searched");
    assert_eq!(rig.survey("search_files", &args).unwrap().facts.can_touch, [".env"], "and the facts name it");
    let seen = rig.call("search_files", args).seen;
    assert!(seen.contains_key(".env"), "and that it was read is known: {seen:?}");
    assert!(rig.call("search_files", json!({"pattern": "key", "path": "app/main.rs"})).seen.is_empty());
}

/// It goes to the model's service: that can't be taken back, and no card may call it small.
#[test]
fn a43_reading_what_may_hold_secrets_is_said_to_be_grave_and_beyond_undo() {
    let rig = Rig::with(&[(".env", LINES), ("plain", LINES)]);
    #[cfg(unix)]
    std::os::unix::fs::symlink(".env", rig.path("innocent")).unwrap();
    let facts = |tool: &str, args| rig.survey(tool, &args).unwrap().facts;
    let said = |tool: &str, args| {
        let facts = facts(tool, args);
        (facts.undo, facts.risk)
    };
    let grave = (Undo::No, 3);
    assert_eq!(said("read_file", json!({"path": ".env"})), grave);
    assert_eq!(said("search_files", json!({"pattern": "KEY", "path": ".env"})), grave);
    #[cfg(unix)]
    assert_eq!(said("read_file", json!({"path": "innocent"})), grave, "a link to it is it");
    assert_eq!(said("read_file", json!({"path": "plain"})), (Undo::Yes, 1));
    assert_eq!(facts("run_command", json!({"command": "cat .env"})).risk, 3);
    let part = facts("read_file", json!({"path": ".env", "offset": 5, "limit": 20})).words;
    assert_eq!((part["from_line"].as_str(), part["lines"].as_str()), ("5", "20"));
    assert!(!facts("read_file", json!({"path": ".env"})).words.contains_key("lines"), "all of it");
}

/// What the host reads of a folder by itself goes to the model unasked.
#[cfg(unix)]
#[test]
fn a43_a_document_that_is_a_link_to_a_secret_is_not_read() {
    use std::os::unix::fs::symlink;
    let rig = Rig::with(&[(".env", LINES), ("docs/real.md", b"Be kind.\n"), ("sub/x", b"")]);
    symlink(".env", rig.path("AGENTS.md")).unwrap();
    symlink("../docs/real.md", rig.path("sub/AGENTS.md")).unwrap();
    symlink("AGENTS.md", rig.path("docs/AGENTS.md")).unwrap();
    let read = |path| rig.ctx.place.read_small(path, 1 << 16);
    assert_eq!(read("AGENTS.md"), None);
    assert_eq!(read("sub/AGENTS.md").as_deref(), Some(&b"Be kind.\n"[..]), "other links are followed");
    assert_eq!(read("docs/AGENTS.md"), None, "a link that leads nowhere");
    std::fs::remove_file(rig.path("docs/AGENTS.md")).unwrap();
    symlink("../AGENTS.md", rig.path("docs/AGENTS.md")).unwrap();
    assert_eq!(read("docs/AGENTS.md"), None, "nor through several");
}
