//! Which tools there are, which are visible, and the strict check of a call.
//!
//! The **registry** maps a name to a tool; **visibility** is layered, and a name denied in any layer stays denied.
//! Invariant: names are unique, schemas are compiled once, only name, description and schema leave for the model, and a
//! call that fails its schema never becomes [`Checked`].

use crate::call::{Checked, Frozen};
use crate::limits::Limits;
use crate::parse::parse;
use crate::tool::{Tool, failed};
use domain::call::ToolError;
use domain::digest::Digest;
use domain::model::ToolSpec;
use jsonschema::Validator;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// All tools of this program.
pub struct Registry {
    tools: BTreeMap<&'static str, Entry>,
    argument_bytes: usize,
}

struct Entry {
    tool: Arc<dyn Tool>,
    schema: Validator,
}

/// Why the tools don't fit together; found at start-up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// Two tools of one name.
    #[error("two tools are called {0}")]
    Duplicate(String),
    /// A name no provider takes.
    #[error("{0:?} can't be a tool's name")]
    Name(String),
    /// A schema that isn't one.
    #[error("the schema of {name} can't be used: {why}")]
    Schema {
        /// The tool.
        name: String,
        /// What is wrong.
        why: String,
    },
}

/// Allow and deny lists of the layers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Visibility {
    /// For every session.
    pub global: Lists,
    /// Of the mode: its allow list stands in the global one's place.
    pub mode: Lists,
    /// Of a subagent: its allow list narrows what is left.
    pub subagent: Lists,
}

/// One layer's lists.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lists {
    /// Only these, where given.
    pub allow: Option<BTreeSet<String>>,
    /// Never these; no other layer brings them back.
    pub deny: BTreeSet<String>,
}

/// The tools a session sees.
#[derive(Clone)]
pub struct Visible {
    registry: Arc<Registry>,
    names: BTreeSet<&'static str>,
}

impl Registry {
    /// A registry of these tools.
    ///
    /// # Errors
    /// When two share a name, a name can't be used, or a schema is none.
    pub fn new(tools: Vec<Arc<dyn Tool>>, limits: &Limits) -> Result<Arc<Self>, RegistryError> {
        let mut entries = BTreeMap::new();
        for tool in tools {
            let declared = tool.declared();
            let name = declared.name;
            if !is_name(name) {
                return Err(RegistryError::Name(name.to_owned()));
            }
            let schema = jsonschema::validator_for(&declared.schema)
                .map_err(|error| RegistryError::Schema { name: name.to_owned(), why: error.to_string() })?;
            if entries.insert(name, Entry { tool, schema }).is_some() {
                return Err(RegistryError::Duplicate(name.to_owned()));
            }
        }
        Ok(Arc::new(Self { tools: entries, argument_bytes: limits.argument_bytes }))
    }

    /// The built-in tools.
    ///
    /// # Errors
    /// Never, unless a built-in tool is broken; the tests look.
    pub fn builtin(limits: &Limits) -> Result<Arc<Self>, RegistryError> {
        Self::new(crate::builtin::all(), limits)
    }

    /// What these layers leave visible.
    #[must_use]
    pub fn visible(self: &Arc<Self>, layers: &Visibility) -> Visible {
        let allowed =
            |lists: &Lists, name: &str| lists.allow.as_ref().is_none_or(|allow| allow.contains(name));
        let outer = if layers.mode.allow.is_some() { &layers.mode } else { &layers.global };
        let denied = |name: &str| {
            [&layers.global, &layers.mode, &layers.subagent].iter().any(|lists| lists.deny.contains(name))
        };
        let names = self
            .tools
            .keys()
            .copied()
            .filter(|name| allowed(outer, name) && allowed(&layers.subagent, name) && !denied(name))
            .collect();
        Visible { registry: Arc::clone(self), names }
    }
}

impl Visible {
    /// What the model reads of them, sorted by name.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        let declared = self
            .names
            .iter()
            .filter_map(|name| self.registry.tools.get(name))
            .map(|entry| entry.tool.declared());
        declared
            .map(|one| ToolSpec {
                name: one.name.to_owned(),
                description: one.description.to_owned(),
                schema: one.schema.clone(),
            })
            .collect()
    }

    /// Their names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.iter().copied()
    }

    /// A visible tool's declaration.
    #[must_use]
    pub fn declared(&self, name: &str) -> Option<&crate::tool::Declared> {
        self.find(name).map(|entry| entry.tool.declared())
    }

    /// Reads and checks a call as the model wrote it.
    ///
    /// # Errors
    /// `tool/unknown`, `arguments/unreadable` or `arguments/invalid`: results for the model.
    pub fn check(&self, name: &str, arguments: &str) -> Result<Checked, ToolError> {
        let entry = self.find(name).ok_or_else(|| self.unknown(name))?;
        let parsed = parse(arguments, self.registry.argument_bytes)?;
        let value = serde_json::from_str(&parsed.canonical).map_err(|error| {
            failed("arguments/unreadable", format!("the arguments can't be read: {error}"), "")
        })?;
        crate::schema::check(&entry.schema, &value, entry.tool.declared())?;
        let frozen = |interaction| {
            Arc::new(Frozen {
                digest: Digest::of(parsed.canonical.as_bytes()),
                canonical: parsed.canonical.clone(),
                value: serde_json::Value::clone(&value),
                repairs: parsed.repairs.clone(),
                interaction,
            })
        };
        let call = Checked { tool: Arc::clone(&entry.tool), frozen: frozen(None) };
        match entry.tool.interaction(&call)? {
            Some(asked) => Ok(Checked { frozen: frozen(Some(asked)), ..call }),
            None => Ok(call),
        }
    }

    fn find(&self, name: &str) -> Option<&Entry> {
        self.registry.tools.get(name).filter(|_| self.names.contains(name))
    }

    fn unknown(&self, name: &str) -> ToolError {
        let names: Vec<_> = self.names.iter().copied().collect();
        failed(
            "tool/unknown",
            format!("there is no tool called {}", crate::path::shown(name)),
            &format!("The tools are: {}.", names.join(", ")),
        )
    }
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}
