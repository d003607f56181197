//! The policy's word arrives: decisions are recorded, approvals asked for, and what is cleared starts.
//!
//! Invariant: `tool/start` stands in the transaction of a judgement made now, after everything an earlier call of the
//! answer could change has ended; a granted approval counts only for exactly what was shown.

use super::{Decision, Env, finish, jobs, wanted};
use domain::call::{Facts, Grant, Mode, Semantics, ToolError, Verdict};
use domain::digest::Digest;
use domain::event::{
    ApprovalExpired, ApprovalRefused, ApprovalRequested, Changed, Draft, Event, Fact, JobCreated,
    PlanReplaced, QuestionAsked, Recorded, ToolDecision, ToolDenied, ToolOutcome, ToolResult, ToolStart,
};
use domain::ids::{ApprovalId, CallId, FolderId, GrantId, JobId, QuestionId, StepId};
use domain::state::{ApprovalState, Call, CallPhase, State};
use std::collections::BTreeMap;
use tools::Interaction;
use tools::rules::Layer;

/// A call that was surveyed and judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The call.
    pub call: CallId,
    /// What came of it.
    pub result: Result<Judgement, ToolError>,
}

/// What the person allowed and forbade, beside the mode.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InForce {
    /// What is allowed for more than one call: in this session, and always in its folder.
    pub grants: Vec<(GrantId, Grant)>,
    /// The rules that hold in its folder.
    pub layers: Vec<Layer>,
}

/// A judgement.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The mode it was made under.
    pub mode: Mode,
    /// The permissions and rules it was made under.
    pub in_force: InForce,
    /// The added folders it was made with.
    pub added: Vec<FolderId>,
    /// The policy's word.
    pub verdict: Verdict,
    /// What the call would touch.
    pub facts: Facts,
    /// Digest of the facts.
    pub facts_digest: Digest,
    /// What it may do.
    pub semantics: Semantics,
    /// What an approval of it must name.
    pub approval_digest: Digest,
    /// What may be allowed for more than this call.
    pub offers: Vec<Grant>,
    /// Is there a clearance: an allow, or an ask with a matching approval?
    pub cleared: bool,
    /// Does another session hold the folder that it would change? Then it starts when that is over.
    pub waits: bool,
    /// The folder's tree now, where the call's changes are told by comparing.
    pub tree: Option<Digest>,
    /// Where the log was before that tree was taken.
    pub since: u64,
    /// Would no cage hold it?
    pub uncaged: bool,
    /// What it asks of the engine instead of running.
    pub interaction: Option<Interaction>,
}

pub(super) fn judged(state: &State, step: &StepId, calls: Vec<Judged>, env: &Env<'_>) -> Decision {
    let Some((turn, _)) = state.step().filter(|(_, open)| open.id == *step) else {
        return finish::late(step.as_str(), "a judgement");
    };
    if turn.cancel.is_some() {
        return Decision::plain(Vec::new());
    }
    // Each call is decided on the state that the ones before it leave.
    let mut scratch = Scratch { state: state.clone(), drafts: Vec::new() };
    let mut barrier = false;
    let in_force = env.knowledge.in_force(state);
    for Judged { call, result } in calls {
        let fits = scratch.state.call(&call).is_some_and(|open| open.phase == CallPhase::Proposed);
        // Of a stale one nothing follows; the call is judged again.
        let stale = matches!(&result, Ok(judgement) if !is_current(state, judgement, &in_force));
        if fits && !stale {
            barrier |= one(&mut scratch, &call, result, env);
        }
    }
    Decision { drafts: scratch.drafts, barrier }
}

/// Was it made under the mode, permissions, rules and folders that hold now?
pub(super) fn is_current(state: &State, judgement: &Judgement, in_force: &InForce) -> bool {
    let mode = state.session.as_ref().map_or(Mode::Plan, |session| session.mode);
    judgement.mode == mode && judgement.in_force == *in_force && state.added.keys().eq(&judgement.added)
}

