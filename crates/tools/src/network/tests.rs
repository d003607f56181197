//! The proxy by itself, between a client of the test and sites on this machine.
//!
//! A [`Town`] stands for the internet: names lead to addresses it was told, and whatever address is connected to, its one
//! server answers. Invariant: the test sees every address that was connected to, so a pinned address is a fact.

use super::{Bounds, HostName, Hosts, Outcome, Proxy, Refusal, Used, Way};
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Names, and one server behind every address.
pub(crate) struct Town {
    names: Mutex<BTreeMap<String, Vec<Vec<IpAddr>>>>,
    server: SocketAddr,
    connected: Mutex<Vec<SocketAddr>>,
}

impl Town {
    /// Each name leads to its addresses; a name with several answers gives the next one each time, and the last for ever.
    pub(crate) fn new(names: &[(&str, &[&[&str]])]) -> Arc<Self> {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = server.local_addr().unwrap();
        std::thread::spawn(move || {
            for connection in server.incoming().flatten() {
                std::thread::spawn(move || serve(connection));
            }
        });
        let answer = |one: &&[&str]| one.iter().map(|address| address.parse().unwrap()).collect();
        let names = names
            .iter()
            .map(|(name, answers)| ((*name).to_owned(), answers.iter().map(answer).rev().collect()));
        Arc::new(Self { names: Mutex::new(names.collect()), server: at, connected: Mutex::default() })
    }

    /// Every address that was connected to.
    pub(crate) fn connected(&self) -> Vec<String> {
        self.connected.lock().unwrap().iter().map(ToString::to_string).collect()
    }
}

impl Way for Town {
    fn resolve<'a>(&'a self, host: &'a HostName) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let mut names = self.names.lock().unwrap();
        let found = match names.get_mut(host.as_str()) {
            Some(answers) if answers.len() > 1 => answers.pop(),
            Some(answers) => answers.last().cloned(),
            None => None,
        };
        Box::pin(async move { found.ok_or_else(|| io::ErrorKind::NotFound.into()) })
    }

    fn connect(&self, to: SocketAddr) -> BoxFuture<'_, io::Result<tokio::net::TcpStream>> {
        self.connected.lock().unwrap().push(to);
        Box::pin(tokio::net::TcpStream::connect(self.server))
    }
}

/// Answers with the head it read; `/big` with a megabyte, `/hang` never.
fn serve(mut connection: TcpStream) {
    let mut head = Vec::new();
    let mut lines = BufReader::new(connection.try_clone().unwrap());
    while lines.read_until(b'\n', &mut head).is_ok_and(|read| read > 2) {}
    if head.is_empty() {
        return;
    }
    let asked = String::from_utf8_lossy(&head).into_owned();
    if asked.contains("/hang") {
        let _ = lines.read_to_end(&mut Vec::new());
        return;
    }
    let body = if asked.contains("/big") { "x".repeat(1 << 20) } else { format!("site saw {asked}") };
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close, x-secret\r\nx-secret: 1\r\n\r\n{body}",
        body.len()
    );
    let _ = connection.write_all(answer.as_bytes());
}

/// A proxy, and where it listens.
struct Rig {
    proxy: Proxy,
    at: SocketAddr,
    town: Arc<Town>,
}

impl Rig {
    fn new(hosts: &[&str], town: Arc<Town>, bounds: Bounds) -> Self {
        let outlet = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = outlet.local_addr().unwrap();
        let hosts: Hosts = hosts.iter().map(|site| site.parse().unwrap()).collect();
        let way = Arc::clone(&town) as Arc<dyn Way>;
        Self { proxy: Proxy::start(outlet, hosts, way, bounds).unwrap(), at, town }
    }

