//! The few system calls no safe wrapper exists for, and where the product's `unsafe` lives.
//!
//! Everything here but [`ON_LOAD`] runs in the launcher only, which has a single thread; that is what makes
//! forking and changing namespaces sound. Each function is a thin, total wrapper with a safe signature.
#![expect(unsafe_code, reason = "system calls without a safe wrapper; each block says why it holds")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::process::Pid;
use rustix::thread::UnshareFlags;

/// Runs [`super::hook::on_load`] in every binary this crate is linked into, before `main`: the launcher must
/// not depend on each binary (and each test harness) remembering to call us.
#[used]
// SAFETY: the section holds pointers to functions with C calling convention that the C library calls once, on
// the main thread, before `main`; the function unwinds nowhere and returns at once in an ordinary start.
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = {
    extern "C" fn on_load() {
        super::hook::on_load();
    }
    on_load
};

/// Which side of a fork this is.
pub(crate) enum Fork {
    Parent(Pid),
    Child,
}

/// Splits the launcher in two.
pub(crate) fn fork() -> io::Result<Fork> {
    // SAFETY: the launcher has one thread, so the child has a consistent heap and no lock held by another.
    let pid = unsafe { libc::fork() };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Fork::Child),
        pid => {
            Pid::from_raw(pid).map(Fork::Parent).ok_or_else(|| io::Error::other("fork gave no process id"))
        }
    }
}

/// Moves the launcher into new namespaces.
pub(crate) fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: unsafe because unsharing descriptors could break other threads' I/O safety; there is one thread,
    // and the flag for descriptors is never passed.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags - UnshareFlags::FILES) }?)
}

/// Adds attributes (`libc::MOUNT_ATTR_*`) to the mount behind `mount`, and to all below it if `deep`.
pub(crate) fn restrict_mount(mount: BorrowedFd<'_>, attributes: u64, deep: bool) -> io::Result<()> {
    let change = libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let flags = libc::AT_EMPTY_PATH | if deep { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is a valid C string and the structure lives through the call, with its true size.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const change,
            size_of::<libc::mount_attr>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Closes every descriptor from 3 up except those in `keep`.
pub(crate) fn close_all_but(keep: &[RawFd]) -> io::Result<()> {
    let mut keep: Vec<RawFd> = keep.iter().copied().filter(|fd| *fd > 2).collect();
    keep.sort_unstable();
    let mut from = 3;
    for fd in keep.into_iter().map(Some).chain([None]) {
        let last = fd.map_or(libc::c_uint::MAX, |fd| fd.unsigned_abs().saturating_sub(1));
        if from <= last {
            // SAFETY: called first thing in the launcher, or in a child that executes next; no object of ours
            // owns a descriptor in the range.
            let result = unsafe { libc::syscall(libc::SYS_close_range, from, last, 0) };
            if result != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        from = fd.map_or(from, |fd| fd.unsigned_abs() + 1);
    }
    Ok(())
}

/// Takes over a descriptor inherited under a known number.
pub(crate) fn adopt(fd: RawFd) -> OwnedFd {
    // SAFETY: the number came with the command line of our own launcher, which leaves the descriptor to us.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Switches the loopback device of this network namespace on; its addresses come with that.
pub(crate) fn raise_loopback() -> io::Result<()> {
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::DGRAM, None)?;
    // SAFETY: a structure of numbers, for which zeroes are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = from.cast_signed();
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: this request reads one `ifreq`, which lives through the call.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Lets the end of a child interrupt a wait for something else.
pub(crate) fn be_woken_by_children() -> io::Result<()> {
    extern "C" fn nothing(_: libc::c_int) {}
    let handler = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: the handler does nothing, so it may run at any time; programs executed later don't inherit it.
    let before = unsafe { libc::signal(libc::SIGCHLD, handler) };
    if before == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Landlock's interface version.
pub(crate) fn landlock_abi() -> Option<u32> {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with this flag the call takes no structure: null and zero are the documented arguments.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<libc::c_void>(), 0_usize, VERSION)
    };
    u32::try_from(version).ok().filter(|version| *version > 0)
}

/// Ends this process without running anything else: handlers registered by linked libraries belong to the app.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: takes a number and never returns.
    unsafe { libc::_exit(code) }
}
