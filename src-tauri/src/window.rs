//! The one window: where its page may go, what may be dropped on it, when it has the focus, and what closing it does.
//!
//! Invariant: the page stays on the app's own origin. Other addresses, new windows and downloads are refused whatever
//! asks for them, so nothing shown can leave the app or send anything out by loading it.

use crate::app::Shell;
use api::wire::command::Notification;
use std::path::PathBuf;
use std::time::Duration;
use tauri::webview::{NewWindowResponse, PageLoadEvent};
use tauri::{AppHandle, DragDropEvent, Manager, Url, WebviewWindow, WebviewWindowBuilder, WindowEvent};
use tokio::sync::oneshot;

/// Label of the one window.
pub(crate) const LABEL: &str = "main";
/// How long closing waits to learn whether a tray shows our icon.
const TRAY_ANSWER: Duration = Duration::from_secs(1);
/// How long closing waits for the room to say whether work runs.
const CLOSE_ANSWER: Duration = Duration::from_secs(2);

/// Makes the window as configured, with its walls.
pub(crate) fn open(app: &AppHandle) -> anyhow::Result<()> {
    let configured = app.config().app.windows.iter().find(|window| window.label == LABEL);
    let configured = configured.ok_or_else(|| anyhow::anyhow!("no window {LABEL:?} is configured"))?.clone();
    let window = WebviewWindowBuilder::from_config(app, &configured)?
        .on_navigation(may_navigate)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_download(|_, _| false)
        .on_page_load(|window, load| {
            // A page that loads again knows nothing of its old subscriptions.
            if load.event() == PageLoadEvent::Started {
                window.state::<Shell>().subscriptions.end_all();
            }
        })
        .build()?;
    #[cfg(target_os = "linux")]
    {
        let again = window.clone();
        window.with_webview(move |webview| draw_again(&webview.inner(), again))?;
    }
    let handle = window.clone();
    window.on_window_event(move |event| on_event(&handle, event));
    Ok(())
}

/// The process that draws the page can die, by itself or by the system's hand. The page is loaded again then: what it showed
/// is in the record.
#[cfg(target_os = "linux")]
fn draw_again(page: &webkit2gtk::WebView, window: WebviewWindow) {
    use webkit2gtk::WebViewExt as _;
    let deaths = std::sync::Mutex::new(Deaths::default());
    page.connect_web_process_terminated(move |_, why| {
        tracing::error!(?why, "the process that draws the page ended");
        let window = window.clone();
        Deaths::one_more(&deaths, move || window.reload());
    });
}

/// When the process that draws the page died lately.
#[cfg(not(windows))]
#[derive(Debug, Default)]
pub(crate) struct Deaths(std::collections::VecDeque<std::time::Instant>);

#[cfg(not(windows))]
impl Deaths {
    /// Most of them within [`Deaths::WITHIN`] after which the page is still loaded again at once.
    const MOST: usize = 3;
    const WITHIN: Duration = Duration::from_secs(60);

    /// One more: the page is loaded again at once, or in a while where it dies again and again.
    pub(crate) fn one_more(
        deaths: &std::sync::Mutex<Self>,
        reload: impl FnOnce() -> tauri::Result<()> + Send + 'static,
    ) {
        let mut deaths = deaths.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let wait = deaths.wait(std::time::Instant::now());
        tauri::async_runtime::spawn(async move {
            tokio::time::sleep(wait).await;
            if let Err(error) = reload() {
                tracing::error!(%error, "the page can't be loaded again");
            }
        });
    }

    /// How long to wait after one more.
    fn wait(&mut self, now: std::time::Instant) -> Duration {
        self.0.retain(|then| now.duration_since(*then) < Self::WITHIN);
        self.0.push_back(now);
        if self.0.len() <= Self::MOST { Duration::ZERO } else { Self::WITHIN }
    }
}

/// Brings the window to the front, also from the tray.
pub(crate) fn bring_to_front(app: &AppHandle) {
    let Some(window) = app.get_webview_window(LABEL) else { return };
    for done in [window.show(), window.unminimize(), window.set_focus()] {
        if let Err(error) = done {
            tracing::warn!(%error, "cannot bring the window to the front");
        }
    }
}

/// Brings the window to the front with this session.
pub(crate) fn open_session(app: &AppHandle, session: String) {
    bring_to_front(app);
    app.state::<Shell>().subscriptions.tell_lists(&Notification::SessionChosen { session });
}

/// Lets the person choose a folder in the system's dialog. `None` when dismissed.
///
/// One at a time: a second wish while a dialog is open counts as dismissed.
pub(crate) async fn choose_folder(window: &WebviewWindow) -> Option<PathBuf> {
    choose(window, |dialog| dialog.pick_folder()).await
}

/// Lets the person choose a file of certificates in the system's dialog. `None` when dismissed.
pub(crate) async fn choose_file(window: &WebviewWindow) -> Option<PathBuf> {
    choose(window, |dialog| dialog.pick_file()).await
}

