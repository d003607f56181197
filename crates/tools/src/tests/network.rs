//! Commands in the real cage that may reach some hosts.
//!
//! The internet is a [`Town`] on this machine, so only names, the proxy and the cage decide. Invariant: each refusal
//! stands beside a request that gets through.

use super::rig::Rig;
use crate::Cages;
use crate::launch::{Hold, Order, Reach, Running};
use crate::network::tests::Town;
use crate::network::{Outcome, Refusal};
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

/// Runs a script of bash that may reach `example.com`, and returns what it printed and what it asked for.
fn run(script: &str) -> (String, Vec<(String, Outcome)>, Vec<String>) {
    let rig = Rig::new();
    let town =
        Town::new(&[("example.com", &[&["93.184.216.34"]]), ("inside.example", &[&["169.254.169.254"]])]);
    let order = Order {
        program: "/bin/bash".into(),
        args: vec!["-c".to_owned(), format!("exec 2>&1; {script}")],
        env: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
        folder: rig.ctx.place.path().to_owned(),
        look: Vec::new(),
        hide: Vec::new(),
        keep: Vec::new(),
        reach: Reach::Hosts(
            ["example.com:80", "example.com", "inside.example:80"]
                .map(|site| site.parse().unwrap())
                .into_iter()
                .collect(),
        ),
        hold: Hold::Caged,
    };
    let mut running: Box<dyn Running> = Cages.launch_by(&order, Arc::clone(&town) as _).unwrap();
    let mut printed = String::new();
    running.pipes().0.unwrap().read_to_string(&mut printed).unwrap();
    running.wait_timeout(Duration::from_secs(20)).unwrap();
    let used = running.used().into_iter().map(|line| (line.site, line.outcome)).collect();
    (printed, used, town.connected())
}

#[test]
fn r_pol_08_a_granted_host_is_reached_and_nothing_else() {
    let (printed, used, connected) = run(
        "curl -sS http://example.com/by-curl; curl -sS http://other.example/
         curl -sS https://other.example/; curl -sS http://93.184.216.34/ ; curl -sS http://localhost/
         /usr/bin/python3 -c 'import urllib.request as u; print(u.urlopen(\"http://example.com/by-python\").read())'
         exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT example.com:443 HTTP/1.1\\r\\n\\r\\n' >&3
         read -r line <&3; echo \"tunnel: $line\"; printf 'GET /by-tunnel HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3",
    );
    for expect in [
        "site saw GET /by-curl",
        "Daybook: other.example:80: the person hasn't granted this site",
        "Daybook: 93.184.216.34: only public hosts can be reached, by their names",
        "Daybook: localhost: only public hosts",
        "site saw GET /by-python",
        "tunnel: HTTP/1.1 200",
        "site saw GET /by-tunnel",
    ] {
        assert!(printed.contains(expect), "{expect}: {printed}");
    }
    assert_eq!(connected, ["93.184.216.34:80", "93.184.216.34:80", "93.184.216.34:443"]);
    let refused = |refusal| Outcome::Refused(refusal);
    for expect in [
        ("example.com:80", Outcome::Granted),
        ("example.com:443", Outcome::Granted),
        ("other.example:80", refused(Refusal::NotGranted)),
        ("other.example:443", refused(Refusal::NotGranted)),
        ("93.184.216.34", refused(Refusal::NotAName)),
        ("localhost", refused(Refusal::NotAName)),
    ] {
        assert!(used.contains(&(expect.0.to_owned(), expect.1)), "{expect:?}: {used:?}");
    }
    assert_eq!(used.len(), 6, "{used:?}");
}

#[test]
fn a51_a52_nothing_goes_around_the_proxy() {
    let own = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = own.local_addr().unwrap().port();
    let (printed, used, connected) = run(&format!(
        "curl -sS -o /dev/null -w 'granted %{{http_code}}\\n' http://example.com/
         curl -sS --noproxy '*' -m 3 http://93.184.216.34/ || echo direct refused
         curl -sS --noproxy '*' -m 3 http://127.0.0.1:{port}/ || echo own port refused
         curl -sS -m 3 -o /dev/null -w 'inside %{{http_code}}\\n' http://inside.example/latest/meta-data
         curl -sS -m 3 -o /dev/null -w 'metadata %{{http_code}}\\n' http://169.254.169.254/latest/meta-data
         getent hosts example.com || echo no resolver
         /usr/bin/python3 -c 'import socket; socket.getaddrinfo(\"example.com\", 80)' 2>/dev/null || echo no getaddrinfo
         /usr/bin/python3 -c 'import socket; socket.socket(type=socket.SOCK_DGRAM)' 2>/dev/null || echo no datagrams
         (: > /dev/udp/8.8.8.8/53) 2>/dev/null || echo no dns"
    ));
    for expect in [
        "granted 200",
        "direct refused",
        "own port refused",
        "inside 403",
        "metadata 403",
        "no resolver",
        "no getaddrinfo",
        "no datagrams",
        "no dns",
    ] {
        assert!(printed.contains(expect), "{expect}: {printed}");
    }
    assert_eq!(connected, ["93.184.216.34:80"]);
    assert_eq!(used.len(), 3, "{used:?}");
    own.set_nonblocking(true).unwrap();
    assert!(own.accept().is_err(), "the app's own port was reached");
}

#[test]
fn a51_a_flood_from_the_cage_is_bounded() {
    let (printed, ..) = run("/usr/bin/python3 -c '
import resource, socket
resource.setrlimit(resource.RLIMIT_NOFILE, (1000, 1000))
held, refused = [], 0
for _ in range(5000):
    one = socket.socket(); one.settimeout(0.01)
    try: one.connect((\"127.0.0.1\", 3128)); held.append(one)
    except OSError: refused += 1; one.close()
    if refused > 20: break
print(\"held\", len(held) < 200)
[one.close() for one in held]'
         curl -sS http://example.com/after");
    assert!(printed.contains("held True") && printed.contains("site saw GET /after"), "{printed}");
}

#[test]
fn r_pol_08_protected_names_that_a_command_makes_are_told() {
    let rig = Rig::new();
    let folder = rig.ctx.place.path().to_owned();
    std::fs::write(folder.join("CLAUDE.md"), "was there").unwrap();
    let order = Order {
        program: "/bin/bash".into(),
        args: vec![
            "-c".to_owned(),
            "mkdir -p .vscode; echo x > AGENTS.md; echo x > CLAUDE.md; echo x > free".to_owned(),
        ],
        env: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
        look: Vec::new(),
        hide: Vec::new(),
        keep: ["CLAUDE.md", "AGENTS.md", ".vscode", ".git/hooks"].map(|name| folder.join(name)).to_vec(),
        folder,
        reach: Reach::Nothing,
        hold: Hold::Caged,
    };
    let running = Cages.launch_by(&order, Town::new(&[]) as _).unwrap();
    running.wait_timeout(Duration::from_secs(20)).unwrap();
    let made: Vec<_> = running.made().iter().map(|path| path.file_name().unwrap().to_owned()).collect();
    assert_eq!(made, ["AGENTS.md", ".vscode"]);
}
