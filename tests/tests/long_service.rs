//! The service of the long session, and the plan it follows without knowing it: items, orders, and where trouble comes.
//!
//! A **mark** (`item [17]`) is how the service knows from a request what it did last; an **order** is an identifier that was
//! planted in the person's words or in a file. Invariant: an answer depends on the request alone; what the service keeps is
//! only what it was sent, and which troubles it has made.

use domain::digest::Digest;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tests::{Dice, DieAt};

/// Items that one message asks for.
const BATCH: u32 = 20;
/// Orders in all; two in five are the person's words, the others stand in files.
const ORDERS: u64 = 50;
/// What every order has in it.
const ORDER: &str = "beef";
/// Bytes of a request that is refused for its size, at these hundredths of the way.
const REFUSED: [(u32, usize); 3] = [(20, 76_000), (45, 64_000), (70, 54_000)];
/// Where the chosen model doesn't answer.
const FAILS: [u32; 2] = [33, 60];
/// Where the disk is full.
const FULL: u32 = 90;

/// What one item is.
pub(crate) enum Item {
    Command(String),
    Read(String),
    Edit(String, String),
    Write(String, String),
    Look,
}

/// What is to be done, said and found.
pub(crate) struct Plan {
    pub(crate) items: u32,
    pub(crate) says: Vec<String>,
    pub(crate) orders: BTreeSet<String>,
    /// The files of the items that read, each with its content.
    files: Vec<(String, String)>,
}

impl Plan {
    pub(crate) fn new(items: u32, dice: &mut Dice) -> Self {
        let all: Vec<String> = (0..ORDERS).map(|n| order(n, dice)).collect();
        let (said, found): (Vec<_>, Vec<_>) = all.iter().enumerate().partition(|(n, _)| n % 5 < 2);
        let batches = items.div_ceil(BATCH) as usize;
        let mut says: Vec<String> = (0..batches as u32)
            .map(|n| format!("Please go through all items up to number {}.", ((n + 1) * BATCH).min(items)))
            .collect();
        for (n, (_, order)) in said.iter().enumerate() {
            says[n % batches].push_str(&format!(" By the way, there is {order} in it."));
        }
        says.push("Now the total of all orders, please.".to_owned());
        let reads: Vec<u32> = (1..=items).filter(|n| n % 5 == 1).collect();
        let file = |(at, n): (usize, &u32)| {
            let lines = if at % 2 == 0 { 130 } else { 12 };
            let mut text = "a line of the books, and nothing in it matters much\n".repeat(lines);
            // Spread over the whole way; at the end, which a reference leaves out.
            let of = at * found.len() / reads.len();
            if at == 0 || (at - 1) * found.len() / reads.len() != of {
                text.push_str(&format!("to be paid: {}\n", found[of].1));
            }
            (format!("books/part{n}.txt"), text)
        };
        let files = reads.iter().enumerate().map(file).collect();
        Self { items, says, files, orders: all.into_iter().collect() }
    }

    pub(crate) fn lay_out(&self, folder: &Path) {
        std::fs::create_dir_all(folder.join("books")).expect("a folder");
        for (path, text) in &self.files {
            std::fs::write(folder.join(path), text).expect("a file");
        }
        let open: String =
            (1..=self.items).filter(|n| n % 5 == 2).map(|n| format!("entry {n} is open\n")).collect();
        std::fs::write(folder.join("ledger.txt"), open).expect("a file");
    }

    pub(crate) fn item(&self, n: u32) -> Item {
        match n % 5 {
            0 => Item::Command(format!("note number {n} is booked")),
            1 => Item::Read(format!("books/part{n}.txt")),
            2 => Item::Edit(format!("entry {n} is open"), format!("entry {n} is done")),
            3 => Item::Look,
            _ => Item::Write(format!("out/page{n}.txt"), format!("page {n}\n")),
        }
    }

    /// What is right to say in the end.
    pub(crate) fn answer(&self) -> String {
        total(&self.orders)
    }
}

