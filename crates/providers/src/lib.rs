//! Model wire formats: neutral messages in, bytes out; bytes in, one neutral outcome or one classified error out.
//!
//! A *dialect* is a wire format (Anthropic Messages, Chat Completions, Responses, scripted); a *connection* is where and with
//! which key it is spoken; *quirks* are what one provider does differently inside a dialect. Vendor JSON stops in this
//! crate. Invariant: nothing here retries, appends to a log or reads a clock of its own; an attempt is one call of
//! [`Http::send`] or [`Player::send`], and an answer that isn't structurally whole is never an [`Outcome`].
//!
//! [`Outcome`]: domain::model::Outcome

pub mod anthropic;
pub mod capabilities;
pub mod certificates;
pub mod chat;
pub mod classify;
pub mod connection;
pub mod dialect;
pub mod fold;
pub mod http;
pub mod presets;
pub mod prices;
pub mod quirks;
pub mod responses;
pub mod scripted;
pub mod send;
pub mod sse;
pub mod structured;

mod answer;
mod json;

pub use capabilities::capabilities;
pub use certificates::{Authorities, AuthorityError};
pub use connection::{Connection, ConnectionError, Proxy};
pub use dialect::{Begun, Body, Dialect, Markers, UnknownDialect, dialect_of};
pub use http::{Http, Timers};
pub use presets::{Preset, SuggestedModel, presets};
pub use scripted::{Player, Script, ScriptError};
pub use send::{Partial, Request, SendError, SendResult, Sink};

#[cfg(test)]
mod testing;
