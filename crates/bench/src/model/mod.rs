//! A model on this machine that isn't one: a server that speaks Anthropic's Messages and says what it is told to.
//!
//! It answers on 127.0.0.1 only, remembers each request with its bytes and its connection, and counts input as a provider
//! with a prompt cache does. Invariant: what it heard is what was really sent, so a check on it doesn't lean on our log.

pub(crate) mod cache;
mod server;
pub(crate) mod words;

pub(crate) use server::{Heard, Server};
pub(crate) use words::{Answer, PIECE, Said};
