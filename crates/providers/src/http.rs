//! The HTTP transport: one attempt is one request, sent over a reused client and read until its answer ends.
//!
//! A client is kept per way out (proxy or none), so connections are reused. Invariants: the key travels in one
//! sensitive header and is in no message; redirects are refused; there is no limit on the whole time of an answer,
//! only on silence; cancelling takes effect at the next await; nothing is sent twice.

mod client;
mod models;
mod reader;
mod timers;

use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use domain::model::{ErrorClass, ModelError};
use futures_util::StreamExt;
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::{Response, Url};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::classify::{self, HttpFailure, RetryHeaders, retry_after_ms};
use crate::dialect::wire_of;
use crate::send::{Partial, Request, SendError, SendResult, Sink};

pub use models::ListedModel;
pub use timers::Timers;

pub(crate) use reader::{Reading, read_answer};

/// Tells the time; only used for a `Retry-After` date from a server that doesn't say what time it is.
pub type Now = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// Most bytes read of an error's body.
const ERROR_BODY_BYTES: usize = 64 << 10;

/// The transport, cheap to share behind an `Arc`.
pub struct Http {
    clients: client::Clients,
    timers: Timers,
    now: Now,
}

impl Http {
    /// A transport with the timers of `docs/decisions`, or shorter ones in tests.
    #[must_use]
    pub fn new(timers: Timers, now: Now) -> Self {
        Self { clients: client::Clients::default(), timers, now }
    }

    /// Sends one request and reads its answer to the end. Deltas go to `sink` as they arrive.
    ///
    /// # Errors
    /// `Cancelled` as soon as the token is cancelled, else the classified failure with what had arrived until then.
    pub async fn send(
        &self,
        request: Request<'_>,
        sink: &mut dyn Sink,
        cancel: &CancellationToken,
    ) -> SendResult {
        let key = request.connection.key.as_ref();
        self.attempt(request, sink, cancel).await.map_err(|end| match end {
            SendError::Failed(error) => SendError::Failed(classify::scrub(error, key)),
            cancelled @ SendError::Cancelled(_) => cancelled,
        })
    }

    async fn attempt(
        &self,
        request: Request<'_>,
        sink: &mut dyn Sink,
        cancel: &CancellationToken,
    ) -> SendResult {
        let wire =
            wire_of(request.model).map_err(|e| ModelError::new(ErrorClass::BadRequest, e.to_string()))?;
        let url = request.connection.endpoint(&*wire);
        let timers = self.timers.on(request.connection.is_loopback());
        let started = Instant::now();
        let client = self.clients.of(request.connection)?;
        let sending = client
            .post(url.clone())
            .headers(client::headers(request.connection, &*wire)?)
            .header(CONTENT_TYPE, "application/json")
            .body(request.body.to_bytes())
            .send();
        let response = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(SendError::Cancelled(Partial::default())),
            response = sending => response.map_err(|error| client::failure(&error, &url))?,
            () = sleep_until(started + timers.first_token) => return Err(timers.no_answer().into()),
        };
        if !response.status().is_success() {
            return Err(tokio::select! {
                biased;
                () = cancel.cancelled() => SendError::Cancelled(Partial::default()),
                error = self.refusal(response, &url) => error.into(),
            });
        }
        let event_stream = header(response.headers(), CONTENT_TYPE.as_str())
            .is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream"));
        let reading = Reading {
            fold: wire.fold(request.model),
            sink,
            cancel,
            timers,
            started,
            event_stream,
            url: &url,
            status: response.status().as_u16(),
        };
        let stream = response.bytes_stream().map(|chunk| chunk.map_err(|error| client::cause(&error)));
        read_answer(Box::pin(stream), reading).await
    }

    /// Reads and classifies an answer that isn't a success.
    async fn refusal(&self, response: Response, url: &Url) -> ModelError {
        let status = response.status();
        let headers = response.headers().clone();
        if status.is_redirection() {
            return classify::redirect(status.as_u16(), url, header(&headers, LOCATION.as_str()));
        }
        let wait = retry_after_ms(
            RetryHeaders {
                retry_after: header(&headers, RETRY_AFTER.as_str()),
                retry_after_ms: header(&headers, "retry-after-ms"),
                date: header(&headers, DATE.as_str()),
            },
            (self.now)(),
        );
        let body = bounded_body(response, ERROR_BODY_BYTES, &self.timers).await;
        classify::http_error(&HttpFailure { status: status.as_u16(), url, retry_after_ms: wait, body: &body })
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// As much of a body as arrives within its bounds; an error's body isn't worth more.
async fn bounded_body(response: Response, most: usize, timers: &Timers) -> Vec<u8> {
    let mut body = Vec::new();
    let mut stream = response.bytes_stream();
    let reading = async {
        while let Some(Ok(chunk)) = stream.next().await {
            let chunk: Bytes = chunk;
            body.extend_from_slice(&chunk[..chunk.len().min(most - body.len())]);
            if body.len() >= most {
                break;
            }
        }
    };
    // A timeout leaves what had arrived, which is all that is needed.
    let _elapsed = timeout(timers.error_body, reading).await;
    body
}
