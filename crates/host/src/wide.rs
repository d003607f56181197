//! Folders that hold far more than one piece of work: a home folder or what is around it, a whole disk, our own data.
//!
//! A **wide** folder is opened only after the person said so: everything in it could be read and changed, and undo may not
//! cover it all. Invariant: the rule is this one, for every door, and looks at nothing but the path.

use crate::data::home;
use api::wire::store::Wide;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// How paths are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum System {
    Linux,
    MacOs,
    Windows,
}

const HERE: System = if cfg!(windows) {
    System::Windows
} else if cfg!(target_os = "macos") {
    System::MacOs
} else {
    System::Linux
};

/// As the paths of folders are: resolved.
static HOME: LazyLock<Option<PathBuf>> =
    LazyLock::new(|| home().map(|home| home.canonicalize().unwrap_or(home)));

/// Is this folder a wide one? Its path is resolved, as that of our data is.
pub(crate) fn wide(path: &Path, data: &Path) -> Option<Wide> {
    let home = HOME.as_deref().and_then(Path::to_str);
    of(path.to_str()?, home, data.to_str()?, HERE)
}

fn of(path: &str, home: Option<&str>, data: &str, system: System) -> Option<Wide> {
    let (path, data) = (parts(path, system), parts(data, system));
    let home = home.map(|home| parts(home, system));
    match home {
        Some(home) if home == path => Some(Wide::Home),
        Some(home) if home.starts_with(&path) => Some(Wide::AboveHome),
        _ if is_disk(&path, system) => Some(Wide::Disk),
        _ if data.starts_with(&path) => Some(Wide::OwnData),
        _ => None,
    }
}

/// The names on the way, as the system compares them.
fn parts(path: &str, system: System) -> Vec<String> {
    match system {
        System::Linux => path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect(),
        System::MacOs => path.split('/').filter(|part| !part.is_empty()).map(str::to_lowercase).collect(),
        System::Windows => {
            let plain = path.strip_prefix(r"\\?\").unwrap_or(path);
            let share = plain.strip_prefix(r"UNC\").or_else(|| plain.strip_prefix(r"\\"));
            let parts = share.unwrap_or(plain).split(['\\', '/']).filter(|part| !part.is_empty());
            // A share's first two names are its disk.
            share.map(|_| "//".to_owned()).into_iter().chain(parts.map(str::to_lowercase)).collect()
        }
    }
}

/// Where systems put whole disks.
fn is_disk(path: &[String], system: System) -> bool {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    match (system, names.as_slice()) {
        (_, []) => true,
        (System::Linux, ["mnt", _] | ["media", _] | ["media", _, _] | ["run", "media", _, _]) => true,
        (System::MacOs, ["volumes", _]) => true,
        (System::Windows, [drive]) => drive.ends_with(':'),
        (System::Windows, ["//", _, _]) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(system: System, home: &str, data: &str, table: &[(&str, Option<Wide>)]) {
        for (path, expect) in table {
            assert_eq!(of(path, Some(home), data, system), *expect, "{path}");
        }
    }

    #[test]
    fn a_wide_folder_is_a_home_one_around_it_a_disk_or_one_with_our_data_in_it() {
        let (home, around, disk, own) =
            (Some(Wide::Home), Some(Wide::AboveHome), Some(Wide::Disk), Some(Wide::OwnData));
        check(
            System::Linux,
            "/home/ada",
            "/home/ada/.local/share/daybook",
            &[
                ("/home/ada", home),
                ("/home/ada/", home),
                ("/home", around),
                ("/", around),
                ("/home/Ada", None),
                ("/home/ada/site", None),
                ("/home/ad", None),
                ("/home/ada/.local", own),
                ("/home/ada/.local/share", own),
                ("/home/ada/.local/share/daybook", own),
                ("/home/ada/.local/share/other", None),
                ("/mnt/backup", disk),
                ("/mnt/backup/site", None),
                ("/media/ada/STICK", disk),
                ("/run/media/ada/STICK", disk),
                ("/run/media/ada/STICK/site", None),
                ("/srv/site", None),
            ],
        );
        check(
            System::MacOs,
            "/Users/ada",
            "/Users/ada/Library/Application Support/Daybook",
            &[
                ("/Users/ada", home),
                ("/users/Ada", home),
                ("/Users", around),
                ("/", around),
                ("/Volumes/Stick", disk),
                ("/Volumes/Stick/site", None),
                ("/Users/ada/Library", own),
                ("/Users/ada/library/application support", own),
                ("/Users/ada/Documents/site", None),
            ],
        );
        check(
            System::Windows,
            r"C:\Users\ada",
            r"C:\Users\ada\AppData\Local\Daybook",
            &[
                (r"C:\Users\ada", home),
                (r"\\?\C:\Users\Ada\", home),
                ("c:/users/ada", home),
                (r"C:\Users", around),
                (r"C:\", around),
                (r"\\?\D:\", disk),
                (r"D:\site", None),
                (r"\\server\share", disk),
                (r"\\?\UNC\server\share", disk),
                (r"\\server\share\site", None),
                (r"C:\Users\ada\AppData", own),
                (r"C:\Users\ada\Documents\site", None),
            ],
        );
    }

    #[test]
    fn without_a_home_folder_disks_and_our_data_are_still_asked_about() {
        let of = |path| of(path, None, "/data/daybook", System::Linux);
        assert_eq!((of("/data"), of("/mnt/x"), of("/work")), (Some(Wide::OwnData), Some(Wide::Disk), None));
    }
}
