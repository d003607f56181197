//! A **notice** is a notification of the system: it calls the person to Daybook while the window isn't in front.
//!
//! What calls is decided here, from the lines of the session list and what was said before; [`feed`] listens and
//! [`desktop`] shows. Being in front is having the focus: a window that is covered, unfocused, minimised or in the tray
//! is not. Invariants: with the focus nothing is shown; there is at most one notice, for all sessions together, and a new or
//! changed one at most every few seconds; it goes when its reasons are gone; it says no more of the work than a session's
//! name.

pub(crate) mod desktop;
pub(crate) mod feed;

use crate::language::Language;
use api::wire::store::SessionSummary;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// How long it is quiet after a notice. Many requests in a row are one errand.
const QUIET: Duration = Duration::from_secs(5);
/// A turn that ends sooner was waited for.
const LONG: Duration = Duration::from_secs(10);
/// How many characters of a session's name are said.
const NAME: usize = 80;

/// What is said of all sessions together. What waits goes before what ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    /// What calls.
    what: What,
    /// How many sessions call so.
    sessions: u32,
    /// The session that called last: a click opens it.
    session: String,
    /// Its name.
    title: String,
}

/// What calls the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// So many things wait.
    Waiting(u32),
    /// Long turns ended well, or were stopped.
    Done,
    /// A long turn failed or met a limit.
    Failed,
}

/// What to do about the notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    /// Show this, in place of what is shown.
    Show(Notice),
    /// Take away what is shown: its reason is gone.
    Withdraw,
}

/// What all sessions call for, and what was said of it.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// Those that aren't at rest, or that the person wasn't told of yet.
    sessions: BTreeMap<String, (SessionSummary, Seen)>,
    /// What was last said and not taken back; the person may have dismissed it.
    shown: Option<Notice>,
    /// When something was last shown.
    last: Option<Instant>,
}

impl Calls {
    /// Hears a line of the session list.
    pub(crate) fn hear(&mut self, summary: SessionSummary, focused: bool, now: Instant) {
        let mut seen = self.sessions.remove(&summary.id).map(|(_, seen)| seen).unwrap_or_default();
        seen.hear(&Doing::of(&summary), focused, now);
        if seen != Seen::default() {
            self.sessions.insert(summary.id.clone(), (summary, seen));
        }
    }

    /// What to do now; that it is done is remembered.
    pub(crate) fn next(&mut self, focused: bool, now: Instant) -> Option<Act> {
        if focused {
            return self.next_in_front();
        }
        let standing = self.standing();
        if standing.is_none() {
            return self.shown.take().map(|_| Act::Withdraw);
        }
        let may_show = standing != self.shown && self.quiet_until().is_none_or(|until| now >= until);
        let shown = standing.filter(|_| may_show)?;
        self.last = Some(now);
        self.shown = Some(shown.clone());
        Some(Act::Show(shown))
    }

    /// When something that has to be said may be.
    pub(crate) fn due(&self, focused: bool) -> Option<Instant> {
        let standing = self.standing().filter(|standing| Some(standing) != self.shown.as_ref());
        standing.filter(|_| !focused).and(self.quiet_until())
    }

    /// Whoever is back knows all of it. What waits as it was said stays said until it is answered.
    fn next_in_front(&mut self) -> Option<Act> {
        for (summary, seen) in self.sessions.values_mut() {
            seen.come(&Doing::of(summary));
        }
        let stays = self.shown.is_some() && self.standing() == self.shown;
        if !stays {
            self.sessions.values_mut().for_each(|(_, seen)| seen.call = None);
        }
        self.sessions.retain(|_, (_, seen)| *seen != Seen::default());
        self.shown.take_if(|_| !stays).map(|_| Act::Withdraw)
    }

    /// What would be said now, if it may.
    fn standing(&self) -> Option<Notice> {
        let calls = || self.sessions.values().filter_map(|(summary, seen)| Some((summary, seen.call?)));
        let waits = |call: &Call| matches!(call.what, What::Waiting(_));
        let waiting = calls().any(|(_, call)| waits(&call));
        let mut notice: Option<(Instant, Notice)> = None;
        for (summary, call) in calls().filter(|(_, call)| waits(call) == waiting) {
            let (last, said) = notice.get_or_insert_with(|| (call.since, Notice::of(summary, call.what, 0)));
            let what = said.what.and(call.what, said.sessions);
            if call.since >= *last {
                *last = call.since;
                *said = Notice::of(summary, what, said.sessions);
            }
            said.what = what;
            said.sessions += 1;
        }
        notice.map(|(_, said)| said)
    }

