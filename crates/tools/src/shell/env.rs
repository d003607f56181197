//! A command's environment: an allow list of ours plus settings that keep programs from asking or paging.
//!
//! Invariant: a variable that isn't on the list doesn't exist for the command, so keys in our environment can't be read,
//! and no search path entry is relative or lies in the project folder.

use std::path::Path;

/// Variables handed on as they are.
const HANDED_ON: [&str; 5] = ["LANG", "LANGUAGE", "TZ", "USER", "LOGNAME"];
/// Variables without which nothing runs on Windows.
const WINDOWS: [&str; 6] = ["SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERNAME"];

/// Variables set for every command.
const SET: [(&str, &str); 17] = [
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("LESS", "FRX"),
    ("EDITOR", "true"),
    ("VISUAL", "true"),
    ("GIT_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // Looking at a repository changes nothing in it.
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_ASKPASS", "true"),
    ("SSH_ASKPASS", "true"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("CI", "1"),
    ("DAYBOOK", "1"),
];

/// Where programs are looked for when nothing usable is set.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The environment of a command in `folder`, made from ours.
pub(crate) fn scrubbed(ours: impl Iterator<Item = (String, String)>, folder: &Path) -> Vec<(String, String)> {
    let mut env: Vec<(String, String)> =
        SET.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let mut path = String::new();
    for (name, value) in ours {
        // There names have no case; here they do.
        let name = if cfg!(windows) { name.to_ascii_uppercase() } else { name };
        match name.as_str() {
            "PATH" => path = search_path(&value, folder),
            // In another encoding the shell would take bytes of one character for part of the next sign.
            "LANG" | "LC_ALL" | "LC_CTYPE" if !is_unicode(&value) => {}
            name if HANDED_ON.contains(&name) || name.starts_with("LC_") => {
                env.push((name.to_owned(), value))
            }
            name if cfg!(windows) && WINDOWS.contains(&name) => env.push((name.to_owned(), value)),
            _ => {}
        }
    }
    let has_locale =
        env.iter().any(|(name, value)| (name == "LANG" || name == "LC_ALL") && !value.is_empty());
    if !has_locale {
        env.push(("LANG".to_owned(), "C.UTF-8".to_owned()));
    }
    env.push(("PATH".to_owned(), if path.is_empty() { PATH.to_owned() } else { path }));
    env.sort();
    env
}

fn is_unicode(locale: &str) -> bool {
    let encoding = locale
        .split('@')
        .next()
        .and_then(|locale| locale.split_once('.'))
        .map_or("", |(_, encoding)| encoding);
    encoding.eq_ignore_ascii_case("utf-8") || encoding.eq_ignore_ascii_case("utf8")
}

/// Absolute entries outside the folder; a program of the project must be called by its path.
fn search_path(value: &str, folder: &Path) -> String {
    let outside = |entry: &&std::path::PathBuf| entry.is_absolute() && !entry.starts_with(folder);
    let entries: Vec<_> = std::env::split_paths(value).collect();
    std::env::join_paths(entries.iter().filter(outside))
        .ok()
        .and_then(|joined| joined.into_string().ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(ours: &[(&str, &str)]) -> Vec<(String, String)> {
        let ours = ours.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        scrubbed(ours, Path::new("/home/me/project"))
    }

    #[track_caller]
    fn check(ours: &[(&str, &str)], name: &str, expect: Option<&str>) {
        let env = made(ours);
        assert_eq!(env.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str()), expect);
    }

    #[test]
    fn s17_keys_of_ours_do_not_exist_for_a_command() {
        check(&[("SOME_API_KEY", "CANARY2")], "SOME_API_KEY", None);
        check(&[("DAYBOOK_KEY_ANTHROPIC", "CANARY2")], "DAYBOOK_KEY_ANTHROPIC", None);
        assert!(made(&[("SOME_API_KEY", "CANARY2")]).iter().all(|(_, value)| !value.contains("CANARY2")));
    }

    #[test]
    fn a10_nothing_that_changes_what_programs_do_is_handed_on() {
        for name in [
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "BASH_ENV",
            "ENV",
            "GIT_SSH_COMMAND",
            "NODE_OPTIONS",
            "PYTHONPATH",
            "IFS",
            "PS4",
            "PROMPT_COMMAND",
        ] {
            check(&[(name, "evil")], name, None);
        }
        check(&[("PAGER", "sh -c id")], "PAGER", Some("cat"));
        check(&[("PATH", ".:bin:/usr/bin:/home/me/project/bin::/bin")], "PATH", Some("/usr/bin:/bin"));
        check(&[("PATH", ".")], "PATH", Some(PATH));
    }

    #[test]
    fn language_is_kept_and_output_is_unicode() {
        check(&[("LANG", "zh_CN.UTF-8")], "LANG", Some("zh_CN.UTF-8"));
        check(&[("LC_ALL", "de_DE.UTF-8")], "LC_ALL", Some("de_DE.UTF-8"));
        check(&[], "LANG", Some("C.UTF-8"));
        check(&[("LANG", "zh_CN.GB18030"), ("LC_CTYPE", "zh_CN.GBK")], "LANG", Some("C.UTF-8"));
        check(&[("LANG", "zh_CN.GB18030"), ("LC_CTYPE", "zh_CN.GBK")], "LC_CTYPE", None);
        check(&[("LC_ALL", "C")], "LC_ALL", None);
        check(&[], "TERM", Some("dumb"));
    }
}
