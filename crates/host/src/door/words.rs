//! The words spoken through the door: requests, answers, and what is delivered to subscriptions.
//!
//! Invariant: the first request is `hello` with the protocol's version, and nothing else is answered before it.

use api::wire::ApiError;
use api::wire::command::{Command, Topic};
use api::wire::copy::CopyOf;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// Version of this protocol, counted apart from events and interfaces. Raised with every word that a host of before would
/// pass over and answer something else than was asked: since 2, a difference names the call it is of; since 3, settings hold limits of
/// money and prices.
pub const VERSION: u32 = 3;

/// Longest request in bytes.
pub const REQUEST_BYTES: usize = 1 << 20;

/// A request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", content = "params", rename_all = "snake_case")]
pub enum Request {
    /// Who comes.
    Hello {
        /// The protocol's version.
        version: u32,
    },
    /// Do a command. Answer: its reply.
    Call {
        /// The command.
        command: Command,
    },
    /// Make a folder known. Answer: the folder.
    OpenFolder {
        /// Its path.
        path: String,
    },
    /// Let a session look at another folder. Answer: nothing.
    AddFolder {
        /// The session.
        session: String,
        /// The folder's path.
        path: String,
    },
    /// The name to propose for a copy, where there is something to copy. Answer: the name.
    CopyName {
        /// The session.
        session: String,
        /// Of what.
        of: CopyOf,
    },
    /// Save a copy. Answer: what was saved.
    SaveCopy {
        /// The session.
        session: String,
        /// Of what.
        of: CopyOf,
        /// Where.
        path: String,
    },
    /// Take in a session. Answer: what was taken in.
    ImportSession {
        /// The archive's path.
        path: String,
    },
    /// Trust the certificates of a file for a service. Answer: the reply to `Providers`.
    SetCertificate {
        /// The service.
        provider: String,
        /// The file's path.
        path: String,
    },
    /// Listen to a topic. Answer: the subscription's number.
    Subscribe {
        /// The topic.
        topic: Topic,
    },
    /// Listen to the events of a session themselves. Answer: the subscription's number.
    Events {
        /// The session.
        session: String,
        /// First sequence number wanted.
        from: u64,
    },
    /// Stop listening.
    Unsubscribe {
        /// The subscription.
        subscription: u64,
    },
}

/// A request with its number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Numbered {
    /// Always `2.0`.
    pub jsonrpc: String,
    /// Its number; the answer carries it.
    pub id: u64,
    /// The request.
    #[serde(flatten)]
    pub request: Request,
}

/// Anything the host says.
#[derive(Debug, Serialize, Deserialize)]
pub struct Said {
    /// Always `2.0`.
    pub jsonrpc: String,
    /// The number of the request this answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Refusal>,
    /// `notify`, `event` or `over`, for subscriptions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// What is delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Delivered>,
}

/// Why a request wasn't done.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Refusal {
    /// JSON-RPC's number.
    pub code: i32,
    /// The message.
    pub message: String,
    /// The whole error.
    pub data: ApiError,
}

/// Something for a subscription.
#[derive(Debug, Serialize, Deserialize)]
pub struct Delivered {
    /// Which.
    pub subscription: u64,
    /// A notification, or an event line, as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<Box<RawValue>>,
    /// Why it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ApiError>,
}

impl Said {
    /// An answer.
    #[must_use]
    pub fn answer(id: u64, result: Result<Value, ApiError>) -> Self {
        let (result, error) = match result {
            Ok(value) => (Some(value), None),
            Err(data) => (None, Some(Refusal { code: -32_000, message: data.message.clone(), data })),
        };
        Self { jsonrpc: "2.0".to_owned(), id: Some(id), result, error, method: None, params: None }
    }

    /// Something for a subscription.
    #[must_use]
    pub fn deliver(method: &str, params: Delivered) -> Self {
        let (id, result, error) = (None, None, None);
        Self {
            jsonrpc: "2.0".to_owned(),
            id,
            result,
            error,
            method: Some(method.to_owned()),
            params: Some(params),
        }
    }
}
