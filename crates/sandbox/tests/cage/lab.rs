//! What the tests share: users, folders, the helper program, and waiting with a deadline.
//!
//! A **lab** is one test's place: a project folder that belongs to the user, and a helper the user can execute.
//! Invariant: nothing outside the lab and the user's own home is touched, whatever a cage lets through.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sandbox::Mechanism;

/// Who runs the app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    Myself,
    /// Uid 65534; only root can become it.
    Nobody,
}

/// The ordinary user's number.
pub(crate) const NOBODY: u32 = 65_534;

/// A place for one test: a folder to work in, and a helper that the user can execute.
pub(crate) struct Lab {
    pub(crate) user: User,
    /// Readable by everybody; holds all else.
    pub(crate) base: tempfile::TempDir,
    /// The project folder, owned by the user.
    pub(crate) folder: PathBuf,
    pub(crate) helper: PathBuf,
}

pub(crate) fn users() -> Vec<User> {
    if rustix::process::geteuid().is_root() { vec![User::Myself, User::Nobody] } else { vec![User::Myself] }
}

impl Lab {
    pub(crate) fn new(user: User) -> Self {
        let base = tempfile::Builder::new().prefix("cage-lab-").tempdir_in("/var/tmp").unwrap();
        fs::set_permissions(base.path(), PermissionsExt::from_mode(0o755)).unwrap();
        // Not where the build left it: that may be in a home folder nobody else can look into.
        let helper = base.path().join("bin/helper");
        fs::create_dir(base.path().join("bin")).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_cage-helper"), &helper).unwrap();
        let mut lab = Self { user, folder: PathBuf::new(), base, helper };
        lab.folder = lab.owned_folder("project");
        lab
    }

    /// A folder beside the project that belongs to the user.
    pub(crate) fn owned_folder(&self, name: &str) -> PathBuf {
        let folder = self.base.path().join(name);
        fs::create_dir_all(&folder).unwrap();
        self.give(&folder);
        folder
    }

    /// A file that belongs to the user.
    pub(crate) fn owned_file(&self, path: &Path, content: &str) -> PathBuf {
        fs::write(path, content).unwrap();
        self.give(path);
        path.to_owned()
    }

    fn give(&self, path: &Path) {
        if self.user == User::Nobody {
            std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }

    /// A helper process as the user.
    pub(crate) fn helper(&self) -> Command {
        let mut command = Command::new(&self.helper);
        command.stdin(Stdio::null()).current_dir("/");
        if self.user == User::Nobody {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    /// A host that will run `script` in a cage of this kind.
    pub(crate) fn host(&self, how: &str, write: &str, options: &[&str], script: &str) -> Command {
        let mut command = self.helper();
        command.args(["host", how, write]).arg(&self.folder).args(options);
        command.args(["--", "/bin/sh", "-c", script]);
        command
    }

    /// Runs `script` in a writable cage and returns everything that was printed.
    pub(crate) fn run(&self, how: &str, options: &[&str], script: &str) -> String {
        output(&mut self.host(how, "folder", options, script))
    }

    /// The mechanisms that work for this user.
    pub(crate) fn mechanisms(&self) -> Vec<Mechanism> {
        let report = output(self.helper().arg("probe"));
        let works = |mechanism: &Mechanism| {
            let line = format!("{}: Works(", mechanism.name());
            report.lines().any(|found| found.starts_with(&line))
        };
        let found: Vec<_> = Mechanism::ALL.into_iter().filter(works).collect();
        assert!(!found.is_empty(), "no cage works for {:?}: {report}", self.user);
        found
    }
}

/// Calls `check` for every user and every mechanism that works for them, in a fresh lab.
pub(crate) fn each_cage(check: impl Fn(&Lab, Mechanism)) {
    for user in users() {
        for mechanism in Lab::new(user).mechanisms() {
            println!("--- {user:?}, {}", mechanism.name());
            check(&Lab::new(user), mechanism);
        }
    }
}

/// The same without the partial one.
pub(crate) fn each_full_cage(check: impl Fn(&Lab, Mechanism)) {
    each_cage(|lab, mechanism| match mechanism {
        Mechanism::Bubblewrap | Mechanism::Namespaces => check(lab, mechanism),
        Mechanism::Landlock | Mechanism::Seatbelt | Mechanism::AppContainer => {}
    });
}

pub(crate) fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the helper failed: {text}{errors}");
    text
}

/// The path of a Python that cages can see; the tests' own may be elsewhere.
pub(crate) const PYTHON: &str = "/usr/bin/python3";

/// Polls until `done`, or fails after `limit`.
#[track_caller]
pub(crate) fn within(limit: Duration, what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + limit;
    while !done() {
        assert!(Instant::now() < deadline, "not within {limit:?}: {what}");
        pause(Duration::from_millis(5));
    }
}

/// Gives way between two looks at something another process does.
pub(crate) fn pause(time: Duration) {
    let nobody = std::sync::Condvar::new();
    let lock = std::sync::Mutex::new(());
    drop(nobody.wait_timeout(lock.lock().unwrap(), time).unwrap());
}

/// Command lines of living processes that contain `mark`.
pub(crate) fn living_with(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let path = entry.path();
        let Ok(line) = fs::read(path.join("cmdline")) else { continue };
        let state = fs::read_to_string(path.join("stat")).unwrap_or_default();
        let dead = state.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'));
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(mark) && !dead {
            found.push(line);
        }
    }
    found
}
