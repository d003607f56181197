//! The built-in tools, one file each.
//!
//! What a model reads of them is short on purpose: all schemas and the system text together stay under 2,500 tokens.
//! Invariant: each declares its arguments once as a schema and once as a struct that refuses unknown fields, side by
//! side in its file, and a test holds the two together.

use crate::tool::Tool;
use std::sync::Arc;

mod talk;

/// All of them.
pub(crate) fn all() -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(talk::AskUser::default()), Arc::new(talk::UpdatePlan::default())]
}
