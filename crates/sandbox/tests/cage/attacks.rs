//! Attacks from inside: everything the helper tries must fail, in every cage, for every user.
//!
//! The world outside has servers of every kind, a process and a file of the same user. Invariant: the attempts that
//! are harmless to the machine are shown to succeed without a cage, so a broken attack can't pass for a wall.

use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::process::{Child, Stdio};

use sandbox::Mechanism;

use crate::lab::{Lab, User, each_cage, output};

/// Servers and a victim outside the cage.
pub(crate) struct World {
    tcp: Vec<TcpListener>,
    udp: Vec<UdpSocket>,
    unix: Vec<UnixListener>,
    arguments: Vec<String>,
    victim: Child,
}

impl World {
    pub(crate) fn new(lab: &Lab) -> Self {
        let tcp = ["127.0.0.1:0", "[::1]:0"].map(|at| TcpListener::bind(at).unwrap());
        let udp = ["127.0.0.1:0", "[::1]:0"].map(|at| UdpSocket::bind(at).unwrap());
        let outside = lab.owned_folder("outside");
        let name = format!("cage-lab-{}", outside.display());
        let sockets = [lab.folder.join("socket"), outside.join("socket")];
        let mut unix: Vec<_> = sockets.iter().map(|at| listen(at)).collect();
        unix.push(UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap());
        let secret = lab.owned_file(&outside.join("secret"), "the secret");
        let victim = lab.host("uncaged", "folder", &[], "sleep 600").stdout(Stdio::null()).spawn().unwrap();
        let mut arguments: Vec<String> = Vec::new();
        arguments.extend(tcp.iter().map(|server| server.local_addr().unwrap().port().to_string()));
        arguments.extend(udp.iter().map(|server| server.local_addr().unwrap().port().to_string()));
        arguments.extend(sockets.iter().map(|at| at.display().to_string()));
        arguments.extend([name, victim.id().to_string(), secret.display().to_string()]);
        Self { tcp: tcp.into(), udp: udp.into(), unix, arguments, victim }
    }

    fn attack(&self, lab: &Lab, how: &str) -> String {
        self.attack_with(lab, how, &[])
    }

    pub(crate) fn attack_with(&self, lab: &Lab, how: &str, options: &[&str]) -> String {
        let tools = lab.base.path().join("bin");
        let mut host = lab.helper();
        host.args(["host", how, "folder"]).arg(&lab.folder).arg("--ro").arg(tools).args(options);
        host.arg("--").arg(&lab.helper).arg("attack").args(&self.arguments);
        output(&mut host)
    }

    /// How many of the servers were reached.
    pub(crate) fn reached(&self) -> usize {
        let mut count = 0;
        for server in &self.tcp {
            server.set_nonblocking(true).unwrap();
            count += usize::from(server.accept().is_ok());
        }
        for server in &self.udp {
            server.set_nonblocking(true).unwrap();
            count += usize::from(server.recv(&mut [0; 8]).is_ok());
        }
        for server in &self.unix {
            server.set_nonblocking(true).unwrap();
            count += usize::from(server.accept().is_ok());
        }
        count
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.victim.kill().unwrap();
        self.victim.wait().unwrap();
    }
}

