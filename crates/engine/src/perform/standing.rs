//! What a call works with and is judged by, as things are now.
//!
//! **Standing** is one look: the folder by handle, the mode, the cage, the person's rules and permissions, files with secrets
//! that were read. Invariant: a call is surveyed and judged by the same rules, so none that was set in between holds for a half.

use crate::blobs::blobs;
use crate::decide::{InForce, Knowledge as _};
use crate::own;
use crate::record::OwnRecord;
use crate::shared::Shared;
use domain::call::{Facts, Mode, ToolError, Verdict};
use domain::ids::{CallId, SessionId};
use domain::state::State;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tools::policy::CARRIES;
use tools::rules::{Layer, as_found};
use tools::{Cage, Ctx, Output, PolicyInput};

/// How things stand for a call.
pub(super) struct Standing {
    /// What it works with; it can't be stopped yet, and its output goes nowhere.
    pub(super) ctx: Ctx,
    /// The session's mode; the strictest where there is none yet.
    pub(super) mode: Mode,
    /// Permissions and rules as they are kept.
    pub(super) in_force: InForce,
    layers: Vec<Layer>,
    read_secrets: Vec<String>,
    cage: Cage,
}

/// Looks how things stand. Blocks.
pub(super) fn standing(
    shared: &Arc<Shared>,
    session: &SessionId,
    state: &State,
    call: &CallId,
) -> Result<Standing, ToolError> {
    let place = own::open(state, shared.ports.hide.clone()).map_err(|not_own| not_own.for_model())?;
    let in_force = shared.in_force(state);
    let added = shared.added(state);
    let layers = as_found(&in_force.layers, &place, &added);
    let ctx = Ctx {
        place: Arc::new(place.under_rules(&layers)),
        added: Arc::new(added),
        blobs: Arc::new(blobs(shared)),
        record: Arc::new(OwnRecord { store: shared.store.clone(), session: session.clone() }),
        launcher: Arc::clone(&shared.ports.launcher),
        bin: shared.ports.bin.clone(),
        private: shared.ports.private.join(session.as_str()).join(call.as_str()),
        seen: Arc::new(state.seen.clone()),
        secrets: (shared.ports.secrets)(),
        limits: Arc::clone(&shared.tool_limits),
        cancel: CancellationToken::new(),
        output: Output::None,
    };
    Ok(Standing {
        ctx,
        mode: state.session.as_ref().map_or(Mode::Plan, |session| session.mode),
        in_force,
        layers,
        read_secrets: state.secrets.iter().cloned().collect(),
        cage: shared.ports.launcher.cage(),
    })
}

impl Standing {
    /// What the policy looks at besides the call.
    pub(super) fn policy(&self) -> PolicyInput<'_> {
        PolicyInput {
            mode: self.mode,
            cage: self.cage,
            layers: &self.layers,
            grants: &self.in_force.grants,
            read_secrets: &self.read_secrets,
        }
    }

    /// The policy's word on a call, which is noted in its facts where it carries a secret.
    pub(super) fn judge(&self, facts: &mut Facts) -> Verdict {
        if let Some(secret) = tools::carried::carried(facts, &self.ctx, &self.read_secrets) {
            facts.words.insert(CARRIES.to_owned(), secret);
        }
        tools::judge(facts, &self.policy())
    }
}
