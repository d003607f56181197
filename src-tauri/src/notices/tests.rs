//! What calls the person, when, and in which words: the decision as a table, the feed on a paused clock.

use super::feed::{Feed, Screen};
use super::*;
use api::wire::command::Notification;
use api::wire::store::Folder;
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, watch};

fn line(state: &str, needs_you: u32) -> SessionSummary {
    let folder = Folder {
        id: "fol_1".into(),
        name: "Bakery".into(),
        place: "~/Bakery".into(),
        exists: true,
        wide: None,
    };
    let (id, title) = ("ses_1".into(), "Fix the menu".into());
    SessionSummary { id, title, folder, updated: 0, state: state.into(), needs_you, tour: false }
}

/// What is done about the notice of one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Done {
    Says(What),
    Withdrawn,
}

/// Lines one after the other: at which second, which state, how many wait, has the window the focus; and what is done.
type Step = (u64, &'static str, u32, bool, Option<Done>);

#[track_caller]
fn check(given: &str, steps: &[Step]) {
    let began = Instant::now();
    let mut calls = Calls::default();
    for (second, state, needs, focused, expect) in steps {
        let (summary, now) = (line(state, *needs), began + Duration::from_secs(*second));
        calls.hear(summary, *focused, now);
        let done = calls.next(*focused, now).map(|act| match act {
            Act::Show(notice) => Done::Says(notice.what),
            Act::Withdraw => Done::Withdrawn,
        });
        assert_eq!(done, *expect, "{given}, at {second} s: {state} {needs}, focused {focused}, {calls:?}");
    }
}

const FOCUSED: bool = true;
const AWAY: bool = false;

#[test]
fn a15_focus_decides_what_is_shown() {
    use self::Done::{Says, Withdrawn};
    use super::What::{Done, Failed, Waiting};
    check(
        "with the focus nothing is ever shown",
        &[
            (0, "working", 0, FOCUSED, None),
            (20, "needs_you", 2, FOCUSED, None),
            (40, "idle", 0, FOCUSED, None),
        ],
    );
    check(
        "without the focus a request is shown, and taken away once answered",
        &[
            (0, "working", 0, AWAY, None),
            (1, "needs_you", 1, AWAY, Some(Says(Waiting(1)))),
            (2, "working", 0, AWAY, Some(Withdrawn)),
        ],
    );
    check(
        "coming to the window leaves the notice until it is answered",
        &[
            (1, "needs_you", 1, AWAY, Some(Says(Waiting(1)))),
            (2, "needs_you", 1, FOCUSED, None),
            (3, "working", 0, FOCUSED, Some(Withdrawn)),
        ],
    );
    check(
        "answering one of two in the window takes the notice away",
        &[
            (1, "needs_you", 2, AWAY, Some(Says(Waiting(2)))),
            (3, "needs_you", 1, FOCUSED, Some(Withdrawn)),
            (9, "needs_you", 1, AWAY, None),
        ],
    );
    check(
        "what was seen with the focus is not said when the person goes",
        &[
            (0, "needs_you", 1, FOCUSED, None),
            (1, "needs_you", 1, AWAY, None),
            (9, "needs_you", 2, AWAY, Some(Says(Waiting(2)))),
        ],
    );
    check(
        "answered elsewhere in part: the notice follows",
        &[
            (0, "needs_you", 3, AWAY, Some(Says(Waiting(3)))),
            (1, "needs_you", 2, AWAY, None),
            (5, "needs_you", 2, AWAY, Some(Says(Waiting(2)))),
        ],
    );
    check(
        "a long turn that ended is told, until the person comes",
        &[
            (0, "working", 0, AWAY, None),
            (10, "idle", 0, AWAY, Some(Says(Done))),
            (11, "idle", 0, FOCUSED, Some(Withdrawn)),
        ],
    );
    check(
        "so is one that failed or met a limit, until work goes on",
        &[
            (0, "working", 0, FOCUSED, None),
            (30, "failed", 0, AWAY, Some(Says(Failed))),
            (31, "working", 0, AWAY, Some(Withdrawn)),
        ],
    );
    check(
        "a short turn was waited for",
        &[(0, "working", 0, AWAY, None), (9, "idle", 0, AWAY, None), (60, "idle", 0, AWAY, None)],
    );
    check(
        "an end seen with the focus is not said later",
        &[(0, "working", 0, AWAY, None), (20, "idle", 0, FOCUSED, None), (21, "idle", 0, AWAY, None)],
    );
    check(
        "an end in the quiet time is said after it",
        &[
            (0, "working", 0, AWAY, None),
            (12, "needs_you", 1, AWAY, Some(Says(Waiting(1)))),
            (13, "working", 0, AWAY, Some(Withdrawn)),
            (14, "idle", 0, AWAY, None),
            (17, "idle", 0, AWAY, Some(Says(Done))),
            (30, "idle", 0, AWAY, None),
        ],
    );
    check(
        "a session at rest, a damaged one and an unknown state say nothing",
        &[
            (0, "idle", 0, AWAY, None),
            (20, "failed", 0, AWAY, None),
            (40, "damaged", 3, AWAY, None),
            (60, "later", 3, AWAY, None),
        ],
    );
}

#[test]
fn words_are_plain_and_in_both_languages() {
    use What::{Done, Failed, Waiting};
    let table = [
        (Waiting(1), 1, "1 thing is waiting for you.", "有 1 项等你处理。"),
        (Waiting(3), 1, "3 things are waiting for you.", "有 3 项等你处理。"),
        (Waiting(5), 2, "5 things are waiting for you in 2 sessions.", "2 个会话里有 5 项等你处理。"),
        (Done, 1, "The work has ended.", "工作已结束。"),
        (Done, 2, "The work in 2 sessions has ended.", "2 个会话的工作已结束。"),
        (Failed, 1, "The work stopped before it was finished.", "工作没做完就停下了。"),
        (
            Failed,
            3,
            "The work in 3 sessions has ended, and not all of it is finished.",
            "3 个会话的工作已结束，有的没做完。",
        ),
    ];
    for (what, sessions, english, chinese) in table {
        let notice = Notice::of(&line("idle", 0), what, sessions);
        assert_eq!(words(&notice, Language::English).body, english);
        let words = words(&notice, Language::Chinese);
        let title = if sessions == 1 { "Fix the menu" } else { "Daybook" };
        assert_eq!((words.title.as_str(), words.body.as_str(), words.open), (title, chinese, "打开"));
    }
}

#[test]
fn a_name_is_one_bounded_line_that_steers_nothing() {
    let long = "菜".repeat(200);
    let cut = "菜".repeat(NAME) + "…";
    for (name, shown) in [
        ("Fix the menu", "Fix the menu"),
        ("", "Daybook"),
        (" \n\u{202e}", "Daybook"),
        ("one\ntwo\tthree", "one two three"),
        ("safe\u{202e}gpj.exe\u{1b}[2J", "safegpj.exe[2J"),
        ("<b>bold</b> & more", "<b>bold</b> & more"),
        (&long, &cut),
    ] {
        assert_eq!(title(name), shown, "{name:?}");
    }
}

/// Records what would be on the screen.
#[derive(Clone, Default)]
struct Record(Arc<Mutex<Vec<String>>>);

impl Screen for Record {
    fn show(&self, session: &str, words: Words) {
        self.0.lock().unwrap().push(format!("{session}: {} | {}", words.title, words.body));
    }

    fn withdraw(&self) {
        self.0.lock().unwrap().push("gone".to_owned());
    }
}

/// A running feed and its ends.
struct Rig {
    lines: mpsc::Sender<Notification>,
    focus: watch::Sender<bool>,
    chosen: mpsc::Sender<String>,
    opened: mpsc::UnboundedReceiver<String>,
    screen: Record,
}

impl Rig {
    fn begin(now: Vec<SessionSummary>, language: Language) -> Self {
        let ((lines, source), (focus, focused)) = (mpsc::channel(256), watch::channel(false));
        let ((chosen, clicked), (open, opened)) = (mpsc::channel(4), mpsc::unbounded_channel());
        let screen = Record::default();
        let open = move |session| drop(open.send(session));
        let feed =
            Feed { screen: screen.clone(), language: move || std::future::ready(language), open, focused };
        tokio::spawn(feed.run(now, source, clicked));
        Self { lines, focus, chosen, opened, screen }
    }

    async fn hear(&self, session: &str, state: &str, needs_you: u32) {
        let summary = SessionSummary { id: session.into(), ..line(state, needs_you) };
        self.lines.send(Notification::Summary { summary }).await.unwrap();
    }

    /// What was shown in this time.
    async fn shown_within(&self, time: Duration) -> Vec<String> {
        // The clock is paused: it runs on as soon as everybody waits.
        tokio::time::sleep(time).await;
        std::mem::take(&mut *self.screen.0.lock().unwrap())
    }
}

const MOMENT: Duration = Duration::from_millis(1);

#[tokio::test(start_paused = true)]
async fn a_hundred_requests_in_a_second_are_one_notice_that_is_renewed_once() {
    let rig = Rig::begin(vec![], Language::English);
    let mut shown = Vec::new();
    for n in 1..=100 {
        rig.hear("ses_1", "needs_you", n).await;
        shown.extend(rig.shown_within(Duration::from_millis(10)).await);
    }
    assert_eq!(shown, ["ses_1: Fix the menu | 1 thing is waiting for you."]);
    let after = rig.shown_within(Duration::from_secs(3_600)).await;
    assert_eq!(after, ["ses_1: Fix the menu | 100 things are waiting for you."]);
    rig.hear("ses_1", "working", 0).await;
    assert_eq!(rig.shown_within(MOMENT).await, ["gone"]);
}

#[tokio::test(start_paused = true)]
async fn a24_a_hundred_requests_of_as_many_sessions_are_one_notice_that_says_how_many_wait() {
    let rig = Rig::begin(vec![], Language::English);
    let mut shown = Vec::new();
    for n in 1..=100 {
        rig.hear(&format!("ses_{n:03}"), "needs_you", 1).await;
        shown.extend(rig.shown_within(Duration::from_millis(10)).await);
    }
    assert_eq!(shown, ["ses_001: Fix the menu | 1 thing is waiting for you."]);
    let after = rig.shown_within(Duration::from_secs(3_600)).await;
    assert_eq!(after, ["ses_100: Daybook | 100 things are waiting for you in 100 sessions."]);
    // It follows what is answered, at its pace, and goes with the last.
    for n in 1..=99 {
        rig.hear(&format!("ses_{n:03}"), "working", 0).await;
    }
    let after = rig.shown_within(Duration::from_secs(3_600)).await;
    let (first, last) = (
        "Daybook | 99 things are waiting for you in 99 sessions.",
        "Fix the menu | 1 thing is waiting for you.",
    );
    assert_eq!(after, [format!("ses_100: {first}"), format!("ses_100: {last}")]);
    rig.hear("ses_100", "working", 0).await;
    assert_eq!(rig.shown_within(MOMENT).await, ["gone"]);
}

#[tokio::test(start_paused = true)]
async fn what_waits_goes_before_what_ended_and_the_set_language_is_spoken() {
    let rig = Rig::begin(vec![], Language::Chinese);
    for session in ["ses_1", "ses_2"] {
        rig.hear(session, "working", 0).await;
    }
    assert!(rig.shown_within(Duration::from_secs(20)).await.is_empty());
    rig.hear("ses_1", "idle", 0).await;
    assert_eq!(rig.shown_within(MOMENT).await, ["ses_1: Fix the menu | 工作已结束。"]);
    rig.hear("ses_3", "needs_you", 2).await;
    let shown = rig.shown_within(Duration::from_secs(10)).await;
    assert_eq!(shown, ["ses_3: Fix the menu | 有 2 项等你处理。"]);
    rig.hear("ses_2", "failed", 0).await;
    assert!(rig.shown_within(Duration::from_secs(10)).await.is_empty(), "what waits is said already");
    rig.hear("ses_3", "working", 0).await;
    let shown = rig.shown_within(Duration::from_secs(10)).await;
    assert_eq!(shown, ["ses_2: Daybook | 2 个会话的工作已结束，有的没做完。"]);
    rig.focus.send_replace(true);
    assert_eq!(rig.shown_within(MOMENT).await, ["gone"]);
}

#[tokio::test(start_paused = true)]
async fn what_waits_from_the_start_is_known_and_its_next_is_news() {
    let rig = Rig::begin(vec![line("needs_you", 1)], Language::English);
    rig.hear("ses_1", "needs_you", 1).await;
    assert!(rig.shown_within(Duration::from_secs(60)).await.is_empty());
    rig.hear("ses_1", "needs_you", 2).await;
    assert_eq!(rig.shown_within(MOMENT).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn coming_back_in_the_quiet_time_leaves_nothing_to_say() {
    let rig = Rig::begin(vec![], Language::English);
    rig.hear("ses_1", "needs_you", 1).await;
    rig.hear("ses_1", "needs_you", 2).await;
    assert_eq!(rig.shown_within(Duration::from_secs(1)).await.len(), 1);
    rig.focus.send_replace(true);
    assert_eq!(rig.shown_within(Duration::from_secs(60)).await, ["gone"]);
    rig.focus.send_replace(false);
    assert!(rig.shown_within(Duration::from_secs(60)).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_clicked_notice_opens_its_session() {
    let mut rig = Rig::begin(vec![], Language::English);
    rig.chosen.send("ses_7".into()).await.unwrap();
    assert_eq!(rig.opened.recv().await.as_deref(), Some("ses_7"));
}
