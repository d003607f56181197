//! Putting the window's process together: one runtime, one instance, one window, one tray, one room.
//!
//! The window is shown while the store still opens; commands wait for the room, so a large or damaged store delays its
//! own answers and never the first picture.

use crate::door::{self, Room};
use crate::notices::desktop::Desktop;
use crate::startup::Start;
use crate::subscriptions::Subscriptions;
use crate::{commands, notices, policy, tray, window};
use api::wire::ApiError;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tauri::{AppHandle, Manager, RunEvent};
use tokio::sync::watch;

/// How long quitting waits for the room to come to rest.
const REST: Duration = Duration::from_secs(5);

type Opened = Option<Result<Arc<Room>, ApiError>>;

/// What the commands of the page work with.
pub(crate) struct Shell {
    room: watch::Receiver<Opened>,
    /// What the page listens to.
    pub(crate) subscriptions: Subscriptions,
    /// Held while a dialog is open.
    pub(crate) choosing: tokio::sync::Mutex<()>,
    /// Has the window the focus?
    pub(crate) focused: watch::Sender<bool>,
    /// Notices on the screen.
    notices: Arc<Desktop>,
}

impl Shell {
    /// The room, once it is open; its error when it can't be opened.
    pub(crate) async fn room(&self) -> Result<Arc<Room>, ApiError> {
        let mut room = self.room.clone();
        let opened = room.wait_for(Option::is_some).await.map(|opened| (*opened).clone());
        opened.ok().flatten().unwrap_or_else(|| Err(door::gone()))
    }
}

/// Runs until the person quits.
pub(crate) fn run(start: Start) -> ExitCode {
    match try_run(start) {
        Ok(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        Err(error) => {
            tracing::error!("cannot start the window: {error:#}");
            ExitCode::from(1)
        }
    }
}

fn try_run(start: Start) -> anyhow::Result<i32> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    tauri::async_runtime::set(runtime.handle().clone());
    let (opened, room) = watch::channel(None);
    let (focused, focus) = watch::channel(false);
    let (desktop, chosen) = Desktop::new();
    let desktop = Arc::new(desktop);
    let shell = Shell {
        room,
        subscriptions: Subscriptions::default(),
        choosing: tokio::sync::Mutex::new(()),
        focused,
        notices: Arc::clone(&desktop),
    };
    let builder = tauri::Builder::default();
    // The other system whose page is drawn by a process that the toolkit tells about.
    #[cfg(target_os = "macos")]
    let builder = {
        let deaths = std::sync::Mutex::new(window::Deaths::default());
        builder.on_web_content_process_terminate(move |page| {
            let page = page.clone();
            window::Deaths::one_more(&deaths, move || page.reload());
        })
    };
    let app = builder
        // First of all, so that a second start does nothing but bring this window to the front.
        .plugin(single_instance(&start))
        .plugin(tauri_plugin_window_state::Builder::new().build())
        .manage(shell)
        .invoke_handler(tauri::generate_handler![
            commands::call,
            commands::subscribe,
            commands::ack,
            commands::unsubscribe
        ])
        .setup(move |app| {
            let handle = app.handle().clone();
            tauri::async_runtime::spawn(async move {
                let room = Room::open(&start).await.map(Arc::new);
                opened.send_replace(Some(room));
            });
            tray::put(&handle);
            window::open(&handle)?;
            tauri::async_runtime::spawn(notices::feed::begin(handle.clone(), desktop, chosen, focus));
            tauri::async_runtime::spawn(quit_when_told(handle));
            Ok(())
        })
        .build(policy::context()?)?;
    let code = app.run_return(|app, event| {
        if let RunEvent::Exit = event {
            rest(app);
        }
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    Ok(code)
}

/// One instance for each data folder, found by a name on the session bus; without a bus, the store's lock decides.
fn single_instance(start: &Start) -> tauri::plugin::TauriPlugin<tauri::Wry> {
    let name = format!("app.daybook.d{}", door::store_name(start));
    tauri_plugin_single_instance::Builder::new()
        .dbus_id(name)
        .callback(|app, _arguments, _folder| window::bring_to_front(app))
        .build()
}

/// A session that ends, or Ctrl-C in a terminal, quits in the same orderly way as the menu.
async fn quit_when_told(app: AppHandle) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut end) = signal(SignalKind::terminate()) else { return };
        tokio::select! {
            _ = end.recv() => {}
            told = tokio::signal::ctrl_c() => if told.is_err() { return },
        }
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_err() {
        return;
    }
    app.exit(0);
}

fn rest(app: &AppHandle) {
    let shell = app.state::<Shell>();
    shell.subscriptions.end_all();
    tauri::async_runtime::block_on(shell.notices.end());
    let Some(Ok(room)) = shell.room.borrow().clone() else { return };
    tauri::async_runtime::block_on(async {
        if tokio::time::timeout(REST, room.close()).await.is_err() {
            tracing::warn!("quit before everything came to rest; the next start recovers it");
        }
    });
}
