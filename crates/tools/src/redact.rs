//! Takes registered secret values out of text, by value.
//!
//! **Needles** are the values and the forms they are written in (base64, percent-encoded, inside JSON strings). The
//! stream form keeps back what may be the beginning of a needle. Invariant: no needle survives in what
//! is given out, however the text is cut.

use crate::text::{Text, in_every_encoding};
use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use std::io;

/// Shortest value that is looked for; shorter ones would take ordinary text apart.
const MIN_BYTES: usize = 6;
/// What stands in a secret's place.
pub const MASK: &str = "[secret removed]";

/// The values to take out. Cheap to use, costly to build: build once per change.
#[derive(Debug, Default)]
pub struct Needles {
    finder: Option<AhoCorasick>,
    forms: Vec<Vec<u8>>,
}

impl Needles {
    /// Needles for these values. Values shorter than 6 bytes are left out.
    #[must_use]
    pub fn new<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> Self {
        let mut forms: Vec<Vec<u8>> = values
            .into_iter()
            .filter(|value| value.as_ref().len() >= MIN_BYTES)
            .flat_map(|value| written_forms(value.as_ref()))
            .collect();
        forms.sort();
        forms.dedup();
        // LeftmostLongest: where one secret begins with another, the whole of the longer one goes.
        Self::of_bytes(forms)
    }

    fn of_bytes(forms: Vec<Vec<u8>>) -> Self {
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&forms).ok();
        Self { finder: finder.filter(|_| !forms.is_empty()), forms }
    }

    /// Is one of them in these bytes?
    #[must_use]
    pub fn within(&self, bytes: &[u8]) -> bool {
        self.finder.as_ref().is_some_and(|finder| finder.is_match(bytes))
    }

    /// The text without them.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        match &self.finder {
            Some(finder) => {
                let mut out = String::with_capacity(text.len());
                finder.replace_all_with(text, &mut out, |_, _, out| {
                    out.push_str(MASK);
                    true
                });
                out
            }
            None => text.to_owned(),
        }
    }

    /// Bytes at the end that may be the beginning of a needle.
    fn begun(&self, bytes: &[u8]) -> usize {
        let longest = self.forms.iter().map(Vec::len).max().unwrap_or(0);
        let most = bytes.len().min(longest.saturating_sub(1));
        let begins =
            |end: &[u8]| self.forms.iter().any(|form| form.len() > end.len() && form.starts_with(end));
        (1..=most).rev().find(|count| begins(&bytes[bytes.len() - count..])).unwrap_or(0)
    }

    /// A reader that ends with [`HoldsSecret`] as its error where a needle comes by.
    #[must_use]
    pub fn watch<'a>(&'a self, from: &'a mut dyn io::Read) -> Watched<'a> {
        let longest = self.forms.iter().map(Vec::len).max().unwrap_or(0);
        Watched { from, needles: self, end: Vec::new(), longest, found: false }
    }

    /// A filter for bytes that arrive in pieces.
    #[must_use]
    pub fn stream(self: &std::sync::Arc<Self>) -> Stream {
        Stream { needles: std::sync::Arc::clone(self), held: Vec::new() }
    }
}

/// Words to look for in contents that may be written in any encoding this product reads.
#[derive(Debug)]
pub struct Written {
    forms: Vec<String>,
    sure: Needles,
    /// So few bytes that other contents hold them by chance: these count where the content, read as text, says the words.
    short: Needles,
}

impl Written {
    /// Looks for exactly these forms.
    #[must_use]
    pub fn new(forms: &[String]) -> Self {
        let plain: Vec<Vec<u8>> = forms.iter().map(|form| form.as_bytes().to_vec()).collect();
        let encoded = forms.iter().flat_map(|form| in_every_encoding(form));
        let (short, long) =
            encoded.partition(|form: &Vec<u8>| form.len() < MIN_BYTES && !plain.contains(form));
        Self { forms: forms.to_vec(), sure: Needles::of_bytes(long), short: Needles::of_bytes(short) }
    }

    /// Does this content hold one of them?
    #[must_use]
    pub fn within(&self, content: &[u8]) -> bool {
        let says = |text: Text| self.forms.iter().any(|form| text.body.contains(form));
        self.sure.within(content) || self.short.within(content) && Text::decode(content).is_ok_and(says)
    }
}

