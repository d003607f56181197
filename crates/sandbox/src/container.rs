//! The structure of a Windows cage: container, rights, job, and how the command is started.
//!
//! An **app container** is an identity without rights: it reaches only what names it. Each set of listed folders has an
//! identity of its own, so what one cage was given stays closed to another; it has no capabilities, hence no network.
//! Invariant: a pure function of its input, tested on every system.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::profile::{Limits, Profile, WriteAccess};

/// Everything the spawning side needs but handles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Container {
    /// The container's name for the system, at most 64 letters.
    pub(crate) moniker: String,
    /// What the container may besides files: nothing. Network would be a name here.
    pub(crate) capabilities: Vec<&'static str>,
    /// Rights given to the container's identity, inherited by all below.
    pub(crate) entries: Vec<Entry>,
    pub(crate) job: Job,
}

/// One right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) path: PathBuf,
    pub(crate) mask: u32,
}

/// Read and execute: generic rights spelt out, as the file system stores them.
pub(crate) const READ: u32 = 0x0012_00a9;
/// The same, with write and delete; not changing rights or owner.
pub(crate) const CHANGE: u32 = 0x0013_01bf;

/// Bounds of the job object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Job {
    /// `JOB_OBJECT_LIMIT_*`.
    pub(crate) flags: u32,
    /// `JOB_OBJECT_UILIMIT_*`.
    pub(crate) window: u32,
    pub(crate) process_memory_bytes: u64,
    pub(crate) total_memory_bytes: u64,
    pub(crate) processes: u32,
    /// User-mode time of one process, in units of 100 ns.
    pub(crate) process_time: i64,
}

const PROCESS_TIME: u32 = 0x2;
const ACTIVE_PROCESS: u32 = 0x8;
const PROCESS_MEMORY: u32 = 0x100;
const JOB_MEMORY: u32 = 0x200;
const DIE_ON_UNHANDLED_EXCEPTION: u32 = 0x400;
const KILL_ON_JOB_CLOSE: u32 = 0x2000;
/// Other programs' windows, the clipboard, settings, the desktop, logging off.
const EVERY_WINDOW_LIMIT: u32 = 0xff;

impl Job {
    /// Ends with its last handle, and with nothing else.
    pub(crate) const UNLIMITED: Self = Self {
        flags: KILL_ON_JOB_CLOSE,
        window: 0,
        process_memory_bytes: 0,
        total_memory_bytes: 0,
        processes: 0,
        process_time: 0,
    };

    /// No process can leave: nothing here allows breaking away.
    pub(crate) fn limited(limits: &Limits) -> Self {
        const UNITS_A_SECOND: u64 = 10_000_000;
        Self {
            flags: PROCESS_TIME
                | ACTIVE_PROCESS
                | PROCESS_MEMORY
                | JOB_MEMORY
                | DIE_ON_UNHANDLED_EXCEPTION
                | KILL_ON_JOB_CLOSE,
            window: EVERY_WINDOW_LIMIT,
            process_memory_bytes: limits.memory_bytes,
            total_memory_bytes: limits.total_memory_bytes,
            processes: u32::try_from(limits.processes).unwrap_or(u32::MAX),
            process_time: i64::try_from(limits.cpu_s.saturating_mul(UNITS_A_SECOND)).unwrap_or(i64::MAX),
        }
    }
}

/// The container of a profile whose paths have their links resolved.
pub(crate) fn contain(profile: &Profile) -> Container {
    let listed = match profile.write {
        WriteAccess::Folder => CHANGE,
        WriteAccess::None => READ,
    };
    let mut entries = vec![Entry { path: profile.workdir.clone(), mask: listed }];
    entries.extend(profile.read_write.iter().map(|path| Entry { path: path.clone(), mask: listed }));
    entries.extend(profile.read_only.iter().map(|path| Entry { path: path.clone(), mask: READ }));
    Container {
        moniker: moniker(&entries),
        capabilities: Vec::new(),
        entries,
        job: Job::limited(&profile.limits),
    }
}

