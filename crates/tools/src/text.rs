//! Bytes as text and back, byte for byte.
//!
//! A **text** is what a file says, with the encoding and byte-order mark it was written in. Invariant: encoding what was
//! decoded gives the same bytes (that is checked before a file counts as text), and nothing is ever replaced silently: a
//! character the encoding doesn't have is an error.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;

/// A decoded file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    /// What it says, without the mark.
    pub(crate) body: String,
    charset: Charset,
    bom: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Charset {
    Utf8,
    Utf16Le,
    Utf16Be,
    Other(&'static Encoding),
}

/// Content that isn't text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Binary {
    /// What it seems to be, e.g. `application/zip`; `None` when unknown.
    pub(crate) kind: Option<&'static str>,
}

/// A character that the file's encoding doesn't have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unencodable {
    /// The encoding's name.
    pub(crate) encoding: &'static str,
}

/// Share of control characters (1 in this many) above which bytes aren't text.
const CONTROL_SHARE: usize = 50;

impl Text {
    /// Plain new text: UTF-8 without a mark.
    pub(crate) fn new(body: String) -> Self {
        Self { body, charset: Charset::Utf8, bom: false }
    }

    /// Reads bytes.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Binary> {
        if let Some(text) = with_mark(bytes) {
            return Ok(text);
        }
        let binary = Binary { kind: kind(bytes) };
        if bytes.starts_with(b"%PDF-") {
            return Err(binary);
        }
        if bytes.contains(&0) {
            return utf16_without_mark(bytes).ok_or(binary);
        }
        if let Ok(body) = std::str::from_utf8(bytes) {
            return if mostly_controls(bytes) { Err(binary) } else { Ok(Self::new(body.to_owned())) };
        }
        if binary.kind.is_some() || mostly_controls(bytes) {
            return Err(binary);
        }
        candidates(bytes).into_iter().find_map(|encoding| in_encoding(bytes, encoding)).ok_or(binary)
    }

    /// This text's encoding, with another body.
    pub(crate) fn encode(&self, body: &str) -> Result<Vec<u8>, Unencodable> {
        let marked = |mark: &[u8], rest: Vec<u8>| if self.bom { [mark, &rest].concat() } else { rest };
        Ok(match self.charset {
            Charset::Utf8 => marked(b"\xef\xbb\xbf", body.as_bytes().to_vec()),
            Charset::Utf16Le => marked(b"\xff\xfe", body.encode_utf16().flat_map(u16::to_le_bytes).collect()),
            Charset::Utf16Be => marked(b"\xfe\xff", body.encode_utf16().flat_map(u16::to_be_bytes).collect()),
            Charset::Other(encoding) => match encoding.encode(body) {
                (bytes, _, false) => bytes.into_owned(),
                (_, _, true) => return Err(Unencodable { encoding: self.encoding() }),
            },
        })
    }

    /// Are both written in the same encoding, with a mark or both without?
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        (self.charset, self.bom) == (other.charset, other.bom)
    }

    /// A text that is one already.
    pub(crate) fn plain(body: String) -> Self {
        Self { body, charset: Charset::Utf8, bom: false }
    }

    /// The encoding's name for people and models.
    pub(crate) fn encoding(&self) -> &'static str {
        match (self.charset, self.bom) {
            (Charset::Utf8, false) => "UTF-8",
            (Charset::Utf8, true) => "UTF-8 with BOM",
            (Charset::Utf16Le, true) => "UTF-16LE with BOM",
            (Charset::Utf16Le, false) => "UTF-16LE",
            (Charset::Utf16Be, true) => "UTF-16BE with BOM",
            (Charset::Utf16Be, false) => "UTF-16BE",
            (Charset::Other(encoding), _) if encoding == encoding_rs::WINDOWS_1252 => {
                "Latin-1 (windows-1252)"
            }
            (Charset::Other(encoding), _) => encoding.name(),
        }
    }

    /// Is it what every tool expects: UTF-8, no mark?
    pub(crate) fn is_plain(&self) -> bool {
        self.charset == Charset::Utf8 && !self.bom
    }
}

/// Every encoding that bytes may be read in, besides the Unicode ones.
const OTHERS: [&Encoding; 31] = [
    encoding_rs::BIG5,
    encoding_rs::EUC_JP,
    encoding_rs::EUC_KR,
    encoding_rs::GB18030,
    encoding_rs::GBK,
    encoding_rs::IBM866,
    encoding_rs::ISO_8859_2,
    encoding_rs::ISO_8859_3,
    encoding_rs::ISO_8859_4,
    encoding_rs::ISO_8859_5,
    encoding_rs::ISO_8859_6,
    encoding_rs::ISO_8859_7,
    encoding_rs::ISO_8859_8,
    encoding_rs::ISO_8859_10,
    encoding_rs::ISO_8859_13,
    encoding_rs::ISO_8859_14,
    encoding_rs::ISO_8859_15,
    encoding_rs::ISO_8859_16,
    encoding_rs::KOI8_R,
    encoding_rs::KOI8_U,
    encoding_rs::SHIFT_JIS,
    encoding_rs::WINDOWS_874,
    encoding_rs::WINDOWS_1250,
    encoding_rs::WINDOWS_1251,
    encoding_rs::WINDOWS_1252,
    encoding_rs::WINDOWS_1253,
    encoding_rs::WINDOWS_1254,
    encoding_rs::WINDOWS_1255,
    encoding_rs::WINDOWS_1256,
    encoding_rs::WINDOWS_1257,
    encoding_rs::WINDOWS_1258,
];

