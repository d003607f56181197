//! Following a session: its events go by as lines, until its turn ends or it waits for a person.
//!
//! Invariant: every event is printed once, in order, and the last line says how it ended.

use crate::exit::{Exit, Failure, of_end};
use crate::money;
use crate::output;
use crate::signals::{Signal, Signals};
use crate::way::{Events, Way};
use api::wire::command::{Command, Reply};
use api::wire::view::{Activity, EntryBody, SessionView};
use serde_json::{Value, json};

/// The end of a turn whose process died.
const CUT_OFF: &str = "interrupted";

/// What is being followed.
pub(crate) struct Follow<'a> {
    pub(crate) way: &'a Way,
    pub(crate) session: &'a str,
    /// Until the turn that reads this message ends; until the session rests where there is none.
    pub(crate) message: Option<String>,
    /// Print events as JSON?
    pub(crate) json: bool,
    /// Wait for a person as long as it takes?
    pub(crate) wait: bool,
    pub(crate) seen: Seen,
}

/// What went by.
#[derive(Default)]
pub(crate) struct Seen {
    /// Has the message been read?
    included: bool,
    /// Has a step taken it, to read it?
    reserved: bool,
    /// Does a person's stop hold it back? No turn reads it by itself then.
    held: bool,
    turn: Option<String>,
    answer: String,
    end: Option<Value>,
}

impl<'a> Follow<'a> {
    pub(crate) fn new(way: &'a Way, session: &'a str, json: bool) -> Self {
        Self { way, session, message: None, json, wait: false, seen: Seen::default() }
    }

    /// Follows to the end, says it, and gives its exit code.
    pub(crate) async fn run(mut self, mut events: Events) -> Result<Exit, Failure> {
        let mut signals = Signals::new()?;
        let end = loop {
            let line = tokio::select! {
                line = events.recv() => line,
                signal = signals.next() => match self.told(signal, &mut signals).await? {
                    Some(end) => break end,
                    None => continue,
                },
            };
            match line {
                Some(line) => {
                    if let Some(end) = self.take(&line?).await? {
                        break end;
                    }
                }
                // Whoever worked has gone. What a person's stop held back, no turn reads.
                None if self.seen.held => break "cancelled".to_owned(),
                None => break CUT_OFF.to_owned(),
            }
        };
        self.finish(&end);
        Ok(of_end(&end))
    }

    /// Does what a signal asks for; the word of the end where that is one. Told twice, nothing is waited for.
    async fn told(&self, signal: Signal, signals: &mut Signals) -> Result<Option<String>, Failure> {
        tokio::select! {
            done = self.obey(&signal) => done,
            _ = signals.next() => {
                self.finish("cancelled");
                // Whoever holds this up would hold up a friendlier end, too; what was recorded is all that counts.
                std::process::exit(i32::from(Exit::Cancelled as u8));
            }
        }
    }

    async fn obey(&self, signal: &Signal) -> Result<Option<String>, Failure> {
        match signal {
            Signal::Interrupt => self.interrupt().await?,
            #[cfg(unix)]
            Signal::Terminate => {
                self.way.shut().await;
                if !self.way.is_host() {
                    return Ok(Some("cancelled".to_owned()));
                }
            }
        }
        Ok(self.waits().await?.then(|| "waiting".to_owned()))
    }

    /// Takes one event; the word of the end when it is over.
    async fn take(&mut self, line: &str) -> Result<Option<String>, Failure> {
        match self.note(line)?.as_str() {
            "turn/end" => self.ended().await,
            // From here on it may only wait for a person; before the message is read that is an older matter.
            "approval/requested"
            | "question/asked"
            | "tool/outcome_unknown"
            | "step/end"
            | "recovery/adopted"
                if !self.wait && (self.message.is_none() || self.seen.included) =>
            {
                Ok(self.waits().await?.then(|| "waiting".to_owned()))
            }
            _ => Ok(None),
        }
    }

    /// Prints one event, keeps what the last line needs, and gives its type.
    fn note(&mut self, line: &str) -> Result<String, Failure> {
        let parsed: Value = serde_json::from_str(line).map_err(Failure::internal)?;
        let (kind, payload) =
            (parsed["event"]["type"].as_str().unwrap_or_default(), &parsed["event"]["payload"]);
        if self.json {
            output::line(line);
        } else {
            tell(kind, payload);
        }
        match kind {
            "turn/start" => {
                self.seen.turn = payload["turn"].as_str().map(str::to_owned);
                self.seen.end = None;
            }
            "inbox/reserved" => self.seen.reserved |= self.names(&payload["messages"]),
            "inbox/released" => self.seen.reserved &= !self.names(&payload["messages"]),
            "turn/cancel" => self.seen.held = payload["by"] == "user" && !self.seen.reserved,
            "inbox/posted" => self.seen.held &= payload["wakeup"] != true,
            "user/message" => self.seen.included |= self.message.as_deref() == payload["message"].as_str(),
            "assistant/accepted" => self.seen.answer = text_of(payload),
            "turn/end" => self.seen.end = Some(payload["end"].clone()),
            _ => {}
        }
        Ok(kind.to_owned())
    }

