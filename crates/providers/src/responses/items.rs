//! The *items* of one answer of the Responses API, as they begin, grow and are settled.
//!
//! An event belongs to the item with its id, else to the only open one of its kind at its place, else, where it names
//! neither, to the only open one of its kind. Invariants: arguments of two calls are never mixed, and an event that could
//! belong to two of them, or to none, breaks the protocol; what the provider says of a whole item wins over its pieces.

use domain::model::{Block, ModelDelta, ModelError};
use serde_json::{Map, Value, json};

use super::NAME;
use crate::fold::{MAX_BLOCKS, protocol};
use crate::json::is_object;

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Message,
    Reasoning,
    Call,
    /// What no request of ours asks for: a hosted tool's work.
    Other,
}

/// Which text of an item a piece belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    Text,
    Refusal,
    Reasoning,
    Arguments,
}

impl Piece {
    fn kind(self) -> Kind {
        match self {
            Self::Text | Self::Refusal => Kind::Message,
            Self::Reasoning => Kind::Reasoning,
            Self::Arguments => Kind::Call,
        }
    }
}

/// All items so far, in the order they began.
#[derive(Debug, Default)]
pub(super) struct Items(Vec<Item>);

#[derive(Debug)]
struct Item {
    kind: Kind,
    place: Option<u64>,
    id: String,
    /// Has the provider said that it is whole?
    settled: bool,
    /// Words, reasoning or arguments.
    text: String,
    refusal: String,
    name: String,
    call_id: String,
    /// A reasoning item as it may go back.
    opaque: Option<Value>,
}

impl Items {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// An item begins. `false`: it had begun already.
    pub(super) fn begin(&mut self, event: &Value, out: &mut Vec<ModelDelta>) -> Result<bool, ModelError> {
        let wire = &event["item"];
        let (id, place, kind) = (text_of(wire, "id"), event["output_index"].as_u64(), kind_of(wire));
        let same = |item: &Item| match id {
            "" => item.id.is_empty() && place.is_some() && item.place == place && item.kind == kind,
            id => item.id == id,
        };
        if let Some(known) = self.0.iter().find(|item| same(item)) {
            if known.kind == kind && !known.settled && known.text.is_empty() {
                return Ok(false);
            }
            return Err(protocol("an item of the answer began twice"));
        }
        let at = self.open(kind, id, place)?;
        let item = &mut self.0[at];
        item.name = text_of(wire, "name").into();
        item.call_id = text_of(wire, "call_id").into();
        if kind == Kind::Call {
            let name = Some(item.name.clone());
            out.push(ModelDelta::Arguments { index: self.position(at), name, text: String::new() });
        }
        Ok(true)
    }

    /// More of an item; gives the number of bytes that were new.
    pub(super) fn grow(
        &mut self,
        piece: Piece,
        event: &Value,
        out: &mut Vec<ModelDelta>,
    ) -> Result<usize, ModelError> {
        let more = text_of(event, "delta");
        if more.is_empty() {
            return Ok(0);
        }
        let (id, place) = (text_of(event, "item_id"), event["output_index"].as_u64());
        let at = match self.find(piece.kind(), id, place) {
            Some(at) => at,
            // Words can't be put into a wrong hand, so a server may leave out that they begin.
            None if piece != Piece::Arguments => self.open(piece.kind(), id, place)?,
            None => {
                return Err(protocol(
                    "arguments arrived that could belong to more than one call, or to none",
                ));
            }
        };
        if self.0[at].settled {
            return Err(protocol("more of an item arrived after its end"));
        }
        self.push(at, piece, more, out);
        Ok(more.len())
    }

    /// A new part of a reasoning's summary: a paragraph of its own.
    pub(super) fn paragraph(&mut self, event: &Value, out: &mut Vec<ModelDelta>) {
        let found = self.find(Kind::Reasoning, text_of(event, "item_id"), event["output_index"].as_u64());
        if let Some(at) = found.filter(|at| !self.0[*at].text.is_empty() && !self.0[*at].settled) {
            self.push(at, Piece::Reasoning, "\n\n", out);
        }
    }

    /// The arguments of a call are whole; the call's own end may still say more of it.
    pub(super) fn arguments(
        &mut self,
        event: &Value,
        out: &mut Vec<ModelDelta>,
    ) -> Result<usize, ModelError> {
        let (id, place) = (text_of(event, "item_id"), event["output_index"].as_u64());
        match self.find(Kind::Call, id, place) {
            Some(at) => self.settle_call(at, &arguments_of(event), out),
            None => Ok(0),
        }
    }