/// A name for exactly these rights: rights stay on a folder after the call, so no other set may share its identity.
fn moniker(entries: &[Entry]) -> String {
    let mut digest = Sha256::new();
    for entry in entries {
        digest.update(entry.mask.to_be_bytes());
        for unit in wide(entry.path.as_os_str()) {
            digest.update(unit.to_be_bytes());
        }
        // No path holds a NUL.
        digest.update([0, 0]);
    }
    let half = &digest.finalize()[..16];
    let hex: String = half.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("Daybook.Cage.{hex}")
}

/// One command line from which programs read exactly these arguments, NUL at the end.
pub(crate) fn command_line(program: &Path, args: &[OsString]) -> Vec<u16> {
    let mut line = Vec::new();
    for (number, one) in
        std::iter::once(program.as_os_str()).chain(args.iter().map(AsRef::as_ref)).enumerate()
    {
        if number > 0 {
            line.push(u16::from(b' '));
        }
        quote(&wide(one), &mut line);
    }
    line.push(0);
    line
}

/// Backslashes count only before a quote: there, and before the closing one, each is doubled.
fn quote(argument: &[u16], line: &mut Vec<u16>) {
    const QUOTE: u16 = b'"' as u16;
    const BACKSLASH: u16 = b'\\' as u16;
    let special = |unit: &u16| matches!(u8::try_from(*unit), Ok(b' ' | b'\t' | b'\n' | 0x0b | b'"'));
    if !argument.is_empty() && !argument.iter().any(special) {
        line.extend(argument);
        return;
    }
    line.push(QUOTE);
    let mut backslashes = 0;
    for unit in argument {
        match *unit {
            BACKSLASH => backslashes += 1,
            QUOTE => {
                line.extend(std::iter::repeat_n(BACKSLASH, backslashes + 1));
                backslashes = 0;
            }
            _ => backslashes = 0,
        }
        line.push(*unit);
    }
    line.extend(std::iter::repeat_n(BACKSLASH, backslashes));
    line.push(QUOTE);
}

/// The block of variables: sorted, names compared without case, the last value counts, two NULs at the end.
pub(crate) fn environment(variables: &[(OsString, OsString)]) -> Vec<u16> {
    let mut sorted = std::collections::BTreeMap::new();
    for (name, value) in variables {
        sorted.insert(name.to_string_lossy().to_uppercase(), (name, value));
    }
    let mut block = Vec::new();
    for (name, value) in sorted.into_values() {
        block.extend(wide(name));
        block.push(u16::from(b'='));
        block.extend(wide(value));
        block.push(0);
    }
    if block.is_empty() {
        block.push(0);
    }
    block.push(0);
    block
}

/// A resolved path as programs like to start in it: without the prefix that switches path rules off.
pub(crate) fn plain(path: &Path) -> PathBuf {
    let Some(text) = path.to_str() else { return path.to_owned() };
    match text.strip_prefix(r"\\?\") {
        Some(rest) if rest.as_bytes().get(1) == Some(&b':') => rest.into(),
        Some(_) | None => path.to_owned(),
    }
}

#[cfg(windows)]
pub(crate) fn wide(text: &OsStr) -> Vec<u16> {
    std::os::windows::ffi::OsStrExt::encode_wide(text).collect()
}

