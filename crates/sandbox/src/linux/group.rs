//! A process group that the kernel counts, for root.
//!
//! The kernel's limit on processes binds every user but root, and counting several times a second is slower than a fork
//! bomb. Root may make a control **group** with a bound instead: the launcher enters it, so everything it starts is in it.
//! Invariants: a group goes with its launcher, or with the next one's start when the launcher was killed; what can't be made
//! is left out, and then the cage doesn't promise the bound.
//!
//! Source: Documentation/admin-guide/cgroup-v1/pids.rst and cgroup-v2.rst of the Linux kernel.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

/// Where the controller is mounted: by itself (version 1), or with all others (version 2).
const PLACES: [&str; 2] = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"];
/// What our groups' names begin with; the launcher's number follows.
const NAME: &str = "daybook-cage-";
/// The launcher and what else of ours lives beside the command.
const OURS: u64 = 8;

/// The group this process is in. Its folders are held open, because the cage's root may hide them.
#[derive(Debug)]
pub(crate) struct Group {
    place: OwnedFd,
    name: String,
}

impl Group {
    /// Enters a new group whose processes and threads are bounded; nothing for anybody but root, or without the controller.
    pub(crate) fn enter(processes: u64) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        PLACES.iter().find_map(|place| Self::enter_at(Path::new(place), processes).ok())
    }

    /// Could one be entered? Nothing is left of the try.
    pub(crate) fn works() -> bool {
        let made = |place: &&str| {
            let group = Self::make(Path::new(place), "try")?;
            let bounded = group.write(&format!("{}/pids.max", group.name), "100");
            group.remove();
            bounded
        };
        let made = |place: &&str| made(place).is_ok();
        rustix::process::geteuid().is_root() && PLACES.iter().any(made)
    }

    fn enter_at(place: &Path, processes: u64) -> rustix::io::Result<Self> {
        let group = Self::make(place, "")?;
        group.sweep();
        let most = processes.saturating_add(OURS).to_string();
        let entered = group
            .write(&format!("{}/pids.max", group.name), &most)
            .and_then(|()| group.write(&format!("{}/cgroup.procs", group.name), "0"));
        match entered {
            Ok(()) => Ok(group),
            Err(error) => {
                group.remove();
                Err(error)
            }
        }
    }

    fn make(place: &Path, ending: &str) -> rustix::io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let place = rustix::fs::open(place, flags, Mode::empty())?;
        let name = format!("{NAME}{}{ending}", rustix::process::getpid().as_raw_nonzero());
        let group = Self { place, name };
        match rustix::fs::mkdirat(&group.place, &group.name, Mode::from_raw_mode(0o755)) {
            // A launcher that was killed had our number.
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
        let bound = format!("{}/pids.max", group.name);
        match rustix::fs::accessat(&group.place, &bound, rustix::fs::Access::EXISTS, AtFlags::empty()) {
            Ok(()) => Ok(group),
            Err(error) => {
                group.remove();
                Err(error)
            }
        }
    }

    /// Leaves the group, which goes.
    pub(crate) fn leave(self) {
        // The root of the tree takes everybody.
        let _ = self.write("cgroup.procs", "0");
        self.remove();
    }

    fn remove(self) {
        // Still used, or gone already: the next launcher sweeps.
        let _ = rustix::fs::unlinkat(&self.place, &self.name, AtFlags::REMOVEDIR);
    }

    /// Removes what killed launchers left; a group in use can't be removed.
    fn sweep(&self) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(found) = rustix::fs::openat(&self.place, ".", flags, Mode::empty()) else { return };
        let Ok(entries) = rustix::fs::Dir::new(found) else { return };
        for entry in entries.flatten() {
            let Ok(name) = entry.file_name().to_str() else { continue };
            let number = name.strip_prefix(NAME).map(|rest| rest.trim_end_matches("try"));
            let number = number.and_then(|rest| rest.parse::<i32>().ok());
            let launcher = number.and_then(rustix::process::Pid::from_raw);
            let gone = launcher.is_some_and(|pid| {
                rustix::process::test_kill_process(pid).is_err_and(|error| error == Errno::SRCH)
            });
            if gone {
                let _ = rustix::fs::unlinkat(&self.place, name, AtFlags::REMOVEDIR);
            }
        }
    }

    fn write(&self, path: &str, text: &str) -> rustix::io::Result<()> {
        let file = rustix::fs::openat(&self.place, path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
        rustix::io::write(&file, text.as_bytes()).map(drop)
    }
}
