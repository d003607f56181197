//! Everything a caged command must not be able to do, tried through the system calls themselves.
//!
//! Prints `name: ok` where an attempt got through and `name: ERROR` where it didn't. Attempts that the kernel
//! answers by ending the process run in a child. Invariant: outside a cage only harmless attempts are made, at
//! targets the test brought; whatever could hurt the machine needs proof that privileges were given up.
#![expect(unsafe_code, reason = "attacks are system calls with arguments no wrapper would pass")]

use std::ffi::CString;
use std::io;
use std::net::{TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};

/// What the attacker is told about the world outside.
struct Targets<'a> {
    tcp: u16,
    tcp6: u16,
    udp: u16,
    udp6: u16,
    socket: &'a str,
    hidden_socket: &'a str,
    abstract_name: &'a str,
    pid: i32,
    file: &'a str,
}

pub(crate) fn run(args: &[String]) {
    let [tcp, tcp6, udp, udp6, socket, hidden_socket, abstract_name, pid, file] = args else {
        panic!("usage: attack TCP TCP6 UDP UDP6 SOCKET HIDDEN_SOCKET ABSTRACT PID FILE")
    };
    let targets = Targets {
        tcp: tcp.parse().unwrap(),
        tcp6: tcp6.parse().unwrap(),
        udp: udp.parse().unwrap(),
        udp6: udp6.parse().unwrap(),
        socket,
        hidden_socket,
        abstract_name,
        pid: pid.parse().unwrap(),
        file,
    };
    network(&targets);
    outside(&targets);
    for (name, outcome) in crate::privileges::attempts() {
        report(&name, outcome);
    }
    if !rustix::thread::no_new_privs().unwrap() {
        println!("uncaged: stopping here");
        return;
    }
    sockets();
    processes(&targets);
    files(&targets);
    namespaces();
    kernel();
    conventions();
    println!("tried everything");
}

fn network(targets: &Targets<'_>) {
    report("tcp", TcpStream::connect(("127.0.0.1", targets.tcp)));
    report("tcp ipv6", TcpStream::connect(("::1", targets.tcp6)));
    report(
        "udp",
        UdpSocket::bind("127.0.0.1:0").and_then(|from| from.send_to(b"x", ("127.0.0.1", targets.udp))),
    );
    report("udp ipv6", UdpSocket::bind("[::1]:0").and_then(|from| from.send_to(b"x", ("::1", targets.udp6))));
    report("unix socket in the folder", UnixStream::connect(targets.socket));
    report("unix socket outside", UnixStream::connect(targets.hidden_socket));
    report("abstract unix socket", {
        SocketAddr::from_abstract_name(targets.abstract_name).and_then(|to| UnixStream::connect_addr(&to))
    });
}

/// The victim and its file: what every process of the same user may do.
fn outside(targets: &Targets<'_>) {
    // SAFETY: numbers only.
    report_call("signal", unsafe { libc::kill(targets.pid, 0).into() });
    report("environment of the app", std::fs::read(format!("/proc/{}/environ", targets.pid)));
    report("read outside", std::fs::read(targets.file));
    report("write outside", std::fs::OpenOptions::new().write(true).open(targets.file));
}

fn sockets() {
    report("unix datagram", UnixDatagram::unbound());
    report("pair of datagram sockets", UnixDatagram::pair());
    report("listening", UdpSocket::bind("0.0.0.0:0"));
    for bus in ["/run/dbus/system_bus_socket", "/run/user/0/bus", "/tmp/.X11-unix/X0", "/run/docker.sock"] {
        report(&format!("socket {bus}"), UnixStream::connect(bus));
    }
    let kinds = [
        ("raw socket", libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP),
        ("packet socket", libc::AF_PACKET, libc::SOCK_RAW, 0),
        ("netlink socket", libc::AF_NETLINK, libc::SOCK_RAW, 0),
        ("vsock", libc::AF_VSOCK, libc::SOCK_STREAM, 0),
        ("crypto socket", libc::AF_ALG, libc::SOCK_SEQPACKET, 0),
    ];
    for (name, family, kind, protocol) in kinds {
        // SAFETY: numbers only.
        report_call(name, unsafe { libc::socket(family, kind, protocol) }.into());
    }
    let mut pair = [0; 2];
    // SAFETY: the array has room for two descriptors.
    report_call("pair of ipv6 sockets", unsafe {
        libc::socketpair(libc::AF_INET6, libc::SOCK_STREAM, 0, pair.as_mut_ptr()).into()
    });
}