    /// An item is whole, and this is it; gives the number of bytes that were new.
    pub(super) fn settle(&mut self, event: &Value, out: &mut Vec<ModelDelta>) -> Result<usize, ModelError> {
        let wire = &event["item"];
        let (id, place, kind) = (text_of(wire, "id"), event["output_index"].as_u64(), kind_of(wire));
        let at = match self.find(kind, id, place) {
            Some(at) => at,
            None => {
                self.begin(event, out)?;
                self.0.len() - 1
            }
        };
        self.settle_at(at, wire, out)
    }

    /// What stands in the end of the answer settles what wasn't settled, and is all there is where nothing was streamed.
    pub(super) fn settle_all(
        &mut self,
        output: &[Value],
        out: &mut Vec<ModelDelta>,
    ) -> Result<usize, ModelError> {
        let calls = output.iter().filter(|wire| kind_of(wire) == Kind::Call).count();
        if !self.is_empty() && calls > self.calls().count() {
            return Err(protocol("the answer's end holds a call that was never sent"));
        }
        let mut added = 0;
        let (streamed, same_length) = (self.len(), self.len() == output.len());
        for (at, wire) in output.iter().enumerate() {
            if streamed == 0 {
                added += self.settle(&json!({"output_index": at, "item": wire}), out)?;
                continue;
            }
            let id = text_of(wire, "id");
            let by_id = self.0.iter().position(|item| !id.is_empty() && item.id == id);
            let meant = by_id.or_else(|| same_length.then_some(at));
            if let Some(meant) = meant.filter(|meant| {
                let item = &self.0[*meant];
                !item.settled && item.kind == kind_of(wire)
            }) {
                added += self.settle_at(meant, wire, out)?;
            }
        }
        Ok(added)
    }

    /// Is there a call that isn't whole?
    pub(super) fn has_open_call(&self) -> bool {
        self.calls().any(|item| !item.settled && !is_object(&item.text))
    }

    /// Did the model refuse, and do nothing else?
    pub(super) fn is_refusal(&self) -> bool {
        self.0.iter().any(|item| !item.refusal.is_empty()) && self.calls().next().is_none()
    }

    /// The words so far.
    pub(super) fn text(&self) -> String {
        let words = self.0.iter().filter(|item| item.kind == Kind::Message);
        words.map(|item| item.text.as_str()).collect()
    }

    /// The items as blocks, in their order.
    pub(super) fn blocks(&self, provider: &str) -> Vec<Block> {
        let mut blocks = Vec::new();
        for item in &self.0 {
            match item.kind {
                Kind::Message => {
                    blocks.extend([&item.text, &item.refusal].map(|text| Block::Text { text: text.clone() }));
                }
                Kind::Reasoning if item.text.is_empty() && item.opaque.is_none() => {}
                Kind::Reasoning => blocks.push(Block::Reasoning {
                    text: item.text.clone(),
                    opaque: item
                        .opaque
                        .as_ref()
                        .map(|item| json!({"dialect": NAME, "provider": provider, "item": item})),
                }),
                Kind::Call => blocks.push(Block::Call {
                    provider_call_id: item.call_id.clone(),
                    name: item.name.clone(),
                    arguments: item.text.clone(),
                }),
                Kind::Other => {}
            }
        }
        blocks
    }

    fn calls(&self) -> impl Iterator<Item = &Item> {
        self.0.iter().filter(|item| item.kind == Kind::Call)
    }

    /// Position of a call among the calls.
    fn position(&self, at: usize) -> u32 {
        self.0[..at].iter().filter(|item| item.kind == Kind::Call).count() as u32
    }

    fn open(&mut self, kind: Kind, id: &str, place: Option<u64>) -> Result<usize, ModelError> {
        if self.0.len() >= MAX_BLOCKS {
            return Err(protocol(format!("the answer has more than {MAX_BLOCKS} items")));
        }
        self.0.push(Item {
            kind,
            place,
            id: id.into(),
            settled: false,
            text: String::new(),
            refusal: String::new(),
            name: String::new(),
            call_id: String::new(),
            opaque: None,
        });
        Ok(self.0.len() - 1)
    }

    fn find(&self, kind: Kind, id: &str, place: Option<u64>) -> Option<usize> {
        let by_id = self.0.iter().position(|item| !id.is_empty() && item.id == id && item.kind == kind);
        let only = |fits: &dyn Fn(&Item) -> bool| {
            let mut open = (0..self.0.len()).filter(|at| {
                let item = &self.0[*at];
                item.kind == kind && !item.settled && fits(item)
            });
            open.next().filter(|_| open.next().is_none())
        };
        by_id.or_else(|| match place {
            Some(_) => only(&|item| item.place == place),
            None if id.is_empty() || kind != Kind::Call => only(&|_| true),
            None => None,
        })
    }

