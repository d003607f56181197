//! The system-call filter.
//!
//! Refuses what no command in a project folder needs: sockets of every family, other processes' memory, mounts
//! and namespaces, kernel keys, programs and modules, files that run as their owner or group, and interfaces with a
//! history of holes. Invariant: a call
//! through a foreign calling convention never slips past the numbers compared here: it ends the process.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

use super::launcher::Broken;
use super::wire::Plan;
use crate::strength::Mechanism;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Refused whatever their arguments, with "operation not permitted".
const REFUSED: &[libc::c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    // Mounts, roots and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_quotactl,
    // Kernel keys, programs and modules.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_syslog,
    // The machine.
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Refused with "not implemented": programs then take the older way, which can be looked at.
const ABSENT: &[libc::c_long] = &[
    libc::SYS_clone3,
    libc::SYS_openat2,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

/// Refused where there are no namespaces and file rules are the only wall: they say nothing about these.
const REFUSED_ALONE: &[libc::c_long] = &[
    // Modes, owners and attributes by path, of any file the user owns.
    libc::SYS_fchmodat,
    SYS_FCHMODAT2,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    SYS_SETXATTRAT,
    SYS_REMOVEXATTRAT,
    SYS_FILE_SETATTR,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    // Memory, queues and locks shared by number or name with processes outside.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // Other processes' memory placement.
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
];

/// And these too where nothing may be changed: a file that is open for reading can be changed through them.
const REFUSED_READ_ONLY: &[libc::c_long] =
    &[libc::SYS_fchmod, libc::SYS_fchown, libc::SYS_fsetxattr, libc::SYS_fremovexattr, libc::SYS_utimensat];

// Numbers above 424 are the same on every architecture; the C library's headers may be older than the kernel.
const SYS_FCHMODAT2: libc::c_long = 452;
const SYS_SETXATTRAT: libc::c_long = 463;
const SYS_REMOVEXATTRAT: libc::c_long = 466;
const SYS_FILE_SETATTR: libc::c_long = 469;

/// Confines this process and its children to come.
pub(crate) fn apply(plan: &Plan) -> Result<(), Broken> {
    let fail = |error: seccompiler::Error| Broken::at("system-call filter", error);
    if plan.mechanism == Some(Mechanism::Landlock) {
        let read_only = !plan.writable.contains(&plan.workdir);
        seccompiler::apply_filter(&alone(read_only).map_err(|error| fail(error.into()))?).map_err(fail)?;
    }
    // Several filters: the kernel takes the strictest answer of all that are loaded.
    seccompiler::apply_filter(&absent().map_err(|error| fail(error.into()))?).map_err(fail)?;
    let mut program = foreign_calls();
    program.extend(refused(plan.outlet).map_err(|error| fail(error.into()))?);
    seccompiler::apply_filter(&program).map_err(fail)
}

fn refused(outlet: bool) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: Rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    sockets(&mut rules, outlet)?;
    privileges(&mut rules)?;
    let namespaces = [
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ];
    for flag in namespaces {
        let flag = u64::from(flag.unsigned_abs());
        add(&mut rules, libc::SYS_clone, 0, SeccompCmpOp::MaskedEq(flag), flag)?;
    }
    // Typing into a terminal somebody else reads.
    add(&mut rules, libc::SYS_ioctl, 1, SeccompCmpOp::Eq, libc::TIOCSTI)?;
    add(&mut rules, libc::SYS_ioctl, 1, SeccompCmpOp::Eq, libc::TIOCLINUX)?;
    filter(rules, libc::EPERM)
}

/// Network and local sockets: there is none to be had but unnamed pairs of the local family and, with an outlet, TCP
/// sockets, for which the network namespace holds nothing but the outlet. Pairs must be connected for good: one of
/// datagrams could send to any local socket by its path.
fn sockets(rules: &mut Rules, outlet: bool) -> Result<(), seccompiler::BackendError> {
    const FAMILY: u8 = 0;
    const KIND: u8 = 1;
    const PROTOCOL: u8 = 2;
    let number = |number: libc::c_int| u64::from(number.unsigned_abs());
    let other_kinds = |kinds: &[libc::c_int]| {
        let kinds: Vec<u64> = kinds.iter().map(|kind| number(*kind)).collect();
        (0..=KIND_MASK).filter(move |kind| !kinds.contains(kind))
    };
    add(rules, libc::SYS_socketpair, FAMILY, SeccompCmpOp::Ne, number(libc::AF_UNIX))?;
    for kind in other_kinds(&[libc::SOCK_STREAM, libc::SOCK_SEQPACKET]) {
        add(rules, libc::SYS_socketpair, KIND, SeccompCmpOp::MaskedEq(KIND_MASK), kind)?;
    }
    if !outlet {
        rules.insert(libc::SYS_socket, Vec::new());
        return Ok(());
    }
    let all_but = |argument, allowed: [libc::c_int; 2]| {
        let but =
            |one| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, number(one));
        SeccompRule::new(vec![but(allowed[0])?, but(allowed[1])?])
    };
    let socket = rules.entry(libc::SYS_socket).or_default();
    socket.push(all_but(FAMILY, [libc::AF_INET, libc::AF_INET6])?);
    socket.push(all_but(PROTOCOL, [0, libc::IPPROTO_TCP])?);
    for kind in other_kinds(&[libc::SOCK_STREAM]) {
        add(rules, libc::SYS_socket, KIND, SeccompCmpOp::MaskedEq(KIND_MASK), kind)?;
    }
    Ok(())
}

