//! From a failed request to a [`ModelError`] with its class: HTTP errors, errors inside a stream, redirects, pages.
//!
//! The order of evidence is: the window's overflow in any of its shapes, the provider's own error kind, the HTTP
//! status, the wording of a 400. Invariants: messages hold at most [`MESSAGE_BYTES`] bytes and never the key's value,
//! nor the query of an address; nothing here retries.

mod evidence;
mod retry_after;

use domain::model::{Answered, ErrorClass, ModelError};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use url::Url;

pub use retry_after::{RetryHeaders, retry_after_ms};

/// Longest message kept of a provider's words.
pub const MESSAGE_BYTES: usize = 2048;

/// A response whose status isn't a success.
#[derive(Debug, Clone, Copy)]
pub struct HttpFailure<'a> {
    /// HTTP status.
    pub status: u16,
    /// The address that was really asked.
    pub url: &'a Url,
    /// What the server asked us to wait.
    pub retry_after_ms: Option<u64>,
    /// The body, as far as it was read.
    pub body: &'a [u8],
}

/// Classifies an HTTP error.
#[must_use]
pub fn http_error(failure: &HttpFailure<'_>) -> ModelError {
    let text = String::from_utf8_lossy(failure.body);
    let json: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
    let evidence = evidence::Evidence::read(&json, &text);
    let class = evidence.class(Some(failure.status));
    let quoted = !evidence.words.is_empty();
    let words = if quoted { &*evidence.words } else { "the provider gave no reason" };
    let address = (class == ErrorClass::NotFound).then(|| shown(failure.url));
    let mut error = ModelError::new(class, words);
    error.answered = Answered { status: Some(failure.status), address, quoted, certificate: None };
    error.retry_after_ms = failure.retry_after_ms;
    error.context_tokens = if class == ErrorClass::ContextOverflow { evidence.window() } else { None };
    error
}

/// Classifies an error object that came inside an answer with status 200. Its own code, where it is an HTTP status,
/// counts as one.
#[must_use]
pub fn in_stream(data: &Value) -> ModelError {
    let evidence = evidence::Evidence::read(data, "");
    let class = evidence.class(evidence.status());
    let quoted = !evidence.words.is_empty();
    let words = if quoted { &*evidence.words } else { "the provider reported an error inside its answer" };
    let mut error = ModelError::new(class, words);
    error.answered = Answered { status: evidence.status(), address: None, quoted, certificate: None };
    error.retry_after_ms = evidence.retry_after_ms();
    error.context_tokens = if class == ErrorClass::ContextOverflow { evidence.window() } else { None };
    error
}

/// A redirect is never followed: the key would go to an address nobody entered.
#[must_use]
pub fn redirect(status: u16, asked: &Url, location: Option<&str>) -> ModelError {
    let target = location.and_then(|location| asked.join(location).ok());
    let target = target.as_ref().map_or_else(|| "an unnamed address".into(), shown);
    let mut error = ModelError::new(
        ErrorClass::NotFound,
        format!("{} redirects to {target}; enter the right address of the provider instead", shown(asked)),
    );
    error.answered.status = Some(status);
    error
}

/// A success that holds a web page instead of an answer.
#[must_use]
pub fn web_page(status: u16, asked: &Url, page: &[u8]) -> ModelError {
    let page = String::from_utf8_lossy(page);
    let title = evidence::title(&page).map(|title| format!(" ({title})")).unwrap_or_default();
    let mut error = ModelError::new(
        ErrorClass::Protocol,
        format!(
            "{} answered with a web page{title} instead of a model's answer; is the address right, and does the \
             network ask to sign in?",
            shown(asked)
        ),
    );
    error.answered.status = Some(status);
    error
}

/// Removes the key's value, in its plain and its URL-encoded form, and bounds the texts of an error.
#[must_use]
pub fn scrub(mut error: ModelError, key: Option<&SecretString>) -> ModelError {
    if let Some(key) = key.map(ExposeSecret::expose_secret).filter(|key| !key.is_empty()) {
        let encoded: String = url::form_urlencoded::byte_serialize(key.as_bytes()).collect();
        let texts = [&mut error.message, &mut error.partial_text].into_iter();
        for text in texts.chain(&mut error.answered.address) {
            for form in [key, encoded.as_str()] {
                if text.contains(form) {
                    *text = text.replace(form, "[key]");
                }
            }
        }
    }
    bound(&mut error.message);
    error
}

/// An address without its query, which may hold secrets.
#[must_use]
pub fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

fn bound(text: &mut String) {
    if text.len() > MESSAGE_BYTES {
        let mut end = MESSAGE_BYTES - '…'.len_utf8();
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
}

#[cfg(test)]
mod tests;
