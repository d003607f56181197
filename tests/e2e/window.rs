//! The **window** under test: the built program with a data folder and a home of its own, seen as a person sees it, by
//! roles and names.

use crate::driver::{Driver, wait_until};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Finds what can be used by its role and accessible name, visible ones only.
const FIND: &str = "
  const [role, name] = [arguments[0], arguments[1]];
  const roles = {
    button: 'button,[role=button]', link: 'a,[role=link]', textbox: 'textarea,input:not([type=radio]):not([type=checkbox]),[role=textbox]',
    tab: '[role=tab]', heading: 'h1,h2,h3,[role=heading]', radio: 'input[type=radio],[role=radio]', any: 'body *',
    combobox: 'select,[role=combobox]', menuitem: '[role=menuitem],[role=menuitemradio],[role=option]',
  };
  const words = (node) => node.nodeType === 3 ? node.textContent : node.getAttribute && node.getAttribute('aria-hidden') === 'true' ? ''
    : [...node.childNodes].map(words).join(node.childElementCount > 1 ? ' ' : '');
  const named = (element) => {
    const labelled = (element.getAttribute('aria-labelledby') || '').split(' ').map((id) => document.getElementById(id)?.textContent || '').join(' ').trim();
    const label = element.labels && element.labels[0] ? element.labels[0].textContent : '';
    return (element.getAttribute('aria-label') || labelled || label || words(element) || element.placeholder || '').replace(/\\s+/g, ' ').trim();
  };
  const seen = (element) => { const box = element.getBoundingClientRect(); return box.width > 0 && box.height > 0; };
  const matches = [...document.querySelectorAll(roles[role] || role)].filter((element) => seen(element) && named(element).startsWith(name));
  return matches.find((element) => named(element) === name) || matches[0] || null;";

/// Where an element is when it can be clicked: on the screen, enabled, with nothing over it; else brings it into view.
const REACH: &str = "
  const element = arguments[0];
  if (!element.isConnected || element.disabled || element.getAttribute('aria-disabled') === 'true') return null;
  const box = element.getBoundingClientRect();
  const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  const top = document.elementFromPoint(x, y);
  if (top && (element.contains(top) || top.contains(element))) return JSON.stringify([x, y]);
  element.scrollIntoView({ block: 'center' });
  return null;";

/// A window of the built program.
pub(crate) struct Window {
    driver: Driver,
    place: Place,
}

/// Where one user's things lie: outlives the window, so that it can be opened again.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// An empty one.
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("daybook-e2e-").tempdir().expect("a folder can be made");
        for name in ["home", "data", "runtime", "project"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder can be made");
        }
        Self { folder }
    }

    /// The data folder of the program.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A folder with the person's files.
    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn environment(&self) -> Vec<(String, String)> {
        let at = |name: &str| self.folder.path().join(name).display().to_string();
        [
            ("HOME", at("home")),
            ("XDG_CONFIG_HOME", at("home/.config")),
            ("XDG_DATA_HOME", at("home/.local/share")),
            ("XDG_CACHE_HOME", at("home/.cache")),
            ("XDG_RUNTIME_DIR", at("runtime")),
            ("LANG", "C.UTF-8".to_owned()),
            ("NO_AT_BRIDGE", "1".to_owned()),
            ("MESA_SHADER_CACHE_DISABLE", "true".to_owned()),
            ("GTK_THEME", "Adwaita".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }
}

/// The program as `cargo build --workspace --features daybook-desktop/automation` leaves it, beside this test.
pub(crate) fn program() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let built =
        test.parent().and_then(Path::parent).expect("tests lie two folders down").join("daybook-desktop");
    assert!(built.exists(), "{} is not built: scripts/test builds it", built.display());
    built
}

impl Window {
    /// Opens the program on `place`.
    pub(crate) fn open(place: Place) -> Self {
        let arguments = ["--data-dir".to_owned(), place.data().display().to_string()];
        let driver = Driver::start(&program().display().to_string(), &arguments, &place.environment());
        let window = Self { driver, place };
        wait_until("the page is drawn", || {
            let text = window.driver.run("return document.body.innerText", &[]);
            text.as_str().is_some_and(|text| text.trim().len() > 20).then_some(())
        });
        window
    }

    /// The driver below, for what has no word here.
    pub(crate) fn driver(&self) -> &Driver {
        &self.driver
    }

    /// Where its things lie.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Process id of the program.
    pub(crate) fn process(&self) -> u32 {
        let driver = self.driver.id();
        wait_until("the program is a child of the driver", || child_of(driver))
    }

    /// The window's id on this display.
    pub(crate) fn x_window(&self) -> String {
        let process = self.process().to_string();
        wait_until("the window is on the display", || {
            let wanted = ["search", "--all", "--onlyvisible", "--pid", &process, "--name", "^Daybook$"];
            let found =
                std::process::Command::new("xdotool").args(wanted).output().expect("xdotool is installed");
            String::from_utf8_lossy(&found.stdout).lines().next().map(str::to_owned)
        })
    }

