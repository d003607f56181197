//! The closed set of inputs a session's loop takes besides client commands: ends and pieces of operations under way.
//!
//! Outside events are put into the session's queue as one of these and decided on in order; nothing calls the loop.

use crate::decide::Judged;
use domain::call::ToolError;
use domain::digest::Digest;
use domain::event::{
    Changed, CheckpointCommitted, Doubt, EpochReason, Fact, HistoryShortened, KeptBack, SummaryPrepared,
};
use domain::ids::{ApprovalId, AttemptId, CallId, JobId, MessageId, RevisionId, StepId};
use domain::model::{ModelDelta, ModelError, Outcome, Usage};
use serde_json::Value;
use std::collections::BTreeMap;

/// What came in.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A request is built.
    Prepared {
        /// For this step.
        step: StepId,
        /// The request.
        request: Box<PreparedRequest>,
    },
    /// The history gets shorter before the request can go out.
    Shorter {
        /// For this step.
        step: StepId,
        /// How.
        shorter: Shorter,
    },
    /// A request couldn't be built.
    NotPrepared {
        /// For this step.
        step: StepId,
        /// Code, `noun/problem`.
        code: String,
        /// For the record.
        message: String,
    },
    /// Pieces of an answer, to be logged.
    Deltas {
        /// The attempt.
        attempt: AttemptId,
        /// The pieces.
        deltas: Vec<ModelDelta>,
    },
    /// A whole answer.
    Answered {
        /// The attempt.
        attempt: AttemptId,
        /// The answer.
        outcome: Outcome,
        /// Blob of the raw answer.
        raw: Option<Digest>,
    },
    /// The attempt failed.
    SendFailed {
        /// The attempt.
        attempt: AttemptId,
        /// How.
        error: ModelError,
        /// Blob of what arrived.
        raw: Option<Digest>,
    },
    /// The attempt was stopped by us.
    SendStopped {
        /// The attempt.
        attempt: AttemptId,
        /// Text that had arrived.
        text: String,
        /// Usage reported until then.
        usage: Option<Usage>,
    },
    /// The wait before the next attempt is over.
    BackoffOver {
        /// The step.
        step: StepId,
    },
    /// Calls were surveyed and judged.
    Judged {
        /// The step.
        step: StepId,
        /// The calls.
        calls: Vec<Judged>,
    },
    /// Live output of a running call.
    Output {
        /// The call.
        call: CallId,
        /// Cleaned text.
        text: String,
    },
    /// A started call ended.
    Finished {
        /// The call.
        call: CallId,
        /// How.
        finished: Finished,
        /// Milliseconds it ran.
        ms: u64,
    },
    /// A job that waits to begin was surveyed and judged.
    JobJudged {
        /// The job.
        job: JobId,
        /// What came of it.
        judged: Box<Judged>,
    },
    /// Live output of a running job.
    JobOutput {
        /// The job.
        job: JobId,
        /// Cleaned text.
        text: String,
    },
    /// The model wants a job to stop.
    StopJob {
        /// The job.
        job: JobId,
    },
    /// A job's run ended.
    JobFinished {
        /// The job.
        job: JobId,
        /// How.
        finished: Finished,
        /// Milliseconds it ran.
        ms: u64,
    },
    /// Changes were taken back.
    Restored {
        /// The return.
        revision: RevisionId,
        /// How it went.
        restored: Restored,
    },
    /// A return hasn't begun: it was told to stop while it waited for the folder.
    NotRestored {
        /// The return.
        revision: RevisionId,
    },
    /// An approval has been open for as long as it may.
    ApprovalDue {
        /// The approval.
        approval: ApprovalId,
    },
}

/// How the history gets shorter.
#[derive(Debug, Clone, PartialEq)]
pub enum Shorter {
    /// Long results become references.
    References(HistoryShortened),
    /// A model is asked for a summary first.
    Ask {
        /// The request.
        summary: SummaryPrepared,
        /// Which key is used, and where it came from; none when none is.
        credential: Option<(String, String)>,
    },
    /// A checkpoint stands for closed steps.
    Checkpoint(Box<CheckpointCommitted>),
    /// There is nothing worth summarising, and nothing else was wanted.
    Nothing,
    /// Nothing makes it short enough.
    CannotFit {
        /// Tokens that the smallest request would have.
        needs: u64,
        /// Tokens that a request may have.
        room: u64,
    },
}

/// A request that was built and whose parts are stored.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparedRequest {
    /// The generation of the history that it was built from.
    pub generation: u64,
    /// Had the person asked for a summary by then?
    pub asked: bool,
    /// Facts to record before it: notes, documents, the person's words.
    pub facts: Vec<Fact>,
    /// Messages whose words it holds for the first time.
    pub included: Vec<MessageId>,
    /// Why a new prefix epoch opens, with the blob of its head.
    pub opened: Option<(EpochReason, Digest)>,
    /// The dialect and its adapter's version.
    pub dialect: (String, u32),
    /// Blobs of the segments it adds.
    pub added: Vec<Digest>,
    /// Segments that carry a cache marker.
    pub markers: Vec<u32>,
    /// Digest of the whole body.
    pub body: Digest,
    /// Bytes of the whole body.
    pub bytes: u64,
    /// Estimated input tokens.
    pub tokens: u64,
    /// Which key is used, and where it came from; none when none is.
    pub credential: Option<(String, String)>,
}

/// How a started call ended, in the log's words.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// The end.
    pub end: FinishedEnd,
    /// What the model reads.
    pub text: String,
    /// What it changed.
    pub changed: Changed,
    /// Blobs of what didn't fit.
    pub kept: BTreeMap<String, Digest>,
    /// Files it saw or left.
    pub seen: BTreeMap<String, Digest>,
    /// Files with secrets whose content it printed.
    pub secrets: Vec<String>,
}

/// How taking changes back went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    /// What it changed.
    pub changed: Changed,
    /// Paths that were left alone; the first of them where there are many.
    pub kept: Vec<KeptBack>,
    /// How many more were.
    pub kept_more: u64,
    /// Why it stopped before its end.
    pub error: Option<ToolError>,
}

impl Restored {
    /// It stopped; what it or the process before it had done until then isn't known.
    pub(crate) fn broken_off(error: ToolError) -> Self {
        Self { changed: Changed::default().doubted(Doubt::Untold), error: Some(error), ..Self::default() }
    }
}

/// The ends of a started call.
#[derive(Debug, Clone, PartialEq)]
pub enum FinishedEnd {
    /// With a value.
    Ok(Value),
    /// With an error.
    Failed(ToolError),
    /// Stopped, and confirmed so.
    Stopped,
    /// Nobody knows; with what is known.
    Unknown(BTreeMap<String, String>),
}
