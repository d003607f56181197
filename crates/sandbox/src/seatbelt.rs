//! The text of a macOS profile: what `sandbox-exec` enforces.
//!
//! Everything is denied that isn't named; of two rules that fit the later one counts, so what takes away stands last.
//! Paths never stand in the text: they are parameters, so no name can be read as a rule. Invariant: a pure function of
//! its input, tested as text on every system.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::profile::WriteAccess;

/// What the profile is made from. Every path is absolute with its links resolved (`/private/tmp`, not `/tmp`): the
/// system compares real paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ingredients {
    pub(crate) workdir: PathBuf,
    pub(crate) read_write: Vec<PathBuf>,
    pub(crate) read_only: Vec<PathBuf>,
    pub(crate) hide: Vec<PathBuf>,
    pub(crate) write: WriteAccess,
    /// The private home and temporary folder.
    pub(crate) private: Vec<PathBuf>,
    /// The one port of this machine that may be connected to.
    pub(crate) proxy_port: Option<u16>,
}

/// A profile and the values of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rendered {
    pub(crate) text: String,
    /// Name and path, for `-D NAME=PATH`.
    pub(crate) parameters: Vec<(String, PathBuf)>,
}

/// What programs need to run, and nothing that is a person's.
const HEAD: &str = r#"(version 1)
(deny default)

; Processes: its own, and no other's.
(allow process-exec)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)

; The system's programs and what they need.
(allow file-read* file-map-executable
    (subpath "/System")
    (subpath "/usr")
    (subpath "/bin")
    (subpath "/sbin")
    (subpath "/opt/homebrew")
    (subpath "/Library/Apple")
    (subpath "/Library/Developer/CommandLineTools")
    (subpath "/private/var/db/dyld"))
(allow file-read*
    (literal "/")
    (subpath "/private/etc/ssl")
    (literal "/private/etc/localtime")
    (literal "/private/etc/passwd")
    (literal "/private/etc/group")
    (literal "/private/etc/protocols")
    (literal "/private/etc/services")
    (literal "/private/etc/shells")
    (literal "/private/etc/zshenv")
    (subpath "/private/var/db/timezone")
    (subpath "/private/var/select")
    (literal "/dev/null")
    (literal "/dev/zero")
    (literal "/dev/random")
    (literal "/dev/urandom")
    (subpath "/dev/fd"))
(allow file-read-metadata
    (literal "/dev")
    (literal "/etc")
    (literal "/tmp")
    (literal "/var")
    (literal "/private")
    (literal "/private/etc")
    (literal "/private/var"))
(allow file-write-data
    (literal "/dev/null")
    (literal "/dev/zero"))
(allow file-ioctl file-read* file-write-data (literal "/dev/dtracehelper"))

; Services: names of users, and word of changed settings. No clipboard, no keychain, no windows.
(allow mach-lookup
    (global-name "com.apple.system.opendirectoryd.libinfo")
    (global-name "com.apple.system.notification_center"))
"#;

/// Taken away last, whatever stands above.
const TAIL: &str = r#"
; Never: other programs' windows, files that give rights.
(deny appleevent-send)
(deny file-write-setugid)
"#;

/// Renders the profile.
pub(crate) fn render(from: &Ingredients) -> Rendered {
    let mut made = Rendered { text: HEAD.to_owned(), parameters: Vec::new() };
    let allowed = [std::slice::from_ref(&from.workdir), &from.read_write, &from.read_only, &from.private];
    made.section("The way to what is listed: that its folders exist.");
    for path in ancestors(allowed.into_iter().flatten()) {
        made.rule("allow file-read-metadata", "literal", "WAY", path);
    }
    let change = "allow file-read* file-write* file-map-executable";
    let read = "allow file-read* file-map-executable";
    let listed = match from.write {
        WriteAccess::Folder => change,
        WriteAccess::None => read,
    };
    made.section("What is listed.");
    made.rule(listed, "subpath", "FOLDER", &from.workdir);
    from.read_write.iter().for_each(|path| made.rule(listed, "subpath", "WRITE", path));
    from.read_only.iter().for_each(|path| made.rule(read, "subpath", "READ", path));
    from.private.iter().for_each(|path| made.rule(change, "subpath", "PRIVATE", path));
    if let Some(port) = from.proxy_port {
        made.section("The only way to the network.");
        // A number can't be read as anything else.
        let _ = writeln!(made.text, "(allow network-outbound (remote ip \"localhost:{port}\"))");
    }
    if !(from.read_only.is_empty() && from.hide.is_empty()) {
        made.section("Parts that stay as they are, parts that don't exist, and the folders they lie in.");
    }
    from.read_only.iter().for_each(|path| made.rule("deny file-write*", "subpath", "KEPT", path));
    from.hide.iter().for_each(|path| made.rule("deny file-read* file-write*", "subpath", "HIDDEN", path));
    for path in pins(from) {
        // Moved away, what lies in them would get another name.
        made.rule("deny file-write-unlink", "literal", "PINNED", path);
    }
    made.text.push_str(TAIL);
    made
}

