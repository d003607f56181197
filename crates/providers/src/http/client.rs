//! The reqwest clients, one per way out, and how their failures read.
//!
//! Invariants: `ring` is the process's TLS provider before the first client is built; trust is the system's store plus
//! the file named by `SSL_CERT_FILE` plus the service's own authorities, which no other service's client knows; no client follows redirects, asks for compression or retries by itself; servers
//! on this machine are reached straight.

use std::collections::HashMap;
use std::error::Error as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::model::{CertificateProblem, ErrorClass, ModelError};
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, Client, ClientBuilder};
use secrecy::ExposeSecret;
use url::Url;

use crate::classify::shown;
use crate::dialect::Wire;
use crate::{Authorities, Connection, Proxy};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Clients by their way out.
#[derive(Debug, Default)]
pub(crate) struct Clients(Mutex<HashMap<Way, Client>>);

/// How a connection leaves this process.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Way {
    /// Plain HTTP to this machine: it needs no certificates, and works where the system has none.
    Plain,
    /// Anything else, trusting these beside the system's authorities.
    By(Proxy, Authorities),
}

impl Way {
    fn of(connection: &Connection) -> Self {
        match (connection.is_loopback(), connection.base_url.scheme()) {
            (true, "http") => Self::Plain,
            (true, _) => Self::By(Proxy::Direct, connection.authorities.clone()),
            (false, _) => Self::By(connection.proxy.clone(), connection.authorities.clone()),
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
        Way::By(proxy, authorities) => {
            let builder = own_roots(extra_roots(builder)?, authorities)?;
            match proxy {
                Proxy::System => builder,
                Proxy::Direct => builder.no_proxy(),
                Proxy::Url(url) => builder.proxy(
                    reqwest::Proxy::all(url)
                        .map_err(|error| {
                            network(format!("the proxy `{url}` can't be used: {}", cause(&error)))
                        })?
                        .no_proxy(reqwest::NoProxy::from_env()),
                ),
            }
        }
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

/// Adds the service's own authorities.
fn own_roots(builder: ClientBuilder, authorities: &Authorities) -> Result<ClientBuilder, ModelError> {
    let unusable = |error: reqwest::Error| {
        network(format!("the service's own certificate can't be used: {}", cause(&error)))
    };
    let roots: Result<Vec<Certificate>, reqwest::Error> =
        authorities.all().iter().map(|authority| Certificate::from_der(authority.der())).collect();
    Ok(builder.tls_certs_merge(roots.map_err(unusable)?))
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
    let mut failure = network(format!("{what} {}: {}", shown(url), cause(error)));
    failure.answered.certificate = certificate_problem(error);
    if let Some(problem) = failure.answered.certificate {
        failure.message = format!("{} ({})", failure.message, certificate_words(problem));
    }
    failure
}

/// What is wrong with the server's certificate, where the TLS library refused it.
fn certificate_problem(error: &reqwest::Error) -> Option<CertificateProblem> {
    let mut next: Option<&(dyn std::error::Error + 'static)> = error.source();
    while let Some(source) = next {
        // An I/O error tells of what is inside it, and doesn't name it as its source.
        let inside = source.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let tls = inside.map_or_else(|| source.downcast_ref(), |inside| inside.downcast_ref());
        if let Some(rustls::Error::InvalidCertificate(why)) = tls {
            return Some(problem_of(why));
        }
        next = inside.map_or_else(|| source.source(), |inside| Some(inside));
    }
    None
}

fn problem_of(why: &rustls::CertificateError) -> CertificateProblem {
    use rustls::CertificateError as Why;
    match why {
        Why::UnknownIssuer => CertificateProblem::Untrusted,
        Why::Expired | Why::ExpiredContext { .. } => CertificateProblem::Expired,
        Why::NotValidYet | Why::NotValidYetContext { .. } => CertificateProblem::NotYet,
        Why::NotValidForName | Why::NotValidForNameContext { .. } => CertificateProblem::Name,
        Why::Revoked => CertificateProblem::Revoked,
        // It has no name of its own in the library.
        Why::Other(other) if format!("{other:?}").contains("CaUsedAsEndEntity") => {
            CertificateProblem::Authority
        }
        _ => CertificateProblem::Other,
    }
}

fn certificate_words(problem: CertificateProblem) -> &'static str {
    match problem {
        CertificateProblem::Untrusted => {
            "the server's certificate isn't signed by an authority this computer trusts; where the service has an \
             authority of its own, give its certificate in the settings, Models and keys, or with `daybook certificate`"
        }
        CertificateProblem::Expired => "the server's certificate has expired",
        CertificateProblem::NotYet => {
            "the server's certificate doesn't hold yet, or the clock of this computer is wrong"
        }
        CertificateProblem::Name => "the server's certificate is for another address",
        CertificateProblem::Revoked => "the server's certificate was taken back by its authority",
        CertificateProblem::Authority => {
            "the server shows an authority's certificate; it has to show one that the authority signed for it"
        }
        CertificateProblem::Other => "the server's certificate can't be checked",
    }
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
    if parts.is_empty() { "the request failed".into() } else { parts.join(": ") }
}
