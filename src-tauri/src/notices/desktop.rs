//! The notice on the **desktop**: the notification service of the system.
//!
//! What is shown lives on a thread of its own, because it may wait for a click for days. Invariants: at most one is shown
//! where the system lets a program change and take back what it shows (only Linux does), elsewhere at most [`PLACES`] lie
//! about; where no service answers nothing breaks, and the log says so once; when the program quits, its notice goes with it.

use super::Words;
use super::feed::Screen;
use notify_rust::{Notification, NotificationResponse};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

/// How many threads may wait for a click: for what is shown and what is just going, or for all that can't be taken back.
const PLACES: u32 = if cfg!(target_os = "linux") { 2 } else { 16 };
/// How long quitting waits for the notices to go.
const GOING: Duration = Duration::from_millis(500);

/// The system's notifications.
pub(crate) struct Desktop {
    /// What the shown notice is told.
    told: Mutex<Told>,
    places: Arc<Semaphore>,
    chosen: mpsc::Sender<String>,
    missing: Arc<AtomicBool>,
}

/// What is told to the notice on the screen.
enum Told {
    /// There is none.
    Nothing,
    /// What to say, and which session a click opens. One that is told no more goes away.
    Shown(watch::Sender<(String, Words)>),
    /// There will be none any more.
    Ended,
}

impl Desktop {
    /// An empty screen, and the sessions that clicks open.
    pub(crate) fn new() -> (Self, mpsc::Receiver<String>) {
        let (chosen, clicked) = mpsc::channel(PLACES as usize);
        let places = Arc::new(Semaphore::new(PLACES as usize));
        (Self { told: Mutex::new(Told::Nothing), places, chosen, missing: Arc::default() }, clicked)
    }

    /// Takes it away and shows no more.
    pub(crate) async fn end(&self) {
        *self.lock() = Told::Ended;
        let all_gone = self.places.acquire_many(PLACES);
        if cfg!(target_os = "linux") && tokio::time::timeout(GOING, all_gone).await.is_err() {
            tracing::warn!("notifications stay behind: the system's service doesn't answer");
        }
    }

    /// No holder of this lock can panic half-way.
    fn lock(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Screen for Arc<Desktop> {
    fn show(&self, session: &str, words: Words) {
        let mut told = self.lock();
        let said = (session.to_owned(), words);
        let said = match &*told {
            Told::Ended => return,
            // Where nothing can be changed, a new one comes in its place.
            Told::Shown(shown) if cfg!(target_os = "linux") => match shown.send(said) {
                Ok(()) => return,
                // It was clicked or dismissed.
                Err(watch::error::SendError(said)) => said,
            },
            Told::Shown(_) | Told::Nothing => said,
        };
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else { return };
        let (to, said) = watch::channel(said);
        *told = Told::Shown(to);
        let life =
            Life { said, chosen: self.chosen.clone(), missing: Arc::clone(&self.missing), _place: place };
        let begun = std::thread::Builder::new().name("notice".into()).spawn(move || life.live());
        if let Err(error) = begun {
            tracing::warn!(%error, "no thread for a notification");
        }
    }

    fn withdraw(&self) {
        let mut told = self.lock();
        if let Told::Shown(_) = *told {
            *told = Told::Nothing;
        }
    }
}

/// One notice from being shown until it is gone.
struct Life {
    said: watch::Receiver<(String, Words)>,
    chosen: mpsc::Sender<String>,
    missing: Arc<AtomicBool>,
    _place: OwnedSemaphorePermit,
}

impl Life {
    fn live(mut self) {
        match self.show_and_wait() {
            // Nobody hears it when the program quits.
            Ok(true) => {
                let session = self.said.borrow().0.clone();
                drop(self.chosen.blocking_send(session));
            }
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
            let (_, first) = self.said.borrow_and_update().clone();
            let mut shown = notification(&first).show_async().await?;
            loop {
                let mut chosen = false;
                let gone = tokio::select! {
                    () = shown.wait_for_action_async(|answer| chosen = is_click(answer)) => true,
                    changed = self.said.changed() => {
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
                let (_, next) = self.said.borrow_and_update().clone();
                shown.summary(&next.title).body(&next.body);
                shown.update()?;
            }
        })
    }

    /// Was it clicked? These systems neither change nor take back what they show.
    #[cfg(not(target_os = "linux"))]
    fn show_and_wait(&mut self) -> notify_rust::error::Result<bool> {
        let (_, first) = self.said.borrow_and_update().clone();
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
