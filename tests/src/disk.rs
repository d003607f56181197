//! The failing, remembering disk: a small library between a process and its C library, built here and preloaded.
//!
//! A test starts itself again under it ([`again`]); the child steers it ([`Disk`]) and the parent, or the child, makes of
//! its journal what a power cut may leave ([`Journal`](crate::cut::Journal)). Invariant: a machine without a C compiler
//! fails these tests, it doesn't skip them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Set in the child.
const CHILD: &str = "DAYBOOK_TEST_DISK";

/// Paths below it steer the disk.
const CONTROL: &str = "/daybook-disk";

/// What a call answers instead of doing its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The device failed.
    Io,
    /// No room.
    Full,
    /// A signal came in between.
    Interrupted,
    /// Half of the bytes were written.
    Short,
    /// The disk can only be read.
    ReadOnly,
    /// The device failed, but only to sync.
    Sync,
}

impl Fault {
    /// Those that any call can meet.
    pub const ALL: [Self; 5] = [Self::Io, Self::Full, Self::Interrupted, Self::Short, Self::ReadOnly];

    fn number(self) -> i32 {
        match self {
            Self::Io => 5,
            Self::Full => 28,
            Self::Interrupted => 4,
            Self::Short => -1,
            Self::ReadOnly => 30,
            Self::Sync => -2,
        }
    }
}

/// The disk under this process.
#[derive(Debug)]
pub struct Disk(());

impl Disk {
    /// The disk, where this process is a child that [`again`] started; it watches this folder.
    #[must_use]
    pub fn under(folder: &Path) -> Option<Self> {
        std::env::var_os(CHILD)?;
        let disk = Self(());
        disk.steer(&format!("root{}", folder.display()));
        Some(disk)
    }

    /// From now on the n-th call, from 1, and those after it up to so many fail.
    pub fn fail(&self, n: u64, fault: Fault, times: u64) {
        self.steer(&format!("arm/{n}/{}/{times}", fault.number()));
    }

    /// Nothing fails any more.
    pub fn mend(&self) {
        self.steer("off");
    }

    /// Calls that failed since the last [`Disk::fail`], and the first of them.
    ///
    /// # Panics
    /// When the library isn't there.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a disk that can't be steered ends the test")]
    pub fn failed(&self) -> (u64, String) {
        let report = std::fs::read_to_string(format!("{CONTROL}/report")).expect("the library is preloaded");
        let (failed, first) = report.trim_end_matches('\n').split_once(' ').expect("a number and a call");
        (failed.parse().expect("a number"), first.to_owned())
    }

    /// Writes each change to this file from now on.
    pub fn journal(&self, file: &Path) {
        self.steer(&format!("journal{}", file.display()));
    }

    /// Puts a word among the changes.
    pub fn mark(&self, word: &str) {
        self.steer(&format!("mark/{word}"));
    }

    /// The path leads nowhere: the library takes it as an order.
    fn steer(&self, order: &str) {
        drop(std::fs::File::open(format!("{CONTROL}/{order}")));
    }
}

/// Runs one test of this binary again, in a process under the disk, and gives what it said.
///
/// # Panics
/// When the library can't be built, or the test fails.
#[must_use]
#[expect(clippy::expect_used, reason = "a disk that can't be had ends the test")]
pub fn again(test: &str, home: &Path) -> String {
    let library = built(home);
    let child = Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", test, "--nocapture", "--test-threads", "1"])
        .env(CHILD, home)
        .env("LD_PRELOAD", library)
        .output()
        .expect("the child starts");
    let said = String::from_utf8_lossy(&child.stdout).into_owned();
    let cried = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "the child failed: {}\n{said}\n{cried}", child.status);
    assert!(said.contains("1 passed"), "{test} is no test here: {said}");
    said
}

/// The home that the parent chose, in the child.
#[must_use]
pub fn home() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}

#[expect(clippy::expect_used, reason = "a disk that can't be had ends the test")]
fn built(home: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("shim/disk.c");
    let library = home.join("disk.so");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let made = Command::new(&compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .output();
    let made = made.unwrap_or_else(|error| panic!("these tests need a C compiler; {compiler}: {error}"));
    assert!(made.status.success(), "{compiler}: {}", String::from_utf8_lossy(&made.stderr));
    library.canonicalize().expect("it was made")
}
