//! Showing something a session made in the system's own view of folders.
//!
//! Invariant: what is shown is selected in its folder and nothing is opened or run; on Linux nothing is started by us at
//! all, the desktop's file manager is asked on the session bus.

use api::error;
use api::wire::ApiError;
use std::path::Path;
use std::time::Duration;

/// How long the system may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Shows it.
pub(crate) async fn show(path: &Path) -> Result<(), ApiError> {
    let asked = tokio::time::timeout(PATIENCE, ask(path)).await;
    asked.unwrap_or_else(|_| Err("it doesn't answer".to_owned())).map_err(|why| {
        error(
            "show/none",
            format!("the system's view of folders can't be asked: {why}"),
            "Look for it in the folder.",
        )
    })
}

#[cfg(target_os = "linux")]
async fn ask(path: &Path) -> Result<(), String> {
    const MANAGER: &str = "org.freedesktop.FileManager1";
    let asked = async {
        let bus = zbus::Connection::session().await?;
        let place = "/org/freedesktop/FileManager1";
        bus.call_method(Some(MANAGER), place, Some(MANAGER), "ShowItems", &(vec![address(path)], "")).await
    };
    asked.await.map(drop).map_err(|error| error.to_string())
}

#[cfg(target_os = "macos")]
async fn ask(path: &Path) -> Result<(), String> {
    done(tokio::process::Command::new("/usr/bin/open").arg("-R").arg(path).status().await)
}

#[cfg(windows)]
async fn ask(path: &Path) -> Result<(), String> {
    // A path holds no quotation marks there. The program answers 1 when all went well.
    let select = format!("/select,\"{}\"", path.display());
    let Some(system) = std::env::var_os("SystemRoot") else {
        return Err("there is no system folder".to_owned());
    };
    let explorer = Path::new(&system).join("explorer.exe");
    let begun = tokio::process::Command::new(explorer).raw_arg(select).status().await;
    begun.map(drop).map_err(|error| error.to_string())
}

#[cfg(target_os = "macos")]
fn done(status: std::io::Result<std::process::ExitStatus>) -> Result<(), String> {
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(status.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// The path as an address: every byte that isn't plainly a letter, a digit or `-._~/` by its number.
#[cfg(target_os = "linux")]
fn address(path: &Path) -> String {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt as _;
    let mut address = "file://".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                address.push(char::from(*byte));
            }
            _ => drop(write!(address, "%{byte:02X}")),
        }
    }
    address
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt as _;

    #[test]
    fn any_name_becomes_one_address() {
        let check = |path: &[u8], expect: &str| {
            assert_eq!(address(Path::new(std::ffi::OsStr::from_bytes(path))), expect);
        };
        check(b"/home/a/summary.md", "file:///home/a/summary.md");
        check(b"/a b/50%,#1?.txt", "file:///a%20b/50%25%2C%231%3F.txt");
        check("/照片/é".as_bytes(), "file:///%E7%85%A7%E7%89%87/%C3%A9");
        check(b"/\xff", "file:///%FF");
    }
}
