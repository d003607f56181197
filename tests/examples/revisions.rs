//! Measures revisions against `git stash` and a plain copy, in one run on one disk; prints one JSON object.
//!
//! Two folders: 1 GB in 5,000 files, and 100,000 small files in 1,000 folders. For each: the first revision, the second
//! after ten files changed, a third with nothing changed, undoing; `git add -A && git stash create` twice; `cp -a` twice.
//! Usage: `revisions [folder to work in]`. Numbers are milliseconds of wall time.

use domain::digest::Digest;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;
use tools::blob::Staged;
use tools::revision::{Bounds, Force, Index, Taken, changes, restore, take};
use tools::{BlobSink, Limits, Place};

struct Blobs(store::StoreHandle);

impl BlobSink for Blobs {
    fn put(&self, bytes: &[u8]) -> io::Result<Digest> {
        self.0.put_blob(bytes).map_err(io::Error::other)
    }

    fn put_stream(&self, from: &mut dyn Read) -> io::Result<Digest> {
        self.0.put_blob_stream(from).map_err(io::Error::other)
    }

    fn get(&self, digest: &Digest) -> io::Result<Vec<u8>> {
        self.0.blob(digest).map_err(io::Error::other)
    }

    fn stage(&self, from: &mut dyn Read) -> io::Result<Staged> {
        let store::Staged { digest, bytes, new } = self.0.stage_blob(from).map_err(io::Error::other)?;
        Ok(Staged { digest, bytes, new })
    }

    fn settle(&self) -> io::Result<()> {
        self.0.settle_blobs().map_err(io::Error::other)
    }

    fn holds(&self, digest: &Digest) -> io::Result<bool> {
        self.0.holds_blob(digest).map_err(io::Error::other)
    }
}

struct NoTime;

impl store::Clock for NoTime {
    fn now_ms(&self) -> u64 {
        0
    }
}

type Done<T> = Result<T, Box<dyn std::error::Error>>;

#[expect(clippy::print_stdout, reason = "what it measured is its output")]
fn main() -> Done<()> {
    let at = std::env::args().nth(1).unwrap_or_else(|| std::env::temp_dir().display().to_string());
    let large = measure(Path::new(&at), 50, 100, 200_000)?;
    let many = measure(Path::new(&at), 1_000, 100, 300)?;
    let all = json!({"gb_in_5000_files": large, "100000_small_files": many});
    println!("{}", serde_json::to_string_pretty(&all)?);
    Ok(())
}

fn measure(at: &Path, folders: usize, files: usize, bytes: usize) -> Done<Value> {
    let outside = tempfile::tempdir_in(at)?;
    let folder = outside.path().join("project");
    fill(&folder, folders, files, bytes)?;
    let ours = ours(outside.path(), &folder, files)?;
    let git = git(&folder, files)?;
    let copy = copy(outside.path(), &folder)?;
    Ok(json!({"revisions": ours, "git_stash": git, "cp_a": copy}))
}

fn ours(outside: &Path, folder: &Path, files: usize) -> Done<Value> {
    let (data, private) = (outside.join("data"), outside.join("private"));
    fs::create_dir(&private)?;
    store::create_folder(&data)?;
    let store = store::Store::open(&data, store::Options::new(Arc::new(NoTime)))?;
    let blobs = Blobs(store.handle());
    let place = Place::open(folder, Vec::new())?;
    let mut index = Index::open(&private, &place, &blobs);
    let revision = |index: &mut Index| -> Done<(Taken, f64)> {
        let begun = Instant::now();
        let taken = take(&place, &blobs, index, &Bounds::default(), None, &CancellationToken::new())?;
        Ok((taken, ms(begun)))
    };
    let (first, first_ms) = revision(&mut index)?;
    let (_, again_ms) = revision(&mut index)?;
    change(folder, files, "ours")?;
    let (second, second_ms) = revision(&mut index)?;
    let begun = Instant::now();
    index.save()?;
    let save_ms = ms(begun);
    let begun = Instant::now();
    let mut index = Index::open(&private, &place, &blobs);
    let open_ms = ms(begun);
    let (third, third_ms) = revision(&mut index)?;
    let begun = Instant::now();
    let found = changes(&blobs, &first.tree, &second.tree, &Bounds::default(), &Limits::default())?;
    let changes_ms = ms(begun);
    let begun = Instant::now();
    let undone = restore(&place, &blobs, &found.effects, &Force::Nothing)?;
    let undo_ms = ms(begun);
    let (back, _) = revision(&mut index)?;
    assert!(undone.kept.is_empty() && back.tree == first.tree && third.tree == second.tree);
    Ok(json!({
        "first_ms": first_ms, "first_bytes": first.new_bytes, "unchanged_ms": again_ms,
        "second_ms": second_ms, "second_new_bytes": second.new_bytes,
        "index_save_ms": save_ms, "index_open_ms": open_ms, "unchanged_after_reopening_ms": third_ms,
        "changes_ms": changes_ms, "undo_ms": undo_ms, "files": first.files, "bytes": first.bytes,
    }))
}

fn git(folder: &Path, files: usize) -> Done<Value> {
    let run = |arguments: &[&str]| -> Done<f64> {
        let begun = Instant::now();
        let base = ["-c", "user.name=x", "-c", "user.email=x@x", "-c", "gc.auto=0", "-C"];
        let done = Command::new("git").args(base).arg(folder).args(arguments).output()?;
        if !done.status.success() {
            return Err(String::from_utf8_lossy(&done.stderr).into());
        }
        Ok(ms(begun))
    };
    run(&["init", "-q"])?;
    run(&["commit", "-q", "--allow-empty", "-m", "x"])?;
    let first = run(&["add", "-A"])? + run(&["stash", "create"])?;
    change(folder, files, "git")?;
    let second = run(&["add", "-A"])? + run(&["stash", "create"])?;
    fs::remove_dir_all(folder.join(".git"))?;
    Ok(json!({"first_ms": first, "second_ms": second}))
}

fn copy(outside: &Path, folder: &Path) -> Done<Value> {
    let run = |to: &str| -> Done<f64> {
        let begun = Instant::now();
        let done = Command::new("cp").arg("-a").arg(folder).arg(outside.join(to)).status()?;
        if done.success() { Ok(ms(begun)) } else { Err("cp failed".into()) }
    };
    Ok(json!({"first_ms": run("copy-1")?, "second_ms": run("copy-2")?}))
}

/// Content that repeats nowhere.
fn fill(folder: &Path, folders: usize, files: usize, bytes: usize) -> Done<()> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut content = vec![0; bytes];
    for one in 0..folders {
        let inside = folder.join(format!("folder-{one}"));
        fs::create_dir_all(&inside)?;
        for file in 0..files {
            for piece in content.chunks_mut(8) {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                piece.copy_from_slice(&state.to_le_bytes()[..piece.len()]);
            }
            fs::write(inside.join(format!("file-{file}.bin")), &content)?;
        }
    }
    Command::new("sync").arg("-f").arg(folder).status()?;
    Ok(())
}

fn change(folder: &Path, files: usize, word: &str) -> Done<()> {
    for one in 0..10 {
        let file = folder.join(format!("folder-{one}")).join(format!("file-{}.bin", one % files));
        let mut content = fs::read(&file)?;
        content.extend_from_slice(word.as_bytes());
        fs::write(file, content)?;
    }
    Ok(())
}

fn ms(begun: Instant) -> f64 {
    (begun.elapsed().as_secs_f64() * 10_000.0).round() / 10.0
}