/// Content holds a registered secret, so it isn't kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the content holds a registered secret")]
pub struct HoldsSecret;

/// A reader whose bytes are looked through on their way.
pub struct Watched<'a> {
    from: &'a mut dyn io::Read,
    needles: &'a Needles,
    /// The last bytes, in which a needle may have begun.
    end: Vec<u8>,
    longest: usize,
    found: bool,
}

impl Watched<'_> {
    /// Did a needle come by?
    #[must_use]
    pub fn found(&self) -> bool {
        self.found
    }
}

impl io::Read for Watched<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        let Some(finder) = &self.needles.finder else { return Ok(read) };
        self.end.extend_from_slice(&into[..read]);
        if finder.is_match(&self.end) {
            self.found = true;
            return Err(io::Error::other(HoldsSecret));
        }
        let past = self.end.len().saturating_sub(self.longest.saturating_sub(1));
        self.end.drain(..past);
        Ok(read)
    }
}

/// Redacts bytes that arrive in pieces.
#[derive(Debug)]
pub struct Stream {
    needles: std::sync::Arc<Needles>,
    held: Vec<u8>,
}

impl Stream {
    /// Takes more bytes and gives out what is surely clean.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let Some(finder) = &self.needles.finder else { return bytes.to_vec() };
        self.held.extend_from_slice(bytes);
        let mut out = Vec::with_capacity(self.held.len());
        // What could still grow into a needle waits, also the longer of two that begin alike.
        let sure = self.held.len() - self.needles.begun(&self.held);
        let mut from = 0;
        while let Some(found) = finder.find(&self.held[from..]) {
            let (start, end) = (from + found.start(), from + found.end());
            if start >= sure {
                break;
            }
            out.extend_from_slice(&self.held[from..start]);
            out.extend_from_slice(MASK.as_bytes());
            from = end;
        }
        if sure > from {
            out.extend_from_slice(&self.held[from..sure]);
            from = sure;
        }
        self.held.drain(..from);
        out
    }

    /// Gives out the rest.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        match &self.needles.finder {
            Some(finder) => finder.replace_all_bytes(&self.held, &vec![MASK; finder.patterns_len()]),
            None => self.held,
        }
    }
}

/// The forms in which a value is looked for in what is kept: as programs write it, and inside JSON inside JSON.
#[must_use]
pub fn forms(value: &str) -> Vec<String> {
    let escaped = |text: &str| {
        let json = serde_json::Value::String(text.to_owned()).to_string();
        json[1..json.len() - 1].to_owned()
    };
    let once = escaped(value);
    let twice = escaped(&once);
    let deeper = [escaped(&twice), twice];
    let written = written_forms(value).into_iter().filter_map(|form| String::from_utf8(form).ok());
    let mut forms: Vec<String> = written.chain(deeper).collect();
    forms.sort();
    forms.dedup();
    forms
}

/// The value and the ways programs write it.
fn written_forms(value: &str) -> Vec<Vec<u8>> {
    let mut forms = vec![value.as_bytes().to_vec()];
    // Base64 of a text that contains the value: three alignments, without the characters that neighbours decide.
    for shift in 0..3usize {
        let mut padded = vec![0; shift];
        padded.extend_from_slice(value.as_bytes());
        let from = (shift * 8).div_ceil(6);
        let to = padded.len() * 8 / 6;
        for engine in [
            base64::engine::general_purpose::STANDARD_NO_PAD,
            base64::engine::general_purpose::URL_SAFE_NO_PAD,
        ] {
            let text = engine.encode(&padded);
            if to > from + MIN_BYTES {
                forms.push(text.as_bytes()[from..to].to_vec());
            }
        }
    }
    let json = serde_json::Value::String(value.to_owned()).to_string();
    forms.push(json.as_bytes()[1..json.len() - 1].to_vec());
    forms.push(json[1..json.len() - 1].replace('/', "\\/").into_bytes());
    for (upper, plus) in [(true, false), (false, false), (true, true)] {
        forms.push(percent_encoded(value, upper, plus).into_bytes());
    }
    forms
}

fn percent_encoded(value: &str, upper: bool, plus: bool) -> String {
    let mut out = String::new();
    for byte in value.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            b' ' if plus => out.push('+'),
            byte if upper => out.push_str(&format!("%{byte:02X}")),
            byte => out.push_str(&format!("%{byte:02x}")),
        }
    }
    out
}
