//! Does C1 see what it is for? Each way in which agents were seen to break their prompt cache is done to the requests of a
//! real session, and each must be seen; requests that are only written anew must not.

use super::shared::{arrived, pairs};
use super::{audit, goals};
use crate::rows::played;
use serde_json::{Map, Value, json};

/// Requests that a mutation is done to: enough that a period of two or three shows.
const STEPS: usize = 12;

/// What is done to the n-th request.
type Mutation = fn(&mut Value, usize);

const MUTATIONS: [(&str, Mutation); 6] = [
    ("a timestamp in the system text", |body, n| {
        say_in_system(body, &format!("It is 2026-11-30 10:{n:02}."));
    }),
    ("tools in the order of a map", |body, n| {
        if let Some(tools) = body["tools"].as_array_mut() {
            let by = n % tools.len().max(1);
            tools.rotate_left(by);
        }
    }),
    ("keys of arguments in another order", |body, n| {
        for block in blocks(body, "tool_use").filter(|_| n % 2 == 1) {
            let turned: Map<String, Value> =
                block["input"].as_object().cloned().unwrap_or_default().into_iter().rev().collect();
            block["input"] = turned.into();
        }
    }),
    ("old results of tools trimmed", |body, _| {
        let results: Vec<_> = blocks(body, "tool_result").collect();
        let old = results.len().saturating_sub(2);
        for result in results.into_iter().take(old) {
            result["content"] = "[trimmed]".into();
        }
    }),
    ("working folder and git status in the system text", |body, n| {
        say_in_system(body, &format!("git status: {} files changed", n / 3));
    }),
    ("a reminder in the middle of the history", |body, _| {
        if let Some(messages) = body["messages"].as_array_mut() {
            let middle = messages.len() / 2;
            let content = json!([{"type": "text", "text": "Remember the plan."}]);
            messages.insert(middle, json!({"role": "user", "content": content}));
        }
    }),
];

fn say_in_system(body: &mut Value, words: &str) {
    let text = &mut body["system"][0]["text"];
    *text = format!("{}\n{words}", text.as_str().unwrap_or_default()).into();
}

/// The blocks of a type, wherever they stand in messages.
fn blocks<'a>(body: &'a mut Value, kind: &'a str) -> impl Iterator<Item = &'a mut Value> {
    let messages = body["messages"].as_array_mut().into_iter().flatten();
    let blocks = messages.flat_map(|message| message["content"].as_array_mut().into_iter().flatten());
    blocks.filter(move |block| block["type"] == kind)
}

/// The same text with everything beyond ASCII escaped: the same to a reader of JSON, not to a cache.
fn escaped(text: &str) -> String {
    let escape = |c: char| {
        let mut units = [0; 2];
        c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>()
    };
    text.chars().map(|c| if c.is_ascii() { c.to_string() } else { escape(c) }).collect()
}

/// How bodies are written that nothing is done to but in their values.
fn plainly(text: String, _: usize) -> String {
    text
}

/// Bodies after a mutation, as the check sees those that arrive.
fn mutated(bodies: &[Value], mutation: Mutation, written: fn(String, usize) -> String) -> (usize, usize) {
    let requests: Vec<_> = bodies
        .iter()
        .enumerate()
        .map(|(n, body)| {
            let mut body = body.clone();
            mutation(&mut body, n);
            // The end of a body is what follows its messages.
            if let Some(fields) = body.as_object_mut()
                && let Some(messages) = fields.shift_remove("messages")
            {
                fields.insert("messages".to_owned(), messages);
            }
            arrived(written(body.to_string(), n).as_bytes())
        })
        .collect();
    pairs(&requests)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c1_every_mutation_that_broke_a_cache_elsewhere_is_seen() {
    let (folder, sessions) = played(STEPS).await.expect("sessions are made");
    let bodies: Vec<Value> = sessions[0]
        .iter()
        .map(|heard| serde_json::from_slice(&heard.body).expect("a body is JSON"))
        .collect();
    assert!(bodies.len() > STEPS, "{} requests", bodies.len());
    let (grown, all) = mutated(&bodies, |_, _| {}, plainly);
    assert_eq!(grown, all, "written anew, nothing changed");
    for (name, mutation) in MUTATIONS {
        let (grown, all) = mutated(&bodies, mutation, plainly);
        assert!(grown < all, "{name}: {grown} of {all} pairs still grow");
    }
    let anew = |text: String, n: usize| if n % 2 == 1 { escaped(&text) } else { text };
    let (grown, all) = mutated(&bodies, |_, _| {}, anew);
    assert!(grown < all, "Unicode escaped anew: {grown} of {all} pairs still grow");
    // And the record of the same sessions, by the way the audit takes.
    let lines = audit(&folder.data(), None).expect("the store is readable");
    let goals = goals(&lines);
    assert!(goals.only_grow() && goals.pairs >= STEPS, "{goals:?}");
    assert_eq!((goals.exact, goals.unexplained), (goals.attempts, 0), "{lines:#?}");
    assert_eq!((goals.retries, goals.same), (2, 2), "the request that was refused twice");
}
