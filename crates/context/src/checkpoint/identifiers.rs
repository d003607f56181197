//! Exact identifiers in a text: what must be kept letter by letter, since no summary can be trusted with it.
//!
//! Addresses, UUIDs, hashes, IPs and ports, numbers of issues, ids, long numbers, files. Invariant: each is a piece of the
//! text as it stands there, and the same text always gives the same ones.

use std::net::{IpAddr, SocketAddr};

/// Longest piece that counts as an identifier, in bytes.
const LONGEST: usize = 200;

/// What an identifier is; the rarer and the harder to find again, the earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// `https://…`
    Address,
    /// Eight, four, four, four and twelve hexadecimal digits.
    Uuid,
    /// Hexadecimal, with digits and letters.
    Hash,
    /// An IP, a host with a port.
    Host,
    /// `#123`, `ABC-123`, `inv_2026_0042`, nine digits and more.
    Id,
    /// A path or a file's name.
    File,
}

/// The identifiers of a text, as they come.
pub(super) fn identifiers(text: &str) -> impl Iterator<Item = (Kind, &str)> {
    text.split(|c: char| {
        c.is_whitespace() || c.is_control() || "\"'`<>()[]{},;|\\“”‘’，。；：（）《》".contains(c)
    })
    .flat_map(|piece| piece.split(move |c| c == '=' && !piece.contains("://")))
    .map(|piece| piece.trim_matches(['.', ':', '!', '?', '*', '…']))
    .filter(|piece| (3..=LONGEST).contains(&piece.len()))
    .filter_map(|piece| Some((kind(piece)?, piece)))
}

fn kind(piece: &str) -> Option<Kind> {
    let digits = piece.bytes().filter(u8::is_ascii_digit).count();
    let letters = piece.bytes().filter(u8::is_ascii_alphabetic).count();
    if piece.split_once("://").is_some_and(|(scheme, rest)| !scheme.is_empty() && rest.len() > 2) {
        return Some(Kind::Address);
    }
    if is_uuid(piece) {
        return Some(Kind::Uuid);
    }
    let hex = piece.strip_prefix("sha256:").unwrap_or(piece);
    if hex.len() >= 7 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()) && digits > 0 && letters > 0 {
        return Some(Kind::Hash);
    }
    if is_host(piece) {
        return Some(Kind::Host);
    }
    if is_id(piece, digits, letters) {
        return Some(Kind::Id);
    }
    (is_file(piece) && letters > 0).then_some(Kind::File)
}

fn is_uuid(piece: &str) -> bool {
    let parts: Vec<&str> = piece.split('-').collect();
    let lengths = [8, 4, 4, 4, 12];
    parts.len() == lengths.len()
        && parts
            .iter()
            .zip(lengths)
            .all(|(part, length)| part.len() == length && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn is_host(piece: &str) -> bool {
    let of_net = piece.contains(['.', ':']) && !piece.starts_with("::");
    if of_net && (piece.parse::<IpAddr>().is_ok() || piece.parse::<SocketAddr>().is_ok()) {
        return true;
    }
    piece.split_once(':').is_some_and(|(host, port)| {
        let port_fits = (2..=5).contains(&port.len()) && port.parse::<u16>().is_ok();
        let host_fits = !host.is_empty()
            && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'-');
        port_fits && host_fits && host.bytes().any(|byte| byte.is_ascii_alphabetic())
    })
}

fn is_id(piece: &str, digits: usize, letters: usize) -> bool {
    if let Some(number) = piece.strip_prefix('#') {
        return !number.is_empty() && digits == number.len();
    }
    if digits >= 9 && digits == piece.len() {
        return true;
    }
    let joined = piece.contains(['-', '_']);
    let plain = piece.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    plain && joined && digits >= 2 && letters >= 1 && piece.len() >= 5
}

fn is_file(piece: &str) -> bool {
    let named = |name: &str| {
        name.rsplit_once('.').is_some_and(|(stem, ending)| {
            let ending_fits = (1..=8).contains(&ending.len())
                && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && ending.bytes().any(|byte| byte.is_ascii_alphabetic());
            ending_fits && stem.chars().count() >= 2 && !stem.ends_with('.')
        })
    };
    let parts = piece.split('/').filter(|part| !part.is_empty()).count();
    let looks = |c: char| c.is_alphanumeric() || "/._-+@~#%".contains(c);
    piece.chars().all(looks) && (parts >= 2 || named(piece.rsplit('/').next().unwrap_or(piece)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[(Kind, &str)]) {
        assert_eq!(identifiers(text).collect::<Vec<_>>(), expect, "{text}");
    }

    #[test]
    fn r_cmp_05_identifiers_are_found_as_they_stand() {
        use Kind::{Address, File, Hash, Host, Id, Uuid};
        check("See https://example.org/a?b=c#d.", &[(Address, "https://example.org/a?b=c#d")]);
        check("id 6f9619ff-8b86-d011-b42d-00c04fc964ff!", &[(Uuid, "6f9619ff-8b86-d011-b42d-00c04fc964ff")]);
        check("at commit 455c25b, not decade", &[(Hash, "455c25b")]);
        check(
            "10.0.0.7 or 10.0.0.7:8080 or localhost:3000",
            &[(Host, "10.0.0.7"), (Host, "10.0.0.7:8080"), (Host, "localhost:3000")],
        );
        check(
            "PR #4711, DAY-42, inv_2026_0042, 20261130001",
            &[(Id, "#4711"), (Id, "DAY-42"), (Id, "inv_2026_0042"), (Id, "20261130001")],
        );
        check("见 src/main.rs，以及“账单.pdf”。", &[(File, "src/main.rs"), (File, "账单.pdf")]);
        check("FILE=src/a.rs", &[(File, "src/a.rs")]);
        check("It took 1.5 hours, i.e. too long; well-known words.", &[]);
    }
}
