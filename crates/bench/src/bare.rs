//! The engine by itself: the real loop over a real store, with a model that answers from memory.
//!
//! For what must be measured without a socket: counts of barriers, and what a step costs as the history grows. Invariant:
//! the request is built, recorded and stored as always; only nobody sends it.

use crate::Done;
use crate::place::{self, Folder, MODEL, PROVIDER};
use domain::call::Mode;
use domain::event::{ModelChoice, SessionCreated, Target};
use domain::ids::{FolderId, SessionId};
use domain::model::{Block, ModelDelta, ModelSnapshot, Outcome, StopReason, Usage};
use domain::state::ApprovalState;
use engine::{Caps, Command, Engine, Limits, ModelRequest, Models, Ports, Problem};
use futures_util::future::BoxFuture;
use providers::{SendResult, Sink};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use store::{Notice, Options, Store, Subscription};
use tokio_util::sync::CancellationToken;

/// What the model says to its n-th request, from 0.
pub(crate) type Plan = Arc<dyn Fn(usize) -> Vec<Block> + Send + Sync>;

/// An engine with one session.
pub(crate) struct Bare {
    pub(crate) engine: Arc<Engine>,
    pub(crate) session: SessionId,
    news: Subscription,
    // After the engine: the store closes last.
    _store: Store,
    _folder: Arc<Folder>,
}

/// One text.
pub(crate) fn text(text: impl Into<String>) -> Block {
    Block::Text { text: text.into() }
}

/// One call.
pub(crate) fn call(id: usize, name: &str, arguments: &Value) -> Block {
    Block::Call {
        provider_call_id: format!("toolu_{id}"),
        name: name.to_owned(),
        arguments: arguments.to_string(),
    }
}

impl Bare {
    /// A fresh one. Must be called inside a runtime.
    pub(crate) async fn new(mode: Mode, plan: Plan) -> Done<Self> {
        let folder = Arc::new(Folder::new()?);
        store::create_folder(&folder.data())?;
        let store = Store::open(&folder.data(), Options::new(Arc::new(host::SystemClock)))?;
        let private = folder.data().join("private");
        let none = Arc::new(tools::redact::Needles::new(Vec::<String>::new()));
        let ports = Ports {
            clock: Arc::new(host::SystemClock),
            ids: Arc::new(host::SystemIds),
            jitter: Arc::new(|| 0),
            today: Arc::new(|| "2026-01-01".to_owned()),
            day: Arc::new(|| (0, u64::MAX)),
            caps: Arc::new(|| Ok(Caps::default())),
            models: Arc::new(Memory { model: place::model()?, plan, asked: AtomicUsize::new(0) }),
            launcher: Arc::new(tools::Cages),
            bin: tools::Bin::Blobs,
            private,
            hide: vec![folder.data()],
            home: None,
            lasting: Arc::new(|_| Vec::new()),
            layers: Arc::new(|_| Vec::new()),
            secrets: Arc::new(move || Arc::clone(&none)),
        };
        let engine = Engine::start(store.handle(), ports, Limits::default(), tools::Limits::default())?;
        let created = SessionCreated {
            folder: FolderId::from_bits(1),
            root: folder.project().to_string_lossy().into_owned(),
            mode,
            model: Some(ModelChoice { provider: PROVIDER.to_owned(), model: MODEL.to_owned() }),
            tour: false,
            identity: None,
        };
        let session = engine.create(created).await?;
        let news = engine.store().subscribe();
        Ok(Self { engine, session, news, _store: store, _folder: folder })
    }

    /// Says something, says yes to whatever is asked, and waits for the end of its turn.
    pub(crate) async fn turn(&mut self, words: &str) -> Done<()> {
        let say = Command::Say { text: words.to_owned(), target: Target::NextStep, command: None };
        let recorded = self.engine.command(&self.session, say).await?;
        loop {
            match self.news.next().await {
                Notice::Committed(announced) => {
                    if announced.events.iter().any(|event| event.kind == "turn/end") {
                        return Ok(());
                    }
                    if announced.events.iter().any(|event| event.kind == "approval/requested") {
                        self.allow().await?;
                    }
                }
                Notice::Resync if self.ended_since(recorded.seq)? => return Ok(()),
                Notice::Resync => self.allow().await?,
            }
        }
    }

    /// Says yes to every call that waits for it.
    async fn allow(&self) -> Done<()> {
        let state = self.engine.state(&self.session)?;
        let calls = state.step().map(|(_, step)| step.calls.as_slice()).unwrap_or_default();
        let open = calls.iter().filter_map(|call| call.approval.as_ref());
        for approval in open.filter(|approval| approval.state == ApprovalState::Open) {
            let (approval, digest) = (approval.id.clone(), approval.digest);
            self.engine.command(&self.session, Command::Grant { approval, digest, offer: None }).await?;
        }
        Ok(())
    }

    fn ended_since(&self, seq: u64) -> Done<bool> {
        Ok(self.engine.store().last_of(&self.session, "turn/end", u64::MAX >> 1)?.is_some_and(|at| at > seq))
    }
}

/// A model that answers at once, word for word.
struct Memory {
    model: ModelSnapshot,
    plan: Plan,
    asked: AtomicUsize,
}

impl Models for Memory {
    fn snapshot(&self, choice: &ModelChoice) -> Option<ModelSnapshot> {
        (choice.model == self.model.model).then(|| self.model.clone())
    }

    fn instead(&self) -> Vec<ModelChoice> {
        Vec::new()
    }

    fn ready<'a>(&'a self, _: &'a ModelSnapshot) -> BoxFuture<'a, Result<Option<(String, String)>, Problem>> {
        Box::pin(async { Ok(None) })
    }

    fn send<'a>(
        &'a self,
        _: ModelRequest<'a>,
        sink: &'a mut dyn Sink,
        _: &'a CancellationToken,
    ) -> BoxFuture<'a, SendResult> {
        let blocks = (self.plan)(self.asked.fetch_add(1, Ordering::Relaxed));
        let calls = blocks.iter().any(|block| matches!(block, Block::Call { .. }));
        let stop = if calls { StopReason::ToolCalls } else { StopReason::Stop };
        let usage = Some(Usage { input: 10, output: 10, ..Usage::default() });
        for block in &blocks {
            if let Block::Text { text } = block {
                let words = text.split_inclusive(' ').map(str::to_owned);
                words.for_each(|text| sink.delta(ModelDelta::Text { text }));
            }
        }
        Box::pin(async move { Ok(Outcome { blocks, stop, usage, response_id: None, model: None }) })
    }
}
