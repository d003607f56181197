//! A **notice** is a notification of the system: it calls the person to a session while the window isn't in front.
//!
//! What calls is decided here, from the line of the session list and what was said before; [`feed`] listens and
//! [`desktop`] shows. Being in front is having the focus: a window that is covered, unfocused, minimised or in the tray
//! is not. Invariants: with the focus nothing is shown; a session has at most one notice, and a new or changed one at
//! most every few seconds; a notice whose reason is gone goes too; it says no more of the work than the session's name.

pub(crate) mod desktop;
pub(crate) mod feed;

use crate::language::Language;
use api::wire::store::SessionSummary;
use std::time::Duration;
use tokio::time::Instant;

/// How long a session is quiet after a notice. Many requests in a row are one errand.
const QUIET: Duration = Duration::from_secs(5);
/// A turn that ends sooner was waited for.
const LONG: Duration = Duration::from_secs(10);
/// How many characters of a session's name are said.
const NAME: usize = 80;

/// What to do about the notice of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notice {
    /// Say how many things wait for the person.
    Waiting(u32),
    /// Say that a long turn ended well, or was stopped.
    Done,
    /// Say that a long turn failed or met a limit.
    Failed,
    /// Take away what is shown: its reason is gone.
    Withdrawn,
}

/// What the person was told of a session, as far as known. A session at rest that nobody was told of is the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Seen {
    /// How many waiting things the person knows of.
    known: u32,
    /// Since when a turn runs; after its end, only while that end is still to be told.
    working: Option<Instant>,
    /// When something was last shown.
    last: Option<Instant>,
    /// What was last said and not taken back; the person may have dismissed it.
    shown: Option<Notice>,
}

/// What to do now about a session, given what was `seen` before and its line as it is.
pub(crate) fn decide(seen: &Seen, summary: &SessionSummary, focused: bool, now: Instant) -> Option<Notice> {
    let doing = Doing::of(summary);
    let waiting = doing.waiting();
    let news = match doing {
        Doing::Waiting(n) if n > seen.known => Some(Notice::Waiting(n)),
        Doing::Waiting(n) if matches!(seen.shown, Some(Notice::Waiting(told)) if told != n) => {
            Some(Notice::Waiting(n))
        }
        Doing::Rest { failed } if seen.worked_long(now) => {
            Some(if failed { Notice::Failed } else { Notice::Done })
        }
        Doing::Waiting(_) | Doing::Working | Doing::Rest { .. } | Doing::Damaged => None,
    };
    let gone = match seen.shown {
        Some(Notice::Waiting(told)) => waiting == 0 || (focused && waiting != told),
        // Whoever comes back sees how it ended.
        Some(Notice::Done | Notice::Failed) => focused || !matches!(doing, Doing::Rest { .. }),
        Some(Notice::Withdrawn) | None => false,
    };
    let may_show = !focused && seen.quiet_until().is_none_or(|until| now >= until);
    news.filter(|_| may_show).or(gone.then_some(Notice::Withdrawn))
}

impl Seen {
    /// What is seen after this line, when this was done about it.
    pub(crate) fn after(
        &self,
        summary: &SessionSummary,
        notice: Option<Notice>,
        focused: bool,
        now: Instant,
    ) -> Self {
        let doing = Doing::of(summary);
        let waiting = doing.waiting();
        let told_waiting = focused || matches!(notice, Some(Notice::Waiting(_)));
        let told_end = focused || matches!(notice, Some(Notice::Done | Notice::Failed));
        Self {
            known: if told_waiting { waiting } else { self.known.min(waiting) },
            working: match doing {
                Doing::Working | Doing::Waiting(_) => self.working.or(Some(now)),
                Doing::Rest { .. } => self.working.filter(|_| !told_end && self.worked_long(now)),
                Doing::Damaged => None,
            },
            last: match notice {
                Some(Notice::Waiting(_) | Notice::Done | Notice::Failed) => Some(now),
                Some(Notice::Withdrawn) | None => self.last,
            },
            shown: match notice {
                Some(Notice::Withdrawn) => None,
                shown => shown.or(self.shown),
            },
        }
    }

    /// Until when nothing new may be shown.
    pub(crate) fn quiet_until(&self) -> Option<Instant> {
        self.last.map(|last| last + QUIET)
    }

    /// Is there nothing here that a session never seen hasn't, once it is quiet no more?
    pub(crate) fn forgettable(&self, now: Instant) -> bool {
        let calm = self.quiet_until().is_none_or(|until| now >= until);
        calm && Self { last: None, ..*self } == Self::default()
    }

    fn worked_long(&self, now: Instant) -> bool {
        self.working.is_some_and(|since| now.duration_since(since) >= LONG)
    }
}

/// The line's state in a closed set.
enum Doing {
    Working,
    Waiting(u32),
    Rest { failed: bool },
    Damaged,
}

impl Doing {
    fn of(summary: &SessionSummary) -> Self {
        match summary.state.as_str() {
            "working" => Doing::Working,
            "needs_you" => Doing::Waiting(summary.needs_you.max(1)),
            "idle" => Doing::Rest { failed: false },
            "failed" => Doing::Rest { failed: true },
            _ => Doing::Damaged,
        }
    }

    fn waiting(&self) -> u32 {
        match self {
            Doing::Waiting(n) => *n,
            Doing::Working | Doing::Rest { .. } | Doing::Damaged => 0,
        }
    }
}

/// What a notice says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words {
    /// The session's name, or the app's where it has none.
    pub(crate) title: String,
    /// What is to be known, in one sentence.
    pub(crate) body: String,
    /// What a click does, for desktops that show a button.
    pub(crate) open: &'static str,
}

/// Words a notice; nothing for one that is taken away.
pub(crate) fn words(notice: Notice, name: &str, language: Language) -> Option<Words> {
    let body = match (notice, language) {
        (Notice::Waiting(1), Language::English) => "1 thing is waiting for you.".to_owned(),
        (Notice::Waiting(n), Language::English) => format!("{n} things are waiting for you."),
        (Notice::Waiting(n), Language::Chinese) => format!("有 {n} 项等你处理。"),
        (Notice::Done, Language::English) => "The work has ended.".to_owned(),
        (Notice::Done, Language::Chinese) => "工作已结束。".to_owned(),
        (Notice::Failed, Language::English) => "The work stopped before it was finished.".to_owned(),
        (Notice::Failed, Language::Chinese) => "工作没做完就停下了。".to_owned(),
        (Notice::Withdrawn, _) => return None,
    };
    let open = match language {
        Language::English => "Open",
        Language::Chinese => "打开",
    };
    Some(Words { title: title(name), body, open })
}

/// One line of a bounded length, without characters that steer how text is drawn.
fn title(name: &str) -> String {
    let steers = |c: &char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    let shown: String =
        name.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| !steers(c)).collect();
    let shown = shown.trim();
    match shown.char_indices().nth(NAME) {
        _ if shown.is_empty() => "Daybook".to_owned(),
        Some((end, _)) => format!("{}…", shown[..end].trim_end()),
        None => shown.to_owned(),
    }
}

#[cfg(test)]
mod tests;
