//! Huge, odd and special files: no call hangs on one, reads without bound, or harms it.
#![cfg(unix)]

use super::rig::Rig;
use crate::tool::Bin;
use serde_json::{Value, json};
use std::io::Write as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::sync::atomic::{AtomicBool, Ordering};

/// What each file tool is asked about one path, but deleting.
fn asked(path: &str) -> [(&'static str, Value); 4] {
    [
        ("read_file", json!({"path": path})),
        ("write_file", json!({"path": path, "content": "x"})),
        ("edit_file", json!({"path": path, "old_text": "a", "new_text": "b"})),
        ("list_files", json!({"path": path})),
    ]
}

#[test]
fn pipes_sockets_and_devices_are_named_and_left_alone() {
    let rig = Rig::with(&[("plain", b"word\n")]);
    let run = |program: &str, args: &[&str]| {
        std::process::Command::new(program).args(args).status().unwrap().success()
    };
    let path = |name: &str| rig.path(name).to_str().unwrap().to_owned();
    assert!(run("mkfifo", &[&path("pipe")]));
    let _socket = std::os::unix::net::UnixListener::bind(rig.path("socket")).unwrap();
    let mut special = vec!["pipe", "socket"];
    // Only the superuser makes devices.
    if run("mknod", &[&path("device"), "c", "1", "5"]) {
        special.push("device");
    }
    for name in &special {
        for (tool, args) in asked(name) {
            let error = rig.error(tool, args);
            let expect = if tool == "list_files" { "file/not_folder" } else { "file/special" };
            // A socket can't even be opened, which is said otherwise.
            assert!(
                error.code == expect || (*name == "socket" && error.code == "file/io"),
                "{tool} {name}: {error:?}"
            );
        }
        let found = rig.call("search_files", json!({"pattern": ".", "path": name})).text;
        assert!(found.contains("No line matches"), "{name}: {found}");
    }
    let listed = rig.call("list_files", json!({})).text;
    for name in &special {
        assert!(listed.contains(&format!("{name} (not a file)")), "{listed}");
    }
    assert_eq!(
        rig.call("search_files", json!({"pattern": "word"})).text,
        "plain:1: word",
        "a search goes past them"
    );
    let kind = std::fs::symlink_metadata(rig.path("pipe")).unwrap().file_type();
    assert!(kind.is_fifo(), "nothing was put in its place");
    for name in &special {
        let error = rig.error("delete_path", json!({"path": name}));
        assert_eq!(error.code, "delete/too_large", "what can't be kept isn't deleted: {error:?}");
        assert!(rig.path(name).symlink_metadata().is_ok());
    }
}

#[test]
fn a_file_of_a_terabyte_is_refused_by_its_size() {
    let mut rig = Rig::in_memory();
    let size = 1u64 << 40;
    let file = std::fs::File::create(rig.path("huge")).unwrap();
    // Where a file may not be so large, the largest that may be does as well.
    let size = [size, 1 << 35, 1 << 31].into_iter().find(|size| file.set_len(*size).is_ok()).unwrap();
    rig.put("small", b"word\n");
    for (tool, args) in &asked("huge")[..3] {
        let error = rig.error(tool, args.clone());
        assert_eq!(error.code, "file/too_large", "{tool}: {error:?}");
        assert!(error.message.contains(&size.to_string()), "it says how large: {error:?}");
    }
    let found = rig.call("search_files", json!({"pattern": "word"})).text;
    assert_eq!(
        found,
        "small:1: word\n[1 binary, too large, unreadable or not downloaded files were not searched]"
    );
    assert!(rig.call("list_files", json!({})).text.contains("huge"));
    assert_eq!(rig.error("delete_path", json!({"path": "huge"})).code, "delete/too_large");
    assert_eq!(rig.path("huge").metadata().unwrap().len(), size, "it is whole");
    rig.ctx.bin = Bin::Folder(rig.outside.path().join("Trash"));
    rig.call("delete_path", json!({"path": "huge"}));
    assert_eq!(
        rig.outside.path().join("Trash/files/huge").metadata().unwrap().len(),
        size,
        "the trash takes it whole"
    );
}

/// A file that others write to is either changed as it was read, or not at all; never cut.
#[test]
fn a_file_that_grows_while_it_is_read_is_read_within_bounds_and_never_cut() {
    let mut rig = Rig::in_memory();
    rig.limits(|limits| limits.file_bytes = 64 << 10);
    rig.put("log", b"begin\n");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = std::fs::OpenOptions::new().append(true).open(rig.path("log")).unwrap();
            while !stop.load(Ordering::Relaxed) {
                file.write_all(b"one more line\n").unwrap();
                if file.metadata().unwrap().len() > 128 << 10 {
                    file.set_len(6).unwrap();
                }
            }
        });
        let (mut read, mut refused) = (0, 0);
        for round in 0..400 {
            let (name, args) = match round % 2 {
                0 => ("read_file", json!({"path": "log"})),
                _ => ("search_files", json!({"path": "log", "pattern": "begin"})),
            };
            match rig.try_call(name, args) {
                Ok(done) if done.is_error() => {
                    assert!(done.text.contains("file/too_large"), "{}", done.text);
                    refused += 1;
                }
                Ok(done) => {
                    assert!(done.text.len() < 70 << 10);
                    read += 1;
                }
                Err(error) => panic!("{error:?}"),
            }
        }
        stop.store(true, Ordering::Relaxed);
        assert!(read > 0, "{read} read, {refused} refused");
    });
}

