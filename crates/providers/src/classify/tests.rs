//! Error bodies of many providers and the class, window and words they become.
//!
//! The bodies are in the shapes that providers and proxies send; what recovery does follows from the class alone.

use super::*;

fn fail(status: u16, body: &str) -> ModelError {
    let url = Url::parse("https://api.example.com/v1/chat/completions?key=hidden").unwrap();
    http_error(&HttpFailure { status, url: &url, retry_after_ms: None, body: body.as_bytes() })
}

#[track_caller]
fn check(status: u16, body: &str, class: ErrorClass) {
    let error = fail(status, body);
    assert_eq!(error.class, class, "{status} {body}: {error:?}");
    assert_eq!(error.answered.status, Some(status));
}

#[track_caller]
fn check_overflow(status: u16, body: &str, window: Option<u64>) {
    let error = fail(status, body);
    assert_eq!((error.class, error.context_tokens), (ErrorClass::ContextOverflow, window), "{body}");
    assert!(!error.class.is_transient(), "an overflow is never sent again as it is");
}

#[test]
fn p21_llama_cpp_overflow_tells_its_window() {
    check_overflow(
        400,
        r#"{"error":{"code":400,"message":"request (124071 tokens) exceeds the available context size (123904 tokens), try increasing it"}}"#,
        Some(123_904),
    );
    check_overflow(
        400,
        r#"{"error":{"code":400,"message":"too big","type":"exceed_context_size_error","n_prompt_tokens":6020,"n_ctx":4096}}"#,
        Some(4096),
    );
    check_overflow(
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"litellm.ContextWindowExceededError: x - {\"error\":{\"n_prompt_tokens\":6030,\"n_ctx\":4096}}No fallback"}}"#,
        Some(4096),
    );
}

#[test]
fn p22_vllm_overflow_is_recognised() {
    check_overflow(
        400,
        r#"{"object":"error","message":"This model's maximum context length is 8192 tokens. However, your prompt contains at least 9000 input tokens.","type":"BadRequestError","code":400}"#,
        Some(8192),
    );
}