/// A text's bytes in every encoding that has all its characters.
pub(crate) fn in_every_encoding(text: &str) -> Vec<Vec<u8>> {
    let units = || text.encode_utf16();
    let unicode = [
        text.as_bytes().to_vec(),
        units().flat_map(u16::to_le_bytes).collect(),
        units().flat_map(u16::to_be_bytes).collect(),
    ];
    let others = OTHERS.iter().filter_map(|encoding| match encoding.encode(text) {
        (bytes, _, false) => Some(bytes.into_owned()),
        (_, _, true) => None,
    });
    let mut all: Vec<Vec<u8>> = unicode.into_iter().chain(others).collect();
    all.sort();
    all.dedup();
    all
}

fn with_mark(bytes: &[u8]) -> Option<Text> {
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        let body = std::str::from_utf8(rest).ok()?.to_owned();
        return (!rest.contains(&0)).then_some(Text { body, charset: Charset::Utf8, bom: true });
    }
    // FF FE 00 00 would be UTF-32, which nobody writes; as UTF-16 it would begin with a NUL.
    let (rest, charset) = match bytes {
        [0xff, 0xfe, rest @ ..] => (rest, Charset::Utf16Le),
        [0xfe, 0xff, rest @ ..] => (rest, Charset::Utf16Be),
        _ => return None,
    };
    let body = utf16(rest, charset).filter(|body| !body.contains('\0'))?;
    Some(Text { body, charset, bom: true })
}

fn utf16(bytes: &[u8], charset: Charset) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let read = if charset == Charset::Utf16Le { u16::from_le_bytes } else { u16::from_be_bytes };
    let units = pairs.iter().map(|pair| read(*pair));
    rest.is_empty().then(|| char::decode_utf16(units).collect::<Result<String, _>>().ok()).flatten()
}

/// Latin text in UTF-16 has its NULs all on one side of the pairs; CJK text has few, but its line breaks have them.
fn utf16_without_mark(bytes: &[u8]) -> Option<Text> {
    let zeros = |side: usize| bytes.iter().skip(side).step_by(2).filter(|byte| **byte == 0).count();
    let charset = match (zeros(0), zeros(1)) {
        (0, 1..) => Charset::Utf16Le,
        (1.., 0) => Charset::Utf16Be,
        _ => return None,
    };
    let strange = |ch: char| {
        (ch.is_control() && !ch.is_whitespace())
            || matches!(ch, '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..='\u{ffff}')
    };
    let body = utf16(bytes, charset).filter(|body| !body.chars().any(strange))?;
    Some(Text { body, charset, bom: false })
}

fn in_encoding(bytes: &[u8], encoding: &'static Encoding) -> Option<Text> {
    let body = encoding.decode_without_bom_handling_and_without_replacement(bytes)?.into_owned();
    let text = Text { body, charset: Charset::Other(encoding), bom: false };
    (text.encode(&text.body).as_deref() == Ok(bytes)).then_some(text)
}

/// Encodings to try, the likeliest first; the last one takes any bytes.
fn candidates(bytes: &[u8]) -> [&'static Encoding; 4] {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let guess = detector.guess(None, Utf8Detection::Deny);
    let first = if is_hanzi(bytes) { encoding_rs::GBK } else { guess };
    let next = if first == encoding_rs::GBK { encoding_rs::GB18030 } else { guess };
    [first, next, guess, encoding_rs::WINDOWS_1252]
}

/// Do all high bytes pair up as GB 2312 characters? Guessers need more text than a short file has.
fn is_hanzi(bytes: &[u8]) -> bool {
    let mut at = 0;
    let mut hanzi = 0;
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (0..=0x7f, _) => at += 1,
            (0xb0..=0xf7, Some(0xa1..=0xfe)) => {
                hanzi += 1;
                at += 2;
            }
            (0xa1..=0xa9, Some(0xa1..=0xfe)) => at += 2,
            _ => return false,
        }
    }
    hanzi > 0
}

fn mostly_controls(bytes: &[u8]) -> bool {
    let control = |byte: &&u8| matches!(byte, 0..=6 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    let count = bytes.iter().filter(control).count();
    count > 0 && count * CONTROL_SHARE > bytes.len()
}

fn kind(bytes: &[u8]) -> Option<&'static str> {
    infer::get(bytes)
        .filter(|found| found.matcher_type() != infer::MatcherType::Text)
        .map(|found| found.mime_type())
}

/// How a text ends its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnds {
    Lf,
    CrLf,
    Mixed,
    None,
}

impl LineEnds {
    pub(crate) fn of(body: &str) -> Self {
        let crlf = body.matches("\r\n").count();
        match (crlf, body.matches('\n').count() - crlf) {
            (0, 0) => Self::None,
            (0, _) => Self::Lf,
            (_, 0) => Self::CrLf,
            _ => Self::Mixed,
        }
    }
}