/// An identifier of one of the kinds that are kept letter by letter.
fn order(n: u64, dice: &mut Dice) -> String {
    let odd = dice.roll();
    match n % 5 {
        0 => format!("{:08x}-{ORDER}-4d01-b42d-{:012x}", odd >> 32, odd & 0xffff_ffff),
        1 => format!("https://shop.example/{ORDER}/{n}?key={odd:x}"),
        2 => format!("{ORDER}-{n}.shop.example:{}", 8_000 + odd % 1_000),
        3 => format!("accounts/{ORDER}/inv{n}_{:x}.pdf", odd & 0xffff),
        _ => format!("ord-{ORDER}-{:010}", odd % 10_000_000_000),
    }
}

fn total(orders: &BTreeSet<String>) -> String {
    let all: Vec<&str> = orders.iter().map(String::as_str).collect();
    format!("{} orders, {}", all.len(), Digest::of(all.join("\n").as_bytes()))
}

/// The orders that stand in a text.
pub(crate) fn orders(text: &str) -> BTreeSet<String> {
    let parts = |c: char| c.is_ascii_whitespace() || "\"\\`<>()[],;".contains(c);
    let around = |(at, _): (usize, &str)| {
        let from = text[..at].rfind(parts).map_or(0, |before| before + 1);
        let to = text[at..].find(parts).map_or(text.len(), |after| at + after);
        text[from..to].trim_end_matches('.').to_owned()
    };
    text.match_indices(ORDER).map(around).collect()
}

/// An order that was shown once and doesn't stand in a later request, with the places that the request names.
#[derive(Debug, Clone)]
pub(crate) struct Hidden {
    pub(crate) order: String,
    pub(crate) places: BTreeSet<u64>,
}

/// What the service keeps.
#[derive(Default)]
struct Kept {
    bodies: Vec<Digest>,
    seen: BTreeSet<String>,
    hidden: Vec<Hidden>,
    refused: usize,
    failed: usize,
    kills: u64,
    beside: Option<Arc<DieAt>>,
    full: bool,
    was_full: bool,
    looked_up: BTreeSet<u64>,
}

impl Kept {
    fn fill_disk(&mut self, full: bool) {
        self.full = full;
        self.beside.iter().for_each(|process| process.fill_disk(full));
    }
}

/// The service.
pub(crate) struct Service {
    plan: Arc<Plan>,
    kept: Mutex<Kept>,
}

impl Service {
    pub(crate) fn new(plan: Arc<Plan>) -> Self {
        Self { plan, kept: Mutex::default() }
    }

    /// The process whose disk it fills.
    pub(crate) fn stands_beside(&self, process: &Arc<DieAt>) {
        self.kept().beside = Some(Arc::clone(process));
    }

    pub(crate) fn disk_is_full(&self) -> bool {
        self.kept().full
    }

    pub(crate) fn fill_disk(&self, full: bool) {
        self.kept().fill_disk(full);
    }

    /// A process of the other side is gone.
    pub(crate) fn killed(&self) {
        self.kept().kills += 1;
    }

    pub(crate) fn bodies(&self) -> Vec<Digest> {
        self.kept().bodies.clone()
    }

    pub(crate) fn hidden(&self) -> Vec<Hidden> {
        self.kept().hidden.clone()
    }

    pub(crate) fn seen(&self) -> BTreeSet<String> {
        self.kept().seen.clone()
    }

    /// Answers a request as a script has it.
    pub(crate) fn answer(&self, body: &[u8]) -> Value {
        let request = Request::read(body);
        let mut kept = self.kept();
        kept.bodies.push(Digest::of(body));
        let done = request.done();
        if request.all.contains("<transcript>") {
            let words = format!(
                "## Goal\nThe items are gone through one by one.\n## Progress\nThe last was item [{done}]."
            );
            return json!({"say": [{"text": words}]});
        }
        if let Some(trouble) = self.trouble(&request, done, body.len(), &mut kept) {
            return trouble;
        }
        let shown = orders(&request.all);
        let (places, number) = (request.places(), kept.bodies.len());
        let gone: Vec<String> = kept.seen.difference(&shown).cloned().collect();
        let gone = gone.into_iter().map(|order| Hidden { order, places: places.clone() });
        kept.hidden.extend(gone);
        kept.seen.extend(shown.iter().cloned());
        if request.all.contains("Now the total of all orders") {
            return look_up_or_sum(&request, &shown, &mut kept);
        }
        let again = ["nothing was changed", "it did not happen; do it again"];
        let next = if again.iter().any(|word| request.newest.contains(word)) { done } else { done + 1 };
        if next > request.asked() {
            return json!({"say": [{"text": format!("All done up to item [{done}].")}]});
        }
        self.item(next, number)
    }

