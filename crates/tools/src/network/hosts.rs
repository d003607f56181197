//! Names of hosts, as they are granted and compared.
//!
//! A **host name** is lower case and ASCII, has at least two parts, and can't be read as an address by anybody. A
//! **site** adds a port. Invariant: two spellings of one host are equal, and what only this machine or its own network
//! could mean isn't a host name.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// Longest name there can be.
const MAX_BYTES: usize = 253;
/// Longest part of one.
const MAX_PART_BYTES: usize = 63;
/// Port of a site that names none.
const USUAL_PORT: u16 = 443;
/// Last parts that never lead to the public internet.
const OWN_NETWORK: [&str; 9] =
    ["localhost", "local", "internal", "intranet", "lan", "home", "corp", "onion", "test"];

/// A host's name in its one comparable spelling.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostName(String);

/// A host's name with a port, e.g. `example.com:443`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The host.
    pub host: HostName,
    /// The port, never 0.
    pub port: u16,
}

/// The sites a person granted: exactly these, no parents and no children of their names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hosts(BTreeSet<Site>);

/// Why a text doesn't name a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotASite {
    /// An address, in whatever spelling.
    #[error("it is an address; only hosts with names can be reached")]
    Address,
    /// A name of this machine or its own network.
    #[error("it belongs to this machine or its own network")]
    OwnNetwork,
    /// Letters that aren't ASCII: the same host has an `xn--` name.
    #[error("it holds letters a host's name can't have; use its xn-- form")]
    Letters,
    /// No name at all.
    #[error("it isn't a host's name")]
    Name,
    /// Not a port.
    #[error("its port isn't a number from 1 to 65535")]
    Port,
}

impl HostName {
    /// Reads a name; upper case and one last dot are taken off.
    ///
    /// # Errors
    /// When it is an address or can't be a public host's name.
    pub fn parse(text: &str) -> Result<Self, NotASite> {
        if !text.is_ascii() {
            return Err(NotASite::Letters);
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        if name.is_empty() || name.len() > MAX_BYTES {
            return Err(NotASite::Name);
        }
        if name.contains([':', '[', ']']) || name.split('.').all(is_number) {
            return Err(NotASite::Address);
        }
        let parts: Vec<&str> = name.split('.').collect();
        if !parts.iter().all(|part| is_part(part)) {
            return Err(NotASite::Name);
        }
        let last = parts.last().copied().unwrap_or_default();
        // Systems read a name whose last part is a number as an address.
        if is_number(last) {
            return Err(NotASite::Address);
        }
        if parts.len() < 2 || OWN_NETWORK.contains(&last) || name.ends_with(".home.arpa") {
            return Err(NotASite::OwnNetwork);
        }
        Ok(Self(name))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_part(part: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    !part.is_empty()
        && part.len() <= MAX_PART_BYTES
        && part.bytes().all(fits)
        && !part.starts_with('-')
        && !part.ends_with('-')
}

/// A number as address readers take it: decimal, octal or hexadecimal.
fn is_number(part: &str) -> bool {
    match part.strip_prefix("0x") {
        Some(rest) => rest.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

impl FromStr for Site {
    type Err = NotASite;

    /// Reads `host` (port 443) or `host:port`.
    fn from_str(text: &str) -> Result<Self, NotASite> {
        let (host, port) = match text.rsplit_once(':') {
            Some((host, _)) if host.contains(':') => return Err(NotASite::Address),
            Some((host, port)) => (host, port.parse().ok().filter(|port| *port > 0).ok_or(NotASite::Port)?),
            None => (text, USUAL_PORT),
        };
        Ok(Self { host: HostName::parse(host)?, port })
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl Hosts {
    /// Is exactly this site among them?
    #[must_use]
    pub fn holds(&self, site: &Site) -> bool {
        self.0.contains(site)
    }

    /// Are there none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Every site, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Site> {
        self.0.iter()
    }
}

impl FromIterator<Site> for Hosts {
    fn from_iter<I: IntoIterator<Item = Site>>(sites: I) -> Self {
        Self(sites.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, expect: Result<&str, NotASite>) {
        let found = given.parse::<Site>().map(|site| site.to_string());
        assert_eq!(found, expect.map(str::to_owned), "{given}");
    }

    #[test]
    fn a_site_has_one_spelling() {
        check("example.com", Ok("example.com:443"));
        check("EXAMPLE.com.:8443", Ok("example.com:8443"));
        check("a-b_c.xn--fiqs8s", Ok("a-b_c.xn--fiqs8s:443"));
        check("1.example.com", Ok("1.example.com:443"));
        check("0x7f.com", Ok("0x7f.com:443"));
    }

    #[test]
    fn a51_addresses_and_own_names_are_no_sites() {
        for address in [
            "127.0.0.1",
            "0",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "127.1",
            "0177.0.0.1",
            "169.254.169.254",
            "[::1]",
            "[::1]:80",
            "::1",
            "[::ffff:127.0.0.1]",
            "fe80::1%eth0",
            "example.com.1",
        ] {
            check(address, Err(NotASite::Address));
        }
        for own in [
            "localhost",
            "a.localhost",
            "LOCALHOST.",
            "printer",
            "printer.local",
            "metadata.google.internal",
            "router.home.arpa",
            "nas.lan",
        ] {
            check(own, Err(NotASite::OwnNetwork));
        }
        check("ex\u{430}mple.com", Err(NotASite::Letters));
        for name in ["", ".", "a..b", "-a.com", "a-.com", "a b.com", "a@b.com", "a/b.com", "*.com", "a.com.."]
        {
            check(name, Err(NotASite::Name));
        }
        check(&format!("{}.com", "a".repeat(64)), Err(NotASite::Name));
        for port in ["a.com:0", "a.com:65536", "a.com:", "a.com:x"] {
            check(port, Err(NotASite::Port));
        }
    }

    #[test]
    fn only_what_was_granted_is_held() {
        let hosts: Hosts = ["example.com".parse().unwrap()].into_iter().collect();
        let holds = |text: &str| hosts.holds(&text.parse().unwrap());
        assert!(holds("example.com:443") && holds("Example.Com."));
        assert!(!holds("example.com:80") && !holds("www.example.com") && !holds("example.com.evil.com"));
    }
}
