//! Every way to a file that runs as its owner or its group, tried on files in the working folder.
//!
//! Harmless outside a cage, where all of it must succeed. Invariant: not the call's answer counts but the bits that the
//! file has then.

use std::ffi::CStr;
use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

const THERE: &CStr = c"there";
const NEW: &CStr = c"new";
const HERE: libc::c_int = libc::AT_FDCWD;
const SYS_FCHMODAT2: libc::c_long = 452;
const MAKING: libc::c_int = libc::O_CREAT | libc::O_WRONLY;

/// Gives each attempt's name and whether the bits are there.
pub(crate) fn attempts() -> Vec<(String, io::Result<()>)> {
    let mut done = Vec::new();
    for (whose, bits) in [("owner", libc::S_ISUID), ("group", libc::S_ISGID)] {
        let mode = bits | 0o755;
        let mut try_one = |name: &str, attempt: &dyn Fn() -> io::Result<Metadata>| {
            let _ = std::fs::remove_file("new");
            File::create("there").unwrap().set_permissions(Permissions::from_mode(0o755)).unwrap();
            let found = attempt().and_then(|meta| match meta.mode() & bits {
                0 => Err(io::Error::other("the bits aren't there")),
                _ => Ok(()),
            });
            done.push((format!("runs as its {whose} by {name}"), found));
        };
        // SAFETY (all): names that end, numbers, and one structure of the size that is said.
        let call =
            |path: &str, answer: libc::c_long| if answer < 0 { failed() } else { std::fs::metadata(path) };
        let (there, new) = (|answer| call("there", answer), |answer| call("new", answer));
        #[cfg(target_arch = "x86_64")]
        {
            try_one("chmod", &|| there(unsafe { libc::syscall(libc::SYS_chmod, THERE.as_ptr(), mode) }));
            try_one("open", &|| new(unsafe { libc::syscall(libc::SYS_open, NEW.as_ptr(), MAKING, mode) }));
            try_one("creat", &|| new(unsafe { libc::syscall(libc::SYS_creat, NEW.as_ptr(), mode) }));
            let file = mode | libc::S_IFREG;
            try_one("mknod", &|| new(unsafe { libc::syscall(libc::SYS_mknod, NEW.as_ptr(), file, 0) }));
        }
        let file = File::create("there").unwrap();
        try_one("fchmod", &|| there(unsafe { libc::syscall(libc::SYS_fchmod, file.as_raw_fd(), mode) }));
        try_one("fchmodat", &|| {
            there(unsafe { libc::syscall(libc::SYS_fchmodat, HERE, THERE.as_ptr(), mode) })
        });
        try_one("fchmodat2", &|| {
            there(unsafe { libc::syscall(SYS_FCHMODAT2, HERE, THERE.as_ptr(), mode, 0) })
        });
        try_one("openat", &|| {
            new(unsafe { libc::syscall(libc::SYS_openat, HERE, NEW.as_ptr(), MAKING, mode) })
        });
        try_one("mknodat", &|| {
            let file = mode | libc::S_IFREG;
            new(unsafe { libc::syscall(libc::SYS_mknodat, HERE, NEW.as_ptr(), file, 0) })
        });
        try_one("openat2", &|| {
            let how = [u64::from(MAKING.unsigned_abs()), u64::from(mode), 0];
            new(unsafe {
                libc::syscall(libc::SYS_openat2, HERE, NEW.as_ptr(), how.as_ptr(), size_of_val(&how))
            })
        });
        try_one("a file without a name", &|| {
            let flags = libc::O_TMPFILE | libc::O_RDWR;
            let opened = unsafe { libc::openat(HERE, c".".as_ptr(), flags, mode) };
            if opened < 0 { failed() } else { unsafe { File::from_raw_fd(opened) }.metadata() }
        });
    }
    done
}

fn failed<T>() -> io::Result<T> {
    Err(io::Error::last_os_error())
}
