//! The same cage, built by `bwrap`.
//!
//! Renders the places as arguments. Our own binary becomes process 1 inside through an open descriptor, so it
//! isn't visible in the cage. Invariant: nothing is passed but what the layout names, in its order.

use std::ffi::OsString;
use std::path::Path;

use super::layout::{Access, Place};

/// Where `bwrap` is looked for. Not through `PATH`: a project must not be able to bring its own.
const USUAL: &[&str] =
    &["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

/// The installed `bwrap`, if there is one.
pub(crate) fn find() -> Option<&'static Path> {
    USUAL.iter().map(Path::new).find(|path| path.is_file())
}

/// The arguments before `-- COMMAND`.
pub(crate) fn arguments(places: &[Place]) -> Vec<OsString> {
    let mut args: Vec<OsString> =
        ["--unshare-all", "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL", "--clearenv"]
            .iter()
            .map(OsString::from)
            .collect();
    let mut sealed: Vec<OsString> = vec!["/".into()];
    let mut add = |parts: &[&OsString]| args.extend(parts.iter().map(|part| (*part).clone()));
    for place in places {
        match place {
            Place::Empty { at, bytes, mode, sealed: seal } => {
                let (bytes, mode) = (bytes.to_string().into(), format!("{mode:04o}").into());
                add(&[&"--size".into(), &bytes, &"--perms".into(), &mode, &"--tmpfs".into(), at]);
                if *seal {
                    sealed.push(at.clone());
                }
            }
            Place::Link { at, to } => add(&[&"--symlink".into(), to, at]),
            Place::Bind { from, at, access } => {
                let how = match access {
                    Access::Read => "--ro-bind",
                    Access::Write => "--bind",
                    Access::Device => "--dev-bind",
                };
                add(&[&how.into(), from, at]);
            }
            Place::Proc { at } => {
                add(&[&"--proc".into(), at]);
                sealed.push(at.clone());
            }
        }
    }
    for at in &sealed {
        add(&[&"--remount-ro".into(), at]);
    }
    add(&[&"--chdir".into(), &"/".into()]);
    args
}
