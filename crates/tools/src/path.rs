//! Paths as the model writes them: parts below the folder, or a refusal.
//!
//! A **path** is relative, `/` between parts, never out of the folder. This is the lexical half of the wall; the folder
//! handle ([`crate::place`]) is the other, so a path that passes here still can't leave through a link. Invariant: what
//! two systems would read differently (drives, streams, device names, backslashes, encoded dots) is refused, not guessed.

mod protected;
mod secret;
mod special;

pub use protected::is_protected;
pub(crate) use protected::protected_from_commands;
pub use secret::is_secret;
pub(crate) use special::{Special, find_secrets, find_special};

use crate::tool::failed;
use domain::call::ToolError;

/// Longest path that is read.
const MAX_BYTES: usize = 4_096;
/// Deepest path that is read.
const MAX_PARTS: usize = 128;

/// A path inside the folder: parts joined by `/`, or `.` for the folder itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(String);

/// Which system's names are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// Any byte but `/` and NUL.
    Unix,
    /// Windows: streams, devices, short names and trailing dots mean other things than they say.
    Windows,
}

impl Names {
    /// The system this was built for.
    pub const HERE: Self = if cfg!(windows) { Self::Windows } else { Self::Unix };
}

impl RelPath {
    /// Reads a path of the model.
    ///
    /// # Errors
    /// `path/outside` when it names something that isn't below the folder, `path/unusable` when it can't be a name.
    pub fn parse(text: &str) -> Result<Self, ToolError> {
        Self::parse_for(text, Names::HERE)
    }

    /// As [`RelPath::parse`], by the rules of a named system.
    ///
    /// # Errors
    /// As [`RelPath::parse`].
    pub fn parse_for(text: &str, names: Names) -> Result<Self, ToolError> {
        if text.len() > MAX_BYTES || text.contains('\0') {
            return Err(unusable(text, "it is too long or holds a NUL"));
        }
        if is_rooted(text) {
            return Err(outside(text, "it doesn't begin in the folder"));
        }
        if text.contains('\\') {
            return Err(outside(text, "it holds a backslash"));
        }
        if hides_steps(text) {
            return Err(outside(text, "it hides dots or slashes behind percent signs"));
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop().ok_or_else(|| outside(text, "it leads out of the folder"))?;
                }
                part => {
                    if names == Names::Windows {
                        check_windows(part).map_err(|why| unusable(text, why))?;
                    }
                    parts.push(part);
                }
            }
        }
        if parts.len() > MAX_PARTS {
            return Err(unusable(text, "it is too deep"));
        }
        Ok(if parts.is_empty() { Self::root() } else { Self(parts.join("/")) })
    }

    /// The folder itself.
    #[must_use]
    pub fn root() -> Self {
        Self(".".to_owned())
    }

    /// As written in facts and effects.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Is it the folder itself?
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0 == "."
    }

    /// The last part.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The folder it lies in.
    #[must_use]
    pub fn parent(&self) -> Self {
        match self.0.rsplit_once('/') {
            Some((parent, _)) => Self(parent.to_owned()),
            None => Self::root(),
        }
    }

    /// This path with one more part, which must be a plain name.
    #[must_use]
    pub(crate) fn join(&self, name: &str) -> Self {
        if self.is_root() { Self(name.to_owned()) } else { Self(format!("{}/{name}", self.0)) }
    }
}

impl AsRef<str> for RelPath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for RelPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is left of an absolute path behind a folder it lies in, as written; nothing for any other path. Where the system
/// knows drives, either slash and any case of a letter will do.
#[must_use]
pub fn rest_below<'t>(base: &str, text: &'t str) -> Option<&'t str> {
    let plain = |text: &str| match cfg!(windows) {
        true => text.replace('\\', "/").to_ascii_lowercase(),
        false => text.to_owned(),
    };
    // As the system itself writes a path whose links are resolved, and as anybody else does.
    let (base, whole) = (plain(base), plain(text));
    let base = base.strip_prefix("//?/").filter(|_| !whole.starts_with("//?/")).unwrap_or(&base);
    whole.strip_prefix(base.trim_end_matches('/')).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
    let slashes: &[char] = if cfg!(windows) { &['/', '\\'] } else { &['/'] };
    text.get(base.trim_end_matches('/').len()..).map(|rest| rest.trim_start_matches(slashes))
}

