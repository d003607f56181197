//! The words of the command line.

use crate::acp::Acp;
use crate::serve::Serve;
use clap::{Args as Arguments, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Daybook from the command line.
#[derive(Debug, Parser)]
#[command(name = "daybook", version, about = "Daybook: an agent whose every step is on the record")]
#[command(
    after_help = "Exit codes: 0 completed, 1 internal, 2 usage, 3 waiting for a person, a limit or a conflict, \
4 failed or rejected, 5 cancelled, 6 store or verification trouble.\n\
Keys come from the keychain, or from DAYBOOK_KEY_<PROVIDER> where this program hosts the work itself."
)]
pub(crate) struct Args {
    /// The data folder; the platform's own when not given.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) task: Task,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Run one turn to its end.
    Exec(Exec),
    /// Go on with a session that was cut off, until it rests.
    Resume {
        /// The session.
        session: String,
        /// Print each event as a line of JSON.
        #[arg(long)]
        json: bool,
    },
    /// Say something to a session that works, to be read before its next step.
    Steer {
        /// The session.
        session: String,
        /// The words.
        text: String,
    },
    /// Stop a session's turn.
    Interrupt {
        /// The session.
        session: String,
    },
    /// List the sessions.
    Sessions {
        /// One line of JSON each.
        #[arg(long)]
        json: bool,
    },
    /// Show what happened in a session.
    Show {
        /// The session.
        session: String,
        /// The whole view as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print a session's events.
    Log {
        /// The session.
        session: String,
        /// Each event as a line of JSON.
        #[arg(long)]
        json: bool,
        /// From this sequence number on.
        #[arg(long, default_value_t = 0)]
        from: u64,
    },
    /// List what waits for you: approvals, questions, unknown outcomes.
    Approvals {
        /// One line of JSON each.
        #[arg(long)]
        json: bool,
    },
    /// Allow one call, exactly as it was shown.
    Approve {
        /// The approval.
        id: String,
        /// The digest that was shown with it.
        #[arg(long)]
        digest: String,
    },
    /// Don't allow a call.
    Deny {
        /// The approval.
        id: String,
        /// Why; the model reads it.
        #[arg(long)]
        why: Option<String>,
    },
    /// Answer a question, or say what became of a call (done, again, skip).
    Answer {
        /// The question's or the call's id.
        id: String,
        /// The answer.
        text: String,
    },
    /// List the files a session changed.
    Changes {
        /// The session.
        session: String,
        /// One line of JSON each.
        #[arg(long)]
        json: bool,
    },
    /// Take back what a session changed; files that were changed since stay as they are.
    Undo {
        /// The session.
        session: String,
        /// Only this turn, by its number.
        #[arg(long, conflicts_with_all = ["call", "redo"])]
        turn: Option<u32>,
        /// Only this call.
        #[arg(long, conflicts_with = "redo")]
        call: Option<String>,
        /// Take the last undo back.
        #[arg(long)]
        redo: bool,
        /// Bring back files that were changed since as well; what is there now can be had again with --redo.
        #[arg(long)]
        force: bool,
    },
    /// Go on in the folder that stands at a session's path now, where its own was moved or replaced.
    UseFolder {
        /// The session.
        session: String,
    },
    /// Erase words from a session's record, and from everything that is kept, for good.
    Erase {
        /// The session.
        session: String,
        /// The event's number, as `daybook log` shows it.
        seq: u64,
        /// Erase exactly the words on standard input, wherever they stand in the session, instead of all the event says.
        #[arg(long)]
        text_from_stdin: bool,
        /// Erase them from every other session that holds them as well.
        #[arg(long)]
        everywhere: bool,
    },
    /// Write a session into a new folder: its events as recorded, and the contents that they name.
    Export {
        /// The session.
        session: String,
        /// The folder; it must not be there yet.
        folder: PathBuf,
    },
    /// Take in a session that was exported, to be looked at; it is verified before anything is taken.
    Import {
        /// The folder that was written.
        folder: PathBuf,
    },
    /// Write a session's trace: a line of OpenTelemetry JSON (OTLP) for each turn, without a word of what was said.
    Trace {
        /// The session.
        session: String,
        /// With prompts, answers, arguments and results; known keys are taken out.
        #[arg(long)]
        content: bool,
        /// Into this new file instead of standard output.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Show a service's own certificate, or set or remove it: whom its server is trusted by, beside those this computer trusts.
    Certificate(Certificate),
    /// Rebuild every request and every list, and compare; the first difference is exit code 6.
    Verify {
        /// Only this session.
        session: Option<String>,
    },
    /// Say of every request how much of it the one before already held, and what became of the provider's cache.
    CacheAudit {
        /// Only this session.
        session: Option<String>,
        /// One line of JSON each, and the goals as the last.
        #[arg(long)]
        json: bool,
    },
    /// Measure what Daybook costs, in temporary folders; a gate that doesn't hold is exit code 4.
    Bench(Bench),
    /// Work with an editor: the Agent Client Protocol on standard input and output.
    Acp(Acp),
    /// Work without a window until told to stop, and let programs of this machine in through a WebSocket with a token.
    Serve(Serve),
    /// Say what this machine can do: data folder, cage, keychain, providers.
    Doctor {
        /// As one JSON object.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Arguments)]
pub(crate) struct Certificate {
    /// The service: a preset (anthropic, openai, …), or one that was added.
    #[arg(value_name = "PROVIDER")]
    pub(crate) provider: String,
    /// Trust the authorities in this PEM file, instead of those that were.
    #[arg(long, value_name = "FILE", conflicts_with = "remove")]
    pub(crate) set: Option<PathBuf>,
    /// Trust none but those of this computer again.
    #[arg(long)]
    pub(crate) remove: bool,
    /// One line of JSON each.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Arguments)]
pub(crate) struct Bench {
    /// One line of JSON for each row.
    #[arg(long)]
    pub(crate) json: bool,
    /// Only these goals, such as P1,P5.
    #[arg(long, value_delimiter = ',', value_name = "GOALS")]
    pub(crate) only: Vec<String>,
    /// Less of everything: to see that it works, not for its numbers.
    #[arg(long, conflicts_with = "long")]
    pub(crate) quick: bool,
    /// What takes minutes, too.
    #[arg(long)]
    pub(crate) long: bool,
}

#[derive(Debug, Arguments)]
pub(crate) struct Exec {
    /// The folder to work in.
    #[arg(long, value_name = "DIR", required_unless_present = "session")]
    pub(crate) folder: Option<PathBuf>,
    /// It may be a whole home folder, a whole disk, or a folder with Daybook's own data in it.
    #[arg(long)]
    pub(crate) wide_folder: bool,
    /// Another folder that it may look at and not change; can be given several times.
    #[arg(long, value_name = "DIR")]
    pub(crate) also_read: Vec<PathBuf>,
    /// A preset (anthropic, openai, deepseek, ollama, …), a dialect with --base-url, or scripted with --script.
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// The model's name.
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Where the provider is.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// How much the model is asked to think, where it can be asked.
    #[arg(long, value_enum)]
    pub(crate) effort: Option<Effort>,
    /// What may be done without asking.
    #[arg(long, value_enum)]
    pub(crate) mode: Option<Mode>,
    /// Go on in this session.
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Print each event as a line of JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Wait when something must be asked, until `daybook approve`, `deny` or `answer` comes.
    #[arg(long)]
    pub(crate) wait_approvals: bool,
    /// A scripted model's answers, for the provider `scripted`.
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// What to do.
    pub(crate) task: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Effort {
    /// Little.
    Low,
    /// As its maker means it.
    Medium,
    /// Much.
    High,
    /// As much as it can.
    Max,
}

impl From<Effort> for api::wire::store::Effort {
    fn from(effort: Effort) -> Self {
        match effort {
            Effort::Low => Self::Low,
            Effort::Medium => Self::Medium,
            Effort::High => Self::High,
            Effort::Max => Self::Max,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// Ask first.
    Ask,
    /// Edit freely.
    Edit,
    /// Plan only.
    Plan,
    /// Auto.
    Auto,
}

impl From<Mode> for api::wire::command::Mode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Ask => Self::Ask,
            Mode::Edit => Self::Edit,
            Mode::Plan => Self::Plan,
            Mode::Auto => Self::Auto,
        }
    }
}
