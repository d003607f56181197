//! Clearance: proof that a call may run now.
//!
//! An **approval** binds one tool, its version, the digest of the arguments and the digest of the facts, until it
//! expires. **Cleared** can only be made here, from a verdict taken now. Invariant: an approval says that the person
//! agreed to this very call; it never turns a denial into anything else, and any difference asks again.

use crate::call::{Checked, Surveyed};
use crate::launch::Hold;
use crate::policy::{Cage, PolicyInput, judge, only_looks};
use domain::call::{Act, Facts, Mode, Semantics, ToolError, Verdict};
use domain::digest::Digest;
use serde::{Deserialize, Serialize};

/// What the person agreed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// The tool.
    pub tool: String,
    /// Its version.
    pub version: u32,
    /// Digest of the canonical arguments.
    pub arguments: Digest,
    /// Digest of the facts, not of their wording.
    pub facts: Digest,
    /// Until when it holds, on the host's monotonic clock, in milliseconds.
    pub expires_ms: u64,
}

impl Approval {
    /// What to ask the person for: this call, these facts.
    #[must_use]
    pub fn of(call: &Checked, facts: &Facts, expires_ms: u64) -> Self {
        Self {
            tool: call.name().to_owned(),
            version: call.version(),
            arguments: call.digest(),
            facts: facts_digest(facts),
            expires_ms,
        }
    }

    /// One digest over all it binds but the time: what a button press answers with.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of_parts(&[
            self.tool.as_bytes(),
            &self.version.to_be_bytes(),
            &self.arguments.0,
            &self.facts.0,
        ])
    }
}

/// The word that says how many names of files weren't found: a fact that stands nowhere else.
pub const NAMES_UNSEEN: &str = "names_unseen";

/// The digest of what the facts say, without how they are worded.
#[must_use]
pub fn facts_digest(facts: &Facts) -> Digest {
    let mut bare = facts.clone();
    bare.words.retain(|word, _| word == NAMES_UNSEEN);
    let text = serde_json::to_string(&bare).unwrap_or_default();
    Digest::of(domain::canonical::canonical(&text).unwrap_or(text).as_bytes())
}

/// Why a call wasn't cleared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The policy says no, whatever was approved.
    #[error("not allowed ({rule}): {reason}")]
    Denied {
        /// Which rule.
        rule: String,
        /// Why, for the model.
        reason: String,
    },
    /// The policy asks, and nothing was approved.
    #[error("needs approval ({rule})")]
    NeedsApproval {
        /// Which rule.
        rule: String,
    },
    /// Something else was approved; ask again.
    #[error("the approval was for something else: {0} changed")]
    Mismatch(
        /// What differs: `tool`, `version`, `arguments` or `facts`.
        &'static str,
    ),
    /// The approval is too old; ask again.
    #[error("the approval has expired")]
    Expired,
}

impl Refusal {
    /// The result the model reads when the call ends here.
    #[must_use]
    pub fn for_model(&self) -> ToolError {
        let (code, suggestion) = match self {
            Self::Denied { .. } => {
                ("policy/denied", "Don't try the same again; choose another way or ask the person.")
            }
            Self::NeedsApproval { .. } => {
                ("policy/not_approved", "Nobody can approve it now; choose another way.")
            }
            Self::Mismatch(_) | Self::Expired => {
                ("policy/approval_void", "Call again if it is still wanted.")
            }
        };
        crate::tool::failed(code, self.to_string(), suggestion)
    }
}

/// A call that may run now. Only [`clear`] makes one; [`crate::run`] uses it up.
#[derive(Debug)]
#[must_use]
pub struct Cleared {
    call: Checked,
    surveyed: Surveyed,
    rule: String,
    hold: Hold,
}

/// The rule of a call that was asked about.
const APPROVED: &str = "approved";

/// Judges again, now, and clears the call if it may run: by an *allow*, or by an *ask* with a matching approval.
///
/// `surveyed` must be fresh: facts that differ from the approved ones void the approval.
///
/// # Errors
/// When the policy denies, or asks and the approval is missing, other or expired.
pub fn clear(
    call: &Checked,
    surveyed: Surveyed,
    input: &PolicyInput<'_>,
    approval: Option<&Approval>,
    now_ms: u64,
) -> Result<Cleared, Refusal> {
    let rule = match judge(&surveyed.facts, input) {
        Verdict::Allow { rule } => rule,
        Verdict::Deny { rule, reason } => return Err(Refusal::Denied { rule, reason }),
        Verdict::Ask { rule } => {
            let approval = approval.ok_or(Refusal::NeedsApproval { rule })?;
            matches(approval, call, &surveyed.facts)?;
            if now_ms >= approval.expires_ms {
                return Err(Refusal::Expired);
            }
            APPROVED.to_owned()
        }
    };
    let hold = hold(&surveyed.facts, input);
    Ok(Cleared { call: call.clone(), surveyed, rule, hold })
}

fn matches(approval: &Approval, call: &Checked, facts: &Facts) -> Result<(), Refusal> {
    let checks = [
        ("tool", approval.tool == call.name()),
        ("version", approval.version == call.version()),
        ("arguments", approval.arguments == call.digest()),
        ("facts", approval.facts == facts_digest(facts)),
    ];
    match checks.iter().find(|(_, same)| !same) {
        Some((what, _)) => Err(Refusal::Mismatch(what)),
        None => Ok(()),
    }
}

/// *Plan only* and what only looks is held read-only; no rule and no approval ever takes a cage away where there is one.
fn hold(facts: &Facts, input: &PolicyInput<'_>) -> Hold {
    match (input.mode, input.cage, facts.act) {
        (Mode::Plan, ..) => Hold::ReadOnly,
        (_, Cage::Full | Cage::Partial, Act::Run) if only_looks(facts) => Hold::ReadOnly,
        (Mode::Ask | Mode::Edit | Mode::Auto, Cage::None, Act::Run) => Hold::Uncaged,
        (Mode::Ask | Mode::Edit | Mode::Auto, ..) => Hold::Caged,
    }
}

impl Cleared {
    /// The call.
    #[must_use]
    pub fn call(&self) -> &Checked {
        &self.call
    }

    /// The facts it was cleared on.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.surveyed.facts
    }

    /// What recovery may do about it, for `tool/start`.
    #[must_use]
    pub fn semantics(&self) -> &Semantics {
        &self.surveyed.semantics
    }

    /// The rule it was cleared by, or `approved`.
    #[must_use]
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// Did the person agree to this very call, or was it free by policy?
    #[must_use]
    pub fn is_approved(&self) -> bool {
        self.rule == APPROVED
    }

    /// How a command of it is held.
    #[must_use]
    pub fn hold(&self) -> Hold {
        self.hold
    }
}
