//! Is a path on a network file system?
//!
//! The database's shared memory file and its locks don't hold across machines, so such folders are refused. Linux is
//! read from the mount table, macOS from the mount command, Windows from the path's own form. Unknown counts as local:
//! a wrong yes would lock people out of their record.

use std::path::Path;

/// The name of the network file system that holds this absolute, resolved path; `None` for a local one.
pub(crate) fn network_kind(path: &Path) -> Option<String> {
    #[cfg(target_os = "linux")]
    {
        let table = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
        linux_kind(&table, path)
    }
    #[cfg(target_os = "macos")]
    {
        let output = std::process::Command::new("/sbin/mount").output().ok()?;
        macos_kind(&String::from_utf8_lossy(&output.stdout), path)
    }
    #[cfg(windows)]
    {
        windows_kind(path)
    }
    #[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
    {
        let _ = path;
        None
    }
}

/// Types that cross machines, or that a user-space program may send across.
#[cfg(any(target_os = "linux", target_os = "macos", test))]
const NETWORK: [&str; 14] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "afpfs",
    "webdav",
    "afs",
    "ceph",
    "9p",
    "glusterfs",
    "lustre",
    "fuse.sshfs",
    "fuse.rclone",
];

/// From the text of `/proc/self/mountinfo`.
#[cfg(any(target_os = "linux", test))]
fn linux_kind(table: &str, path: &Path) -> Option<String> {
    let mounts = table.lines().filter_map(|line| {
        let (place, filesystem) = line.split_once(" - ")?;
        Some((unescape(place.split(' ').nth(4)?), filesystem.split(' ').next()?.to_owned()))
    });
    deepest(mounts, path)
}

/// From the output of `mount`: `//user@host/share on /Volumes/share (smbfs, nodev)`.
#[cfg(any(target_os = "macos", test))]
fn macos_kind(table: &str, path: &Path) -> Option<String> {
    let mounts = table.lines().filter_map(|line| {
        let (place, options) = line.split_once(" on ")?.1.rsplit_once(" (")?;
        Some((place.to_owned(), options.split([',', ')']).next()?.to_owned()))
    });
    deepest(mounts, path)
}

/// A share keeps its server's name in the resolved path, also behind a drive letter.
#[cfg(windows)]
fn windows_kind(path: &Path) -> Option<String> {
    use std::path::{Component, Prefix};
    match path.components().next() {
        Some(Component::Prefix(prefix)) => match prefix.kind() {
            Prefix::UNC(..) | Prefix::VerbatimUNC(..) => Some("network share".to_owned()),
            _ => None,
        },
        _ => None,
    }
}

/// The type of the mount that holds the path, where it is a network's: the deepest, and of equals the last mounted.
#[cfg(any(target_os = "linux", target_os = "macos", test))]
fn deepest(mounts: impl Iterator<Item = (String, String)>, path: &Path) -> Option<String> {
    mounts
        .filter(|(place, _)| path.starts_with(place))
        .max_by_key(|(place, _)| Path::new(place).components().count())
        .map(|(_, kind)| kind)
        .filter(|kind| NETWORK.contains(&kind.as_str()))
}

/// Spaces, tabs, line ends and backslashes stand as three octal digits.
#[cfg(any(target_os = "linux", test))]
fn unescape(text: &str) -> String {
    ["\\040", "\\011", "\\012", "\\134"]
        .iter()
        .zip([" ", "\t", "\n", "\\"])
        .fold(text.to_owned(), |text, (code, plain)| text.replace(code, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x02_a_network_mount_is_known_by_its_type() {
        let linux = "22 1 254:0 / / rw - ext4 /dev/vda rw\n\
                     30 22 0:40 / /home/ann/My\\040share rw shared:1 - cifs //nas/ann rw\n\
                     31 30 0:41 / /home/ann/My\\040share/inner rw - tmpfs tmpfs rw\n\
                     32 22 0:42 / /mnt/nfs rw - nfs4 nas:/export rw\n";
        let macos =
            "/dev/disk3s1s1 on / (apfs, sealed, local)\n//ann@nas/data on /Volumes/data (x) (smbfs, nodev)\n";
        #[track_caller]
        fn check(found: Option<String>, expect: Option<&str>) {
            assert_eq!(found.as_deref(), expect);
        }
        check(linux_kind(linux, Path::new("/home/ann/.local/share/daybook")), None);
        check(linux_kind(linux, Path::new("/home/ann/My share/daybook")), Some("cifs"));
        check(linux_kind(linux, Path::new("/home/ann/My share/inner/daybook")), None);
        check(linux_kind(linux, Path::new("/mnt/nfs")), Some("nfs4"));
        check(linux_kind(linux, Path::new("/mnt/nfs2")), None);
        check(macos_kind(macos, Path::new("/Users/ann/Library")), None);
        check(macos_kind(macos, Path::new("/Volumes/data (x)/daybook")), Some("smbfs"));
    }
}