/// Decides on one call; true when something with effects starts.
fn one(scratch: &mut Scratch, id: &CallId, result: Result<Judgement, ToolError>, env: &Env<'_>) -> bool {
    let judgement = match result {
        Ok(judgement) => judgement,
        Err(error) => {
            scratch.push(failed(id, error));
            return false;
        }
    };
    scratch.push(ToolDecision {
        call: id.clone(),
        decision: judgement.verdict.clone(),
        facts: judgement.facts_digest,
        act: judgement.facts.act,
        touches: judgement.facts.can_touch.clone(),
    });
    if let (Verdict::Allow { .. }, Some(approval)) = (&judgement.verdict, open_approval(&scratch.state, id)) {
        scratch.push(ApprovalExpired { approval, why: "allowed".into() });
    }
    match &judgement.verdict {
        Verdict::Deny { reason, .. } => {
            let text = format!(
                "Not allowed: {reason}. Don't try the same again; choose another way or ask the person."
            );
            scratch.push(ToolDenied { call: id.clone(), by: "policy".into(), text });
            false
        }
        Verdict::Allow { .. } | Verdict::Ask { .. } if judgement.waits => false,
        Verdict::Allow { .. } | Verdict::Ask { .. } if judgement.cleared => {
            start(scratch, id, judgement, env)
        }
        Verdict::Allow { .. } | Verdict::Ask { .. } => {
            ask(scratch, id, judgement, env);
            false
        }
    }
}

/// The request of a call that still waits for an answer.
fn open_approval(state: &State, call: &CallId) -> Option<ApprovalId> {
    let approval = state.call(call)?.approval.as_ref()?;
    (approval.state == ApprovalState::Open).then(|| approval.id.clone())
}

/// Starts a cleared call if its turn has come; otherwise it is judged again when it has.
fn start(scratch: &mut Scratch, id: &CallId, judgement: Judgement, env: &Env<'_>) -> bool {
    let Some(arguments) = scratch.when_ready(id, env) else { return false };
    let secrets = tools::policy::secrets(&judgement.facts);
    // Making a job changes nothing: what it does it does once it begins.
    let (semantics, tree) = match &judgement.interaction {
        Some(Interaction::Background { .. }) => (Semantics::None { retry: false }, None),
        Some(_) | None => (judgement.semantics, judgement.tree),
    };
    let effects = semantics.has_effects();
    scratch.push(ToolStart { call: id.clone(), arguments, semantics, tree, secrets });
    match judgement.interaction {
        None => {}
        Some(Interaction::Ask(body)) => {
            scratch.push(QuestionAsked { question: QuestionId::new(env.ids), call: id.clone(), body });
            if !env.attended {
                let code = "question/nobody".to_owned();
                let message = "nobody is there to answer".to_owned();
                let suggestion = Some("Choose what is safest, and say what you chose.".to_owned());
                scratch.push(failed(id, ToolError { code, message, suggestion }));
            }
        }
        // Answered by an operation that looks at the session's jobs.
        Some(Interaction::Job(_)) => {}
        Some(Interaction::Background { command, notify }) => background(scratch, id, command, notify, env),
        Some(Interaction::Plan(items)) => {
            let version = scratch.state.plan.as_ref().map_or(0, |plan| plan.version) + 1;
            let count = items.len();
            scratch.push(PlanReplaced { plan: domain::call::Plan { version, items } });
            let value = serde_json::json!({ "version": version });
            // No version in the words: repeating a plan must read as the repetition it is.
            let text = format!("The plan is set: {count} items. Go on with the work.");
            scratch.push(result(id, ToolOutcome::Ok { value }, text));
        }
    }
    effects
}

/// The call ends at once; its command goes on as a job.
fn background(scratch: &mut Scratch, id: &CallId, command: String, notify: bool, env: &Env<'_>) {
    if let Some(error) = jobs::too_many(&scratch.state, env) {
        scratch.push(failed(id, error));
        return;
    }
    let job = JobId::new(env.ids);
    scratch.push(JobCreated { job: job.clone(), call: id.clone(), command, notify });
    let told = match notify {
        true => "You will be woken when it ends.",
        false => "You will be told when it ends, with what you read next.",
    };
    let text = format!(
        "Job {job} was created and goes on in the background; it isn't done. {told} Call job to see, await or cancel it."
    );
    let value = serde_json::json!({ "job": job.as_str() });
    scratch.push(result(id, ToolOutcome::Ok { value }, text));
}

