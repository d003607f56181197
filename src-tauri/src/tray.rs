//! The tray: where Daybook lives while work runs and its window is hidden.
//!
//! A system without a tray library gets no tray, and closing then minimises instead of hiding.

use crate::language::Language;
use crate::window;
use std::panic::{self, AssertUnwindSafe};
use tauri::AppHandle;
use tauri::image::Image;
use tauri::menu::{Menu, MenuItem};
use tauri::tray::{MouseButton, MouseButtonState, TrayIcon, TrayIconBuilder, TrayIconEvent};

/// Id of the one tray icon.
pub(crate) const ID: &str = "daybook";

/// The menu's words.
struct Words {
    open: &'static str,
    quit: &'static str,
}

const ENGLISH: Words = Words { open: "Open Daybook", quit: "Quit Daybook" };
const CHINESE: Words = Words { open: "打开 Daybook", quit: "退出 Daybook" };

/// Puts the icon into the tray, where there is one.
pub(crate) fn put(app: &AppHandle) {
    // The Linux tray library is loaded by name and panics where it isn't installed; that is no reason not to start.
    let report = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let built = panic::catch_unwind(AssertUnwindSafe(|| build(app)));
    panic::set_hook(report);
    match built {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::warn!(%error, "no tray icon"),
        Err(_) => tracing::warn!("no tray icon: the tray library is not installed"),
    }
}

/// Does anybody show our icon? Having made one says nothing: many Linux desktops have no place for it, and then a window
/// that was hidden couldn't be found again.
pub(crate) async fn is_shown(app: &AppHandle) -> bool {
    app.tray_by_id(ID).is_some() && has_place().await
}

/// Is there a tray on this desktop: somebody who watches for icons and somebody who shows them?
#[cfg(target_os = "linux")]
async fn has_place() -> bool {
    let asked = async {
        let bus = zbus::Connection::session().await?;
        let watcher = "org.kde.StatusNotifierWatcher";
        let proxy = zbus::Proxy::new(&bus, watcher, "/StatusNotifierWatcher", watcher).await?;
        proxy.get_property::<bool>("IsStatusNotifierHostRegistered").await
    };
    asked.await.unwrap_or(false)
}

#[cfg(not(target_os = "linux"))]
async fn has_place() -> bool {
    true
}

/// Words the menu in this language.
pub(crate) fn speak(app: &AppHandle, language: Language) {
    let Some(tray) = app.tray_by_id(ID) else { return };
    let worded = menu(app, language).and_then(|menu| tray.set_menu(Some(menu)));
    if let Err(error) = worded {
        tracing::warn!(%error, "the tray's menu keeps its words");
    }
}

fn menu(app: &AppHandle, language: Language) -> tauri::Result<Menu<tauri::Wry>> {
    let words = match language {
        Language::English => &ENGLISH,
        Language::Chinese => &CHINESE,
    };
    let open = MenuItem::with_id(app, "open", words.open, true, None::<&str>)?;
    let quit = MenuItem::with_id(app, "quit", words.quit, true, None::<&str>)?;
    Menu::with_items(app, &[&open, &quit])
}

fn build(app: &AppHandle) -> tauri::Result<TrayIcon> {
    // The icon is there before the store with the settings is open.
    let menu = menu(app, Language::of_system())?;
    TrayIconBuilder::with_id(ID)
        .icon(Image::from_bytes(include_bytes!("../../icons/tray.png"))?)
        .tooltip("Daybook")
        .menu(&menu)
        .show_menu_on_left_click(false)
        .on_menu_event(|app, event| match event.id.as_ref() {
            "open" => window::bring_to_front(app),
            "quit" => app.exit(0),
            _ => {}
        })
        .on_tray_icon_event(|tray, event| {
            if let TrayIconEvent::Click {
                button: MouseButton::Left,
                button_state: MouseButtonState::Up,
                ..
            } = event
            {
                window::bring_to_front(tray.app_handle());
            }
        })
        .build(app)
}
