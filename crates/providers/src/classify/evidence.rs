//! What an error body says: its words, its kind, its code, and the window's size where an overflow names it.
//!
//! Providers wrap errors in many shapes, and proxies wrap them again inside a message text. Invariant: reading an
//! error never fails; what isn't understood leaves the class to the HTTP status.

use domain::model::ErrorClass;
use serde_json::Value;

/// Everything known about one error.
#[derive(Debug)]
pub(super) struct Evidence<'a> {
    /// The provider's words, else the start of the body.
    pub(super) words: String,
    /// The words in lower case, for the few wordings that are the only evidence there is.
    lower: String,
    kinds: [&'a str; 3],
    code: Option<u64>,
    n_ctx: Option<u64>,
    retry_seconds: Option<f64>,
}

impl<'a> Evidence<'a> {
    /// Reads `{"error": {…}}`, `{"error": "text"}`, `{"message": …}`, `{"detail": …}` or anything else as text.
    pub(super) fn read(json: &'a Value, text: &str) -> Self {
        let error = match &json["error"] {
            Value::Null if json.is_array() => &json[0]["error"],
            Value::Null => json,
            error => error,
        };
        let texts = [&error["message"], error, &error["detail"], &error["msg"], &json["message"]];
        let words =
            texts.into_iter().find_map(Value::as_str).map_or_else(|| plain_words(text), str::to_owned);
        let nested = error["metadata"]["raw"].as_str().map(|raw| format!("{words}: {raw}"));
        let words = nested.unwrap_or(words).trim().to_owned();
        Self {
            lower: words.to_lowercase(),
            kinds: [&error["type"], &error["code"], &error["status"]].map(|v| v.as_str().unwrap_or_default()),
            code: [&error["code"], &error["status"]].into_iter().find_map(number),
            n_ctx: error["n_ctx"].as_u64(),
            retry_seconds: error["metadata"]["retry_after_seconds"]
                .as_f64()
                .or_else(|| error["retry_after"].as_f64()),
            words,
        }
    }

    /// The error's own code, where it is an HTTP error status.
    pub(super) fn status(&self) -> Option<u16> {
        self.code.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code))
    }

    /// A wait named in the body.
    pub(super) fn retry_after_ms(&self) -> Option<u64> {
        self.retry_seconds.filter(|s| s.is_finite() && *s >= 0.0).map(|s| (s * 1000.0).ceil() as u64)
    }

    /// The class, from the strongest evidence on.
    pub(super) fn class(&self, status: Option<u16>) -> ErrorClass {
        if !matches!(status, Some(401 | 403 | 429)) && self.is_overflow() {
            return ErrorClass::ContextOverflow;
        }
        if let Some(class) = self.kinds.into_iter().find_map(class_of_kind) {
            return class;
        }
        match status {
            Some(400 | 422) => self.class_of_words().unwrap_or(ErrorClass::BadRequest),
            Some(429) if self.is_billing() => ErrorClass::Billing,
            Some(status) => class_of_status(status),
            None => self.class_of_words().unwrap_or(ErrorClass::Server),
        }
    }

    /// The window's size, from its field or from the words.
    pub(super) fn window(&self) -> Option<u64> {
        self.n_ctx.or_else(|| WINDOW_PHRASES.iter().find_map(|phrase| number_after(&self.lower, phrase)))
    }

    fn is_overflow(&self) -> bool {
        let kind = self.kinds.iter().any(|kind| OVERFLOW_KINDS.contains(kind));
        kind || OVERFLOW_PHRASES.iter().any(|phrase| self.lower.contains(phrase))
    }

    fn is_billing(&self) -> bool {
        ["quota", "billing", "insufficient balance", "credit balance", "out of credit", "余额不足", "欠费"]
            .iter()
            .any(|phrase| self.lower.contains(phrase))
            && !self.lower.contains("per minute")
    }

    fn class_of_words(&self) -> Option<ErrorClass> {
        let has = |phrases: &[&str]| phrases.iter().any(|phrase| self.lower.contains(phrase));
        if has(&[
            "api key",
            "api_key",
            "apikey",
            "x-api-key",
            "unauthorized",
            "authentication",
            "invalid token",
        ]) {
            Some(ErrorClass::Auth)
        } else if self.is_billing() {
            Some(ErrorClass::Billing)
        } else if has(&["overloaded", "try again later", "temporarily unavailable"]) {
            Some(ErrorClass::Overloaded)
        } else if has(&["rate limit", "too many requests"]) {
            Some(ErrorClass::RateLimited)
        } else if has(&["model not exist", "model does not exist", "model not found", "unknown model"]) {
            Some(ErrorClass::NotFound)
        } else {
            None
        }
    }
}

const OVERFLOW_KINDS: [&str; 5] = [
    "exceed_context_size_error",
    "context_length_exceeded",
    "context_window_exceeded",
    "model_context_window_exceeded",
    "string_above_max_length",
];

