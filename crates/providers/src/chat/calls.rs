//! Putting streamed tool calls together from fragments that servers number in many ways.
//!
//! A fragment belongs to the call with its id and index, else to the newest call of its index, else (no id, no name, unknown
//! index) to the only call whose arguments aren't whole. Invariant: arguments of two calls are never mixed; where the
//! fragments don't say which call they mean, the answer is an error.

use domain::model::{Block, ModelDelta, ModelError};
use serde_json::Value;

use crate::fold::{MAX_BLOCKS, protocol};
use crate::json::is_object;

/// The calls of one answer so far, in order of appearance.
#[derive(Debug, Default)]
pub(crate) struct Calls(Vec<Call>);

#[derive(Debug)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// What the provider wants back with the call, unread.
    extra: Option<Value>,
}

struct Fragment<'a> {
    index: Option<u64>,
    id: &'a str,
    name: &'a str,
    arguments: std::borrow::Cow<'a, str>,
}

impl Calls {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes one element of `delta.tool_calls`; gives the number of bytes it added.
    pub(crate) fn add(&mut self, wire: &Value, out: &mut Vec<ModelDelta>) -> Result<usize, ModelError> {
        let fragment = Fragment::read(wire)?;
        let extra = &wire["extra_content"];
        if fragment.is_empty() && !extra.is_object() {
            return Ok(0);
        }
        let at = match self.place(&fragment)? {
            Some(at) => at,
            None => self.open(&fragment)?,
        };
        let call = &mut self.0[at];
        let name = (call.name.is_empty() && !fragment.name.is_empty()).then(|| fragment.name.to_owned());
        if let Some(name) = &name {
            call.name.clone_from(name);
        }
        if call.id.is_empty() {
            call.id = fragment.id.into();
        }
        let signed = if extra.is_object() { extra.to_string().len() } else { 0 };
        if signed > 0 {
            call.extra = Some(extra.clone());
        }
        // Nothing but blanks can follow a whole object, so its repeat is the same event sent twice.
        let repeated = *fragment.arguments == call.arguments && is_object(&call.arguments);
        let text = if repeated { String::new() } else { fragment.arguments.into_owned() };
        call.arguments.push_str(&text);
        let added = text.len() + name.as_ref().map_or(0, String::len);
        if added > 0 {
            out.push(ModelDelta::Arguments { index: at as u32, name, text });
        }
        Ok(added + signed)
    }

    /// What must go back with each call, in their order; `None` where nothing must.
    pub(crate) fn extras(&self) -> Option<Vec<Option<&Value>>> {
        let extras: Vec<Option<&Value>> = self.0.iter().map(|call| call.extra.as_ref()).collect();
        extras.iter().any(Option::is_some).then_some(extras)
    }

    /// The calls as blocks.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Block> {
        self.0.iter().map(|call| Block::Call {
            provider_call_id: call.id.clone(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
        })
    }

    /// Which known call a fragment continues; `None` when it begins one.
    fn place(&self, fragment: &Fragment<'_>) -> Result<Option<usize>, ModelError> {
        if !fragment.id.is_empty() {
            if let Some(at) = self.0.iter().rposition(|call| call.id == fragment.id && fragment.fits(call)) {
                return Ok((!fragment.begins_after(&self.0[at])).then_some(at));
            }
            let unnamed =
                |call: &Call| call.id.is_empty() && call.index == fragment.index && call.index.is_some();
            return Ok(self.0.iter().rposition(unnamed).filter(|at| !is_object(&self.0[*at].arguments)));
        }
        let newest = match fragment.index {
            Some(index) => self.0.iter().rposition(|call| call.index == Some(index)),
            None => self.0.len().checked_sub(1),
        };
        if let Some(at) = newest {
            return Ok((!fragment.begins_after(&self.0[at])).then_some(at));
        }
        if !fragment.name.is_empty() {
            return Ok(None);
        }
        let mut open = (0..self.0.len()).filter(|at| !is_object(&self.0[*at].arguments));
        match (open.next(), open.next()) {
            (Some(at), None) => Ok(Some(at)),
            _ => Err(protocol("arguments arrived that could belong to more than one call, or to none")),
        }
    }

    fn open(&mut self, fragment: &Fragment<'_>) -> Result<usize, ModelError> {
        if self.0.len() >= MAX_BLOCKS {
            return Err(protocol(format!("the answer has more than {MAX_BLOCKS} calls")));
        }
        self.0.push(Call {
            index: fragment.index,
            id: fragment.id.into(),
            name: String::new(),
            arguments: String::new(),
            extra: None,
        });
        Ok(self.0.len() - 1)
    }
}

impl<'a> Fragment<'a> {
    fn read(wire: &'a Value) -> Result<Self, ModelError> {
        let index = match &wire["index"] {
            Value::Null => None,
            index => Some(
                index
                    .as_u64()
                    .filter(|index| *index < 1_000_000)
                    .ok_or_else(|| protocol(format!("a tool call with the position {index}")))?,
            ),
        };
        let function = &wire["function"];
        Ok(Self {
            index,
            id: wire["id"].as_str().unwrap_or_default(),
            name: function["name"].as_str().unwrap_or_default(),
            arguments: match &function["arguments"] {
                Value::String(text) => text.as_str().into(),
                Value::Null => "".into(),
                other => other.to_string().into(),
            },
        })
    }

    fn is_empty(&self) -> bool {
        self.id.is_empty() && self.name.is_empty() && self.arguments.is_empty()
    }

    /// May it belong to this call by its index? One id under two indexes is two calls of a careless server.
    fn fits(&self, call: &Call) -> bool {
        self.index.is_none() || call.index.is_none() || self.index == call.index
    }

    /// Does a fragment of a known call begin a new one all the same? Servers that give every call the number 0, or the
    /// same id, send each call whole with its name.
    fn begins_after(&self, call: &Call) -> bool {
        let other =
            self.name != call.name || (!self.arguments.is_empty() && *self.arguments != call.arguments);
        !self.name.is_empty() && !call.name.is_empty() && is_object(&call.arguments) && other
    }
}