#[test]
fn x17_overflow_in_the_words_of_other_providers() {
    for (body, window) in [
        (
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            Some(200_000),
        ),
        (
            r#"{"error":{"message":"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length"}}"#,
            Some(200_000),
        ),
        (
            r#"{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 128,000 tokens."}}"#,
            Some(128_000),
        ),
        (
            r#"{"error":{"message":"Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)"}}"#,
            Some(131_072),
        ),
        (
            r#"{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]"}}"#,
            Some(30_720),
        ),
        (r#"{"error":{"code":"1261","message":"Prompt exceeds max length"}}"#, None),
        (
            r#"{"error":"Trying to keep the first 6000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}"#,
            Some(4096),
        ),
    ] {
        check_overflow(400, body, window);
    }
    check_overflow(500, r#"{"error":{"message":"the input length exceeds the context length"}}"#, None);
}

#[test]
fn x17_permanent_errors_have_their_own_classes() {
    check(
        401,
        r#"{"type":"error","error":{"type":"authentication_error","message":"missing x-api-key header"}}"#,
        ErrorClass::Auth,
    );
    check(403, "", ErrorClass::Auth);
    check(400, r#"{"error":{"message":"Incorrect API key provided: sk-abc"}}"#, ErrorClass::Auth);
    check(
        400,
        r#"{"error":{"message":"No connected db.","type":"no_db_connection","param":null,"code":"400"}}"#,
        ErrorClass::Auth,
    );
    check(
        402,
        r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}"#,
        ErrorClass::Billing,
    );
    check(
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API"}}"#,
        ErrorClass::Billing,
    );
    check(
        429,
        r#"{"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"You exceeded your current quota"}}"#,
        ErrorClass::Billing,
    );
    check(
        413,
        r#"{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
        ErrorClass::TooLarge,
    );
    check(413, "<html><title>413 Request Entity Too Large</title></html>", ErrorClass::TooLarge);
    check(
        404,
        r#"{"error":{"code":"model_not_found","message":"The model `x` does not exist"}}"#,
        ErrorClass::NotFound,
    );
    check(
        400,
        r#"{"error":{"message":"Model Not Exist","code":"invalid_request_error"}}"#,
        ErrorClass::NotFound,
    );
    check(
        400,
        r#"{"error":{"code":400,"message":"Unrecognized schema","type":"invalid_request_error"}}"#,
        ErrorClass::BadRequest,
    );
    check(422, r#"{"detail":[{"msg":"field required"}]}"#, ErrorClass::BadRequest);
}

#[test]
fn x16_transient_errors_may_be_sent_again() {
    for (status, body, class) in [
        (
            429,
            r#"{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}"#,
            ErrorClass::RateLimited,
        ),
        (429, "", ErrorClass::RateLimited),
        (
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            ErrorClass::Overloaded,
        ),
        (
            503,
            r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#,
            ErrorClass::Overloaded,
        ),
        (
            500,
            r#"{"type":"error","error":{"type":"api_error","message":"Internal server error"}}"#,
            ErrorClass::Server,
        ),
        (502, "<html><head><title>502 Bad Gateway</title></head></html>", ErrorClass::Server),
        (504, "", ErrorClass::Server),
        (524, "", ErrorClass::Server),
    ] {
        check(status, body, class);
        assert!(fail(status, body).class.is_transient());
    }
}

#[test]
fn p16_and_p17_errors_inside_a_stream() {
    for (body, class, words) in [
        (r#"{"error":{"message":"quota"}}"#, ErrorClass::Billing, "quota"),
        (r#"{"error":{"message":"something broke"}}"#, ErrorClass::Server, "something broke"),
        (
            r#"{"error":{"code":400,"message":"prompt is too long: 9 tokens > 8 maximum"}}"#,
            ErrorClass::ContextOverflow,
            "prompt is too long: 9 tokens > 8 maximum",
        ),
        (r#"{"error":{"code":503,"message":"busy"}}"#, ErrorClass::Overloaded, "busy"),
        (
            r#"{"error":{"code":"502","message":"bad gateway"},"choices":[]}"#,
            ErrorClass::Server,
            "bad gateway",
        ),
        (
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            ErrorClass::Overloaded,
            "Overloaded",
        ),
        (r#"{"error":{"code":400,"message":"bad tool"}}"#, ErrorClass::BadRequest, "bad tool"),
        (r#"{"object":"error","message":"bad","code":400}"#, ErrorClass::BadRequest, "bad"),
    ] {
        let error = in_stream(&serde_json::from_str(body).unwrap());
        assert_eq!((error.class, error.message.as_str()), (class, words), "{body}");
    }
}

#[test]
fn p37_a_404_shows_where_we_asked_without_its_query() {
    let error = fail(404, "");
    insta::assert_snapshot!(error, @"the provider gave no reason (HTTP 404 from https://api.example.com/v1/chat/completions)");
    assert!(!error.answered.quoted, "nobody said that");
}

#[test]
fn what_a_server_said_and_what_it_answered_with_are_fields_of_their_own() {
    let error = fail(529, r#"{"error":{"message":"busy (HTTP 200)"}}"#);
    let Answered { status, address, quoted, .. } = error.answered;
    assert_eq!((error.message.as_str(), status, address, quoted), ("busy (HTTP 200)", Some(529), None, true));
    let error = in_stream(&serde_json::json!({"error": {"message": "quota", "code": 429}}));
    let Answered { status, quoted, .. } = error.answered;
    assert_eq!((error.message.as_str(), status, quoted), ("quota", Some(429), true));
}

#[test]
fn x15_pages_and_redirects_are_named() {
    let url = Url::parse("https://api.example.com/v1/messages").unwrap();
    let page = web_page(200, &url, b"<!doctype html><html><TITLE>\n Sign in </TITLE>");
    insta::assert_snapshot!(page.message, @"https://api.example.com/v1/messages answered with a web page (Sign in) instead of a model's answer; is the address right, and does the network ask to sign in?");
    let moved = redirect(302, &url, Some("//evil.example/x?token=1"));
    insta::assert_snapshot!(moved.message, @"https://api.example.com/v1/messages redirects to https://evil.example/x; enter the right address of the provider instead");
    assert!(!page.class.is_transient() && !moved.class.is_transient());
}

#[test]
fn messages_are_bounded_and_hold_no_key() {
    let key = SecretString::from("sk-canary/+1".to_owned());
    let body = format!(
        "{{\"error\":{{\"message\":\"bad key sk-canary/+1 or sk-canary%2F%2B1 {}\"}}}}",
        "漢".repeat(4000)
    );
    let error = scrub(fail(400, &body), Some(&key));
    assert!(error.message.len() <= MESSAGE_BYTES && error.message.ends_with('…'));
    assert!(!error.message.contains("canary"), "{}", error.message);
    let mut error = fail(400, "");
    error.partial_text = "my key is sk-canary/+1".into();
    assert_eq!(scrub(error, Some(&key)).partial_text, "my key is [key]");
}
