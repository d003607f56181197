//! Names as text, without loss.
//!
//! Trees and effects hold names as text. A name that isn't Unicode is written with each odd byte as one character of
//! U+10FF80 to U+10FFFF (the end of the last private plane); the same characters in a real name are written byte by byte
//! in the same way. Invariant: two names are never the same text, and [`to_os`] gives back exactly what [`to_text`] took.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path};

/// Where the characters for single bytes begin, less the byte.
const BASE: u32 = 0x10_FF00;
/// Deepest path.
pub(crate) const MAX_DEPTH: usize = 256;
/// The folder itself, in effects.
pub(crate) const ROOT: &str = ".";

/// The name as text; `None` where a system has names that can't be written so (Windows, half of a surrogate pair).
pub(crate) fn to_text(name: &OsStr) -> Option<String> {
    match name.to_str() {
        Some(text) if !text.chars().any(is_byte) => Some(text.to_owned()),
        _ => odd_to_text(name),
    }
}

#[cfg(unix)]
fn odd_to_text(name: &OsStr) -> Option<String> {
    use std::os::unix::ffi::OsStrExt;
    let mut out = String::new();
    let as_bytes = |out: &mut String, bytes: &[u8]| {
        out.extend(bytes.iter().filter_map(|byte| char::from_u32(BASE + u32::from(*byte))));
    };
    for chunk in name.as_bytes().utf8_chunks() {
        for ch in chunk.valid().chars() {
            match is_byte(ch) {
                true => as_bytes(&mut out, ch.encode_utf8(&mut [0; 4]).as_bytes()),
                false => out.push(ch),
            }
        }
        as_bytes(&mut out, chunk.invalid());
    }
    Some(out)
}

#[cfg(not(unix))]
fn odd_to_text(name: &OsStr) -> Option<String> {
    name.to_str().map(str::to_owned)
}

/// The name of this text.
#[cfg(unix)]
pub(crate) fn to_os(text: &str) -> OsString {
    use std::os::unix::ffi::OsStringExt;
    let mut bytes = Vec::with_capacity(text.len());
    for ch in text.chars() {
        match u8::try_from(u32::from(ch).wrapping_sub(BASE)) {
            Ok(byte) if is_byte(ch) => bytes.push(byte),
            _ => bytes.extend_from_slice(ch.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    OsString::from_vec(bytes)
}

#[cfg(not(unix))]
pub(crate) fn to_os(text: &str) -> OsString {
    OsString::from(text)
}

/// Does this character stand for one byte? Only bytes from 0x80 on are ever odd.
fn is_byte(ch: char) -> bool {
    (BASE + 0x80..=BASE + 0xFF).contains(&u32::from(ch))
}

/// A path below the folder as its names; none of them leads anywhere but down. `None` is no such path.
pub(crate) fn parts(path: &str) -> Option<Vec<&str>> {
    if path == ROOT {
        return Some(Vec::new());
    }
    let parts: Vec<&str> = path.split('/').collect();
    let plain = |part: &&str| {
        let name = to_os(part);
        let mut found = Path::new(&name).components();
        let one = matches!(found.next(), Some(Component::Normal(only)) if only == name);
        one && found.next().is_none() && !part.contains('\0')
    };
    (parts.len() <= MAX_DEPTH && parts.iter().all(plain)).then_some(parts)
}

/// This path with one more name.
pub(crate) fn join(folder: &str, name: &str) -> String {
    if folder == ROOT { name.to_owned() } else { format!("{folder}/{name}") }
}

/// The folder a path lies in.
pub(crate) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or(ROOT, |(parent, _)| parent)
}

/// The last name of a path.
pub(crate) fn last(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// How deep a path lies; 0 is the folder itself.
pub(crate) fn depth(path: &str) -> usize {
    if path == ROOT { 0 } else { path.matches('/').count() + 1 }
}