    fn usual() -> Self {
        let town = Town::new(&[
            ("example.com", &[&["93.184.216.34"]]),
            ("private.example", &[&["10.0.0.5"]]),
            ("meta.example", &[&["169.254.169.254"]]),
            ("here.example", &[&["127.0.0.1"]]),
            ("mapped.example", &[&["::ffff:10.0.0.1"]]),
            ("nat.example", &[&["64:ff9b::a00:1"]]),
            ("mixed.example", &[&["93.184.216.34", "192.168.0.1"]]),
            ("none.example", &[&[]]),
            ("rebound.example", &[&["93.184.216.35"], &["127.0.0.1"]]),
        ]);
        let granted = [
            "example.com:80",
            "example.com:443",
            "private.example",
            "meta.example",
            "here.example",
            "mapped.example",
            "nat.example",
            "mixed.example",
            "none.example",
            "missing.example",
            "rebound.example",
        ];
        Self::new(&granted, town, Bounds::default())
    }

    /// Sends raw text and returns everything that comes back.
    fn say(&self, text: &str) -> String {
        let mut connection = TcpStream::connect(self.at).unwrap();
        connection.write_all(text.as_bytes()).unwrap();
        let mut answer = Vec::new();
        // One that is cut off counts with what came before.
        let _ = connection.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    #[track_caller]
    fn refused(&self, request: &str, refusal: Refusal) {
        let before = self.town.connected().len();
        let answer = self.say(request);
        assert!(!answer.contains("site saw") && !answer.starts_with("HTTP/1.1 200"), "{request}: {answer}");
        assert!(answer.contains(&refusal.to_string()), "{request}: {answer}");
        assert_eq!(self.town.connected().len(), before, "{request} connected somewhere");
        let noted = self.proxy.used().iter().any(|line| line.outcome == Outcome::Refused(refusal));
        assert!(noted, "{request} isn't in the log: {:?}", self.proxy.used());
    }
}

fn connect_to(site: &str) -> String {
    format!("CONNECT {site} HTTP/1.1\r\nHost: {site}\r\n\r\n")
}

#[test]
fn a_granted_site_is_reached_at_the_checked_address() {
    let rig = Rig::usual();
    let answer = rig.say("GET http://EXAMPLE.com/a?b=c HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    assert!(answer.contains("site saw GET /a?b=c HTTP/1.1"), "{answer}");
    assert!(answer.contains("host: example.com\r\n") && !answer.contains("evil"), "{answer}");
    let mut tunnel = TcpStream::connect(rig.at).unwrap();
    tunnel.write_all(connect_to("example.com:443").as_bytes()).unwrap();
    let mut reader = BufReader::new(tunnel.try_clone().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert!(line.starts_with("HTTP/1.1 200"), "{line}");
    tunnel.write_all(b"GET /inside HTTP/1.1\r\n\r\n").unwrap();
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("site saw GET /inside"), "{rest}");
    assert_eq!(rig.town.connected(), ["93.184.216.34:80", "93.184.216.34:443"]);
    let used = rig.proxy.used();
    let line = |site: &str| used.iter().find(|line| line.site == site).unwrap();
    let Used { outcome, requests, bytes_up, bytes_down, .. } = line("example.com:443").clone();
    assert_eq!((outcome, requests, bytes_up), (Outcome::Granted, 1, 24));
    assert!(bytes_down > 24 && line("example.com:80").bytes_up > 0, "{used:?}");
}

#[test]
fn what_was_not_granted_is_refused_by_name() {
    let rig = Rig::usual();
    for site in ["other.example:443", "www.example.com:443", "example.com:22", "example.com.evil.example:443"]
    {
        rig.refused(&connect_to(site), Refusal::NotGranted);
    }
    rig.refused("GET http://other.example/ HTTP/1.1\r\nHost: example.com\r\n\r\n", Refusal::NotGranted);
    rig.refused("GET http://example.com@other.example/ HTTP/1.1\r\nHost: x\r\n\r\n", Refusal::NotGranted);
    rig.refused("GET http://example.com:8080/ HTTP/1.1\r\nHost: x\r\n\r\n", Refusal::NotGranted);
}

#[test]
fn a51_addresses_in_any_spelling_are_refused() {
    let rig = Rig::usual();
    for host in [
        "127.0.0.1",
        "0",
        "2130706433",
        "0x7f000001",
        "127.1",
        "169.254.169.254",
        "93.184.216.34",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[2606:2800:220:1::1]",
        "localhost",
        "app.localhost",
        "metadata.google.internal",
    ] {
        rig.refused(&connect_to(&format!("{host}:443")), Refusal::NotAName);
        rig.refused(&format!("GET http://{host}/ HTTP/1.1\r\nHost: example.com\r\n\r\n"), Refusal::NotAName);
    }
    for request in [
        "GET gopher://example.com/ HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET ftp://example.com/ HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET https://example.com/ HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /etc/passwd HTTP/1.1\r\nHost: example.com\r\n\r\n",
    ] {
        rig.refused(request, Refusal::NotUnderstood);
    }
}

#[test]
fn a51_granted_names_that_lead_inside_are_refused() {
    let rig = Rig::usual();
    let check = |host: &str, what: &'static str| {
        rig.refused(&connect_to(&format!("{host}:443")), Refusal::NotPublic(what));
    };
    check("private.example", "a private network");
    check("meta.example", "link-local or a cloud's machine data");
    check("here.example", "this machine");
    check("mapped.example", "an IPv4 address in disguise");
    check("nat.example", "not a public IPv6 address");
    check("mixed.example", "a private network");
    rig.refused(&connect_to("none.example:443"), Refusal::Unresolved);
    rig.refused(&connect_to("missing.example:443"), Refusal::Unresolved);
}

#[test]
fn a51_a_name_that_changes_its_mind_is_connected_to_where_it_was_checked() {
    let rig = Rig::usual();
    let first =
        rig.say(&connect_to("rebound.example:443").replace("\r\n\r\n", "\r\n\r\nGET / HTTP/1.1\r\n\r\n"));
    assert!(first.contains("site saw"), "{first}");
    // One look-up a connection: what was checked is what is connected to.
    assert_eq!(rig.town.connected(), ["93.184.216.35:443"]);
    rig.refused(&connect_to("rebound.example:443"), Refusal::NotPublic("this machine"));
}

#[test]
fn what_is_between_neighbours_is_not_passed_on() {
    let rig = Rig::usual();
    let answer = rig.say(
        "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: Basic eDp5\r\n\
         Connection: keep-alive, X-Hop, Host\r\nX-Hop: 1\r\nUpgrade: websocket\r\nX-Kept: 1\r\n\r\n",
    );
    let answer = answer.to_lowercase();
    assert!(answer.contains("site saw") && answer.contains("x-kept: 1"), "{answer}");
    for gone in ["x-hop", "proxy-auth", "upgrade", "x-secret"] {
        assert!(!answer.contains(gone), "{gone}: {answer}");
    }
    assert!(answer.contains("host: example.com"), "{answer}");
}

#[test]
fn bytes_are_bounded() {
    let town = Town::new(&[("example.com", &[&["93.184.216.34"]])]);
    let bounds = Bounds { bytes_down: 300_000, ..Bounds::default() };
    let rig = Rig::new(&["example.com:80"], town, bounds);
    let answer = rig.say("GET http://example.com/big HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(answer.len() < 500_000, "{} bytes came through", answer.len());
    rig.refused("GET http://example.com/ HTTP/1.1\r\nHost: x\r\n\r\n", Refusal::TooMuch);
}

#[test]
fn waiting_is_bounded() {
    let town = Town::new(&[("example.com", &[&["93.184.216.34"]])]);
    let short = Duration::from_millis(100);
    let rig = Rig::new(
        &["example.com:80", "example.com"],
        town,
        Bounds { step: short, idle: short, ..Bounds::default() },
    );
    // Half a head, a site that never answers, a tunnel in which nothing moves: each ends by itself.
    assert!(!rig.say("GET http://exam").contains("200"));
    assert!(!rig.say("GET http://example.com/hang HTTP/1.1\r\nHost: x\r\n\r\n").contains("200"));
    assert!(rig.say(&connect_to("example.com:443")).contains("200"));
}

#[test]
fn a51_a_flood_of_connections_is_bounded_and_survived() {
    const SEATS: usize = 4;
    let town = Town::new(&[("example.com", &[&["93.184.216.34"]])]);
    let step = Duration::from_millis(300);
    let rig = Rig::new(
        &["example.com:80", "example.com"],
        town,
        Bounds { connections: SEATS, step, idle: step, ..Bounds::default() },
    );
    let mut held = Vec::new();
    for _ in 0..3 * SEATS {
        let mut connection = TcpStream::connect(rig.at).unwrap();
        connection.write_all(connect_to("example.com:443").as_bytes()).unwrap();
        held.push(connection);
    }
    let mut first = [0; 12];
    held[0].read_exact(&mut first).unwrap();
    assert!(rig.town.connected().len() <= SEATS, "{} at once", rig.town.connected().len());
    drop(held);
    for _ in 0..2_000 {
        // Whether each gets in is for the kernel to say.
        drop(TcpStream::connect_timeout(&rig.at, Duration::from_millis(100)));
    }
    let answer = rig.say("GET http://example.com/after HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(answer.contains("site saw GET /after"), "{answer}");
}

#[test]
fn hostile_requests_break_nothing() {
    let rig = Rig::usual();
    let long = format!("GET http://example.com/{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(100_000));
    let many = format!("GET http://example.com/ HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(1_000));
    let smuggled = "POST http://example.com/ HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET http://other.example/ HTTP/1.1\r\n\r\n";
    for request in [&long, &many, "\0\0\0\0\r\n\r\n", "GET http://exa\u{202e}mple.com/ HTTP/1.1\r\n\r\n"] {
        assert!(!rig.say(request).contains("site saw"), "{:.60}", request);
    }
    let answer = rig.say(smuggled);
    assert!(answer.matches("HTTP/1.1").count() <= 2 && !answer.contains("other.example"), "{answer}");
    assert!(
        rig.say("GET http://example.com/fine HTTP/1.1\r\nHost: x\r\n\r\n").contains("site saw GET /fine")
    );
}

#[test]
fn dropping_the_proxy_ends_its_connections() {
    let rig = Rig::usual();
    let mut tunnel = TcpStream::connect(rig.at).unwrap();
    tunnel.write_all(connect_to("example.com:443").as_bytes()).unwrap();
    let mut head = [0; 12];
    tunnel.read_exact(&mut head).unwrap();
    drop(rig);
    let mut rest = Vec::new();
    // Its end or a reset, but not a wait.
    let _ = tunnel.read_to_end(&mut rest);
    assert!(!String::from_utf8_lossy(&rest).contains("site saw"));
}

/// Opens a tunnel to `example.com:443`, says `first` in it, and returns what the site saw of it.
fn through(rig: &Rig, first: &[u8]) -> String {
    let mut tunnel = TcpStream::connect(rig.at).unwrap();
    tunnel.write_all(connect_to("example.com:443").as_bytes()).unwrap();
    let mut reader = BufReader::new(tunnel.try_clone().unwrap());
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|read| read > 2) {}
    assert!(line.starts_with("HTTP/1.1 200"), "{line}");
    // In two parts, as networks do.
    let (one, two) = first.split_at(first.len() / 2);
    tunnel.write_all(one).unwrap();
    let _ = tunnel.write_all(two);
    // The site answers at the end of a line.
    let _ = tunnel.write_all(b"\r\n\r\n");
    let mut answer = Vec::new();
    let _ = reader.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn a51_a_tunnel_carries_no_hello_to_another_host() {
    let rig = Rig::usual();
    let hello = |names: &[&str]| super::hello::hello(names, 40);
    assert!(through(&rig, &hello(&["example.com"])).contains("site saw"));
    assert!(through(&rig, b"plain").contains("site saw plain"));
    for names in [&["evil.example"][..], &[], &["example.com", "evil.example"], &["example.com.evil.example"]]
    {
        let before = rig.proxy.used().iter().map(|line| line.bytes_up).sum::<u64>();
        let answer = through(&rig, &hello(names));
        assert!(!answer.contains("site saw"), "{names:?}: {answer}");
        let after = rig.proxy.used().iter().map(|line| line.bytes_up).sum::<u64>();
        assert_eq!(after, before, "{names:?}: bytes reached the server");
    }
    let told = |line: &Used| line.outcome == Outcome::Refused(Refusal::OtherName) && line.requests == 4;
    assert!(rig.proxy.used().iter().any(told), "{:?}", rig.proxy.used());
}
