//! What the cage refused and a program reports without the reason, in words for the model.
//!
//! A **refusal** is only guessed at here: the cage keeps no list of what it refused. Invariant: nothing is said unless a
//! program printed that something wasn't permitted, and there is a ground for taking it for what is said.

use crate::path::{RelPath, shown};
use crate::place::Place;
use crate::walk::open_below;
use cap_std::fs::Dir;
use std::collections::VecDeque;

/// How systems word it: untranslated, Chinese, and by its code.
const NOT_PERMITTED: [&str; 3] = ["Operation not permitted", "不允许的操作", "EPERM"];
/// Most entries that are looked at for a folder that hands its group on.
const LOOKED_AT: usize = 20_000;

/// The line about a bit that lets a file run as its owner or group, where one was probably refused.
pub(crate) fn bits_refused(printed: &str, command: &str, place: &Place) -> Option<String> {
    if !NOT_PERMITTED.iter().any(|words| printed.contains(words)) {
        return None;
    }
    let ground = match group_folder(place) {
        Some(folder) => {
            let folder = if folder.is_root() { "this folder".to_owned() } else { shown(folder.as_str()) };
            format!(
                "{folder} hands its group on (set-group-id), so cp, install, tar or chmod that pass this bit along fail there"
            )
        }
        None if names_bits(command) => "this command names such a bit".to_owned(),
        None => return None,
    };
    Some(format!(
        "\"not permitted\" can come from the cage: in it nothing gets a set-user-id or set-group-id bit; {ground}. Leave the bit out \
         (mkdir and redirections work, and new folders get their group by themselves), or tell the person what to set"
    ))
}

/// Does a word of it look like a mode with such a bit: `g+s`, `u=rws`, `2755`?
fn names_bits(command: &str) -> bool {
    let is_mode = |word: &str| {
        let octal = word.trim_start_matches('0');
        let sets = octal.len() == 4
            && octal.starts_with(['2', '3', '4', '5', '6', '7'])
            && octal.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
        let (who, what) = word.split_once(['+', '=']).unwrap_or_default();
        let letters = who.bytes().all(|byte| b"ugoa,".contains(&byte));
        sets || (letters && what.contains('s') && what.bytes().all(|byte| b"rwxXst,ugoa+=-".contains(&byte)))
    };
    command.split(|ch: char| ch.is_whitespace() || "'\"();&|".contains(ch)).any(is_mode)
}

/// A folder whose files inherit its group, the nearest to the top.
fn group_folder(place: &Place) -> Option<RelPath> {
    let mut left = LOOKED_AT;
    let mut queue = VecDeque::from([RelPath::root()]);
    while let Some(path) = queue.pop_front() {
        // Opened when it is its turn: as many handles as folders would be too many.
        let Ok(dir) = open_below(place, &path) else { continue };
        if hands_on(&dir) {
            return Some(path);
        }
        for entry in dir.entries().into_iter().flatten().flatten() {
            if left == 0 {
                return None;
            }
            left -= 1;
            let name = entry.file_name();
            let (Some(name), true) = (name.to_str(), entry.file_type().is_ok_and(|kind| kind.is_dir()))
            else {
                continue;
            };
            queue.push_back(path.join(name));
        }
    }
    None
}

#[cfg(unix)]
fn hands_on(dir: &Dir) -> bool {
    const SET_GROUP_ID: u32 = 0o2000;
    dir.dir_metadata().is_ok_and(|meta| cap_std::fs::MetadataExt::mode(&meta) & SET_GROUP_ID != 0)
}

#[cfg(not(unix))]
fn hands_on(_: &Dir) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_with_such_a_bit_are_known_by_their_words() {
        for command in [
            "chmod g+s d",
            "chmod 2755 d",
            "install -d -m 02775 d",
            "chmod u=rws,g=rx f",
            "sh -c 'chmod +s f'",
        ] {
            assert!(names_bits(command), "{command}");
        }
        for command in [
            "chmod 0755 d",
            "chmod u+x f",
            "ls",
            "chmod 1777 d",
            "curl a=sister",
            "make CFLAGS=-s",
            "sleep 2",
        ] {
            assert!(!names_bits(command), "{command}");
        }
    }
}
