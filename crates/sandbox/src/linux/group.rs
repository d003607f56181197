//! A process group that the kernel counts, for root.
//!
//! The kernel's limit on processes binds every user but root, and counting several times a second is slower than a fork
//! bomb. Root may make a control **group** with a bound instead: the launcher enters it, so everything it starts is in it.
//! Invariants: a group goes with its launcher, or with the next one's start when the launcher was killed; what can't be made
//! is left out, and then the cage doesn't promise the bound.
//!
//! Source: Documentation/admin-guide/cgroup-v1/pids.rst and cgroup-v2.rst of the Linux kernel.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

/// Where control groups are mounted: each controller by itself (version 1), or all together (version 2).
const MOUNT: &str = "/sys/fs/cgroup";
/// What our groups' names begin with; the launcher's number follows.
const NAME: &str = "daybook-cage-";
/// The launcher and what else of ours lives beside the command.
const OURS: u64 = 8;

/// The group this process is in. Its folders are held open, because the cage's root may hide them.
#[derive(Debug)]
pub(crate) struct Group {
    place: OwnedFd,
    name: String,
    /// The group we came from.
    home: OwnedFd,
}

/// Where a group can be made so that it keeps the bounds that we were given.
struct Site {
    place: PathBuf,
    home: PathBuf,
}

impl Site {
    fn ours() -> Vec<Self> {
        fs::read_to_string("/proc/self/cgroup").map_or_else(|_| Vec::new(), |text| Self::parse(&text))
    }

    /// Lines of `number:controllers:path`. With a tree of its own the controller takes a group in ours; in the tree of all,
    /// only groups without processes have groups with bounds in them, so ours stands beside us.
    fn parse(text: &str) -> Vec<Self> {
        let site = |line: &str| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            // One that lies outside what we see can't be named.
            let path = path.strip_prefix('/').filter(|path| !path.split('/').any(|part| part == ".."))?;
            match controllers {
                "" => {
                    let home = Path::new(MOUNT).join(path);
                    let place = if path.is_empty() { home.clone() } else { home.parent()?.to_owned() };
                    Some(Self { place, home })
                }
                _ if controllers.split(',').any(|one| one == "pids") => {
                    let home = Path::new(MOUNT).join(controllers).join(path);
                    Some(Self { place: home.clone(), home })
                }
                _ => None,
            }
        };
        text.lines().filter_map(site).collect()
    }
}

impl Group {
    /// Enters a new group whose processes and threads are bounded; nothing for anybody but root, or without the controller.
    pub(crate) fn enter(processes: u64) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        Site::ours().iter().find_map(|site| Self::enter_at(site, processes).ok())
    }

    /// Could one be entered? Nothing is left of the try.
    pub(crate) fn works() -> bool {
        let made = |site: &Site| {
            let group = Self::make(site, "try")?;
            let bounded = group.write(&format!("{}/pids.max", group.name), "100");
            group.remove();
            bounded
        };
        rustix::process::geteuid().is_root() && Site::ours().iter().any(|site| made(site).is_ok())
    }

    fn enter_at(site: &Site, processes: u64) -> rustix::io::Result<Self> {
        let group = Self::make(site, "")?;
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

    fn make(site: &Site, ending: &str) -> rustix::io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let place = rustix::fs::open(&site.place, flags, Mode::empty())?;
        let home = rustix::fs::open(&site.home, flags, Mode::empty())?;
        let name = format!("{NAME}{}{ending}", rustix::process::getpid().as_raw_nonzero());
        let group = Self { place, name, home };
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
        // Where we came from takes us back; otherwise the next launcher sweeps.
        let _ = write(&self.home, "cgroup.procs", "0");
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
        write(&self.place, path, text)
    }
}

fn write(folder: &OwnedFd, path: &str, text: &str) -> rustix::io::Result<()> {
    let file = rustix::fs::openat(folder, path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, text.as_bytes()).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[(&str, &str)]) {
        let sites = Site::parse(text);
        let found: Vec<_> =
            sites.iter().map(|site| (site.place.to_str().unwrap(), site.home.to_str().unwrap())).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn a_group_keeps_the_bounds_we_were_given() {
        let own = "/sys/fs/cgroup/pids/a/b";
        check("9:pids:/a/b\n4:memory:/x\n", &[(own, own)]);
        check("2:cpu,pids:/\n", &[("/sys/fs/cgroup/cpu,pids/", "/sys/fs/cgroup/cpu,pids/")]);
        let slice = "/sys/fs/cgroup/user.slice";
        check("0::/user.slice/session-1.scope\n", &[(slice, "/sys/fs/cgroup/user.slice/session-1.scope")]);
        check("0::/\n", &[("/sys/fs/cgroup/", "/sys/fs/cgroup/")]);
        check("0::/../x\n9:pids:nonsense\n\n", &[]);
    }
}
