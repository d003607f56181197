//! A cage whose only way to the network is the outlet.
//!
//! The helper answers what arrives there with the request's own first line, so a test sees what a proxy would be asked.
//! Invariant: each refusal is tried beside a request that gets through.

use sandbox::{CommandSpec, Mechanism, Network, PROXY_VARIABLES, Profile, SpawnError, spawn_in};

use crate::attacks::{World, got_through};
use crate::lab::{Lab, User, each_full_cage, output};

/// Runs a script of `bash` in a cage with an outlet.
fn run(lab: &Lab, mechanism: Mechanism, script: &str) -> String {
    let mut host = lab.helper();
    host.args(["host", mechanism.name(), "folder"]).arg(&lab.folder).arg("--proxy");
    output(host.args(["--", "/bin/bash", "-c", script]))
}

#[test]
fn programs_ask_the_proxy_and_nobody_else() {
    each_full_cage(|lab, mechanism| {
        let printed = run(
            lab,
            mechanism,
            "curl -sS http://example.com/page; curl -sS https://example.com/; /usr/bin/python3 -c '
import urllib.request
print(urllib.request.urlopen(\"http://example.org/py\").read().decode())'; curl -sS --noproxy '*' http://93.184.216.34/",
        );
        for expect in [
            "asked for GET http://example.com/page HTTP/1.1",
            "asked for GET http://example.org/py HTTP/1.1",
            "end: Code(7)",
        ] {
            assert!(printed.contains(expect), "{mechanism:?} for {:?}: {expect}: {printed}", lab.user);
        }
        assert!(!printed.contains("asked for GET / "), "{printed}");
    });
}

#[test]
fn the_proxy_variables_are_ours() {
    each_full_cage(|lab, mechanism| {
        let mut host = lab.helper();
        host.args(["host", mechanism.name(), "folder"]).arg(&lab.folder).arg("--proxy");
        host.args(["--env", "https_proxy=http://evil:1", "--env", "NO_PROXY=*", "--", "/usr/bin/env"]);
        let printed = output(&mut host);
        for name in PROXY_VARIABLES {
            assert!(printed.contains(&format!("\n{name}=http://127.0.0.1:3128\n")), "{name}: {printed}");
        }
        assert!(!printed.contains("NO_PROXY") && !printed.contains("evil"), "{printed}");
    });
}

#[test]
fn a51_a52_a73_a74_with_an_outlet_nothing_else_can_be_reached() {
    each_full_cage(|lab, mechanism| {
        let world = World::new(lab);
        let report = world.attack_with(lab, mechanism.name(), &["--proxy"]);
        assert!(report.contains("tried everything\nend: Code(0)"), "{report}");
        assert_eq!(got_through(&report), Vec::<&str>::new(), "{mechanism:?} for {:?}: {report}", lab.user);
        assert_eq!(world.reached(), 0, "{report}");
    });
}

#[test]
fn a52_with_an_outlet_no_name_is_resolved_and_no_datagram_sent() {
    each_full_cage(|lab, mechanism| {
        let printed = run(
            lab,
            mechanism,
            "getent hosts example.com; echo getent $?
             /usr/bin/python3 - <<'END'
import socket
def tried(what, attempt):
    try: attempt(); print(what, 'got through')
    except OSError as error: print(what, 'refused')
tried('getaddrinfo', lambda: socket.getaddrinfo('example.com', 80))
tried('gethostbyname', lambda: socket.gethostbyname('example.com'))
for family in (socket.AF_INET, socket.AF_INET6):
    tried('udp', lambda: socket.socket(family, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 53)))
    tried('icmp', lambda: socket.socket(family, socket.SOCK_DGRAM, socket.IPPROTO_ICMP))
    tried('raw', lambda: socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_UDP))
    tried('sctp', lambda: socket.socket(family, socket.SOCK_STREAM, 132))
    tried('multipath', lambda: socket.socket(family, socket.SOCK_STREAM, 262))
tried('dns over tcp', lambda: socket.create_connection(('8.8.8.8', 53), 3))
tried('dns at the stub', lambda: socket.create_connection(('127.0.0.53', 53), 3))
tried('listening', lambda: socket.create_server(('127.0.0.1', 8080)))
tried('unix', lambda: socket.socket(socket.AF_UNIX))
tried('outlet', lambda: socket.create_connection(('127.0.0.1', 3128), 3))
END
             (: > /dev/udp/127.0.0.1/53) 2>/dev/null && echo udp got through
             (: > /dev/tcp/127.0.0.1/22) 2>/dev/null && echo tcp got through
             (: > /dev/tcp/127.0.0.1/3128) && echo outlet by bash",
        );
        assert!(printed.contains("getent 2\n") && printed.contains("outlet by bash\n"), "{printed}");
        let through: Vec<_> = printed.lines().filter(|line| line.ends_with("got through")).collect();
        assert_eq!(through, ["outlet got through"], "{mechanism:?} for {:?}: {printed}", lab.user);
    });
}

#[test]
fn the_outlet_is_not_there_for_anybody_outside() {
    let lab = Lab::new(User::Myself);
    for mechanism in [Mechanism::Bubblewrap, Mechanism::Namespaces] {
        if !lab.mechanisms().contains(&mechanism) {
            continue;
        }
        let mut profile = Profile::for_folder(&lab.folder);
        profile.network = Network::Proxy;
        let mut caged = spawn_in(mechanism, &profile, &CommandSpec::shell("sleep 60")).unwrap();
        let outlet = caged.proxy.take().unwrap();
        let at = outlet.local_addr().unwrap();
        assert!(at.ip().is_loopback());
        outlet.set_nonblocking(true).unwrap();
        // Another program may use that number on this machine: what counts is that nothing arrives here.
        drop(std::net::TcpStream::connect(at));
        assert_eq!(outlet.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
        caged.kill();
    }
}

#[test]
fn a_cage_without_namespaces_refuses_to_promise_a_proxy() {
    let lab = Lab::new(User::Myself);
    let mut profile = Profile::for_folder(&lab.folder);
    profile.network = Network::Proxy;
    let refused = spawn_in(Mechanism::Landlock, &profile, &CommandSpec::shell("true"));
    assert!(matches!(refused, Err(SpawnError::CannotProxy { .. })), "{refused:?}");
    for mechanism in lab.mechanisms() {
        let started = spawn_in(mechanism, &profile, &CommandSpec::shell("true"));
        assert_eq!(started.is_ok(), mechanism.can_proxy(), "{mechanism:?}: {started:?}");
    }
}