impl Rendered {
    fn section(&mut self, words: &str) {
        let _ = write!(self.text, "\n; {words}\n");
    }

    fn rule(&mut self, what: &str, kind: &str, name: &str, path: &Path) {
        let number = self.parameters.iter().filter(|(one, _)| one.starts_with(name)).count();
        let name = format!("{name}_{number}");
        let _ = writeln!(self.text, "({what} ({kind} (param \"{name}\")))");
        self.parameters.push((name, path.to_owned()));
    }

    /// The arguments before the program's.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec!["-p".into(), self.text.clone().into()];
        for (name, path) in &self.parameters {
            let mut value = OsString::from(format!("{name}="));
            value.push(path);
            arguments.extend(["-D".into(), value]);
        }
        arguments
    }
}

/// Every folder above the paths but the root, each once, outermost first.
fn ancestors<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Vec<&'a Path> {
    let above = |path: &'a PathBuf| path.ancestors().skip(1).filter(|path| path.parent().is_some());
    let mut found: Vec<&Path> = paths.flat_map(above).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Folders between a writable one and something taken away in it.
fn pins(from: &Ingredients) -> Vec<&Path> {
    let writable: Vec<&PathBuf> = std::iter::once(&from.workdir).chain(&from.read_write).collect();
    let mut found: Vec<&Path> = Vec::new();
    for path in from.read_only.iter().chain(&from.hide) {
        let inside = writable.iter().any(|folder| path.starts_with(folder));
        let up_to_it = |above: &&Path| writable.iter().any(|folder| above.starts_with(folder));
        if inside {
            found.extend(path.ancestors().skip(1).take_while(up_to_it));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual() -> Ingredients {
        Ingredients {
            workdir: "/Users/me/Project (1) \"x\"".into(),
            read_write: Vec::new(),
            read_only: Vec::new(),
            hide: Vec::new(),
            write: WriteAccess::Folder,
            private: vec!["/private/var/folders/ab/home".into(), "/private/var/folders/ab/tmp".into()],
            proxy_port: None,
        }
    }

    /// Without the parts that are always the same.
    fn between(from: &Ingredients) -> String {
        let rendered = render(from);
        let text = rendered.text.strip_prefix(HEAD).unwrap().strip_suffix(TAIL).unwrap();
        let parameters =
            rendered.parameters.iter().map(|(name, path)| format!("{name}={}\n", path.display()));
        format!("{text}\n{}", parameters.collect::<String>())
    }

    #[test]
    fn r_pol_08_the_usual_profile() {
        insta::assert_snapshot!(between(&usual()), @r#"

        ; The way to what is listed: that its folders exist.
        (allow file-read-metadata (literal (param "WAY_0")))
        (allow file-read-metadata (literal (param "WAY_1")))
        (allow file-read-metadata (literal (param "WAY_2")))
        (allow file-read-metadata (literal (param "WAY_3")))
        (allow file-read-metadata (literal (param "WAY_4")))
        (allow file-read-metadata (literal (param "WAY_5")))

        ; What is listed.
        (allow file-read* file-write* file-map-executable (subpath (param "FOLDER_0")))
        (allow file-read* file-write* file-map-executable (subpath (param "PRIVATE_0")))
        (allow file-read* file-write* file-map-executable (subpath (param "PRIVATE_1")))

        WAY_0=/Users
        WAY_1=/Users/me
        WAY_2=/private
        WAY_3=/private/var
        WAY_4=/private/var/folders
        WAY_5=/private/var/folders/ab
        FOLDER_0=/Users/me/Project (1) "x"
        PRIVATE_0=/private/var/folders/ab/home
        PRIVATE_1=/private/var/folders/ab/tmp
        "#);
    }

    #[test]
    fn r_pol_08_a_profile_with_everything() {
        let from = Ingredients {
            read_write: vec!["/Users/me/more".into()],
            read_only: vec!["/Users/me/more/.git/hooks".into(), "/Users/me/reference".into()],
            hide: vec!["/Users/me/more/share/daybook".into()],
            proxy_port: Some(50_123),
            ..usual()
        };
        insta::assert_snapshot!(between(&from), @r#"

        ; The way to what is listed: that its folders exist.
        (allow file-read-metadata (literal (param "WAY_0")))
        (allow file-read-metadata (literal (param "WAY_1")))
        (allow file-read-metadata (literal (param "WAY_2")))
        (allow file-read-metadata (literal (param "WAY_3")))
        (allow file-read-metadata (literal (param "WAY_4")))
        (allow file-read-metadata (literal (param "WAY_5")))
        (allow file-read-metadata (literal (param "WAY_6")))
        (allow file-read-metadata (literal (param "WAY_7")))

        ; What is listed.
        (allow file-read* file-write* file-map-executable (subpath (param "FOLDER_0")))
        (allow file-read* file-write* file-map-executable (subpath (param "WRITE_0")))
        (allow file-read* file-map-executable (subpath (param "READ_0")))
        (allow file-read* file-map-executable (subpath (param "READ_1")))
        (allow file-read* file-write* file-map-executable (subpath (param "PRIVATE_0")))
        (allow file-read* file-write* file-map-executable (subpath (param "PRIVATE_1")))

        ; The only way to the network.
        (allow network-outbound (remote ip "localhost:50123"))

        ; Parts that stay as they are, parts that don't exist, and the folders they lie in.
        (deny file-write* (subpath (param "KEPT_0")))
        (deny file-write* (subpath (param "KEPT_1")))
        (deny file-read* file-write* (subpath (param "HIDDEN_0")))
        (deny file-write-unlink (literal (param "PINNED_0")))
        (deny file-write-unlink (literal (param "PINNED_1")))
        (deny file-write-unlink (literal (param "PINNED_2")))

        WAY_0=/Users
        WAY_1=/Users/me
        WAY_2=/Users/me/more
        WAY_3=/Users/me/more/.git
        WAY_4=/private
        WAY_5=/private/var
        WAY_6=/private/var/folders
        WAY_7=/private/var/folders/ab
        FOLDER_0=/Users/me/Project (1) "x"
        WRITE_0=/Users/me/more
        READ_0=/Users/me/more/.git/hooks
        READ_1=/Users/me/reference
        PRIVATE_0=/private/var/folders/ab/home
        PRIVATE_1=/private/var/folders/ab/tmp
        KEPT_0=/Users/me/more/.git/hooks
        KEPT_1=/Users/me/reference
        HIDDEN_0=/Users/me/more/share/daybook
        PINNED_0=/Users/me/more
        PINNED_1=/Users/me/more/.git
        PINNED_2=/Users/me/more/share
        "#);
    }

    #[test]
    fn a10_a_read_only_profile_writes_in_its_private_folders_only() {
        let from =
            Ingredients { write: WriteAccess::None, read_write: vec!["/Users/me/more".into()], ..usual() };
        let text = render(&from).text;
        let writes: Vec<_> =
            text.lines().filter(|line| line.contains("allow") && line.contains("file-write*")).collect();
        assert_eq!(writes.len(), 2);
        assert!(writes.iter().all(|line| line.contains("PRIVATE_")), "{writes:?}");
    }

    #[test]
    fn a73_a74_nothing_is_allowed_by_default_and_what_takes_away_stands_last() {
        let from = Ingredients { hide: vec!["/Users/me/Project (1) \"x\"/data".into()], ..usual() };
        let text = render(&from).text;
        assert!(text.starts_with("(version 1)\n(deny default)\n"));
        let last_allow = text.rfind("(allow").unwrap();
        let first_deny = text
            .rfind("(deny default)")
            .map(|at| at + 1)
            .and_then(|at| text[at..].find("(deny").map(|to| at + to));
        assert!(first_deny.unwrap() > last_allow, "{text}");
        for never in [
            "network*",
            "mach-lookup)",
            "(allow default",
            "iokit",
            "mach-register",
            "appleevent-send)\n(allow",
        ] {
            assert!(!text.contains(never), "{never}");
        }
        assert!(!text.contains("network-outbound"), "no network unless there is a proxy");
    }

    #[test]
    fn no_path_stands_in_the_text() {
        let from = Ingredients { workdir: "/x\")) (allow default) ; \"".into(), ..usual() };
        let rendered = render(&from);
        assert!(!rendered.text.contains("allow default"), "{}", rendered.text);
        let arguments = rendered.arguments();
        assert_eq!(arguments[0], "-p");
        assert!(arguments.iter().any(|one| one == "FOLDER_0=/x\")) (allow default) ; \""));
        // Every parameter that is used has a value.
        for (name, _) in &rendered.parameters {
            assert_eq!(rendered.text.matches(&format!("\"{name}\"")).count(), 1, "{name}");
        }
        assert_eq!(rendered.text.matches("(param ").count(), rendered.parameters.len());
    }
}
