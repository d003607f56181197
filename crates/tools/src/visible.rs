//! Makes what can't be seen, or looks like something else, visible.
//!
//! Approvals show exact text; some characters hide, reorder or imitate. [`visible`] writes those as `⟨U+202E⟩` and says
//! that it did. Invariant: two texts that differ give two different visible texts, and no control character survives
//! but line breaks and tabs.

/// A text made visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visible {
    /// The text, hidden and imitating characters written out.
    pub text: String,
    /// Was there anything to write out? Then show a warning.
    pub suspicious: bool,
}

/// Writes out what is invisible, reorders text, or imitates a Latin letter inside a Latin word or a sign that shells obey.
#[must_use]
pub fn visible(text: &str) -> Visible {
    let mut out = String::with_capacity(text.len());
    let mut suspicious = false;
    let (mut before, mut at) = (None, 0);
    for word in words(text) {
        at += word.len();
        let after = text[at..].chars().next();
        let sign = word.chars().next().is_some_and(|ch| imitates_sign(ch, before, after));
        before = word.chars().next_back();
        let latin = word.chars().any(|ch| ch.is_ascii_alphabetic());
        let foreign = word.chars().any(|ch| ch.is_alphabetic() && !ch.is_ascii() && !imitates(ch));
        let alone = !latin && !foreign && word.chars().any(imitates);
        for ch in word.chars() {
            let imitation = sign || (imitates(ch) && (latin || alone || is_wide(ch)));
            if is_invisible(ch) || is_hidden_control(ch) || imitation || matches!(ch, '⟨' | '⟩') {
                suspicious = true;
                out.push_str(&code(ch));
            } else {
                out.push(ch);
            }
        }
    }
    Visible { text: out, suspicious }
}

/// The same for a line of content, one piece a character: what people type in their own script stays, also where it
/// looks Latin, and so do wide spaces and variants of emoji.
pub(crate) fn visible_content(line: &str) -> Vec<String> {
    let foreign = |word: &str| word.chars().any(|ch| ch.is_alphabetic() && !ch.is_ascii() && !imitates(ch));
    let written = words(line).any(foreign);
    let mut pieces = Vec::with_capacity(line.len());
    let mut before = ' ';
    for word in words(line) {
        let latin = word.chars().any(|ch| ch.is_ascii_alphabetic());
        for ch in word.chars() {
            let imitation = imitates(ch) && !is_wide(ch) && (latin || !written);
            let typed =
                ch == '\u{3000}' || (ch == '\u{fe0f}' && !before.is_alphanumeric() && !before.is_ascii());
            let hidden = is_invisible(ch) || is_hidden_control(ch) || matches!(ch, '⟨' | '⟩');
            pieces.push(if imitation || (hidden && !typed) { code(ch) } else { ch.to_string() });
            before = ch;
        }
    }
    pieces
}

fn code(ch: char) -> String {
    format!("⟨U+{:04X}⟩", u32::from(ch))
}

/// Runs of letters, and what stands between them one by one.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = if first.is_alphabetic() {
            rest.find(|ch: char| !ch.is_alphabetic() && !is_invisible(ch)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

/// Characters without a shape of their own: zero width, direction marks, tags, variation selectors, fillers.
#[must_use]
pub fn is_invisible(ch: char) -> bool {
    matches!(ch,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Control characters but line feed and tab; spaces that aren't the space.
fn is_hidden_control(ch: char) -> bool {
    (ch.is_control() && !matches!(ch, '\n' | '\t'))
        || matches!(
            ch,
            '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
        )
}

/// Full-width letters of ASCII: imitations wherever they stand.
fn is_wide(ch: char) -> bool {
    matches!(ch, '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}')
}

/// Signs drawn like those that shells obey. Full-width ones belong to Chinese and Japanese text, so beside it they are what
/// they look like.
fn imitates_sign(ch: char, before: Option<char>, after: Option<char>) -> bool {
    let east = |ch: Option<char>| {
        ch.is_some_and(
            |ch| matches!(ch, '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}'),
        )
    };
    match ch {
        '\u{37e}'
        | '\u{2010}'..='\u{2012}'
        | '\u{2212}'
        | '\u{2024}'
        | '\u{2044}'
        | '\u{2215}'
        | '\u{29f8}' => true,
        '\u{2216}' | '\u{2223}' | '\u{2217}' | '\u{223c}' | '\u{fe52}'..='\u{fe6b}' | '\u{1c0}' => true,
        // Not those that Chinese sentences are full of: brackets, comma, colon, question and exclamation marks.
        '\u{ff02}'..='\u{ff07}'
        | '\u{ff0a}'
        | '\u{ff0b}'
        | '\u{ff0d}'..='\u{ff0f}'
        | '\u{ff1b}'..='\u{ff1e}'
        | '\u{ff20}'
        | '\u{ff3b}'..='\u{ff40}'
        | '\u{ff5b}'..='\u{ff5e}' => !east(before) && !east(after),
        _ => false,
    }
}

/// Letters of other scripts that are drawn like Latin ones.
fn imitates(ch: char) -> bool {
    const LOOK_ALIKES: &str =
        "аеорсухівјѕһԁԛԝґӏӀВАЕКМНОРСТУХІЈЅԌΑΒΕΖΗΙΚΜΝΟΡΤΥΧαοινρυκτχϲϳօոսցհզքյѵѴƖǀɑɡɩʏʜᴀᴄᴇᴏᴠᴢᴡꞌ";
    // Whole scripts and signs made of such letters: Roman numerals, Cherokee, Coptic, Lisu.
    let scripts = matches!(ch, '\u{2160}'..='\u{217f}' | '\u{13a0}'..='\u{13ff}' | '\u{ab70}'..='\u{abbf}'
        | '\u{2c80}'..='\u{2cff}' | '\u{a4d0}'..='\u{a4ff}');
    LOOK_ALIKES.contains(ch)
        || is_wide(ch)
        || scripts
        || matches!(ch, '\u{1d400}'..='\u{1d7ff}' | '\u{212a}' | '\u{2113}' | '\u{210a}'..='\u{2112}')
}
