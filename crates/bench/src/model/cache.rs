//! A provider's prompt cache, as its documentation describes it: exact prefixes, marks, a look-back, a life, a minimum.
//!
//! A **block** is one tool, one system text or one piece of a message, in this order. A request is read from the longest
//! beginning that is kept and that one of its marks, or a block a little before one, ends at; what its marks end at is
//! kept from then on. Invariant: what is kept depends on the bytes of blocks alone, so a single changed byte ends it.

use domain::digest::Digest;
use serde_json::Value;
use std::collections::HashMap;

/// What such a cache is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rules {
    /// How long something is kept after it was used last.
    pub(crate) life_ms: u64,
    /// Blocks before a mark that are looked at.
    pub(crate) look_back: usize,
    /// Fewest tokens that are kept.
    pub(crate) least_tokens: u64,
}

/// Anthropic's: five minutes, twenty blocks, 1,024 tokens.
pub(crate) const ANTHROPIC: Rules = Rules { life_ms: 5 * 60 * 1_000, look_back: 20, least_tokens: 1_024 };

/// How a request's input was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) read: u64,
    pub(crate) written: u64,
    pub(crate) uncached: u64,
}

/// The cache of one provider.
#[derive(Debug)]
pub(crate) struct Cache {
    rules: Rules,
    /// When the beginning that ends so was used last, ms.
    kept: HashMap<Digest, u64>,
}

/// A beginning of a request that ends with a block.
struct Beginning {
    digest: Digest,
    tokens: u64,
    marked: bool,
}

impl Cache {
    pub(crate) fn new(rules: Rules) -> Self {
        Self { rules, kept: HashMap::new() }
    }

    /// Takes a request at this time.
    pub(crate) fn take(&mut self, body: &Value, now_ms: u64) -> Counted {
        let Rules { life_ms, look_back, least_tokens } = self.rules;
        self.kept.retain(|_, used| now_ms.saturating_sub(*used) <= life_ms);
        let all = beginnings(body);
        let marks: Vec<usize> = (0..all.len()).filter(|at| all[*at].marked).collect();
        let found = marks.iter().filter_map(|mark| {
            let first = mark.saturating_sub(look_back);
            (first..=*mark).rev().find(|at| self.kept.contains_key(&all[*at].digest))
        });
        let read = found.max();
        for at in marks.iter().copied().filter(|at| all[*at].tokens >= least_tokens).chain(read) {
            self.kept.insert(all[at].digest, now_ms);
        }
        let total = all.last().map_or(0, |last| last.tokens);
        let read = read.map_or(0, |at| all[at].tokens);
        let kept = marks.last().map_or(0, |at| all[*at].tokens);
        let kept = if kept >= least_tokens { kept.max(read) } else { read };
        Counted { read, written: kept - read, uncached: total - kept }
    }
}

fn beginnings(body: &Value) -> Vec<Beginning> {
    let mut all = Vec::new();
    let mut digest = Digest::ZERO;
    let mut tokens = 0;
    let mut add = |place: &str, block: &Value| {
        let mut plain = block.clone();
        let marked = plain.as_object_mut().is_some_and(|fields| fields.remove("cache_control").is_some());
        let text = plain.to_string();
        digest = Digest::of_parts(&[&digest.0, place.as_bytes(), text.as_bytes()]);
        tokens += (text.len() as u64).div_ceil(4);
        all.push(Beginning { digest, tokens, marked });
    };
    for (place, blocks) in [("tool", &body["tools"]), ("system", &body["system"])] {
        blocks.as_array().into_iter().flatten().for_each(|block| add(place, block));
    }
    for message in body["messages"].as_array().into_iter().flatten() {
        let role = message["role"].as_str().unwrap_or_default();
        message["content"].as_array().into_iter().flatten().for_each(|block| add(role, block));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A request of these message blocks, each of 1,000 tokens, with marks at some.
    fn request(system: &str, blocks: usize, marks: &[usize]) -> Value {
        let block = |at: usize| {
            let text = format!("{at:03}{}", "x".repeat(3_969));
            let mut block = json!({"type": "text", "text": text});
            if marks.contains(&at) {
                block["cache_control"] = json!({"type": "ephemeral"});
            }
            block
        };
        let messages: Vec<Value> =
            (0..blocks).map(|at| json!({"role": "user", "content": [block(at)]})).collect();
        json!({"system": [{"type": "text", "text": system}], "messages": messages})
    }

    fn thousands(counted: Counted) -> (u64, u64, u64) {
        (counted.read / 1_000, counted.written / 1_000, counted.uncached / 1_000)
    }

    #[test]
    fn what_was_marked_is_read_and_what_follows_is_written() {
        let mut cache = Cache::new(ANTHROPIC);
        assert_eq!(thousands(cache.take(&request("s", 3, &[2]), 0)), (0, 3, 0));
        assert_eq!(thousands(cache.take(&request("s", 5, &[2, 4]), 1_000)), (3, 2, 0));
        assert_eq!(thousands(cache.take(&request("s", 6, &[4]), 2_000)), (5, 0, 1), "nothing after the mark");
        assert_eq!(thousands(cache.take(&request("other", 5, &[2, 4]), 3_000)), (0, 5, 0), "another start");
    }

    #[test]
    fn a_block_more_than_twenty_before_a_mark_is_not_found() {
        for (blocks, read) in [(23, 3), (24, 0)] {
            let mut cache = Cache::new(ANTHROPIC);
            cache.take(&request("s", 3, &[2]), 0);
            let counted = cache.take(&request("s", blocks, &[blocks - 1]), 1);
            assert_eq!(thousands(counted).0, read, "{blocks} blocks");
        }
    }

    #[test]
    fn a_life_is_counted_from_the_last_use_and_little_is_not_kept() {
        let (minute, body) = (60_000, request("s", 3, &[2]));
        let mut cache = Cache::new(ANTHROPIC);
        cache.take(&body, 0);
        assert_eq!(thousands(cache.take(&body, 4 * minute)).0, 3);
        assert_eq!(thousands(cache.take(&body, 8 * minute)).0, 3, "it was used four minutes ago");
        assert_eq!(thousands(cache.take(&body, 14 * minute)).0, 0, "six minutes are too long");
        let mut cache = Cache::new(ANTHROPIC);
        let small = request("s", 1, &[0]);
        cache.take(&small, 0);
        assert_eq!(cache.take(&small, 1).read, 0, "1,000 tokens are below the minimum");
    }
}
