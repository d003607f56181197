//! The filtering proxy of one command.
//!
//! It serves the cage's outlet on a thread of its own, one request per connection: CONNECT opens a tunnel, plain HTTP is
//! passed on with our own `Host`. Invariant: the name decides, the address is checked, and the connection goes to that
//! very address; connections, waiting and bytes are bounded.

use super::address::not_public;
use super::hosts::{HostName, Hosts, Site};
use super::log::{Log, Outcome, Refusal, Used};
use super::stream::Counted;
use super::tunnel::carry;
use super::way::Way;
use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Largest head of a request or an answer.
const HEAD_BYTES: usize = 64 << 10;
/// Most headers of one.
const HEADERS: usize = 128;
/// Addresses of one host that are tried.
const ADDRESSES: usize = 4;

/// Bounds of one command's use of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Connections at once; more wait.
    pub connections: usize,
    /// Time for a request's head, for resolving a name, and for connecting, each.
    pub step: Duration,
    /// Time in which nothing moves before a connection is ended.
    pub idle: Duration,
    /// Bytes to all sites together.
    pub bytes_up: u64,
    /// Bytes from all sites together.
    pub bytes_down: u64,
}

impl Default for Bounds {
    /// 64 connections, 10 s a step, 2 minutes idle, 1 GiB up and 4 GiB down.
    fn default() -> Self {
        Self {
            connections: 64,
            step: Duration::from_secs(10),
            idle: Duration::from_secs(120),
            bytes_up: 1 << 30,
            bytes_down: 4 << 30,
        }
    }
}

/// A running proxy. Dropping it ends it and every connection through it.
#[derive(Debug)]
pub struct Proxy {
    log: Arc<Log>,
    stop: CancellationToken,
}