/// A socket that everybody may connect to.
fn listen(at: &Path) -> UnixListener {
    let server = UnixListener::bind(at).unwrap();
    std::fs::set_permissions(at, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    server
}

/// What got through that isn't harmless.
pub(crate) fn got_through(report: &str) -> Vec<&str> {
    report.lines().filter(|line| line.ends_with(": ok")).collect()
}

#[test]
fn a73_a74_nothing_outside_can_be_reached_or_changed() {
    each_cage(|lab, mechanism| {
        let world = World::new(lab);
        let report = world.attack(lab, mechanism.name());
        assert!(
            report.contains("tried everything\nend: Code(0)"),
            "the attack didn't run to its end: {report}"
        );
        assert_eq!(got_through(&report), Vec::<&str>::new(), "{mechanism:?} for {:?}: {report}", lab.user);
        assert_eq!(world.reached(), 0, "a server outside was reached: {report}");
        let secret = world.arguments.last().unwrap();
        assert_eq!(std::fs::read_to_string(secret).unwrap(), "the secret");
    });
}

/// Without this the test above could pass because the attack itself doesn't work.
#[test]
fn the_same_attack_succeeds_without_a_cage() {
    let lab = Lab::new(User::Myself);
    let world = World::new(&lab);
    let report = world.attack(&lab, "uncaged");
    let expected = [
        "tcp",
        "tcp ipv6",
        "udp",
        "udp ipv6",
        "unix socket in the folder",
        "unix socket outside",
        "abstract unix socket",
        "signal",
        "environment of the app",
        "read outside",
        "write outside",
    ];
    let through = got_through(&report);
    for name in expected {
        assert!(through.contains(&format!("{name}: ok").as_str()), "{name} didn't get through: {report}");
    }
    for line in report.lines().filter(|line| line.starts_with("runs as its ")) {
        // Older kernels don't have this call.
        assert!(line.ends_with(": ok") || line.contains("by fchmodat2: Function not implemented"), "{line}");
    }
    assert!(report.lines().filter(|line| line.starts_with("runs as its ")).count() >= 14, "{report}");
    assert_eq!(world.reached(), 7);
}

#[test]
fn a74_foreign_calling_conventions_end_the_process() {
    if cfg!(not(target_arch = "x86_64")) {
        return;
    }
    each_cage(|lab, mechanism| {
        let report = World::new(lab).attack(lab, mechanism.name());
        let killed = |line: &str| line.ends_with("killed by 31") || line.ends_with("killed by 11");
        for name in ["socket by x32", "socket by int 80"] {
            let line = report.lines().find(|line| line.starts_with(name)).unwrap();
            assert!(killed(line), "{line}");
        }
    });
}

/// A file that runs as its owner would be a way out that waits in the folder.
#[test]
fn a_command_makes_no_file_that_runs_as_its_owner_and_other_modes_work() {
    let script =
        "touch f && chmod u+s f; echo user $?; chmod g+s f; echo group $?; chmod 1750 f; echo sticky $?;
        cp -p f g && chmod 755 g; echo copied $?; mkdir -m 750 d; echo folder $?; ls -l f";
    each_cage(|lab, mechanism| {
        let printed = lab.run(mechanism.name(), &[], script);
        assert!(printed.contains("user 1\ngroup 1\n"), "{mechanism:?} for {:?}: {printed}", lab.user);
        if mechanism != Mechanism::Landlock {
            let rest = printed.contains("sticky 0\ncopied 0\nfolder 0\n") && printed.contains("-rwxr-x--T");
            assert!(rest, "{mechanism:?} for {:?}: {printed}", lab.user);
        }
    });
    let lab = Lab::new(User::Myself);
    assert!(lab.run("uncaged", &[], script).contains("user 0\ngroup 0\n"), "it works where nothing holds it");
}

#[test]
fn a52_names_are_not_resolved() {
    each_cage(|lab, mechanism| {
        let printed = lab.run(mechanism.name(), &[], "getent hosts example.com; echo code $?");
        assert!(printed.contains("code 2"), "{mechanism:?}: {printed}");
    });
}

#[test]
fn unnamed_socket_pairs_still_work() {
    // Pipelines of many runtimes are built on them; a filter that is too broad would be switched off.
    let lab = Lab::new(User::Myself);
    for mechanism in [Mechanism::Namespaces, Mechanism::Landlock] {
        if lab.mechanisms().contains(&mechanism) {
            let printed = lab.run(
                mechanism.name(),
                &[],
                "perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or die; print qq(paired\n)'",
            );
            assert!(printed.contains("paired"), "{printed}");
        }
    }
}