    fn push(&mut self, at: usize, piece: Piece, more: &str, out: &mut Vec<ModelDelta>) {
        let index = self.position(at);
        let item = &mut self.0[at];
        let text = more.to_owned();
        match piece {
            Piece::Text => item.text.push_str(more),
            Piece::Refusal => item.refusal.push_str(more),
            Piece::Reasoning | Piece::Arguments => item.text.push_str(more),
        }
        out.push(match piece {
            Piece::Text | Piece::Refusal => ModelDelta::Text { text },
            Piece::Reasoning => ModelDelta::Reasoning { text },
            Piece::Arguments => ModelDelta::Arguments { index, name: None, text },
        });
    }

    fn settle_at(&mut self, at: usize, wire: &Value, out: &mut Vec<ModelDelta>) -> Result<usize, ModelError> {
        let mut added = 0;
        match self.0[at].kind {
            Kind::Message => {
                let (text, refusal) = content(&wire["content"]);
                added += self.replace(at, Piece::Text, &text, out);
                added += self.replace(at, Piece::Refusal, &refusal, out);
            }
            Kind::Reasoning => {
                let text = paragraphs(&wire["summary"]).or_else(|| paragraphs(&wire["content"]));
                added += self.replace(at, Piece::Reasoning, &text.unwrap_or_default(), out);
                self.0[at].opaque = returnable(wire);
                added += wire["encrypted_content"].as_str().map_or(0, str::len);
            }
            Kind::Call => {
                let item = &mut self.0[at];
                for (kept, field) in [(&mut item.name, "name"), (&mut item.call_id, "call_id")] {
                    if let Some(text) = wire[field].as_str().filter(|text| !text.is_empty()) {
                        *kept = text.into();
                    }
                }
                if wire["status"] == "incomplete" {
                    return Ok(0);
                }
                added += self.settle_call(at, &arguments_of(wire), out)?;
            }
            Kind::Other => {}
        }
        self.0[at].settled = true;
        Ok(added)
    }

    fn settle_call(
        &mut self,
        at: usize,
        whole: &str,
        out: &mut Vec<ModelDelta>,
    ) -> Result<usize, ModelError> {
        let streamed = &self.0[at].text;
        if !whole.is_empty() && is_object(streamed) && !same_json(streamed, whole) {
            return Err(protocol("the arguments of a call arrived in two versions"));
        }
        // The text that was shown stays where it says the same, with other blanks.
        let added = if is_object(streamed) { 0 } else { self.replace(at, Piece::Arguments, whole, out) };
        self.0[at].settled = true;
        Ok(added)
    }

    /// The whole text of a piece takes the place of what was streamed of it; nothing whole leaves that.
    fn replace(&mut self, at: usize, piece: Piece, whole: &str, out: &mut Vec<ModelDelta>) -> usize {
        let item = &mut self.0[at];
        let kept = if piece == Piece::Refusal { &mut item.refusal } else { &mut item.text };
        if whole.is_empty() || kept == whole {
            return 0;
        }
        match whole.strip_prefix(kept.as_str()).map(str::to_owned) {
            Some(rest) => {
                self.push(at, piece, &rest, out);
                rest.len()
            }
            None => {
                *kept = whole.into();
                whole.len()
            }
        }
    }
}

fn kind_of(wire: &Value) -> Kind {
    match wire["type"].as_str() {
        Some("message") => Kind::Message,
        Some("reasoning") => Kind::Reasoning,
        Some("function_call") => Kind::Call,
        _ => Kind::Other,
    }
}

fn text_of<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// Arguments as text; some servers send the object itself.
fn arguments_of(wire: &Value) -> String {
    match &wire["arguments"] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Words and refusal of a message's content, which is a list of parts, or a text.
fn content(value: &Value) -> (String, String) {
    let of = |field: &str| -> String {
        value.as_array().into_iter().flatten().map(|part| text_of(part, field)).collect()
    };
    match value {
        Value::String(text) => (text.clone(), String::new()),
        _ => (of("text"), of("refusal")),
    }
}

fn paragraphs(parts: &Value) -> Option<String> {
    let texts: Vec<&str> = parts.as_array()?.iter().map(|part| text_of(part, "text")).collect();
    Some(texts.join("\n\n")).filter(|text| !text.is_empty())
}

/// A reasoning item without what can't be sent back. One that isn't encrypted stands only in a provider's memory, of
/// which we asked to have none.
fn returnable(wire: &Value) -> Option<Value> {
    wire["encrypted_content"].as_str().filter(|text| !text.is_empty())?;
    let mut item = Map::new();
    for field in ["type", "id", "summary", "content", "encrypted_content"] {
        if let Some(value) = wire.get(field).filter(|value| !value.is_null()) {
            item.insert(field.into(), value.clone());
        }
    }
    item.entry("summary").or_insert_with(|| json!([]));
    Some(item.into())
}

fn same_json(one: &str, other: &str) -> bool {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    read(one).is_some_and(|one| Some(one) == read(other))
}