impl Proxy {
    /// Serves `outlet` until dropped.
    ///
    /// # Errors
    /// When the thread or its reactor can't be made.
    pub fn start(
        outlet: std::net::TcpListener,
        hosts: Hosts,
        way: Arc<dyn Way>,
        bounds: Bounds,
    ) -> io::Result<Self> {
        const RESOLVING: usize = 4;
        outlet.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(RESOLVING)
            .build()?;
        let log = Arc::new(Log::new(bounds.bytes_up, bounds.bytes_down));
        let stop = CancellationToken::new();
        let desk = Arc::new(Desk { hosts, way, bounds, log: Arc::clone(&log) });
        let told = stop.clone();
        std::thread::Builder::new().name("network-proxy".into()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = told.cancelled() => {}
                    () = serve(outlet, desk) => {}
                }
            });
            // A name that is still being resolved must not hold us.
            runtime.shutdown_background();
        })?;
        Ok(Self { log, stop })
    }

    /// What was asked for so far.
    #[must_use]
    pub fn used(&self) -> Vec<Used> {
        self.log.lines()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// What every connection needs.
struct Desk {
    hosts: Hosts,
    way: Arc<dyn Way>,
    bounds: Bounds,
    log: Arc<Log>,
}

type Body = BoxBody<Bytes, hyper::Error>;
/// Held as long as a connection or its tunnel lives.
type Seat = Arc<OwnedSemaphorePermit>;

/// Accepts as many as there are seats; the others wait in the kernel, which refuses what is too much even there.
async fn serve(outlet: std::net::TcpListener, desk: Arc<Desk>) {
    let Ok(outlet) = TcpListener::from_std(outlet) else { return };
    let seats = Arc::new(Semaphore::new(desk.bounds.connections));
    loop {
        let Ok(seat) = Arc::clone(&seats).acquire_owned().await else { return };
        match outlet.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(attend(stream, Arc::clone(&desk), Arc::new(seat)))),
            // Out of descriptors, most likely: others will end.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn attend(stream: TcpStream, desk: Arc<Desk>, seat: Seat) {
    let answering = Arc::clone(&desk);
    let service = service_fn(move |request| {
        let (desk, seat) = (Arc::clone(&answering), Arc::clone(&seat));
        async move { Ok::<_, Infallible>(answer(request, desk, seat).await) }
    });
    let serving = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(desk.bounds.step)
        .keep_alive(false)
        .max_headers(HEADERS)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    // A client that breaks off has nobody to be told.
    let _ = while_moving(&desk, serving).await;
}

/// Drives a connection until it ends or nothing moved for too long.
async fn while_moving<T>(desk: &Desk, work: impl Future<Output = T>) -> Option<T> {
    let mut work = std::pin::pin!(work);
    loop {
        let before = desk.log.moved();
        tokio::select! {
            done = &mut work => return Some(done),
            () = tokio::time::sleep(desk.bounds.idle) => {
                if desk.log.moved() == before {
                    return None;
                }
            }
        }
    }
}

async fn answer(request: Request<Incoming>, desk: Arc<Desk>, seat: Seat) -> Response<Body> {
    let site = match asked_for(request.method(), request.uri()) {
        Ok(site) => site,
        Err(refusal) => return refuse(&desk, &name_of(request.uri()), refusal),
    };
    let upstream = match open(&desk, &site).await {
        Ok(upstream) => upstream,
        Err(refusal) => return refuse(&desk, &site.to_string(), refusal),
    };
    if request.method() != Method::CONNECT {
        return match pass_on(request, &site, upstream, Arc::clone(&desk), seat).await {
            Ok(response) => response,
            Err(_) => said(StatusCode::BAD_GATEWAY, format!("{site}: the answer broke off")),
        };
    }
    tokio::spawn(async move {
        let _seat = seat;
        if let Ok(upgraded) = hyper::upgrade::on(request).await {
            let (mut inner, mut outer) = (TokioIo::new(upgraded), upstream);
            let carried = while_moving(&desk, carry(&mut inner, &mut outer, site.host.as_str())).await;
            // However it ends, both ends are closed; that one is worth a word, before anybody sees the end.
            if let Some(Err(error)) = carried
                && error.kind() == io::ErrorKind::PermissionDenied
            {
                desk.log.note(&site.to_string(), Outcome::Refused(Refusal::OtherName));
            }
        }
    });
    Response::new(text(""))
}

/// The site a request is for.
fn asked_for(method: &Method, uri: &Uri) -> Result<Site, Refusal> {
    let authority = uri.authority().ok_or(Refusal::NotUnderstood)?;
    let port = match (method == Method::CONNECT, uri.scheme_str()) {
        (true, None) => authority.port_u16(),
        (false, Some("http")) => Some(authority.port_u16().unwrap_or(80)),
        (true, Some(_)) | (false, _) => None,
    };
    let port = port.filter(|port| *port > 0).ok_or(Refusal::NotUnderstood)?;
    let host = HostName::parse(authority.host()).map_err(|_| Refusal::NotAName)?;
    Ok(Site { host, port })
}

/// What to call a request that named no site.
fn name_of(uri: &Uri) -> String {
    match uri.authority() {
        Some(authority) => authority.as_str().rsplit('@').next().unwrap_or_default().to_owned(),
        None => uri.path().to_owned(),
    }
}

/// Decides on the name, resolves, checks every address, connects to a checked one.
async fn open(desk: &Desk, site: &Site) -> Result<Counted, Refusal> {
    if !desk.hosts.holds(site) {
        return Err(Refusal::NotGranted);
    }
    if desk.log.is_used_up() {
        return Err(Refusal::TooMuch);
    }
    let found = tokio::time::timeout(desk.bounds.step, desk.way.resolve(&site.host)).await;
    let Ok(Ok(addresses)) = found else { return Err(Refusal::Unresolved) };
    // One that isn't public among them is a name that plays a game: none is used.
    if let Some(what) = addresses.iter().find_map(|address| not_public(*address)) {
        return Err(Refusal::NotPublic(what));
    }
    if addresses.is_empty() {
        return Err(Refusal::Unresolved);
    }
    for address in addresses.into_iter().take(ADDRESSES) {
        let to = SocketAddr::new(address, site.port);
        if let Ok(Ok(stream)) = tokio::time::timeout(desk.bounds.step, desk.way.connect(to)).await {
            let line = desk.log.note(&site.to_string(), Outcome::Granted);
            return Ok(Counted::new(stream, Arc::clone(&desk.log), line));
        }
    }
    Err(Refusal::Unreachable)
}

async fn pass_on(
    request: Request<Incoming>,
    site: &Site,
    upstream: Counted,
    desk: Arc<Desk>,
    seat: Seat,
) -> Result<Response<Body>, hyper::Error> {
    let (mut sender, connection) = hyper::client::conn::http1::Builder::new()
        .max_headers(HEADERS)
        .max_buf_size(HEAD_BYTES)
        .handshake(TokioIo::new(upstream))
        .await?;
    tokio::spawn(async move {
        let _seat = seat;
        // Its failure shows in the answer that breaks off.
        let _ = while_moving(&desk, connection).await;
    });
    let (mut parts, body) = request.into_parts();
    parts.uri = parts.uri.path_and_query().map_or_else(|| Uri::from_static("/"), |path| path.clone().into());
    parts.version = hyper::Version::HTTP_11;
    strip(&mut parts.headers);
    // What the request said of its host is replaced by what was decided on.
    let host = if site.port == 80 { site.host.to_string() } else { site.to_string() };
    if let Ok(host) = HeaderValue::from_str(&host) {
        parts.headers.insert(header::HOST, host);
    }
    let mut response = sender.send_request(Request::from_parts(parts, body)).await?;
    strip(response.headers_mut());
    Ok(response.map(BodyExt::boxed))
}

/// Takes off what is between two neighbours only.
fn strip(headers: &mut HeaderMap) {
    const BETWEEN: [HeaderName; 8] = [
        header::CONNECTION,
        header::PROXY_AUTHENTICATE,
        header::PROXY_AUTHORIZATION,
        header::TE,
        header::TRAILER,
        header::TRANSFER_ENCODING,
        header::UPGRADE,
        header::EXPECT,
    ];
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .filter(|name| *name != header::HOST && *name != header::CONTENT_LENGTH)
        .collect();
    for name in BETWEEN.iter().chain(&named) {
        headers.remove(name);
    }
    headers.remove("proxy-connection");
    headers.remove("keep-alive");
}

fn refuse(desk: &Desk, site: &str, refusal: Refusal) -> Response<Body> {
    desk.log.note(site, Outcome::Refused(refusal));
    let status = match refusal {
        Refusal::NotGranted | Refusal::NotAName | Refusal::NotPublic(_) | Refusal::OtherName => {
            StatusCode::FORBIDDEN
        }
        Refusal::NotUnderstood => StatusCode::BAD_REQUEST,
        Refusal::Unresolved | Refusal::Unreachable => StatusCode::BAD_GATEWAY,
        Refusal::TooMuch => StatusCode::SERVICE_UNAVAILABLE,
    };
    said(status, format!("{site}: {refusal}"))
}

fn said(status: StatusCode, words: String) -> Response<Body> {
    let mut response = Response::new(text(&format!("Daybook: {words}\n")));
    *response.status_mut() = status;
    response
}

fn text(words: &str) -> Body {
    Full::new(Bytes::copy_from_slice(words.as_bytes())).map_err(|never| match never {}).boxed()
}
