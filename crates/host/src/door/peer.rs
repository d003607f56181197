//! Who is at the door: the same user, and not out of a cage.
//!
//! The kernel tells who made the connection. A caged process lives in a process namespace of its own; one whose namespace
//! isn't ours, or can't be seen, stays outside. Invariant: in doubt, no.

use std::path::Path;
use tokio::net::UnixStream;

/// What the kernel says of a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Peer {
    pub(super) uid: u32,
    /// None where the system doesn't say, or the process can't be seen from here.
    pub(super) pid: Option<i32>,
}

/// Why a peer stays outside.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Outside {
    #[error("the kernel doesn't say who this is")]
    Nobody,
    #[error("another user ({0})")]
    OtherUser(u32),
    #[error("a process out of a cage")]
    Caged,
}

/// Looks at a connection.
pub(super) fn admit(stream: &UnixStream, uid: u32) -> Result<(), Outside> {
    let credentials = stream.peer_cred().map_err(|_| Outside::Nobody)?;
    admitted(&Peer { uid: credentials.uid(), pid: credentials.pid() }, uid, namespace)
}

pub(super) fn admitted(
    peer: &Peer,
    uid: u32,
    namespace: impl Fn(&str) -> Option<String>,
) -> Result<(), Outside> {
    if peer.uid != uid {
        return Err(Outside::OtherUser(peer.uid));
    }
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    let Some(pid) = peer.pid.filter(|pid| *pid > 0) else { return Err(Outside::Caged) };
    match (namespace("self"), namespace(&pid.to_string())) {
        (Some(ours), Some(theirs)) if ours == theirs => Ok(()),
        _ => Err(Outside::Caged),
    }
}

/// The name of a process's process namespace.
fn namespace(process: &str) -> Option<String> {
    let link = Path::new("/proc").join(process).join("ns/pid");
    std::fs::read_link(link).ok().map(|name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(uid: u32, pid: Option<i32>, theirs: Option<&str>, expect: Result<(), Outside>) {
        let names = |process: &str| match process {
            "self" => Some("pid:[1]".to_owned()),
            _ => theirs.map(str::to_owned),
        };
        assert_eq!(admitted(&Peer { uid, pid }, 1000, names), expect);
    }

    #[test]
    fn a64_only_the_same_user_outside_any_cage_comes_in() {
        check(1000, Some(7), Some("pid:[1]"), Ok(()));
        check(0, Some(7), Some("pid:[1]"), Err(Outside::OtherUser(0)));
        check(1001, Some(7), Some("pid:[1]"), Err(Outside::OtherUser(1001)));
        #[cfg(target_os = "linux")]
        {
            check(1000, Some(7), Some("pid:[2]"), Err(Outside::Caged));
            check(1000, Some(7), None, Err(Outside::Caged));
            check(1000, Some(0), Some("pid:[1]"), Err(Outside::Caged));
            check(1000, None, Some("pid:[1]"), Err(Outside::Caged));
        }
    }

    #[test]
    fn this_process_is_in_its_own_namespace() {
        let own = std::process::id().to_string();
        if cfg!(target_os = "linux") {
            assert!(namespace("self").is_some());
        }
        assert_eq!(namespace("self"), namespace(&own));
    }
}
