//! A prompt over a real seat, with a person who answers by hand.

use super::super::words::Ask;
use super::super::{Desk, SessionView};
use super::*;
use api::wire::command::Mode;
use api::wire::store::ModelChoice;
use host::{NoKeychain, Options};
use serde_json::json;
use std::time::Duration;

/// Longest that anything here may take.
const LIMIT: Duration = Duration::from_secs(60);

/// Somebody who hears that they are asked, and says nothing.
#[derive(Clone)]
struct Person(mpsc::UnboundedSender<()>);

impl Editor for Person {
    async fn tell(&self, _: &str, _: Update) {}

    async fn ask(&self, _: &str, _: Ask) -> Yes {
        // Nobody may count any more.
        let _ = self.0.send(());
        std::future::pending().await
    }
}

/// A session whose model wants to write a file.
async fn begun() -> (tempfile::TempDir, Arc<Seat>, SessionView) {
    let root = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(root.path().join("project")).expect("a project");
    let write = json!({"call": {"name": "write_file", "arguments": {"path": "a.txt", "content": "x\n"}}});
    let script = root.path().join("script.json");
    std::fs::write(&script, json!({"answers": [{"say": [write]}]}).to_string()).expect("a script");
    let options = Options {
        script: Some(script),
        keychain: Arc::new(NoKeychain),
        ..Options::new(Some(root.path().join("data")))
    };
    let seat = Seat::take(options).await.expect("a seat");
    let model = Some(ModelChoice { provider: host::SCRIPTED.to_owned(), model: "script".to_owned() });
    let desk = Desk { seat: Arc::clone(&seat), model, mode: Mode::Ask };
    let view = desk.begin(&root.path().join("project")).await.expect("a session");
    (root, seat, view)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobodys_answer_reached_is_asked_again_but_not_for_ever() {
    let (_root, seat, view) = begun().await;
    let session = view.id.clone();
    let message = say(&seat, &view, &session, "write it".to_owned()).await.expect("said");
    let source = listen(&seat, &session, view.seq + 1).await.expect("a source");
    let (told, mut asked) = mpsc::unbounded_channel();
    let (answered, answers) = mpsc::channel(ANSWERS);
    let mut turn = Turn {
        seat: Arc::clone(&seat),
        editor: Person(told),
        session: session.clone(),
        place: 0,
        teller: Teller::since(view),
        message,
        asking: HashMap::new(),
        answered: answered.clone(),
        lost: HashMap::new(),
        stopping: Stopping { wanted: CancellationToken::new(), heard: false, told: false },
    };
    let person = async {
        for _ in 0..=AGAIN {
            asked.recv().await.expect("a request");
            let view = open(&seat, &session).await.expect("a view");
            let id = view.entries.iter().find_map(|entry| match &entry.body {
                EntryBody::Approval { approval } => Some(approval.id.clone()),
                _ => None,
            });
            // A yes to something else.
            let wrong = (id.expect("it is asked"), "0".repeat(64), Yes::Once);
            answered.send(wrong).await.expect("heard");
        }
    };
    let both = async { tokio::join!(turn.run(source, answers), person) };
    let (ended, ()) = tokio::time::timeout(LIMIT, both).await.expect("in time");
    assert!(ended.is_err(), "{ended:?}");
    assert!(asked.try_recv().is_err());
    seat.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_stopped_before_it_was_said_is_not_said() {
    let (_root, seat, view) = begun().await;
    let (told, _asked) = mpsc::unbounded_channel();
    let stop = CancellationToken::new();
    stop.cancel();
    let prompt = prompt(Arc::clone(&seat), Person(told), view.id.clone(), "write it".to_owned(), stop);
    let ended = tokio::time::timeout(LIMIT, prompt).await.expect("in time");
    assert_eq!(ended.map_err(|failed| failed.code), Ok(Stop::Cancelled));
    assert_eq!(open(&seat, &view.id).await.expect("a view").entries, view.entries);
    seat.close().await;
}

#[test]
fn what_came_while_the_editor_was_slow_is_told_at_once() {
    let text = |text: &str| Patch::Text { key: "a".to_owned(), text: text.to_owned() };
    let told = |seq| Notification::Session { session: "ses_1".to_owned(), seq, patches: vec![text("more")] };
    let (to, mut source) = mpsc::channel(4);
    to.try_send(told(2)).expect("room");
    to.try_send(told(3)).expect("room");
    let all = gathered(1, vec![text("one")], &mut source);
    assert_eq!(all, Some((3, vec![text("one"), text("more"), text("more")])));
    to.try_send(told(4)).expect("room");
    to.try_send(Notification::Resync { session: "ses_1".to_owned() }).expect("room");
    assert_eq!(gathered(3, Vec::new(), &mut source), None);
}
