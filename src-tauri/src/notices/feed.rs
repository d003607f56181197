//! The **feed** of notices: it hears every line of the session list, as the page does, and whether the window has the
//! focus, and passes on what [`decide`] says.
//!
//! Invariants: sessions are told apart; nothing wakes up while nothing is owed; sessions at rest take no memory.

use super::desktop::Desktop;
use super::{Notice, Seen, Words, decide, words};
use crate::app::Shell;
use crate::language::Language;
use crate::window;
use api::wire::command::{Command, Notification, Reply, Topic};
use api::wire::store::SessionSummary;
use std::collections::HashMap;
use std::sync::Arc;
use tauri::{AppHandle, Manager};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

/// Where notices are shown.
pub(crate) trait Screen {
    /// Shows a session's notice, in place of the one it has.
    fn show(&self, session: &str, words: Words);
    /// Takes a session's notice away; nothing when it has none.
    fn withdraw(&self, session: &str);
}

/// What the feed works with.
pub(crate) struct Feed<Shows, Speaks, Opens> {
    /// Where notices go.
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

/// What is remembered of the sessions that aren't at rest, with their last line.
type Sessions = HashMap<String, (SessionSummary, Seen)>;

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
        let mut sessions = Sessions::new();
        for summary in now {
            let seen = Seen::default().after(&summary, None, true, Instant::now());
            remember(&mut sessions, summary, seen);
        }
        loop {
            let due = self.due(&sessions);
            tokio::select! {
                next = source.recv() => match next {
                    Some(Notification::Summary { summary }) => self.take(&mut sessions, summary).await,
                    Some(_) => {}
                    None => return,
                },
                changed = self.focused.changed() => match changed {
                    Ok(()) => self.review(&mut sessions).await,
                    Err(_) => return,
                },
                () = async { sleep_until(due.unwrap_or_else(Instant::now)).await }, if due.is_some() => {
                    self.review(&mut sessions).await;
                }
                Some(session) = chosen.recv() => (self.open)(session),
            }
        }
    }

    async fn take(&mut self, sessions: &mut Sessions, summary: SessionSummary) {
        let seen = sessions.get(&summary.id).map(|(_, seen)| *seen).unwrap_or_default();
        let (focused, now) = (*self.focused.borrow(), Instant::now());
        let notice = decide(&seen, &summary, focused, now);
        match notice {
            Some(Notice::Withdrawn) => self.screen.withdraw(&summary.id),
            Some(shown) => {
                if let Some(words) = words(shown, &summary.title, (self.language)().await) {
                    self.screen.show(&summary.id, words);
                }
            }
            None => {}
        }
        let seen = seen.after(&summary, notice, focused, now);
        remember(sessions, summary, seen);
    }

    /// Looks at all again: the focus changed, or a quiet time is over.
    async fn review(&mut self, sessions: &mut Sessions) {
        let lines: Vec<SessionSummary> = sessions.values().map(|(summary, _)| summary.clone()).collect();
        for summary in lines {
            self.take(sessions, summary).await;
        }
    }

    /// When the first session that is quiet now has something to say.
    fn due(&self, sessions: &Sessions) -> Option<Instant> {
        let focused = *self.focused.borrow();
        let owed = sessions.values().filter_map(|(summary, seen)| {
            let until = seen.quiet_until()?;
            decide(seen, summary, focused, until).map(|_| until)
        });
        owed.min()
    }
}

fn remember(sessions: &mut Sessions, summary: SessionSummary, seen: Seen) {
    if seen.forgettable(Instant::now()) {
        sessions.remove(&summary.id);
    } else {
        sessions.insert(summary.id.clone(), (summary, seen));
    }
}