    /// What goes wrong now, if anything.
    fn trouble(&self, request: &Request, done: u32, bytes: usize, kept: &mut Kept) -> Option<Value> {
        let way = done * 100 / self.plan.items;
        if kept.kills >= 10 && way >= FULL && !kept.was_full {
            kept.was_full = true;
            kept.fill_disk(true);
        }
        if REFUSED.get(kept.refused).is_some_and(|(from, size)| way >= *from && bytes > *size) {
            kept.refused += 1;
            let message = format!("prompt is too long: {bytes} bytes");
            return Some(json!({"error": {"class": "context_overflow", "message": message}}));
        }
        let fails = FAILS.get(kept.failed).is_some_and(|from| way >= *from);
        if fails && request.model == "script" {
            kept.failed += 1;
            return Some(json!({"error": {"class": "billing", "message": "no credit is left"}}));
        }
        None
    }

    fn item(&self, n: u32, request: usize) -> Value {
        let call = |name: &str, at: u32, arguments: Value| json!({"call": {"id": format!("c{request}_{at}"), "name": name, "arguments": arguments}});
        let mut say = vec![json!({"text": format!("This is item [{n}].")})];
        match self.plan.item(n) {
            Item::Command(command) => say.push(call("run_command", 1, json!({ "command": command }))),
            Item::Read(path) => say.push(call("read_file", 1, json!({ "path": path }))),
            Item::Edit(old, new) => {
                let arguments = json!({"path": "ledger.txt", "old_text": old, "new_text": new});
                say.push(call("edit_file", 1, arguments));
            }
            Item::Write(path, content) => {
                say.push(call("write_file", 1, json!({ "path": path, "content": content })))
            }
            Item::Look => {
                say.push(call("list_files", 1, json!({"path": "out"})));
                say.push(call("read_file", 2, json!({"path": "notes.txt"})));
            }
        }
        json!({ "say": say })
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks up what the request only refers to, while an order is missing, and says the total then.
fn look_up_or_sum(request: &Request, shown: &BTreeSet<String>, kept: &mut Kept) -> Value {
    let unread = request.places().into_iter().find(|place| !kept.looked_up.contains(place));
    match unread.filter(|_| (shown.len() as u64) < ORDERS) {
        Some(place) => {
            kept.looked_up.insert(place);
            let arguments = json!({"path": format!("record:{place}")});
            json!({"say": [{"call": {"id": format!("look{place}"), "name": "read_file", "arguments": arguments}}]})
        }
        None => json!({"say": [{"text": total(shown)}]}),
    }
}

/// A request, as texts.
struct Request {
    model: String,
    /// All that stands in it.
    all: String,
    /// What came since the last answer.
    newest: String,
}

impl Request {
    fn read(body: &[u8]) -> Self {
        let body: Value = serde_json::from_slice(body).expect("JSON");
        let messages = body["messages"].as_array().expect("messages");
        let text = |message: &Value| {
            let mut texts: Vec<&str> = message["text"].as_str().into_iter().collect();
            for part in ["results", "blocks"] {
                texts.extend(
                    message[part].as_array().into_iter().flatten().filter_map(|one| one["text"].as_str()),
                );
            }
            texts.join("\n")
        };
        let all: Vec<String> = messages.iter().map(text).collect();
        let from = messages.iter().rposition(|message| message["role"] == "assistant").map_or(0, |at| at + 1);
        Self {
            model: body["model"].as_str().unwrap_or_default().to_owned(),
            newest: all[from..].join("\n"),
            all: all.join("\n"),
        }
    }

    /// The item that was done last.
    fn done(&self) -> u32 {
        numbers(&self.all, "item [").max().unwrap_or(0)
    }

    /// The item up to which the person wants them done.
    fn asked(&self) -> u32 {
        numbers(&self.all, "items up to number ").max().unwrap_or(0)
    }

    /// The places of the record that it names.
    fn places(&self) -> BTreeSet<u64> {
        numbers(&self.all, domain::history::PLACE).map(u64::from).collect()
    }
}

/// The numbers that follow these words.
fn numbers(text: &str, words: &str) -> impl Iterator<Item = u32> {
    let after = text.split(words).skip(1);
    after.filter_map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok())
}
