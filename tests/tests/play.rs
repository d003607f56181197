//! Playing by hand: one process of a rig and its session, with what a test wants to see of them.

use domain::event::{End, Fact, Target};
use domain::ids::SessionId;
use domain::state::{ApprovalState, Call, CallPhase, State};
use engine::Command;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tests::driver::{Ended, drive};
use tests::{Answers, DieAt, Process, Rig};

pub(crate) struct Play {
    pub(crate) rig: Arc<Rig>,
    pub(crate) process: Arc<Process>,
    pub(crate) session: SessionId,
}

impl Play {
    pub(crate) async fn of(script: &str) -> Self {
        Self::on(Rig::new(script)).await
    }

    /// A rig's session, just created.
    pub(crate) async fn on(rig: Rig) -> Self {
        let process = rig.start(DieAt::never());
        let session = process.engine.create(rig.created()).await.expect("it begins");
        Self::in_process(rig, process, session)
    }

    pub(crate) fn in_process(rig: Rig, process: Process, session: SessionId) -> Self {
        Self { rig: Arc::new(rig), process: Arc::new(process), session }
    }

    /// Another session of the same process.
    pub(crate) async fn beside(&self) -> Self {
        let (rig, process) = (Arc::clone(&self.rig), Arc::clone(&self.process));
        let session = process.engine.create(rig.created()).await.expect("it begins");
        Self { rig, process, session }
    }

    /// Leaves the process as a kill would and starts another one.
    pub(crate) async fn restart(self) -> Self {
        let Self { rig, process, session } = self;
        drop(process);
        let process = Arc::new(rig.start(DieAt::never()));
        Self { rig, process, session }
    }

    pub(crate) async fn say(&self, text: &str) {
        self.say_for(text, Target::NextStep).await;
    }

    pub(crate) async fn say_for(&self, text: &str, target: Target) {
        self.tell(Command::Say { text: text.into(), target, command: None }).await;
    }

    pub(crate) async fn tell(&self, command: Command) {
        self.process.engine.command(&self.session, command).await.expect("it is taken");
    }

    pub(crate) fn state(&self) -> State {
        (*self.process.engine.state(&self.session).expect("readable")).clone()
    }

    /// Lets the session work until this holds.
    #[track_caller]
    pub(crate) fn until(&self, holds: impl Fn(&State) -> bool) -> impl Future<Output = State> {
        let at = std::panic::Location::caller();
        async move {
            // News, not time: the paused clock stands still while a command hangs.
            let mut news = self.process.engine.store().subscribe();
            loop {
                let state = self.state();
                if holds(&state) {
                    return state;
                }
                let heard = tokio::time::timeout(Duration::from_secs(3_600), news.next()).await;
                assert!(heard.is_ok(), "{at}: it never came to that point: {:#?}", self.state());
            }
        }
    }

    pub(crate) async fn idle(&self) {
        self.until(|state| state.turn.is_none() && state.inbox.is_empty()).await;
    }

    pub(crate) async fn rest(&self, answers: &Answers) -> Ended {
        drive(&self.process, &self.session, answers).await
    }

    /// Says something and answers yes until all is done; nothing may be wrong then.
    pub(crate) async fn through(&self, text: &str) {
        self.say(text).await;
        assert_eq!(self.rest(&Answers::default()).await, Ended::Resting);
        self.clean();
    }

    pub(crate) fn facts(&self) -> Vec<Fact> {
        self.rig.events(&self.session).into_iter().filter_map(|event| event.fact).collect()
    }

    /// The types of all events, without the pieces that only show.
    pub(crate) fn kinds(&self) -> Vec<String> {
        let events = self.rig.log(&self.session);
        events.into_iter().filter(|event| !event.ignorable).map(|event| event.kind).collect()
    }

    pub(crate) fn count(&self, kind: &str) -> usize {
        self.kinds().iter().filter(|found| *found == kind).count()
    }

    pub(crate) fn ends(&self) -> Vec<End> {
        let ends = self.facts().into_iter().filter_map(|fact| match fact {
            Fact::TurnEnd(end) => Some(end.end),
            _ => None,
        });
        ends.collect()
    }

    /// The bodies that this process sent, as JSON.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let recorded = self.process.player.recorded();
        recorded.iter().map(|request| serde_json::from_slice(&request.body).expect("JSON")).collect()
    }

    /// The texts of the newest request's messages that aren't the model's own.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.requests().last().map(texts).unwrap_or_default()
    }

    #[track_caller]
    pub(crate) fn clean(&self) {
        let findings = self.rig.findings(&self.session, self.process.engine.store().epoch());
        assert!(findings.is_empty(), "{findings:#?}");
    }
}

/// Runs it on one thread and a paused clock, with whatever it left running gone at the end.
pub(crate) fn alone<T>(run: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.expect("a runtime").block_on(run)
}

/// The same in real time, since a command that hangs would let a paused clock run ahead of it.
pub(crate) fn alone_in_real_time<T>(run: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(run)
}

/// The same, left as a kill leaves it: nothing is waited for.
pub(crate) fn left<T>(run: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let done = runtime.block_on(run);
    runtime.shutdown_background();
    done
}

/// The texts of a request's messages that aren't the model's own.
pub(crate) fn texts(request: &Value) -> Vec<String> {
    let mut texts = Vec::new();
    for message in request["messages"].as_array().into_iter().flatten() {
        texts.extend(message["text"].as_str().map(str::to_owned));
        for result in message["results"].as_array().into_iter().flatten() {
            texts.extend(result["text"].as_str().map(str::to_owned));
        }
    }
    texts
}

pub(crate) fn calls(state: &State) -> &[Call] {
    state.step().map_or(&[], |(_, step)| &step.calls)
}

pub(crate) fn asks(state: &State) -> bool {
    let open = |call: &Call| call.approval.as_ref().is_some_and(|a| a.state == ApprovalState::Open);
    calls(state).iter().any(|call| !call.ended() && open(call))
}

pub(crate) fn runs(state: &State) -> bool {
    calls(state).iter().any(|call| matches!(call.phase, CallPhase::Started { .. }))
}

/// A script of these answers, each the inside of a `say`.
pub(crate) fn script(answers: &[&str]) -> String {
    let said: Vec<String> = answers.iter().map(|answer| format!(r#"{{"say":[{answer}]}}"#)).collect();
    format!(r#"{{"answers":[{}]}}"#, said.join(","))
}

pub(crate) fn run(command: &str) -> String {
    format!(r#"{{"call":{{"name":"run_command","arguments":{{"command":"{command}"}}}}}}"#)
}

pub(crate) fn read(path: &str) -> String {
    format!(r#"{{"call":{{"name":"read_file","arguments":{{"path":"{path}"}}}}}}"#)
}

pub(crate) fn write(path: &str, content: &str) -> String {
    let arguments = serde_json::json!({ "path": path, "content": content });
    format!(r#"{{"call":{{"name":"write_file","arguments":{arguments}}}}}"#)
}

pub(crate) fn text(words: &str) -> String {
    format!(r#"{{"text":"{words}"}}"#)
}