    /// Starts the program once more on the same things, and gives how that start ended.
    pub(crate) fn start_again(&self) -> std::process::ExitStatus {
        let started = std::process::Command::new(program())
            .arg("--data-dir")
            .arg(self.place.data())
            .envs(self.place.environment())
            .spawn();
        let mut second = started.expect("the program can be started");
        wait_until("the second start ends by itself", || second.try_wait().expect("it is our child"))
    }

    /// Ends the program at once, as a power cut would, and gives back what it leaves.
    pub(crate) fn kill(self) -> Place {
        let process = self.process();
        let killed = std::process::Command::new("kill").args(["-9", &process.to_string()]).status();
        assert!(killed.is_ok_and(|status| status.success()), "cannot kill {process}");
        wait_until("the program is gone", || (!runs(process)).then_some(()));
        self.place
    }

    /// Closes the program in an orderly way.
    pub(crate) fn close(self) -> Place {
        let Self { driver, place } = self;
        drop(driver);
        place
    }

    /// The element with this role with this name, or else one that begins so, once it is there.
    #[track_caller]
    pub(crate) fn find(&self, role: &str, name: &str) -> Value {
        wait_until(&format!("{role} {name:?}; the page says:\n{}", self.text()), || self.look(role, name))
    }

    /// The same, if it is there now.
    pub(crate) fn look(&self, role: &str, name: &str) -> Option<Value> {
        let found = self.driver.run(FIND, &[json!(role), json!(name)]);
        (!found.is_null()).then_some(found)
    }

    /// Finds and clicks, once it lies still and takes a click.
    #[track_caller]
    pub(crate) fn press(&self, role: &str, name: &str) {
        let mut last = Value::Null;
        wait_until(&format!("{role} {name:?} can be clicked; the page says:\n{}", self.text()), || {
            let element = self.look(role, name)?;
            let place = self.driver.run(REACH, std::slice::from_ref(&element));
            let still = !place.is_null() && place == last;
            last = place;
            (still && self.driver.click(&element)).then_some(())
        });
    }

    /// All text on the page.
    pub(crate) fn text(&self) -> String {
        self.driver.run("return document.body.innerText", &[]).as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the page shows this text.
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) {
        wait_until(&format!("the page shows {text:?}"), || self.text().contains(text).then_some(()));
    }

    /// Sends a command of the page, and gives the reply's value.
    #[track_caller]
    pub(crate) fn command(&self, name: &str, args: Value) -> Value {
        let command =
            if args.is_null() { json!({"name": name}) } else { json!({"name": name, "args": args}) };
        self.invoke("call", &json!({"command": command})).expect("the command is done")["value"].clone()
    }

    /// Sends anything through the page's channel: the answer, or the error as text.
    pub(crate) fn invoke(&self, command: &str, payload: &Value) -> Result<Value, String> {
        let answer = self.driver.run_async(
            "const late = new Promise((_, no) => setTimeout(() => no('no answer'), 10000));\
             return await Promise.race([window.__TAURI_INTERNALS__.invoke(args[0], args[1]), late])\
               .then((ok) => ({ ok }), (no) => ({ no: typeof no === 'string' ? no : JSON.stringify(no) }));",
            &[json!(command), payload.clone()],
        );
        match answer.get("no") {
            Some(no) => Err(no.as_str().unwrap_or_default().to_owned()),
            None => Ok(answer["ok"].clone()),
        }
    }

    /// Keeps a picture of the page in target/e2e.
    pub(crate) fn picture(&self, name: &str) {
        let folder = program().parent().and_then(Path::parent).expect("a target folder").join("e2e");
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        // What just changed is drawn with the next frames.
        let drawn = "await new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
            await new Promise((later) => setTimeout(later, 200)); return true;";
        self.driver.run_async(drawn, &[]);
        let bytes = decode_base64(&self.driver.picture());
        assert!(bytes.starts_with(b"\x89PNG"), "the driver's picture is a PNG");
        std::fs::write(folder.join(format!("{name}.png")), bytes).expect("a picture can be kept");
    }
}

fn child_of(parent: u32) -> Option<u32> {
    let listed = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).ok()?;
    listed.split_whitespace().filter_map(|id| id.parse().ok()).find(|id: &u32| {
        let name = std::fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
        name.trim() == "daybook-desktop"
    })
}

/// Is this process there, and not only waiting to be reaped?
fn runs(process: u32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    state.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

fn decode_base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for digit in text.bytes().filter_map(|c| DIGITS.iter().position(|digit| *digit == c)) {
        bits = bits << 6 | u32::try_from(digit).expect("a digit is below 64");
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).expect("eight bits"));
        }
    }
    bytes
}
