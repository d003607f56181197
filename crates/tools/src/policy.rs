//! May this call run? One pure function from the call, its facts and the settings in force.
//!
//! **Policy** is layers of rules, from built in to subagent. Each can only narrow: the strictest word wins, so a denial
//! below can't be lifted above. Invariant: nothing the model says of a call is read here, only checked arguments and facts.

use crate::call::Checked;
use crate::path;
use domain::call::{Act, Facts, Mode, Verdict};
use serde::{Deserialize, Serialize};

/// What the cage enforces on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cage {
    /// Files, processes and network are cut off.
    Full,
    /// Files and network are cut off, something smaller isn't.
    Partial,
    /// There is none.
    None,
}

/// What is in force right now.
#[derive(Debug, Clone)]
pub struct PolicyInput<'a> {
    /// The session's mode.
    pub mode: Mode,
    /// The cage's strength.
    pub cage: Cage,
    /// Rules between built in and mode (organisation, user, project, session), and those of a subagent.
    pub layers: &'a [Layer],
}

/// Rules of one origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// Where they come from: `user`, `project`, `session`, `subagent`, …; stands in the verdict's rule.
    pub origin: String,
    /// The rules, in no order: the strictest that fits counts.
    pub rules: Vec<Rule>,
}

/// One rule. What isn't named fits everything; all that is named must fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its name in the log.
    pub name: String,
    /// Only this tool.
    #[serde(default)]
    pub tool: Option<String>,
    /// Only this kind of act.
    #[serde(default)]
    pub act: Option<Act>,
    /// Only when a path it can touch is this one or lies under it.
    #[serde(default)]
    pub under: Option<String>,
    /// Only when the exact text (command or arguments) contains this.
    #[serde(default)]
    pub containing: Option<String>,
    /// What then.
    pub word: Word,
}

/// A rule's word. There is no `allow`: a rule can't widen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// The person decides.
    Ask,
    /// No, for this reason.
    Deny(String),
}

/// The verdict on a call as things stand.
#[must_use]
pub fn judge(call: &Checked, facts: &Facts, input: &PolicyInput<'_>) -> Verdict {
    let mut verdict = by_mode(facts.act, input);
    verdict = stricter(verdict, built_in(facts));
    for layer in input.layers {
        for rule in layer.rules.iter().filter(|rule| rule.fits(call.name(), facts)) {
            let name = format!("{}/{}", layer.origin, rule.name);
            let word = match &rule.word {
                Word::Ask => Verdict::Ask { rule: name },
                Word::Deny(reason) => Verdict::Deny { rule: name, reason: reason.clone() },
            };
            verdict = stricter(verdict, Some(word));
        }
    }
    verdict
}

/// The table of modes.
fn by_mode(act: Act, input: &PolicyInput<'_>) -> Verdict {
    let allow = |rule: &str| Verdict::Allow { rule: rule.to_owned() };
    let ask = |rule: &str| Verdict::Ask { rule: rule.to_owned() };
    let deny = |rule: &str, reason: &str| Verdict::Deny { rule: rule.to_owned(), reason: reason.to_owned() };
    match (act, input.mode, input.cage) {
        (Act::Read, ..) => allow("builtin/read"),
        (Act::Talk, ..) => allow("builtin/talk"),
        (Act::Write | Act::Edit | Act::Delete, Mode::Plan, _) => deny(
            "mode/plan",
            "the session is in Plan only mode: nothing is written, propose the change instead",
        ),
        (Act::Run, Mode::Plan, Cage::None) => deny(
            "mode/plan",
            "Plan only mode runs commands in a read-only cage, and this machine has no cage",
        ),
        (Act::Run, Mode::Plan, Cage::Full | Cage::Partial) => allow("mode/plan-read-only"),
        (Act::Write | Act::Edit, Mode::Edit, _) => allow("mode/edit"),
        (Act::Write | Act::Edit, Mode::Auto, Cage::Full | Cage::Partial) => allow("mode/auto"),
        (Act::Write | Act::Edit, Mode::Auto, Cage::None) => ask("cage/none"),
        (Act::Run, Mode::Auto, Cage::Full | Cage::Partial) => allow("mode/auto"),
        (Act::Run, Mode::Auto | Mode::Ask | Mode::Edit, Cage::None) => ask("cage/none"),
        (Act::Write | Act::Edit | Act::Delete | Act::Run, Mode::Ask, _) => ask("mode/ask"),
        (Act::Delete | Act::Run, Mode::Edit, _) => ask("mode/edit"),
        (Act::Delete, Mode::Auto, _) => ask("mode/auto"),
    }
}

/// What holds whatever the mode.
fn built_in(facts: &Facts) -> Option<Verdict> {
    let changes = matches!(facts.act, Act::Write | Act::Edit | Act::Delete);
    let protected = facts.can_touch.iter().find(|path| changes && path::is_protected(path))?;
    Some(Verdict::Ask { rule: format!("builtin/protected:{protected}") })
}

impl Rule {
    fn fits(&self, tool: &str, facts: &Facts) -> bool {
        self.tool.as_deref().is_none_or(|name| name == tool)
            && self.act.is_none_or(|act| act == facts.act)
            && self
                .under
                .as_deref()
                .is_none_or(|under| facts.can_touch.iter().any(|path| path::overlap(path, under)))
            && self.containing.as_deref().is_none_or(|text| facts.exact.contains(text))
    }
}

fn stricter(one: Verdict, other: Option<Verdict>) -> Verdict {
    let rank = |verdict: &Verdict| match verdict {
        Verdict::Allow { .. } => 0,
        Verdict::Ask { .. } => 1,
        Verdict::Deny { .. } => 2,
    };
    match other {
        Some(other) if rank(&other) > rank(&one) => other,
        Some(_) | None => one,
    }
}
