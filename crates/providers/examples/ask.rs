//! Asks a real server one question, for checks by hand: what it sends is printed as it arrives.
//!
//! ```text
//! cargo run -p providers --example ask -- openai-chat http://127.0.0.1:18080 MODEL "Say hello."
//! ```
//! The first argument is a preset or a dialect. The key, where one is needed, comes from `DAYBOOK_KEY_<PROVIDER>`.

#![expect(clippy::print_stdout, reason = "this is a tool for the terminal")]

use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use domain::model::{Head, Message, ModelDelta, ToolSpec};
use providers::presets::{connect, key_variable};
use providers::{Body, Http, Markers, Proxy, Request, Sink, Timers, capabilities, dialect_of};
use tokio_util::sync::CancellationToken;

struct Print;

impl Sink for Print {
    fn delta(&mut self, delta: ModelDelta) {
        println!("{delta:?}");
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [provider, base_url, model, question] = arguments.as_slice() else {
        return Err("usage: ask PROVIDER BASE_URL MODEL QUESTION".into());
    };
    let key = std::env::var(key_variable(provider)).ok().map(Into::into);
    let connection = connect(provider, Some(base_url), key, Proxy::System)?;
    #[expect(clippy::disallowed_methods, reason = "the program's edge is where the clock comes in")]
    let http = Http::new(Timers::default(), Arc::new(SystemTime::now));
    match http.list_models(&connection).await {
        Ok(models) => println!("{} models, first {:?}", models.len(), models.first()),
        Err(error) => println!("no list of models: {error}"),
    }
    let snapshot = capabilities(&connection, model, None);
    let dialect = dialect_of(&snapshot)?;
    let weather = ToolSpec {
        name: "get_weather".into(),
        description: "Get the current weather in a city.".into(),
        schema: serde_json::json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}),
    };
    let head = Head { system: "You are a helpful assistant.".into(), tools: vec![weather], answer: None };
    let head = Bytes::from(dialect.head(&snapshot, &head));
    let segment = Bytes::from(dialect.segment(&[Message::User(question.clone())]));
    let body = Body::assemble(&*dialect, &head, &[segment], &Markers { head: true, segments: vec![0] });
    let request = Request { connection: &connection, model: &snapshot, body: &body, conversation: "hand" };
    println!("{:#?}", http.send(request, &mut Print, &CancellationToken::new()).await);
    Ok(())
}
