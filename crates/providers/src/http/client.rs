//! The reqwest clients, one per way out, and how their failures read.
//!
//! Invariants: `ring` is the process's TLS provider before the first client is built; trust is the system's store plus
//! the file named by `SSL_CERT_FILE`; no client follows redirects, asks for compression or retries by itself; servers
//! on this machine are reached straight.

use std::collections::HashMap;
use std::error::Error as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::model::{ErrorClass, ModelError};
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, Client, ClientBuilder};
use secrecy::ExposeSecret;
use url::Url;

use crate::classify::shown;
use crate::dialect::Wire;
use crate::{Connection, Proxy};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Clients by their way out.
#[derive(Debug, Default)]
pub(crate) struct Clients(Mutex<HashMap<Way, Client>>);

/// How a connection leaves this process.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Way {
    /// Plain HTTP to this machine: it needs no certificates, and works where the system has none.
    Plain,
    /// Anything else.
    By(Proxy),
}

impl Way {
    fn of(connection: &Connection) -> Self {
        match (connection.is_loopback(), connection.base_url.scheme()) {
            (true, "http") => Self::Plain,
            (true, _) => Self::By(Proxy::Direct),
            (false, _) => Self::By(connection.proxy.clone()),
        }
    }
}

impl Clients {
    /// The client for this connection, built at its first use.
    pub(crate) fn of(&self, connection: &Connection) -> Result<Client, ModelError> {
        let way = Way::of(connection);
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&way) {
            return Ok(client.clone());
        }
        let client = build(&way)?;
        clients.insert(way, client.clone());
        Ok(client)
    }
}

fn build(way: &Way) -> Result<Client, ModelError> {
    // Err means that a provider is already installed, which is all we want.
    let _already = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .user_agent(concat!("daybook/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_keepalive(Duration::from_secs(30));
    let builder = match way {
        Way::Plain => builder.no_proxy().tls_certs_only([]),
        Way::By(Proxy::System) => extra_roots(builder)?,
        Way::By(Proxy::Direct) => extra_roots(builder)?.no_proxy(),
        Way::By(Proxy::Url(url)) => extra_roots(builder)?.proxy(
            reqwest::Proxy::all(url)
                .map_err(|error| network(format!("the proxy `{url}` can't be used: {}", cause(&error))))?
                .no_proxy(reqwest::NoProxy::from_env()),
        ),
    };
    builder.build().map_err(|error| {
        network(format!(
            "couldn't prepare encrypted connections (is the system's certificate store there?): {}",
            cause(&error)
        ))
    })
}

/// Adds the roots of `SSL_CERT_FILE`, which the verifiers of macOS and Windows don't read by themselves.
fn extra_roots(builder: ClientBuilder) -> Result<ClientBuilder, ModelError> {
    let Some(path) = std::env::var_os("SSL_CERT_FILE").filter(|path| !path.is_empty()) else {
        return Ok(builder);
    };
    let shown = path.to_string_lossy().into_owned();
    let unusable = |why: String| network(format!("SSL_CERT_FILE names {shown}, which can't be used: {why}"));
    let pem = std::fs::read(&path).map_err(|error| unusable(error.to_string()))?;
    let roots = Certificate::from_pem_bundle(&pem).map_err(|error| unusable(cause(&error)))?;
    Ok(builder.tls_certs_merge(roots))
}

/// Headers of a request; the key's is marked so that it is never printed.
pub(crate) fn headers(connection: &Connection, wire: &dyn Wire) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    for (name, value) in wire.headers() {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Some(key) = &connection.key {
        let (name, before) = wire.key_header();
        let text = format!("{before}{}", key.expose_secret().trim());
        let mut value = HeaderValue::from_str(&text).map_err(|_| {
            ModelError::new(ErrorClass::Auth, "the key holds characters that a key can't have")
        })?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
    }
    Ok(headers)
}

/// A request that got no answer.
pub(crate) fn failure(error: &reqwest::Error, url: &Url) -> ModelError {
    let what = if error.is_connect() { "couldn't connect to" } else { "no answer from" };
    network(format!("{what} {}: {}", shown(url), cause(error)))
}

fn network(message: String) -> ModelError {
    ModelError::new(ErrorClass::Network, message)
}

/// The innermost causes of an error as one line, without the address, which may hold a query.
pub(crate) fn cause(error: &reqwest::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut next = error.source();
    while let Some(source) = next {
        let text = source.to_string();
        if parts.last().is_none_or(|last| !last.contains(&text)) {
            parts.push(text);
        }
        next = source.source();
    }
    let text = if parts.is_empty() { "the request failed".into() } else { parts.join(": ") };
    if text.contains("UnknownIssuer") {
        return format!(
            "{text} (the server's certificate isn't signed by an authority this computer trusts)"
        );
    }
    text
}
