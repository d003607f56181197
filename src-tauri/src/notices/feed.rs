//! The **feed** of the notice: it hears every line of the session list, as the page does, and whether the window has the
//! focus, and passes on what [`Calls`] says.
//!
//! Invariants: nothing wakes up while nothing is owed; sessions at rest take no memory.

use super::desktop::Desktop;
use super::{Act, Calls, Words, words};
use crate::app::Shell;
use crate::language::Language;
use crate::window;
use api::wire::command::{Command, Notification, Reply, Topic};
use api::wire::store::SessionSummary;
use std::sync::Arc;
use tauri::{AppHandle, Manager};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

/// Where notices are shown.
pub(crate) trait Screen {
    /// Shows the notice, in place of the one there is; a click on it opens this session.
    fn show(&self, session: &str, words: Words);
    /// Takes the notice away; nothing when there is none.
    fn withdraw(&self);
}

/// What the feed works with.
pub(crate) struct Feed<Shows, Speaks, Opens> {
    /// Where the notice goes.
    pub(crate) screen: Shows,
    /// Gives the language of the settings as they are now.
    pub(crate) language: Speaks,
    /// Brings the window to the front with this session.
    pub(crate) open: Opens,
    /// Has the window the focus?
    pub(crate) focused: watch::Receiver<bool>,
}

/// Feeds the desktop from the room, once it is open, until the room closes.
pub(crate) async fn begin(
    app: AppHandle,
    desktop: Arc<Desktop>,
    chosen: mpsc::Receiver<String>,
    focused: watch::Receiver<bool>,
) {
    let shell = app.state::<Shell>();
    // Why a room doesn't open, the page says.
    let Ok(room) = shell.room().await else { return };
    let (source, now) = match (room.subscribe(Topic::Store).await, room.call(Command::Sessions).await) {
        (Ok(source), Ok(Reply::Sessions(now))) => (source, now),
        (source, now) => {
            tracing::warn!(source = ?source.err(), now = ?now.err(), "no notifications: the sessions can't be listened to");
            return;
        }
    };
    let language = || {
        let room = Arc::clone(&room);
        async move {
            match room.call(Command::Settings).await {
                Ok(Reply::Settings(settings)) => Language::of_setting(&settings.language),
                Ok(_) | Err(_) => Language::of_system(),
            }
        }
    };
    let open = |session| window::open_session(&app, session);
    Feed { screen: desktop, language, open, focused }.run(now, source, chosen).await;
}

impl<Shows, Speaks, Said, Opens> Feed<Shows, Speaks, Opens>
where
    Shows: Screen,
    Speaks: Fn() -> Said,
    Said: Future<Output = Language>,
    Opens: Fn(String),
{
    /// Listens until the source ends. What `now` says is known to the person already; the sessions of clicked notices
    /// come through `chosen`.
    pub(crate) async fn run(
        mut self,
        now: Vec<SessionSummary>,
        mut source: mpsc::Receiver<Notification>,
        mut chosen: mpsc::Receiver<String>,
    ) {
        let mut calls = Calls::default();
        for summary in now {
            calls.hear(summary, true, Instant::now());
        }
        loop {
            let due = calls.due(*self.focused.borrow());
            tokio::select! {
                next = source.recv() => match next {
                    Some(Notification::Summary { summary }) => {
                        calls.hear(summary, *self.focused.borrow(), Instant::now());
                    }
                    Some(_) => {}
                    None => return,
                },
                changed = self.focused.changed() => if changed.is_err() { return },
                () = async { sleep_until(due.unwrap_or_else(Instant::now)).await }, if due.is_some() => {}
                Some(session) = chosen.recv() => (self.open)(session),
            }
            let focused = *self.focused.borrow();
            match calls.next(focused, Instant::now()) {
                Some(Act::Withdraw) => self.screen.withdraw(),
                Some(Act::Show(notice)) => {
                    let words = words(&notice, (self.language)().await);
                    self.screen.show(notice.session(), words);
                }
                None => {}
            }
        }
    }
}
