//! Domain words in wire words, one function a word.

use super::facts::shown;
use crate::wire::command::{Intent, Mode, Resolution};
use crate::wire::spend::{PastLimit, Spent};
use crate::wire::store::ModelChoice;
use crate::wire::view::{Halt, Plan, PlanItem, PlanStatus, QuestionView, WaitingMessage};
use domain::call;
use domain::event;
use domain::ids::QuestionId;
use domain::model::{Answered, CertificateProblem, ErrorClass, ModelError};
use domain::state::Waiting;
use engine::Past;
use std::collections::BTreeMap;

const MODES: [call::Mode; 4] = [call::Mode::Ask, call::Mode::Edit, call::Mode::Plan, call::Mode::Auto];

pub(crate) fn mode(mode: call::Mode) -> Mode {
    match mode {
        call::Mode::Ask => Mode::Ask,
        call::Mode::Edit => Mode::Edit,
        call::Mode::Plan => Mode::Plan,
        call::Mode::Auto => Mode::Auto,
    }
}

pub(crate) fn to_mode(mode: Mode) -> call::Mode {
    match mode {
        Mode::Ask => call::Mode::Ask,
        Mode::Edit => call::Mode::Edit,
        Mode::Plan => call::Mode::Plan,
        Mode::Auto => call::Mode::Auto,
    }
}

pub(crate) fn mode_name(mode: call::Mode) -> &'static str {
    match mode {
        call::Mode::Ask => "ask",
        call::Mode::Edit => "edit",
        call::Mode::Plan => "plan",
        call::Mode::Auto => "auto",
    }
}

pub(crate) fn choice(choice: &event::ModelChoice) -> ModelChoice {
    ModelChoice { provider: choice.provider.clone(), model: choice.model.clone() }
}

pub(crate) fn to_choice(choice: ModelChoice) -> event::ModelChoice {
    event::ModelChoice { provider: choice.provider, model: choice.model }
}

pub(crate) fn to_past(past: PastLimit) -> Past {
    match past {
        PastLimit::Session { limit } => Past::Session { limit },
        PastLimit::Day { limit } => Past::Day { limit },
        PastLimit::Price { model } => Past::Price(to_choice(model)),
    }
}

pub(crate) fn intent(target: event::Target) -> Intent {
    match target {
        event::Target::NextStep => Intent::Steer,
        event::Target::NextTurn => Intent::FollowUp,
    }
}

pub(crate) fn to_target(intent: Intent) -> event::Target {
    match intent {
        Intent::Steer => event::Target::NextStep,
        Intent::FollowUp => event::Target::NextTurn,
    }
}

pub(crate) fn resolution(resolution: event::Resolution) -> Resolution {
    match resolution {
        event::Resolution::Done => Resolution::Done,
        event::Resolution::Again => Resolution::Again,
        event::Resolution::Skip => Resolution::Skip,
    }
}

pub(crate) fn to_resolution(resolution: Resolution) -> event::Resolution {
    match resolution {
        Resolution::Done => event::Resolution::Done,
        Resolution::Again => event::Resolution::Again,
        Resolution::Skip => event::Resolution::Skip,
    }
}

pub(crate) fn plan(plan: &call::Plan) -> Plan {
    let item = |item: &call::PlanItem| PlanItem {
        text: item.text.clone(),
        status: match item.status {
            call::PlanStatus::Pending => PlanStatus::Pending,
            call::PlanStatus::InProgress => PlanStatus::InProgress,
            call::PlanStatus::Completed => PlanStatus::Completed,
        },
    };
    Plan { version: plan.version, items: plan.items.iter().map(item).collect() }
}

/// A question that nobody answered yet.
pub(crate) fn question(id: &QuestionId, body: &call::Question) -> QuestionView {
    QuestionView {
        id: id.to_string(),
        text: body.text.clone(),
        options: body.options.clone(),
        free_text: body.free_text,
        sensitive: body.sensitive,
        answer: None,
    }
}

/// A message that waits to be read.
pub(crate) fn waiting(waiting: &Waiting) -> WaitingMessage {
    WaitingMessage {
        id: waiting.message.to_string(),
        text: waiting.text.clone(),
        intent: intent(waiting.target),
        held: waiting.held,
        time: waiting.time,
    }
}

/// An error class as events write it.
pub(crate) fn class(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Network => "network",
        ErrorClass::Timeout => "timeout",
        ErrorClass::Cut => "cut",
        ErrorClass::RateLimited => "rate_limited",
        ErrorClass::Overloaded => "overloaded",
        ErrorClass::Server => "server",
        ErrorClass::Auth => "auth",
        ErrorClass::Billing => "billing",
        ErrorClass::NotFound => "not_found",
        ErrorClass::ContextOverflow => "context_overflow",
        ErrorClass::TooLarge => "too_large",
        ErrorClass::BadRequest => "bad_request",
        ErrorClass::Protocol => "protocol",
    }
}