/// Lets the person say where something is saved, in the system's dialog, which asks by itself before it answers with a place
/// where something stands. `None` when dismissed.
pub(crate) async fn choose_place(window: &WebviewWindow, name: String) -> Option<PathBuf> {
    choose(window, |dialog| dialog.set_file_name(name).save_file()).await
}

async fn choose<F>(
    window: &WebviewWindow,
    ask: impl FnOnce(rfd::AsyncFileDialog) -> F + Send + 'static,
) -> Option<PathBuf>
where
    F: Future<Output = Option<rfd::FileHandle>> + Send + 'static,
{
    let shell = window.state::<Shell>();
    let _only_one = shell.choosing.try_lock().ok()?;
    let (chosen, answer) = oneshot::channel();
    let parent = window.clone();
    // The dialog must be made where the window lives; its answer may be waited for anywhere.
    let asked = window.run_on_main_thread(move || {
        let dialog = ask(rfd::AsyncFileDialog::new().set_parent(&parent));
        tauri::async_runtime::spawn(async move {
            // The page may be gone by the time the person decides.
            let _ = chosen.send(dialog.await);
        });
    });
    asked.ok()?;
    Some(answer.await.ok()??.path().to_path_buf())
}

/// The app's own origin: a scheme of its own, which Windows serves as a host.
fn may_navigate(url: &Url) -> bool {
    match url.scheme() {
        "tauri" => url.host_str() == Some("localhost"),
        "http" | "https" => {
            cfg!(windows) && url.host_str() == Some("tauri.localhost") && url.port().is_none()
        }
        _ => false,
    }
}

fn on_event(window: &WebviewWindow, event: &WindowEvent) {
    match event {
        // Never by whether it can be seen: a window may be visible and covered.
        WindowEvent::Focused(focused) => {
            window.state::<Shell>().focused.send_replace(*focused);
        }
        WindowEvent::DragDrop(DragDropEvent::Drop { paths, .. }) => {
            let (window, paths) = (window.clone(), paths.clone());
            tauri::async_runtime::spawn(async move { take_dropped(&window, paths).await });
        }
        WindowEvent::CloseRequested { api, .. } => {
            // Always stay for the moment it takes to learn whether work runs.
            api.prevent_close();
            let window = window.clone();
            tauri::async_runtime::spawn(async move { close(&window).await });
        }
        _ => {}
    }
}

/// The first folder is opened; everything else is named back to the page as not taken.
async fn take_dropped(window: &WebviewWindow, paths: Vec<PathBuf>) {
    let shell = window.state::<Shell>();
    let mut opened = false;
    for path in paths {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let refused = Notification::DropRefused { name };
        let notification = if opened || !path.is_dir() {
            refused
        } else {
            let Ok(room) = shell.room().await else { return };
            match room.open_folder(path).await {
                Ok(folder) => {
                    opened = true;
                    Notification::FolderDropped { folder }
                }
                Err(error) => {
                    tracing::warn!(?error, "cannot open a dropped folder");
                    refused
                }
            }
        };
        shell.subscriptions.tell_lists(&notification);
    }
}

/// Hides while work runs and the person didn't choose otherwise; else quits.
async fn close(window: &WebviewWindow) {
    let app = window.app_handle();
    let shell = window.state::<Shell>();
    let asked = async { shell.room().await.ok()?.keep_running_when_closed().ok() };
    let keep = tokio::time::timeout(CLOSE_ANSWER, asked).await.ok().flatten().unwrap_or(false);
    if !keep {
        app.exit(0);
        return;
    }
    // Without a tray a hidden window could not be found again.
    let tray = tokio::time::timeout(TRAY_ANSWER, crate::tray::is_shown(app)).await.unwrap_or(false);
    let done = if tray { window.hide() } else { window.minimize() };
    if let Err(error) = done {
        tracing::warn!(%error, "cannot put the window away");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(windows))]
    #[test]
    fn a_page_that_dies_again_and_again_is_loaded_again_in_a_while() {
        let (mut deaths, begin) = (Deaths::default(), std::time::Instant::now());
        let mut at = |seconds| deaths.wait(begin + Duration::from_secs(seconds)) == Duration::ZERO;
        assert_eq!([at(0), at(1), at(2), at(3)], [true, true, true, false]);
        assert!(at(100), "long after, at once again");
    }

    #[test]
    fn the_page_stays_on_its_own_origin() {
        let own = if cfg!(windows) { "http://tauri.localhost/" } else { "tauri://localhost/" };
        let refused = [
            "https://example.com/",
            "http://localhost:5199/",
            "http://127.0.0.1/",
            "http://tauri.localhost.example.com/",
            "http://tauri.localhost:8080/",
            "tauri://example.com/",
            "file:///etc/passwd",
            "data:text/html,<h1>x</h1>",
            "javascript:alert(1)",
            "blob:tauri://localhost/0",
            "about:blank",
            "smb://host/share",
            "mailto:a@example.com",
            "vscode://x",
        ];
        assert!(may_navigate(&own.parse().unwrap()));
        for address in refused {
            assert!(!may_navigate(&address.parse().unwrap()), "{address}");
        }
    }
}