/// Wordings seen in the wild; each is specific enough not to occur in another kind of error.
const OVERFLOW_PHRASES: [&str; 17] = [
    "exceeds the available context size",
    "exceed the available context size",
    "maximum context length is",
    "maximum context length of",
    "maximum model length",
    "contextwindowexceedederror",
    "prompt is too long",
    "exceed context limit",
    "exceeded model token limit",
    "exceeds the context window",
    "exceeds context window",
    "range of input length should be",
    "prompt exceeds max length",
    "input length exceeds the context length",
    "greater than the context length",
    "loaded with context length of only",
    "input token count exceeds the maximum",
];

/// What stands before the window's size. The first that is followed by a number wins.
const WINDOW_PHRASES: [&str; 14] = [
    "\"n_ctx\"",
    "\\\"n_ctx\\\"",
    "available context size (",
    "maximum context length is",
    "maximum context length of",
    "maximum model length of",
    "context length of only",
    "context limit:",
    "model token limit:",
    "input length should be [1,",
    "context length (",
    "context window of",
    "tokens >",
    "maximum number of tokens allowed",
];

/// The number after a phrase, with at most a few other characters between; `a + b > n` gives n.
fn number_after(text: &str, phrase: &str) -> Option<u64> {
    let (_, rest) = text.split_once(phrase)?;
    let rest = match rest.split_once('>') {
        Some((sum, bound)) if sum.contains('+') && sum.len() < 40 => bound,
        _ => rest,
    };
    let start = rest.find(|c: char| c.is_ascii_digit()).filter(|start| *start <= 8)?;
    let digits: String = rest[start..]
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == ',' || *c == '_')
        .filter(char::is_ascii_digit)
        .collect();
    digits.parse().ok().filter(|n| *n > 0)
}

fn class_of_kind(kind: &str) -> Option<ErrorClass> {
    Some(match kind.to_ascii_lowercase().as_str() {
        "overloaded_error"
        | "overloaded"
        | "unavailable_error"
        | "unavailable"
        | "service_unavailable"
        | "service_unavailable_error"
        | "engine_overloaded_error" => ErrorClass::Overloaded,
        "rate_limit_error"
        | "rate_limit_exceeded"
        | "rate_limit_reached_error"
        | "too_many_requests"
        | "throttling"
        | "throttling.ratequota"
        | "resource_exhausted"
        | "1302"
        | "1303"
        | "1305" => ErrorClass::RateLimited,
        "authentication_error"
        | "invalid_authentication_error"
        | "invalid_api_key"
        | "incorrect_api_key_error"
        | "invalidapikey"
        | "permission_error"
        | "permission_denied"
        | "permission_denied_error"
        | "unauthorized"
        | "no_db_connection"
        | "auth_error"
        | "token_not_found_in_db"
        | "1000"
        | "1001"
        | "1002"
        | "1003" => ErrorClass::Auth,
        "billing_error"
        | "insufficient_quota"
        | "insufficient_balance"
        | "exceeded_current_quota_error"
        | "payment_required"
        | "arrearage"
        | "budget_exceeded"
        | "1113" => ErrorClass::Billing,
        "not_found_error"
        | "not_found"
        | "model_not_found"
        | "resource_not_found_error"
        | "notfounderror"
        | "1211" => ErrorClass::NotFound,
        "request_too_large" => ErrorClass::TooLarge,
        "invalid_prompt" => ErrorClass::BadRequest,
        "api_error"
        | "server_error"
        | "internal_server_error"
        | "internalservererror"
        | "internal_error"
        | "timeout_error" => ErrorClass::Server,
        _ => return None,
    })
}

fn class_of_status(status: u16) -> ErrorClass {
    match status {
        401 | 403 | 407 => ErrorClass::Auth,
        402 => ErrorClass::Billing,
        404 | 405 | 410 => ErrorClass::NotFound,
        408 => ErrorClass::Timeout,
        413 => ErrorClass::TooLarge,
        425 | 503 | 529 => ErrorClass::Overloaded,
        429 => ErrorClass::RateLimited,
        500.. => ErrorClass::Server,
        _ => ErrorClass::BadRequest,
    }
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// A body that is no JSON error: a page's title, else its first words.
fn plain_words(text: &str) -> String {
    match title(text) {
        Some(title) => title,
        None if text.trim_start().starts_with('<') => "the provider answered with a web page".into(),
        None => text.trim().chars().filter(|c| !c.is_control() || *c == '\n').take(1000).collect(),
    }
}

/// The title of an HTML page, shortened.
pub(super) fn title(page: &str) -> Option<String> {
    let lower = page.to_ascii_lowercase();
    let start = lower.find("<title")?;
    let from = start + lower[start..].find('>')? + 1;
    let to = from + lower[from..].find("</title")?;
    let title: String =
        page[from..to].split_whitespace().collect::<Vec<_>>().join(" ").chars().take(120).collect();
    (!title.is_empty()).then_some(title)
}
