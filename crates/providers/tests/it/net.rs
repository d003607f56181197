//! Sending through the real transport in tests, with one key whose value must be seen in the header only.
//!
//! The timers are the real ones: a test that reaches one of them fails by its own, shorter patience.

use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use domain::model::{Head, Message, ModelDelta, ModelSnapshot};
use providers::{
    Body, Connection, Http, Markers, Proxy, Request, SendResult, Sink, Timers, capabilities, dialect_of,
};
use secrecy::SecretString;
use tokio_util::sync::CancellationToken;

/// The key of all tests; it must be seen in the request's header and nowhere else.
pub(crate) const KEY: &str = "sk-canary-0123456789";

/// Keeps everything that arrives.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) deltas: Vec<ModelDelta>,
    pub(crate) raw: Vec<u8>,
}

impl Sink for Kept {
    fn delta(&mut self, delta: ModelDelta) {
        self.deltas.push(delta);
    }

    fn raw(&mut self, bytes: &Bytes) {
        self.raw.extend_from_slice(bytes);
    }
}

impl Kept {
    /// The text that was shown.
    pub(crate) fn text(&self) -> String {
        let texts = self.deltas.iter().filter_map(|delta| match delta {
            ModelDelta::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

/// An engine polls the attempt as a boxed future on any thread.
#[expect(dead_code, reason = "it only has to compile")]
fn an_attempt_can_be_sent_between_threads(
    http: &'static Http,
    request: Request<'static>,
    sink: &'static mut Kept,
) {
    fn assert_send<T: Send>(_: T) {}
    let cancel: &'static CancellationToken = Box::leak(Box::new(CancellationToken::new()));
    assert_send(http.send(request, sink, cancel));
}

pub(crate) fn http() -> Http {
    Http::new(Timers::default(), Arc::new(|| SystemTime::UNIX_EPOCH))
}

pub(crate) fn connection(dialect: &str, base_url: &str) -> Connection {
    Connection::new("own", dialect, base_url, Some(SecretString::from(KEY.to_owned())), Proxy::System)
        .unwrap()
}

pub(crate) fn body(model: &ModelSnapshot) -> Body {
    let dialect = dialect_of(model).unwrap();
    let head = Bytes::from(
        dialect.head(model, &Head { system: "Be brief.".into(), tools: Vec::new(), answer: None }),
    );
    let segment = Bytes::from(dialect.segment(&[Message::User("hi".into())]));
    Body::assemble(&*dialect, &head, &[segment], &Markers::default())
}

/// One request over an existing transport.
pub(crate) async fn send_over(
    http: &Http,
    connection: &Connection,
    cancel: &CancellationToken,
) -> (SendResult, Kept) {
    let model = capabilities(connection, "model-1", None);
    let body = body(&model);
    let mut kept = Kept::default();
    let request = Request { connection, model: &model, body: &body, conversation: "ses" };
    (http.send(request, &mut kept, cancel).await, kept)
}

/// One request to `base_url` in this dialect.
pub(crate) async fn send(dialect: &str, base_url: &str) -> (SendResult, Kept) {
    send_over(&http(), &connection(dialect, base_url), &CancellationToken::new()).await
}