    /// Is the message among these?
    fn names(&self, messages: &Value) -> bool {
        messages.as_array().is_some_and(|all| all.iter().any(|one| one.as_str() == self.message.as_deref()))
    }

    /// Takes the events up to this one, which are there, and ends: with the word of the last turn that ended among them,
    /// else with this one.
    pub(crate) async fn rested(
        mut self,
        mut events: Events,
        from: u64,
        last: u64,
        word: &str,
    ) -> Result<Exit, Failure> {
        for _ in from..=last {
            let Some(line) = events.recv().await else { break };
            self.note(&line?)?;
        }
        let end = match self.word() {
            // The turn that goes on with it is about to begin.
            Some(end) if end == CUT_OFF => return self.run(events).await,
            Some(end) if word != "waiting" => end,
            Some(_) | None => word.to_owned(),
        };
        self.finish(&end);
        Ok(of_end(&end))
    }

    fn word(&self) -> Option<String> {
        self.seen.end.as_ref().map(|end| end["reason"].as_str().unwrap_or("failed").to_owned())
    }

    async fn ended(&mut self) -> Result<Option<String>, Failure> {
        let word = self.word().unwrap_or_default();
        if self.message.is_some() {
            return Ok((self.seen.included || self.seen.held).then_some(word));
        }
        // A turn that was cut off goes on in the next one.
        if word == CUT_OFF {
            return Ok(None);
        }
        Ok(match self.view().await?.activity {
            Activity::Idle => Some(word),
            Activity::NeedsYou { .. } if !self.wait => Some("waiting".to_owned()),
            _ => None,
        })
    }

    /// Does it wait for a person, with nothing else going on?
    pub(crate) async fn waits(&self) -> Result<bool, Failure> {
        let view = self.view().await?;
        let works = view.entries.iter().any(|entry| match &entry.body {
            EntryBody::Calls { calls } => {
                calls.iter().any(|call| call.state == api::wire::view::CallState::Running)
            }
            _ => false,
        });
        // A guest's host may have a person at its window; that one is waited for.
        Ok(self.way.is_host() && !works && matches!(view.activity, Activity::NeedsYou { .. }))
    }

    pub(crate) async fn view(&self) -> Result<SessionView, Failure> {
        match self.way.call(Command::OpenSession { session: self.session.to_owned() }).await? {
            Reply::Session(view) => Ok(*view),
            other => Err(Failure::internal(format!("expected a session, got {other:?}"))),
        }
    }

    async fn interrupt(&self) -> Result<(), Failure> {
        self.way.call(Command::Interrupt { session: self.session.to_owned() }).await.map(drop)
    }

    /// The last line.
    pub(crate) fn finish(&self, end: &str) {
        let Seen { turn, answer, end: detail, .. } = &self.seen;
        if self.json {
            let done =
                json!({"done": {"session_id": self.session, "turn": turn, "end": end, "answer": answer}});
            return output::json(&done);
        }
        if !answer.is_empty() {
            output::line(answer);
        }
        if end != "completed" {
            let why = detail.as_ref().map(reason).unwrap_or_default();
            output::diagnose(format!("ended: {end} {why}").trim_end());
            if end == "waiting" {
                output::diagnose("it waits for a person; see `daybook approvals`");
            }
        }
    }
}

/// Why a turn ended: which limit it met, or who said what, and with which status the service answered.
fn reason(end: &Value) -> String {
    if let Some(limit) = end["limit"].as_str() {
        return money::met(end).unwrap_or_else(|| format!("{limit} ({})", end["value"]));
    }
    let message = end["message"].as_str().unwrap_or_default();
    match (end["status"].as_u64(), end["address"].as_str()) {
        (Some(status), Some(address)) => format!("{message} (HTTP {status} from {address})"),
        (Some(status), None) => format!("{message} (HTTP {status})"),
        (None, _) => message.to_owned(),
    }
}

/// The words of an accepted answer.
fn text_of(payload: &Value) -> String {
    let blocks = payload["blocks"].as_array().map_or(&[][..], Vec::as_slice);
    let texts =
        blocks.iter().filter(|block| block["kind"] == "text").filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join("\n\n")
}

/// Progress for a person who watches.
fn tell(kind: &str, payload: &Value) {
    match kind {
        "tool/call" => {
            let arguments = payload["checked"]["arguments"].as_str().unwrap_or_default();
            let short: String = arguments.chars().take(120).collect();
            output::diagnose(&format!("- {} {short}", payload["name"].as_str().unwrap_or_default()));
        }
        "approval/requested" => output::diagnose(&format!(
            "- asks: {}\n  daybook approve {} --digest {}",
            payload["facts"]["exact"].as_str().unwrap_or_default().escape_debug(),
            payload["approval"].as_str().unwrap_or_default(),
            payload["digest"].as_str().unwrap_or_default()
        )),
        "tool/denied" => {
            output::diagnose(&format!("- not allowed ({})", payload["by"].as_str().unwrap_or_default()))
        }
        "tool/outcome_unknown" => output::diagnose("- nobody knows what that call did"),
        _ => {}
    }
}