/// Is one of these paths the other, or inside it?
#[must_use]
pub fn overlap(one: &str, other: &str) -> bool {
    let (one, other) = (one.trim_end_matches('/'), other.trim_end_matches('/'));
    let inside =
        |inner: &str, outer: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'));
    one == "." || other == "." || one == other || inside(one, other) || inside(other, one)
}

/// Is this path the other, or inside it? Where the file system may not mind the case, neither does this.
#[must_use]
pub(crate) fn is_inside(path: &str, outer: &str) -> bool {
    let (path, outer) = (path.to_lowercase(), outer.to_lowercase());
    let outer = outer.trim_end_matches('/');
    outer == "." || path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Begins at a root of any system: `/`, a drive, a home, a network or device path.
fn is_rooted(text: &str) -> bool {
    let bytes = text.as_bytes();
    let drive = bytes.len() >= 2
        && bytes[0].is_ascii_alphabetic()
        && bytes[1] == b':'
        && bytes.get(2).is_none_or(|b| *b == b'/');
    let home = text.strip_prefix('~').is_some_and(|rest| {
        let user = rest.split('/').next().unwrap_or(rest);
        user.chars().all(|ch| ch.is_alphanumeric() || matches!(ch, '_' | '-' | '+'))
    });
    text.starts_with('/') || drive || home
}

/// Percent-encoded dots, slashes or NULs that would mean a step once decoded.
fn hides_steps(text: &str) -> bool {
    let mut current = text.to_owned();
    for _ in 0..3 {
        let decoded = percent_decoded(&current);
        if decoded == current {
            return false;
        }
        let slashes = |text: &str| text.bytes().filter(|b| matches!(b, b'/' | b'\\' | 0)).count();
        if slashes(&decoded) != slashes(&current) || decoded.split('/').any(|part| part == "..") {
            return true;
        }
        current = decoded;
    }
    true
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let hex = |at: usize| bytes.get(at).and_then(|b| char::from(*b).to_digit(16));
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], hex(at + 1), hex(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push(u8::try_from(high * 16 + low).unwrap_or(b'%'));
                at += 3;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn check_windows(part: &str) -> Result<(), &'static str> {
    let upper = part.to_ascii_uppercase();
    let stem = upper.split('.').next().unwrap_or(&upper).trim_end();
    let numbered = |device: &str| {
        stem.strip_prefix(device).is_some_and(|rest| {
            matches!(rest, "¹" | "²" | "³") || (rest.len() == 1 && rest.as_bytes()[0].is_ascii_digit())
        })
    };
    if part.contains([':', '<', '>', '"', '|', '?', '*']) || part.chars().any(|ch| ch < ' ') {
        return Err("it holds a character that isn't a name's");
    }
    if part.ends_with(['.', ' ']) {
        return Err("it ends in a dot or a space");
    }
    if matches!(stem, "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$")
        || numbered("COM")
        || numbered("LPT")
    {
        return Err("it names a device");
    }
    if stem
        .split_once('~')
        .is_some_and(|(_, tail)| !tail.is_empty() && tail.bytes().all(|b| b.is_ascii_digit()))
    {
        return Err("it looks like a short name for another file");
    }
    Ok(())
}

fn outside(text: &str, why: &str) -> ToolError {
    failed(
        "path/outside",
        format!("can't use the path {}: {why}", shown(text)),
        "Use a path relative to the folder, e.g. \"notes/plan.md\". Only the person can add another folder.",
    )
}

fn unusable(text: &str, why: &str) -> ToolError {
    failed("path/unusable", format!("can't use the path {}: {why}", shown(text)), "")
}

/// A name in an error: quoted, invisible characters made visible, bounded.
pub fn shown(text: &str) -> String {
    let cut: String = text.chars().take(200).collect();
    format!("\"{}\"", crate::visible::visible(&cut).text)
}