    fn quiet_until(&self) -> Option<Instant> {
        self.last.map(|last| last + QUIET)
    }
}

impl Notice {
    fn of(summary: &SessionSummary, what: What, sessions: u32) -> Self {
        Self { what, sessions, session: summary.id.clone(), title: summary.title.clone() }
    }

    /// The session a click opens.
    pub(crate) fn session(&self) -> &str {
        &self.session
    }
}

impl What {
    /// Together with what another session calls for; `before` sessions are in it already.
    fn and(self, other: Self, before: u32) -> Self {
        match (self, other) {
            (_, other) if before == 0 => other,
            (Self::Waiting(one), Self::Waiting(other)) => Self::Waiting(one.saturating_add(other)),
            (Self::Failed, _) | (_, Self::Failed) => Self::Failed,
            (what, _) => what,
        }
    }
}

/// What the person knows of a session, as far as can be told. A session at rest that nobody is to be told of is the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Seen {
    /// How many waiting things the person knows of, or is to be told of.
    known: u32,
    /// Since when a turn runs.
    working: Option<Instant>,
    /// What it calls for.
    call: Option<Call>,
}

/// What a session calls for, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Call {
    what: What,
    since: Instant,
}

impl Seen {
    fn hear(&mut self, doing: &Doing, focused: bool, now: Instant) {
        let calls = |what| Some(Call { what, since: now });
        let called = self.call.map(|call| call.what);
        match *doing {
            Doing::Waiting(n) => {
                self.working = self.working.or(Some(now));
                self.call = match called {
                    Some(What::Waiting(told)) if told == n => self.call,
                    Some(What::Waiting(_)) if !focused => calls(What::Waiting(n)),
                    _ if !focused && n > self.known => calls(What::Waiting(n)),
                    _ => None,
                };
                // What is to be told counts as told.
                let known = focused || self.call.is_some();
                self.known = if known { n } else { self.known.min(n) };
            }
            Doing::Working => *self = Self { working: self.working.or(Some(now)), ..Self::default() },
            Doing::Rest { failed } => {
                let long = self.working.is_some_and(|since| now.duration_since(since) >= LONG);
                let ended = matches!(called, Some(What::Done | What::Failed)).then_some(self.call).flatten();
                let news = long.then(|| calls(if failed { What::Failed } else { What::Done })).flatten();
                *self = Self { call: news.or(ended).filter(|_| !focused), ..Self::default() };
            }
            Doing::Damaged => *self = Self::default(),
        }
    }

    /// The person is back.
    fn come(&mut self, doing: &Doing) {
        self.known = doing.waiting();
        self.call = self.call.filter(|call| matches!(call.what, What::Waiting(_)));
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
    /// The session's name, or the app's where it has none or there are several.
    pub(crate) title: String,
    /// What is to be known, in one sentence.
    pub(crate) body: String,
    /// What a click does, for desktops that show a button.
    pub(crate) open: &'static str,
}

/// Words a notice.
pub(crate) fn words(notice: &Notice, language: Language) -> Words {
    let one = notice.sessions == 1;
    let all = notice.sessions;
    let body = match (notice.what, language) {
        (What::Waiting(1), Language::English) => "1 thing is waiting for you.".to_owned(),
        (What::Waiting(n), Language::English) if one => format!("{n} things are waiting for you."),
        (What::Waiting(n), Language::English) => format!("{n} things are waiting for you in {all} sessions."),
        (What::Waiting(n), Language::Chinese) if one => format!("有 {n} 项等你处理。"),
        (What::Waiting(n), Language::Chinese) => format!("{all} 个会话里有 {n} 项等你处理。"),
        (What::Done, Language::English) if one => "The work has ended.".to_owned(),
        (What::Done, Language::English) => format!("The work in {all} sessions has ended."),
        (What::Done, Language::Chinese) if one => "工作已结束。".to_owned(),
        (What::Done, Language::Chinese) => format!("{all} 个会话的工作已结束。"),
        (What::Failed, Language::English) if one => "The work stopped before it was finished.".to_owned(),
        (What::Failed, Language::English) => {
            format!("The work in {all} sessions has ended, and not all of it is finished.")
        }
        (What::Failed, Language::Chinese) if one => "工作没做完就停下了。".to_owned(),
        (What::Failed, Language::Chinese) => format!("{all} 个会话的工作已结束，有的没做完。"),
    };
    let open = match language {
        Language::English => "Open",
        Language::Chinese => "打开",
    };
    Words { title: if one { title(&notice.title) } else { title("") }, body, open }
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
