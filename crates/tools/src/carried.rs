//! Does a call carry a value out of a file with secrets that was read before?
//!
//! A command's text, a commit message or a file's name can hold what was read. Invariant: this only finds; a value in a form
//! that isn't known ([`crate::redact`]) passes, so what leaves the computer is asked about with or without a finding.

use crate::redact::Needles;
use crate::tool::Ctx;
use domain::call::{Act, Facts};

/// Files that are looked into, and bytes and values of each.
const FILES: usize = 16;
const BYTES: u64 = 64 << 10;
const VALUES: usize = 1_000;
/// Shortest value that is looked for: shorter ones stand everywhere.
const SHORTEST: usize = 8;

/// The first of these files a value of which stands in the call's words or names. Reads them, so call it off the async
/// threads.
#[must_use]
pub fn carried(facts: &Facts, ctx: &Ctx, read: &[String]) -> Option<String> {
    let text = match facts.act {
        Act::Run => facts.exact.clone(),
        Act::Write | Act::Edit | Act::Delete => facts.can_touch.join("\n"),
        Act::Read | Act::Talk => return None,
    };
    let holds = |path: &&String| {
        // By its own name: the person agreed to have it read, and nothing of it is given out here.
        let found = ctx.find(path).ok();
        let bytes =
            found.and_then(|(place, path)| place.read_small(path.as_str(), BYTES)).unwrap_or_default();
        Needles::new(values(&String::from_utf8_lossy(&bytes))).within(text.as_bytes())
    };
    read.iter().take(FILES).find(holds).cloned()
}

/// What may be a value: the words, but for names before an equals sign or a colon.
fn values(text: &str) -> Vec<String> {
    let of_line = |line: &str| {
        let value = line.split_once(['=', ':']).map_or(line, |(_, value)| value);
        let bare = value.trim().trim_matches(['"', '\'']).to_owned();
        let words: Vec<String> = bare.split_whitespace().map(str::to_owned).collect();
        std::iter::once(bare).chain(words).filter(|word| word.len() >= SHORTEST).collect::<Vec<_>>()
    };
    text.lines().flat_map(of_line).take(VALUES).collect()
}