#[cfg(not(windows))]
pub(crate) fn wide(text: &OsStr) -> Vec<u16> {
    text.to_string_lossy().encode_utf16().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(units: &[u16]) -> String {
        String::from_utf16(units).unwrap()
    }

    #[test]
    fn arguments_arrive_as_they_are() {
        let check = |args: &[&str], expect: &str| {
            let args: Vec<OsString> = args.iter().map(OsString::from).collect();
            assert_eq!(text(&command_line(Path::new(r"C:\sh.exe"), &args)), format!("{expect}\0"));
        };
        check(&[], r"C:\sh.exe");
        check(&["a", "b c", ""], r#"C:\sh.exe a "b c" """#);
        check(&[r#"say "hi""#], r#"C:\sh.exe "say \"hi\"""#);
        check(&[r"C:\a\b", r"C:\a b\"], r#"C:\sh.exe C:\a\b "C:\a b\\""#);
        check(&[r#"\"x"#, r#"a\\"b"#], r#"C:\sh.exe "\\\"x" "a\\\\\"b""#);
        check(&["a\nb", "中 文"], "C:\\sh.exe \"a\nb\" \"中 文\"");
    }

    #[test]
    fn the_environment_is_a_sorted_block() {
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let block = environment(&[pair("b", "2"), pair("PATH", "x"), pair("Path", "y"), pair("A", "1")]);
        assert_eq!(text(&block), "A=1\0b=2\0Path=y\0\0");
        assert_eq!(text(&environment(&[])), "\0\0");
    }

    #[test]
    fn paths_lose_only_a_prefix_they_can_do_without() {
        let check = |given: &str, expect: &str| assert_eq!(plain(Path::new(given)), Path::new(expect));
        check(r"\\?\C:\Users\me", r"C:\Users\me");
        check(r"\\?\UNC\server\share", r"\\?\UNC\server\share");
        check(r"C:\x", r"C:\x");
    }

    #[test]
    fn r_pol_08_a_container_has_its_folders_and_nothing_else() {
        let mut profile = Profile::for_folder(r"C:\Users\me\Project");
        profile.read_write = vec![r"D:\more".into()];
        profile.read_only = vec![r"D:\reference".into()];
        let made = contain(&profile);
        insta::assert_debug_snapshot!(made, @r#"
        Container {
            moniker: "Daybook.Cage.819cff12b922e4edd49c6cb9a8b8397d",
            capabilities: [],
            entries: [
                Entry {
                    path: "C:\\Users\\me\\Project",
                    mask: 1245631,
                },
                Entry {
                    path: "D:\\more",
                    mask: 1245631,
                },
                Entry {
                    path: "D:\\reference",
                    mask: 1179817,
                },
            ],
            job: Job {
                flags: 9994,
                window: 255,
                process_memory_bytes: 8589934592,
                total_memory_bytes: 12884901888,
                processes: 1024,
                process_time: 12000000000,
            },
        }
        "#);
        profile.write = WriteAccess::None;
        assert!(contain(&profile).entries.iter().all(|entry| entry.mask == READ));
    }

    #[test]
    fn a78_no_two_sets_of_rights_share_an_identity() {
        let base = Profile::for_folder(r"C:\a");
        let variants = [
            base.clone(),
            Profile::for_folder(r"C:\b"),
            Profile { write: WriteAccess::None, ..base.clone() },
            Profile { read_write: vec![r"C:\b".into()], ..base.clone() },
            Profile { read_only: vec![r"C:\b".into()], ..base.clone() },
            Profile { read_only: vec![r"C:\b".into(), r"C:\c".into()], ..base.clone() },
            Profile { read_only: vec![r"C:\bC:\c".into()], ..base },
        ];
        let mut names: Vec<_> = variants.iter().map(|profile| contain(profile).moniker).collect();
        assert!(names.iter().all(|name| name.len() <= 64));
        names.sort();
        names.dedup();
        assert_eq!(names.len(), variants.len());
    }

    #[test]
    fn a77_a_job_ends_as_a_whole_and_nobody_leaves_it() {
        const BREAKAWAY: u32 = 0x800 | 0x1000;
        for job in [Job::UNLIMITED, Job::limited(&Limits::default())] {
            assert_eq!(job.flags & BREAKAWAY, 0);
            assert_ne!(job.flags & KILL_ON_JOB_CLOSE, 0);
        }
        let most = Limits { cpu_s: u64::MAX, processes: u64::MAX, ..Limits::default() };
        assert_eq!(Job::limited(&most).processes, u32::MAX);
        assert_eq!(Job::limited(&most).process_time, i64::MAX);
    }
}
