//! A *connection*: where a dialect is spoken, with which key, through which proxy, and who is trusted there.
//!
//! Addresses are typed by people: a bare root, `/v1`, `/v1/` and the full path all mean the same endpoint. Invariants:
//! the key is shown nowhere (not in `Debug`, not in messages); no key configured means no header; a loopback address
//! never goes through a proxy.

use secrecy::{ExposeSecret, SecretString};
use url::{Host, Url};

use crate::Authorities;
use crate::dialect::Wire;

/// How to reach the network.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Proxy {
    /// What the system and the environment say (`HTTPS_PROXY`, `NO_PROXY`, …).
    #[default]
    System,
    /// Straight.
    Direct,
    /// This one, `http://`, `https://` or `socks5://`.
    Url(String),
}

/// Where a model is.
#[derive(Debug, Clone)]
pub struct Connection {
    /// The preset's or the user's name for it.
    pub provider: String,
    /// The dialect's name.
    pub dialect: String,
    /// As typed, but a well-formed http(s) URL.
    pub base_url: Url,
    /// `None` sends no authorization header.
    pub key: Option<SecretString>,
    /// How to get there.
    pub proxy: Proxy,
    /// Authorities that are trusted here beside those of this computer.
    pub authorities: Authorities,
}

/// An address can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConnectionError {
    /// Not a URL.
    #[error("`{0}` isn't a web address; write it like https://api.example.com/v1")]
    BadUrl(String),
    /// Not http or https, or it names no host.
    #[error("`{0}` isn't an http or https address")]
    NotHttp(String),
    /// No preset and no dialect has this name.
    #[error("there is no provider `{0}`; take one of the presets, or a dialect with its address")]
    UnknownProvider(String),
    /// A dialect alone doesn't say where.
    #[error("the dialect `{0}` needs an address")]
    NoAddress(String),
    /// User name or password inside the address would end up in messages and logs.
    #[error("the address holds a user name or password; put the key into its own field")]
    Credentials,
}

impl Connection {
    /// Checks the address and puts a connection together. A blank key is no key.
    ///
    /// # Errors
    /// When the address isn't a plain http(s) URL.
    pub fn new(
        provider: &str,
        dialect: &str,
        base_url: &str,
        key: Option<SecretString>,
        proxy: Proxy,
    ) -> Result<Self, ConnectionError> {
        let base_url = parse_base(base_url)?;
        let key = key.filter(|key| !key.expose_secret().trim().is_empty());
        Ok(Self {
            provider: provider.into(),
            dialect: dialect.into(),
            base_url,
            key,
            proxy,
            authorities: Authorities::default(),
        })
    }

    /// The same, trusting these authorities beside those of this computer.
    #[must_use]
    pub fn trusting(self, authorities: Authorities) -> Self {
        Self { authorities, ..self }
    }

    /// The address of the dialect's endpoint.
    #[must_use]
    pub fn endpoint(&self, dialect: &dyn Wire) -> Url {
        join(&self.base_url, dialect.path())
    }

    /// The address of the list of models.
    #[must_use]
    pub fn models_url(&self) -> Url {
        join(&self.base_url, "v1/models")
    }

    /// Is it at this address?
    #[must_use]
    pub fn is_at(&self, base_url: &str) -> bool {
        parse_base(base_url).is_ok_and(|url| url == self.base_url)
    }

    /// Is the server on this machine?
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.base_url)
    }
}

/// Is the host of this address this machine, by name or number?
#[must_use]
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(address)) => address.is_loopback() || address.is_unspecified(),
        Some(Host::Ipv6(address)) => address.is_loopback() || address.is_unspecified(),
        None => false,
    }
}

fn parse_base(text: &str) -> Result<Url, ConnectionError> {
    let text = text.trim();
    let url = Url::parse(text).map_err(|_| ConnectionError::BadUrl(text.into()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(ConnectionError::NotHttp(text.into()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ConnectionError::Credentials);
    }
    Ok(url)
}

/// Endpoints people paste whole; what stands before them is the base.
const KNOWN_ENDS: [&str; 4] = ["chat/completions", "messages", "models", "responses"];

/// Joins a base and a path such as `v1/messages` so that no version is doubled or lost.
fn join(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_fragment(None);
    let mut root = url.path().trim_matches('/').to_owned();
    for end in KNOWN_ENDS {
        if let Some(rest) = root.strip_suffix(end).filter(|rest| rest.is_empty() || rest.ends_with('/')) {
            root = rest.trim_end_matches('/').to_owned();
            break;
        }
    }
    let last = root.rsplit('/').next().unwrap_or_default();
    let versioned =
        last.strip_prefix('v').is_some_and(|n| !n.is_empty() && n.starts_with(|c: char| c.is_ascii_digit()));
    let path = if versioned { path.strip_prefix("v1/").unwrap_or(path) } else { path };
    url.set_path(&if root.is_empty() { path.to_owned() } else { format!("{root}/{path}") });
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(base: &str, path: &str, expect: &str) {
        assert_eq!(join(&parse_base(base).unwrap(), path).as_str(), expect, "{base}");
    }

    #[test]
    fn p37_no_version_is_doubled_or_lost() {
        for base in
            ["http://127.0.0.1:9/v1", "http://127.0.0.1:9", "http://127.0.0.1:9/v1/", "http://127.0.0.1:9/"]
        {
            check(base, "v1/chat/completions", "http://127.0.0.1:9/v1/chat/completions");
            check(base, "v1/messages", "http://127.0.0.1:9/v1/messages");
        }
        check("https://a.b/api/paas/v4", "v1/chat/completions", "https://a.b/api/paas/v4/chat/completions");
        check("https://a.b/anthropic/", "v1/messages", "https://a.b/anthropic/v1/messages");
        check("https://a.b/v1/chat/completions", "v1/chat/completions", "https://a.b/v1/chat/completions");
        check("https://a.b/v1/chat/completions", "v1/models", "https://a.b/v1/models");
        check("https://a.b/v1beta/openai", "v1/models", "https://a.b/v1beta/openai/v1/models");
        check("https://a.b/v1?key=x#y", "v1/models", "https://a.b/v1/models?key=x");
        check("https://a.b/vault", "v1/models", "https://a.b/vault/v1/models");
    }

    #[test]
    fn addresses_that_cannot_be_used_say_why() {
        for (given, expect) in [
            ("api.example.com/v1", ConnectionError::BadUrl("api.example.com/v1".into())),
            ("ftp://a.b", ConnectionError::NotHttp("ftp://a.b".into())),
            ("https://user:pw@a.b", ConnectionError::Credentials),
        ] {
            assert_eq!(parse_base(given), Err(expect));
        }
    }

    #[test]
    fn only_this_machine_is_loopback() {
        for (given, expect) in [
            ("http://localhost:1", true),
            ("http://LOCALHOST.:1", true),
            ("http://127.8.8.8", true),
            ("http://[::1]:8", true),
            ("http://localhost.evil.com", false),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(given).unwrap()), expect, "{given}");
        }
    }

    #[test]
    fn a_key_is_not_shown_and_a_blank_one_is_none() {
        let key = |text: &str| Some(SecretString::from(text.to_owned()));
        let made =
            Connection::new("p", "openai-chat", "https://a.b", key("sk-canary"), Proxy::System).unwrap();
        assert!(!format!("{made:?}").contains("canary"));
        let made = Connection::new("p", "openai-chat", "https://a.b", key("  "), Proxy::System).unwrap();
        assert!(made.key.is_none());
    }
}