/// What is cut can't be told from what is whole, so a read that meets its bound in the middle is refused.
#[test]
fn a_read_that_meets_its_bound_is_refused_and_nothing_is_written() {
    let mut rig = Rig::with(&[("f", &[b'a'; 1_000])]);
    rig.limits(|limits| limits.file_bytes = 1_000);
    rig.call("edit_file", json!({"path": "f", "old_text": "a", "new_text": "b", "replace_all": true}));
    // `/proc` files say that they are empty and aren't: the same as a file that grew since its size was looked at.
    rig.limits(|limits| limits.file_bytes = 8);
    let proc = crate::Place::open(std::path::Path::new("/proc/self"), Vec::new()).unwrap();
    rig.ctx.place = std::sync::Arc::new(proc);
    assert_eq!(rig.error("read_file", json!({"path": "status"})).code, "file/too_large");
    assert_eq!(
        rig.error("delete_path", json!({"path": "status"})).code,
        "file/too_large",
        "a part kept isn't it"
    );
}

#[test]
fn names_of_255_bytes_work_for_every_tool() {
    let name = format!("{}.md", "长".repeat(84));
    assert_eq!(name.len(), 255);
    let rig = Rig::new();
    rig.call("write_file", json!({"path": name, "content": "one\n"}));
    rig.call("edit_file", json!({"path": name, "old_text": "one", "new_text": "two"}));
    let longer = rig.error("write_file", json!({"path": format!("{name}x/{name}"), "content": "x"}));
    assert_eq!(longer.code, "file/io", "256 bytes are no name: {longer:?}");
    assert_eq!(rig.call("search_files", json!({"pattern": "two"})).text, format!("{name}:1: two"));
    assert_eq!(rig.call("list_files", json!({})).text, name);
    rig.call("delete_path", json!({"path": name}));
    assert!(rig.names().is_empty(), "no half-done save is left either: {:?}", rig.names());
}

/// Folders of 1,000 files each; `DAYBOOK_MANY_FOLDERS=100` gives the 100,000 files of the long run.
fn folders() -> usize {
    std::env::var("DAYBOOK_MANY_FOLDERS").ok().and_then(|count| count.parse().ok()).unwrap_or(10)
}

/// Very many files: nothing is missed, all that isn't shown is counted, and each file is opened once at most.
#[test]
fn very_many_files_are_listed_and_searched_whole() {
    const EACH: usize = 1_000;
    let count = folders();
    let rig = Rig::in_memory();
    for folder in 0..count {
        let folder = rig.path(&format!("f{folder:02}"));
        std::fs::create_dir(&folder).unwrap();
        for file in 0..EACH {
            std::fs::write(folder.join(format!("{file:03}.txt")), "a line\n").unwrap();
        }
    }
    rig.put("f07/777.txt", b"the needle\n");
    rig.put(".gitignore", b"ignored/\n");
    rig.put("ignored/x", b"the needle\n");
    let started = std::time::Instant::now();
    let listed = rig.call("list_files", json!({}));
    let listing = started.elapsed();
    let value = &listed.value["value"];
    let shown = value["entries"].as_array().map_or(0, Vec::len);
    let more = value["left_out"].as_u64().unwrap() as usize;
    assert_eq!(shown + more, count + count * EACH + 1, "{}", &listed.text[..200]);
    assert!(listed.text.len() < 64 << 10);
    let started = std::time::Instant::now();
    let found = rig.call("search_files", json!({"pattern": "needle"}));
    println!("{} files: listed in {listing:?}, searched in {:?}", count * EACH, started.elapsed());
    assert_eq!(found.text, "f07/777.txt:1: the needle");
    assert_eq!(found.value["value"]["files"], count * EACH + 1, "each file once");
    let named = rig.call("search_files", json!({"pattern": "line", "glob": "f07/*.txt", "path": "f07"}));
    assert_eq!(named.value["value"]["complete"], false, "more than are shown, which is said");
}

/// A file of ours with odd attributes keeps them.
#[test]
fn an_edit_of_a_sparse_or_shared_file_keeps_what_it_is() {
    let rig = Rig::with(&[("one", b"word\n")]);
    std::fs::hard_link(rig.path("one"), rig.path("two")).unwrap();
    let inode = rig.path("one").metadata().unwrap().ino();
    rig.call("edit_file", json!({"path": "one", "old_text": "word", "new_text": "text"}));
    assert_eq!((rig.get("two"), rig.path("two").metadata().unwrap().ino()), (b"text\n".to_vec(), inode));
}
