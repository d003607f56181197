//! Notices on the **desktop**: the notification service of the system.
//!
//! Each shown notice lives on a thread of its own, because it may wait for a click for days. Invariants: there are at
//! most [`PLACES`] of them; where no service answers nothing breaks, and the log says so once; when the program quits,
//! its notices go with it (only Linux lets a program take one back).

use super::Words;
use super::feed::Screen;
use notify_rust::{Notification, NotificationResponse};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

/// How many notices may be on the screen. More sessions than this that call at once are seen when the person comes.
const PLACES: u32 = 16;
/// How long quitting waits for the notices to go.
const GOING: Duration = Duration::from_millis(500);

/// The system's notifications.
pub(crate) struct Desktop {
    /// What each shown notice is told to say; none after the end. A notice that is told no more goes away.
    told: Mutex<Option<HashMap<String, watch::Sender<Words>>>>,
    places: Arc<Semaphore>,
    chosen: mpsc::Sender<String>,
    missing: Arc<AtomicBool>,
}

impl Desktop {
    /// An empty screen, and the sessions whose notices are clicked.
    pub(crate) fn new() -> (Self, mpsc::Receiver<String>) {
        let (chosen, clicked) = mpsc::channel(PLACES as usize);
        let places = Arc::new(Semaphore::new(PLACES as usize));
        (Self { told: Mutex::new(Some(HashMap::new())), places, chosen, missing: Arc::default() }, clicked)
    }

    /// Takes all away and shows no more.
    pub(crate) async fn end(&self) {
        self.lock().take();
        let all_gone = self.places.acquire_many(PLACES);
        if cfg!(target_os = "linux") && tokio::time::timeout(GOING, all_gone).await.is_err() {
            tracing::warn!("notifications stay behind: the system's service doesn't answer");
        }
    }

    /// No holder of this lock can panic half-way.
    fn lock(&self) -> MutexGuard<'_, Option<HashMap<String, watch::Sender<Words>>>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Screen for Arc<Desktop> {
    fn show(&self, session: &str, words: Words) {
        let mut told = self.lock();
        let Some(told) = told.as_mut() else { return };
        told.retain(|_, words| !words.is_closed());
        if let Some(shown) = told.get(session).filter(|_| cfg!(target_os = "linux")) {
            shown.send_replace(words);
            return;
        }
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else { return };
        let (to, words) = watch::channel(words);
        told.insert(session.to_owned(), to);
        let life = Life {
            session: session.to_owned(),
            words,
            chosen: self.chosen.clone(),
            missing: Arc::clone(&self.missing),
            _place: place,
        };
        let begun = std::thread::Builder::new().name("notice".into()).spawn(move || life.live());
        if let Err(error) = begun {
            tracing::warn!(%error, "no thread for a notification");
        }
    }

    fn withdraw(&self, session: &str) {
        if let Some(told) = self.lock().as_mut() {
            told.remove(session);
        }
    }
}

/// One notice from being shown until it is gone.
struct Life {
    session: String,
    words: watch::Receiver<Words>,
    chosen: mpsc::Sender<String>,
    missing: Arc<AtomicBool>,
    _place: OwnedSemaphorePermit,
}

impl Life {
    fn live(mut self) {
        match self.show_and_wait() {
            // Nobody hears it when the program quits.
            Ok(true) => drop(self.chosen.blocking_send(self.session)),
            Ok(false) => {}
            Err(error) if self.missing.swap(true, Ordering::Relaxed) => {
                tracing::debug!(%error, "no notification");
            }
            Err(error) => tracing::warn!(%error, "no notifications: the system's service doesn't take them"),
        }
    }

    /// Was it clicked? Says what it is told until it is clicked, goes, or is told no more.
    #[cfg(target_os = "linux")]
    fn show_and_wait(&mut self) -> notify_rust::error::Result<bool> {
        tauri::async_runtime::block_on(async {
            let first = self.words.borrow_and_update().clone();
            let mut shown = notification(&first).show_async().await?;
            loop {
                let mut chosen = false;
                let gone = tokio::select! {
                    () = shown.wait_for_action_async(|answer| chosen = is_click(answer)) => true,
                    changed = self.words.changed() => {
                        if changed.is_err() {
                            shown.close_async().await;
                            return Ok(false);
                        }
                        false
                    }
                };
                if gone {
                    return Ok(chosen);
                }
                let next = self.words.borrow_and_update().clone();
                shown.summary(&next.title).body(&next.body);
                shown.update()?;
            }
        })
    }

    /// Was it clicked? These systems neither change nor take back what they show.
    #[cfg(not(target_os = "linux"))]
    fn show_and_wait(&mut self) -> notify_rust::error::Result<bool> {
        let first = self.words.borrow_and_update().clone();
        let mut chosen = false;
        notification(&first)
            .show()?
            .wait_for_response(|answer: &NotificationResponse| chosen = is_click(answer))?;
        Ok(chosen)
    }
}

fn is_click(answer: &NotificationResponse) -> bool {
    matches!(answer, NotificationResponse::Default | NotificationResponse::Action(_))
}

fn notification(words: &Words) -> Notification {
    let mut notification = Notification::new();
    notification.appname("Daybook").summary(&words.title).body(&words.body);
    #[cfg(target_os = "linux")]
    // Without this action a click on the notification is never reported.
    notification.icon("daybook-desktop").action("default", words.open);
    #[cfg(windows)]
    notification.app_id("app.daybook.desktop");
    notification
}