/// Calls that give a file a mode, and which argument it is.
const MODES: &[(libc::c_long, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (SYS_FCHMODAT2, 2),
    (libc::SYS_mknodat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
];
/// Calls whose mode counts only when their flags make a file: the flags, and the mode.
const OPENING: &[(libc::c_long, u8, u8)] = &[
    (libc::SYS_openat, 2, 3),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1, 2),
];

/// A file that runs as its owner or group would outlive the cage and act outside of it. Only the mode that is asked for can be
/// looked at: the kernel takes these bits from a new folder's mode by itself, and what passes its mode in memory is absent.
fn privileges(rules: &mut Rules) -> Result<(), seccompiler::BackendError> {
    let has = |argument, bits: u64| {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(bits), bits)
    };
    for bit in [libc::S_ISUID, libc::S_ISGID].map(u64::from) {
        for (call, mode) in MODES {
            rules.entry(*call).or_default().push(SeccompRule::new(vec![has(*mode, bit)?])?);
        }
        for (call, flags, mode) in OPENING {
            for making in [libc::O_CREAT, libc::O_TMPFILE] {
                let making = u64::from(making.unsigned_abs());
                let rule = SeccompRule::new(vec![has(*flags, making)?, has(*mode, bit)?])?;
                rules.entry(*call).or_default().push(rule);
            }
        }
    }
    Ok(())
}

/// The part of a socket's type that isn't flags.
const KIND_MASK: u64 = 0xf;

fn alone(read_only: bool) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: Rules = REFUSED_ALONE.iter().map(|call| (*call, Vec::new())).collect();
    if read_only {
        rules.extend(REFUSED_READ_ONLY.iter().map(|call| (*call, Vec::new())));
    } else {
        // Times by descriptor have no path.
        let by_path = SeccompCondition::new(1, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
        rules.insert(libc::SYS_utimensat, vec![SeccompRule::new(vec![by_path])?]);
    }
    // Limits and priorities of processes other than the caller.
    add(&mut rules, libc::SYS_prlimit64, 0, SeccompCmpOp::Ne, 0)?;
    add(&mut rules, libc::SYS_setpriority, 1, SeccompCmpOp::Ne, 0)?;
    add(&mut rules, libc::SYS_ioprio_set, 1, SeccompCmpOp::Ne, 0)?;
    filter(rules, libc::EPERM)
}

fn absent() -> Result<BpfProgram, seccompiler::BackendError> {
    filter(ABSENT.iter().map(|call| (*call, Vec::new())).collect(), libc::ENOSYS)
}

fn filter(rules: Rules, error: i32) -> Result<BpfProgram, seccompiler::BackendError> {
    let refuse = SeccompAction::Errno(error.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, ARCHITECTURE)?.try_into()
}

fn add(
    rules: &mut Rules,
    call: libc::c_long,
    argument: u8,
    compare: SeccompCmpOp,
    value: u64,
) -> Result<(), seccompiler::BackendError> {
    // The kernel looks at the lower half of these arguments only, so must we.
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compare, value)?;
    rules.entry(call).or_default().push(SeccompRule::new(vec![condition])?);
    Ok(())
}

/// On x86-64 the same architecture word also covers the x32 convention, whose numbers carry one more bit and
/// would compare as unknown, hence allowed. Other architectures are refused by the filter's own first lines.
fn foreign_calls() -> BpfProgram {
    const LOAD_NUMBER: u16 = 0x20;
    const JUMP_IF_GREATER_OR_EQUAL: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const X32_BIT: u32 = 0x4000_0000;
    const KILL_PROCESS: u32 = 0x8000_0000;
    if cfg!(not(target_arch = "x86_64")) {
        return Vec::new();
    }
    vec![
        sock_filter { code: LOAD_NUMBER, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_IF_GREATER_OR_EQUAL, jt: 0, jf: 1, k: X32_BIT },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: KILL_PROCESS },
    ]
}

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: TargetArch = TargetArch::aarch64;
#[cfg(target_arch = "riscv64")]
const ARCHITECTURE: TargetArch = TargetArch::riscv64;