/// Asks the person, or says no where nobody can be asked. An approval of something else is void.
fn ask(scratch: &mut Scratch, id: &CallId, judgement: Judgement, env: &Env<'_>) {
    let Some(call) = scratch.state.call(id) else { return };
    let Some(good) = call.good.clone() else { return };
    let tool = call.name.clone();
    let earlier = call.approval.clone();
    match earlier.as_ref().map(|approval| (&approval.state, approval.digest == judgement.approval_digest)) {
        // Said yes to while this was judged on the state before: it is judged once more, on that.
        Some((ApprovalState::Open | ApprovalState::Granted, true)) => return,
        Some((ApprovalState::Open | ApprovalState::Granted, _)) => {
            let approval = earlier.map(|a| a.id).unwrap_or(ApprovalId::new(env.ids));
            scratch.push(ApprovalExpired { approval, why: "changed".into() });
        }
        Some((ApprovalState::Refused { .. } | ApprovalState::Expired, _)) | None => {}
    }
    let approval = ApprovalId::new(env.ids);
    scratch.push(ApprovalRequested {
        approval: approval.clone(),
        call: id.clone(),
        tool,
        version: good.version,
        arguments: good.digest,
        facts: judgement.facts,
        digest: judgement.approval_digest,
        valid_ms: env.limits.approval_valid_ms,
        offers: judgement.offers,
    });
    if !env.attended {
        scratch.push(ApprovalRefused { approval, why: None, nobody: true });
        let text = "Not allowed: this needs the person's yes, and nobody is there to ask. Do without it, or say what is needed.";
        scratch.push(ToolDenied { call: id.clone(), by: "nobody".into(), text: text.into() });
    }
}

/// A call that couldn't be surveyed never starts; the model reads why.
fn failed(id: &CallId, error: ToolError) -> Fact {
    let text = tools::run::error_text(&error);
    result(id, ToolOutcome::Error { error }, text).into()
}

pub(super) fn result(id: &CallId, outcome: ToolOutcome, text: String) -> ToolResult {
    let (changed, kept, seen) = (Changed::default(), BTreeMap::new(), BTreeMap::new());
    ToolResult { call: id.clone(), outcome, text, changed, kept, seen, ms: 0 }
}

/// A copy of the state that the drafts so far are folded into, so that each is decided on what the others leave.
struct Scratch {
    state: State,
    drafts: Vec<Draft>,
}

impl Scratch {
    fn push(&mut self, fact: impl Into<Fact>) {
        let Some((turn, step)) = self.state.step() else { return };
        let draft = Draft::of_step(&turn.id.clone(), &step.id.clone(), fact);
        self.state.fold(&provisional(&self.state, &draft));
        self.drafts.push(draft);
    }

    /// The call's argument digest, when it may start now.
    fn when_ready(&self, id: &CallId, env: &Env<'_>) -> Option<Digest> {
        let (_, step) = self.state.step()?;
        let call: &Call = step.calls.iter().find(|call| call.id == *id)?;
        wanted::ready(step, call, env).then_some(call.good.as_ref()?.digest)
    }
}

/// A draft as an event, for folding into a copy only: it is never stored and has no hash.
fn provisional(state: &State, draft: &Draft) -> Event {
    let envelope = Recorded {
        session: domain::ids::SessionId::from_bits(0),
        pos: 0,
        seq: state.next_seq,
        kind: draft.fact.kind().name.to_owned(),
        version: draft.fact.kind().version,
        time: state.time,
        epoch: 0,
        turn: draft.turn.clone(),
        step: draft.step.clone(),
        ignorable: false,
        sources: Vec::new(),
        prev_hash: Digest::ZERO,
        hash: Digest::ZERO,
        payload: domain::event::Payload::Erased(Digest::ZERO),
    };
    Event { envelope, fact: Some(draft.fact.clone()) }
}