/// A turn's end: its word and its facts.
pub(crate) fn end(end: &event::End) -> (&'static str, Vec<(&'static str, String)>) {
    match end {
        event::End::Completed => ("completed", vec![]),
        event::End::Cancelled { by } => ("cancelled", vec![("by", by_name(*by).to_owned())]),
        event::End::Rejected => ("rejected", vec![]),
        event::End::NothingToDo => ("nothing_to_do", vec![]),
        event::End::Failed { code, message, answered } => ("failed", failure(code, message, answered)),
        event::End::Length => ("length", vec![]),
        event::End::Refused => ("refused", vec![]),
        event::End::Blocked { why } => ("blocked", vec![("why", why.clone())]),
        event::End::Limit { limit, value, money } => {
            let met = [("limit", limit.clone()), ("value", value.to_string())];
            ("limit", met.into_iter().chain(money.iter().flat_map(|money| met_of(money))).collect())
        }
        event::End::Interrupted => ("interrupted", vec![]),
    }
}

/// What was known of money when a limit of it was met.
fn met_of(met: &event::MoneyMet) -> Vec<(&'static str, String)> {
    let known = Spent::of(&met.spent, 0);
    let numbers = [("spent", known.micros), ("portion", Some(met.portion)), ("next", met.next)];
    let numbers = numbers.into_iter().filter_map(|(name, number)| Some((name, number?.to_string())));
    numbers.chain([("sure", known.sure.name().to_owned())]).chain(asked(&met.model)).collect()
}

/// How much more may be spent.
pub(crate) fn raised(e: &event::SpendRaised) -> [(&'static str, String); 2] {
    let limit = match e.limit {
        event::SpendLimit::Session => "session",
        event::SpendLimit::Day => "day",
    };
    [("limit", limit.to_owned()), ("by", e.by.to_string())]
}

/// A model, in facts.
pub(crate) fn asked(model: &event::ModelChoice) -> [(&'static str, String); 2] {
    [("provider", shown(&model.provider)), ("model", shown(&model.model))]
}

/// The rule that denied a call: a mode's own, or another by its name.
pub(crate) fn rule(rule: &str) -> Halt {
    let of_mode =
        rule.strip_prefix("mode/").and_then(|name| MODES.into_iter().find(|of| mode_name(*of) == name));
    match of_mode {
        Some(of) => Halt::Mode { mode: mode(of) },
        None => Halt::Rule { rule: shown(rule) },
    }
}

/// What is wrong with a certificate, as events write it.
fn certificate(problem: CertificateProblem) -> &'static str {
    match problem {
        CertificateProblem::Untrusted => "untrusted",
        CertificateProblem::Expired => "expired",
        CertificateProblem::NotYet => "not_yet",
        CertificateProblem::Name => "name",
        CertificateProblem::Revoked => "revoked",
        CertificateProblem::Authority => "authority",
        CertificateProblem::Other => "other",
    }
}

/// What is known of a failure: its class, who said what (`said`: the service, `message`: we), `status`, `address` and what is
/// wrong with the server's `certificate`.
fn failure(class: &str, message: &str, answered: &Answered) -> Vec<(&'static str, String)> {
    let words = if answered.quoted { "said" } else { "message" };
    let known = [
        Some(("class", class.to_owned())),
        (!message.is_empty()).then(|| (words, message.to_owned())),
        answered.status.map(|status| ("status", status.to_string())),
        answered.address.clone().map(|address| ("address", address)),
        answered.certificate.map(|problem| ("certificate", certificate(problem).to_owned())),
    ];
    known.into_iter().flatten().collect()
}

/// The same of a failed request, as a view would show it.
#[must_use]
pub fn failure_facts(error: &ModelError) -> BTreeMap<String, String> {
    let facts = failure(class(error.class), &error.message, &error.answered);
    facts.into_iter().map(|(name, fact)| (name.to_owned(), shown(&fact))).collect()
}

/// Why a turn that was about to end went on.
pub(crate) fn extended(why: event::ExtendedWhy) -> &'static str {
    match why {
        event::ExtendedWhy::CutCall => "cut_call",
        event::ExtendedWhy::OpenPlan => "open_plan",
    }
}

pub(crate) fn by_name(by: event::CancelBy) -> &'static str {
    match by {
        event::CancelBy::User => "user",
        event::CancelBy::Shutdown => "shutdown",
    }
}