fn processes(targets: &Targets<'_>) {
    let null = std::ptr::null::<libc::c_void>();
    // SAFETY: numbers and null pointers; nothing of this process is read or written.
    unsafe {
        report_call("ptrace", libc::ptrace(libc::PTRACE_SEIZE, targets.pid, null, null));
        report_call("own tracing", libc::ptrace(libc::PTRACE_TRACEME, 0, null, null));
        let handle = libc::syscall(libc::SYS_pidfd_open, targets.pid, 0);
        report_call("signal by handle", libc::syscall(libc::SYS_pidfd_send_signal, handle, 0, null, 0));
        let limit = libc::rlimit { rlim_cur: 1, rlim_max: 1 };
        let old = std::ptr::null_mut();
        report_call(
            "limits of the app",
            libc::prlimit(targets.pid, libc::RLIMIT_NOFILE, &raw const limit, old).into(),
        );
        let app = targets.pid.unsigned_abs();
        report_call("priority of the app", libc::setpriority(libc::PRIO_PROCESS, app, 5).into());
    }
    let mut byte = 0_u8;
    let here = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    // SAFETY: the local buffer is one byte long and lives through the call.
    report_call("another's memory", unsafe {
        libc::process_vm_readv(targets.pid, &raw const here, 1, &raw const here, 1, 0).try_into().unwrap()
    });
    report("environment of process 1", std::fs::read("/proc/1/environ"));
    report("memory of process 1", std::fs::OpenOptions::new().read(true).open("/proc/1/mem"));
    report("root of process 1", std::fs::read_dir("/proc/1/root"));
    report(
        "descriptors of process 1",
        (0..10)
            .map(|number| std::fs::read_link(format!("/proc/1/fd/{number}")))
            .find(Result::is_ok)
            .unwrap_or_else(|| Err(io::Error::other("none"))),
    );
}

fn files(targets: &Targets<'_>) {
    report("truncate outside", {
        let path = CString::new(targets.file).unwrap();
        // SAFETY: a valid C string.
        result(unsafe { libc::truncate(path.as_ptr(), 0) }.into())
    });
    report("delete outside", std::fs::remove_file(targets.file));
    report(
        "change mode outside",
        std::fs::set_permissions(targets.file, std::os::unix::fs::PermissionsExt::from_mode(0o777)),
    );
    let path = CString::new(targets.file).unwrap();
    // SAFETY (both): valid C strings, null for "now".
    unsafe {
        report_call(
            "change owner outside",
            libc::chown(path.as_ptr(), libc::getuid(), libc::getgid()).into(),
        );
        report_call("change times outside", libc::utimes(path.as_ptr(), std::ptr::null()).into());
        let name = c"user.attack";
        report_call(
            "attribute outside",
            libc::setxattr(path.as_ptr(), name.as_ptr(), name.as_ptr().cast(), 1, 0).into(),
        );
    }
    report("write system file", std::fs::write("/usr/attack", "x"));
    report("write configuration", std::fs::write("/etc/attack", "x"));
    report("write the root", std::fs::write("/attack", "x"));
    report("kernel setting", std::fs::OpenOptions::new().write(true).open("/proc/sys/kernel/core_pattern"));
    report("sysrq", std::fs::OpenOptions::new().write(true).open("/proc/sysrq-trigger"));
    report(
        "kernel memory",
        std::fs::File::open("/proc/kcore").and_then(|mut file| {
            let mut bytes = [0; 16];
            io::Read::read_exact(&mut file, &mut bytes)
        }),
    );
    report("device tree", std::fs::read_dir("/sys/class"));
    let place =
        CString::new(format!("{}/attack-device", std::env::var("TMPDIR").unwrap_or("/tmp".into()))).unwrap();
    // SAFETY: a valid C string and numbers.
    let made = unsafe { libc::mknod(place.as_ptr(), libc::S_IFBLK | 0o600, libc::makedev(254, 0)) };
    report_call("block device", made.into());
    let escape =
        std::fs::read_dir("/proc/self/root/root").or_else(|_| std::fs::read_dir("/proc/self/cwd/../../root"));
    report("climb to the home of root", escape);
}

fn namespaces() {
    let path = c"/tmp";
    let kinds = [
        ("new user namespace", libc::CLONE_NEWUSER),
        ("new mount namespace", libc::CLONE_NEWNS),
        ("new network namespace", libc::CLONE_NEWNET),
    ];
    for (name, kind) in kinds {
        report(
            name,
            in_child(|| {
                // SAFETY: numbers only, in a child of its own.
                result(unsafe { libc::unshare(kind) }.into())
            }),
        );
        report(
            &format!("{name} by clone"),
            in_child(|| {
                // SAFETY: like fork; the new process leaves at once.
                let pid = unsafe { libc::syscall(libc::SYS_clone, kind | libc::SIGCHLD, 0, 0, 0, 0) };
                if pid == 0 {
                    // SAFETY: a number.
                    unsafe { libc::_exit(0) };
                }
                result(pid)
            }),
        );
    }
    // SAFETY (all): valid C strings, null pointers the kernel checks, or numbers.
    unsafe {
        report_call("clone3", libc::syscall(libc::SYS_clone3, std::ptr::null::<libc::c_void>(), 0));
        let none = std::ptr::null();
        report_call("mount", libc::mount(c"none".as_ptr(), path.as_ptr(), c"tmpfs".as_ptr(), 0, none).into());
        report_call("unmount", libc::umount2(c"/proc".as_ptr(), libc::MNT_DETACH).into());
        report_call("chroot", libc::chroot(path.as_ptr()).into());
        report_call("pivot_root", libc::syscall(libc::SYS_pivot_root, path.as_ptr(), path.as_ptr()));
        report_call("fsopen", libc::syscall(libc::SYS_fsopen, c"tmpfs".as_ptr(), 0));
        report_call("open_tree", libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), 1));
        report_call("setns", libc::setns(-1, 0).into());
        report_call("host name", libc::sethostname(c"x".as_ptr(), 1).into());
    }
    report(
        "user map",
        std::fs::OpenOptions::new()
            .write(true)
            .open("/proc/self/uid_map")
            .and_then(|mut map| io::Write::write_all(&mut map, b"0 0 1")),
    );
}

