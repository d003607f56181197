//! Who may come in through the WebSocket: the **gate** looks at what a request says of itself before a word is read.
//!
//! Invariants: another machine's name in `Host` (a rebound address), a page that wasn't let in, and a wrong or missing token
//! are refused; the token is never part of an address.

use axum::http::header::{AUTHORIZATION, HOST, ORIGIN, SEC_WEBSOCKET_PROTOCOL};
use axum::http::{HeaderMap, StatusCode};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The subprotocol that a page names, since a page can set no other header; the token stands beside it.
pub(super) const PROTOCOL: &str = "daybook";
/// What the token begins with there.
const IN_PROTOCOL: &str = "daybook.token.";

/// What is asked of whoever comes.
pub(super) struct Gate {
    port: u16,
    token: String,
    origins: Vec<String>,
}

/// One that is let in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Let {
    /// Is it a page?
    pub(super) page: bool,
    /// Did it name the subprotocol?
    pub(super) spoken: bool,
}

/// Why one stays outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    #[error("the request names another host")]
    Host,
    #[error("pages from there aren't let in")]
    Origin,
    #[error("the token is missing or wrong")]
    Token,
}

impl Refused {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
            Self::Token => StatusCode::UNAUTHORIZED,
        }
    }
}

impl Gate {
    pub(super) fn new(port: u16, token: String, origins: Vec<String>) -> Self {
        Self { port, token, origins }
    }

    pub(super) fn admit(&self, headers: &HeaderMap) -> Result<Let, Refused> {
        let host = single(headers, &HOST).ok_or(Refused::Host)?.ok_or(Refused::Host)?;
        if ![format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)]
            .contains(&host.to_owned())
        {
            return Err(Refused::Host);
        }
        let origin = single(headers, &ORIGIN).ok_or(Refused::Origin)?;
        if origin.is_some_and(|origin| !self.origins.iter().any(|known| known == origin)) {
            return Err(Refused::Origin);
        }
        let named: Vec<&str> = headers
            .get_all(SEC_WEBSOCKET_PROTOCOL)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(',').map(str::trim))
            .collect();
        let bearer = single(headers, &AUTHORIZATION).ok_or(Refused::Token)?;
        let given = match bearer {
            Some(bearer) => bearer.strip_prefix("Bearer "),
            None => named.iter().find_map(|one| one.strip_prefix(IN_PROTOCOL)),
        };
        if !given.is_some_and(|given| same(given, &self.token)) {
            return Err(Refused::Token);
        }
        Ok(Let { page: origin.is_some(), spoken: named.contains(&PROTOCOL) })
    }
}

/// The one value of a header, if any; `None` where there are several, or it isn't text.
fn single<'a>(headers: &'a HeaderMap, name: &axum::http::HeaderName) -> Option<Option<&'a str>> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (None, _) => Some(None),
        (Some(one), None) => one.to_str().ok().map(Some),
        (Some(_), Some(_)) => None,
    }
}

/// Compares without telling by its time where they differ.
fn same(one: &str, other: &str) -> bool {
    one.len() == other.len()
        && one.bytes().zip(other.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

/// 256 bits that nobody can guess, as hex.
pub(super) fn token() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string can't fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}

/// A file with the token that only its owner can read. Dropping it removes it: the token is worth nothing then.
#[derive(Debug)]
pub(super) struct TokenFile(PathBuf);

impl TokenFile {
    /// Writes a new one; one that is there is never taken over.
    pub(super) fn write(file: &Path, token: &str) -> std::io::Result<Self> {
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut open = options.open(file)?;
        let kept = Self(file.to_owned());
        std::io::Write::write_all(&mut open, token.as_bytes())?;
        Ok(kept)
    }
}

impl Drop for TokenFile {
    fn drop(&mut self) {
        // Whoever took it away was faster.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Is it an origin as a page sends it: scheme and host, perhaps a port, and nothing else?
pub(super) fn is_origin(text: &str) -> bool {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    rest.is_some_and(|rest| {
        !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b".-:[]".contains(&b))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "http://localhost:5173";

    #[track_caller]
    fn check(headers: &[(&str, &str)], expect: Result<Let, Refused>) {
        let gate = Gate::new(4711, "secret".to_owned(), vec![PAGE.to_owned()]);
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name: axum::http::HeaderName = name.parse().expect("a name");
            map.append(name, value.parse().expect("a value"));
        }
        assert_eq!(gate.admit(&map), expect, "{headers:?}");
    }

    #[test]
    fn a_loopback_server_lets_in_only_who_has_the_token_names_it_and_is_no_strange_page() {
        let (host, token) = (("host", "127.0.0.1:4711"), ("authorization", "Bearer secret"));
        let program = Ok(Let { page: false, spoken: false });
        check(&[host, token], program);
        check(&[("host", "localhost:4711"), token], Ok(Let { page: false, spoken: false }));
        check(&[host, token, ("origin", PAGE)], Ok(Let { page: true, spoken: false }));
        // A page can set no header but this one.
        let named = ("sec-websocket-protocol", "daybook, daybook.token.secret");
        check(&[host, ("origin", PAGE), named], Ok(Let { page: true, spoken: true }));
        for other in
            ["evil.example:4711", "127.0.0.1", "127.0.0.1:80", "localhost:4711.evil.example", "[::1]:4711"]
        {
            check(&[("host", other), token], Err(Refused::Host));
        }
        check(&[token], Err(Refused::Host));
        check(&[host, host, token], Err(Refused::Host));
        for other in ["null", "http://evil.example", "http://localhost:5174", "https://localhost:5173", ""] {
            check(&[host, token, ("origin", other)], Err(Refused::Origin));
        }
        check(&[host, token, ("origin", PAGE), ("origin", "http://evil.example")], Err(Refused::Origin));
        check(&[host], Err(Refused::Token));
        for other in ["secret", "Bearer secre", "Bearer secret ", "Bearer secrets", "Bearer ", "Basic secret"]
        {
            check(&[host, ("authorization", other)], Err(Refused::Token));
        }
        check(&[host, ("authorization", "Bearer wrong"), named], Err(Refused::Token));
        check(&[host, ("sec-websocket-protocol", "daybook.token.secrets, daybook")], Err(Refused::Token));
        check(&[host, token, token], Err(Refused::Token));
    }

    #[test]
    fn tokens_are_long_and_never_the_same() {
        let (one, other) = (token().expect("a token"), token().expect("a token"));
        assert!(one.len() == 64 && one != other);
    }

    #[test]
    fn origins_are_told_from_other_words() {
        for fits in ["http://localhost:5173", "https://example.org", "http://[::1]:80"] {
            assert!(is_origin(fits), "{fits}");
        }
        for other in ["*", "null", "", "localhost", "http://", "http://a/b", "file:///x", "http://a b"] {
            assert!(!is_origin(other), "{other}");
        }
    }
}
