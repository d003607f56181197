//! A host over a script, without a keychain, and a client that follows a session like the window does.

use api::view::apply;
use api::wire::command::{Command, Intent, Mode, Notification, Reply, Topic};
use api::wire::store::ModelChoice;
use api::wire::view::SessionView;
use host::{Host, Ids as _, NoKeychain, Options};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use store::{Edit, Store};
use tokio::sync::mpsc;

pub(crate) struct Rig {
    pub(crate) root: tempfile::TempDir,
    pub(crate) host: Host,
}

impl Rig {
    pub(crate) async fn new(answers: Value) -> Self {
        Self::with_kept(answers, &[]).await
    }

    /// Over a store in which these texts are kept already, by name.
    pub(crate) async fn with_kept(answers: Value, kept: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(root.path().join("project")).expect("a project");
        let script = root.path().join("script.json");
        std::fs::write(&script, json!({ "answers": answers }).to_string()).expect("a script");
        keep(&root.path().join("data"), kept);
        let options = Options {
            script: Some(script),
            keychain: Arc::new(NoKeychain),
            ..Options::new(Some(root.path().join("data")))
        };
        let host = Host::open(options).await.unwrap_or_else(|failure| panic!("{failure}"));
        Self { root, host }
    }

    /// Another process over the same store, with another script.
    pub(crate) async fn again(self, answers: Value) -> Self {
        let Self { root, host } = self;
        host.close().await;
        drop(host);
        let script = root.path().join("script.json");
        std::fs::write(&script, json!({ "answers": answers }).to_string()).expect("a script");
        let options = Options {
            script: Some(script),
            keychain: Arc::new(NoKeychain),
            ..Options::new(Some(root.path().join("data")))
        };
        let host = Host::open(options).await.unwrap_or_else(|failure| panic!("{failure}"));
        Self { root, host }
    }

    pub(crate) async fn call(&self, command: Command) -> Reply {
        self.host.room().call(command).await.unwrap_or_else(|error| panic!("{error:?}"))
    }

    pub(crate) async fn session(&self, mode: Mode) -> String {
        let folder = self.host.open_folder(&self.root.path().join("project")).await.expect("a folder");
        let model = Some(ModelChoice { provider: host::SCRIPTED.to_owned(), model: "script".to_owned() });
        match self.call(Command::CreateSession { folder: folder.id, mode, model, wide: false }).await {
            Reply::Created { session } => session,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn say(&self, session: &str, text: &str) {
        let command = format!("cmd_{:032x}", host::SystemIds.next());
        let (session, text) = (session.to_owned(), text.to_owned());
        self.call(Command::Send { session, text, intent: Intent::Steer, command }).await;
    }

    pub(crate) async fn view(&self, session: &str) -> SessionView {
        match self.call(Command::OpenSession { session: session.to_owned() }).await {
            Reply::Session(view) => *view,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn client(&self, session: &str) -> Client {
        let view = self.view(session).await;
        let source = self
            .host
            .room()
            .subscribe(Topic::Session { session: session.to_owned(), from: view.seq + 1 })
            .await;
        Client { view, source: source.expect("a subscription") }
    }
}

/// How a data folder is opened with no model to ask.
pub(crate) fn options(data: &Path) -> Options {
    Options { keychain: Arc::new(NoKeychain), ..Options::new(Some(data.to_owned())) }
}

/// A host over a data folder that is there, with no model to ask.
pub(crate) async fn host_over(data: &Path) -> Host {
    Host::open(options(data)).await.unwrap_or_else(|failure| panic!("{failure}"))
}

/// Writes texts into the store of a data folder, which is closed again after.
fn keep(data: &Path, kept: &[(&str, &str)]) {
    store::create_folder(data).expect("a data folder");
    let store = Store::open(data, store::Options::inline(Arc::new(host::SystemClock))).expect("a store");
    for (name, value) in kept {
        let edit = Edit::Set { name: (*name).to_owned(), value: (*value).to_owned() };
        store.handle().edit(edit).expect("kept");
    }
}

/// A client: a view and what carries it forward.
pub(crate) struct Client {
    pub(crate) view: SessionView,
    pub(crate) source: mpsc::Receiver<Notification>,
}

impl Client {
    /// Takes the next notification.
    pub(crate) async fn step(&mut self) {
        let next = tokio::time::timeout(std::time::Duration::from_secs(60), self.source.recv()).await;
        match next.expect("in time").expect("more") {
            Notification::Session { seq, patches, .. } => {
                assert!(seq >= self.view.seq, "numbers never go back");
                self.view = apply(self.view.clone(), &patches);
                self.view.seq = seq;
            }
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn until(&mut self, so: impl Fn(&SessionView) -> bool) {
        while !so(&self.view) {
            self.step().await;
        }
    }
}

pub(crate) fn text(text: &str) -> Value {
    json!({ "say": [{ "text": text }] })
}

pub(crate) fn call(name: &str, arguments: Value) -> Value {
    json!({ "say": [{ "call": { "name": name, "arguments": arguments } }] })
}