fn kernel() {
    let null = std::ptr::null::<libc::c_void>();
    let mut zeroed = [0_u64; 32];
    let room = zeroed.as_mut_ptr();
    // SAFETY (all): numbers, null pointers, or a buffer larger than any of the structures asked for.
    unsafe {
        report_call("bpf", libc::syscall(libc::SYS_bpf, 0, room, 64));
        report_call("io_uring", libc::syscall(libc::SYS_io_uring_setup, 1, room));
        report_call("keyctl", libc::syscall(libc::SYS_keyctl, 0, -3, 1));
        report_call(
            "add_key",
            libc::syscall(libc::SYS_add_key, c"user".as_ptr(), c"x".as_ptr(), c"x".as_ptr(), 1, -3),
        );
        report_call(
            "request_key",
            libc::syscall(libc::SYS_request_key, c"user".as_ptr(), c"x".as_ptr(), null, 0),
        );
        report_call("userfaultfd", libc::syscall(libc::SYS_userfaultfd, 1));
        report_call("perf", libc::syscall(libc::SYS_perf_event_open, room, 0, -1, -1, 0));
        report_call("module", libc::syscall(libc::SYS_init_module, null, 0, c"".as_ptr()));
        report_call("kexec", libc::syscall(libc::SYS_kexec_load, 0, 0, null, 0));
        report_call("kernel log", libc::syscall(libc::SYS_syslog, 3, room, 8));
        report_call("file handle", libc::syscall(libc::SYS_open_by_handle_at, -1, room, 0));
        report_call("fanotify", libc::syscall(libc::SYS_fanotify_init, 0, 0));
        report_call("typing into a terminal", libc::ioctl(0, libc::TIOCSTI, c"x".as_ptr()).into());
    }
}

/// The same calls through other calling conventions, which a filter by number could miss.
fn conventions() {
    #[cfg(target_arch = "x86_64")]
    {
        const X32: i64 = 0x4000_0000;
        report(
            "socket by x32",
            in_child(|| {
                // SAFETY: numbers only.
                result(unsafe { libc::syscall(X32 | libc::SYS_socket, libc::AF_UNIX, libc::SOCK_STREAM, 0) })
            }),
        );
        report(
            "socket by int 80",
            in_child(|| {
                let socket_32 = 359_i64;
                let answer: i64;
                // SAFETY: a system call with numbers only; the register the compiler reserves is saved around it.
                unsafe {
                    std::arch::asm!(
                        "xchg rbx, {family}", "int 0x80", "xchg rbx, {family}",
                        family = inout(reg) i64::from(libc::AF_UNIX) => _,
                        inlateout("rax") socket_32 => answer,
                        in("rcx") i64::from(libc::SOCK_STREAM), in("rdx") 0_i64,
                        out("r8") _, out("r9") _, out("r10") _, out("r11") _,
                    );
                }
                if answer < 0 {
                    Err(io::Error::from_raw_os_error(i32::try_from(-answer).unwrap()))
                } else {
                    Ok(())
                }
            }),
        );
    }
}

/// Runs an attempt in a child: being killed for it counts as an error of its own.
fn in_child(attempt: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    // SAFETY: this program has one thread.
    match unsafe { libc::fork() } {
        0 => {
            let code = attempt().err().map_or(0, |error| error.raw_os_error().unwrap_or(255));
            // SAFETY: a number.
            unsafe { libc::_exit(code) }
        }
        pid => {
            let mut status = 0;
            // SAFETY: the status lives through the call.
            unsafe { libc::waitpid(pid, &raw mut status, 0) };
            if libc::WIFSIGNALED(status) {
                return Err(io::Error::other(format!("killed by {}", libc::WTERMSIG(status))));
            }
            match libc::WEXITSTATUS(status) {
                0 => Ok(()),
                code => Err(io::Error::from_raw_os_error(code)),
            }
        }
    }
}

fn result(answer: libc::c_long) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn report_call(name: &str, answer: libc::c_long) {
    report(name, result(answer));
}

fn report<T>(name: &str, outcome: io::Result<T>) {
    match outcome {
        Ok(_) => println!("{name}: ok"),
        Err(error) => println!("{name}: {error}"),
    }
}
