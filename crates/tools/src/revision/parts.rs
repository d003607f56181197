//! Taking back one part of what a file's difference shows, and leaving the others.
//!
//! A **part** is a hunk without the lines around it: a range of the old lines and the range of the new ones that replaced
//! it. Its name is the digest over both contents and both ranges, so that a name that is out of date names nothing.
//! Invariants: with all parts taken back, in whatever order, the bytes are those from before; with one, the bytes of the
//! others stay; where somebody else changed the file, their changes stay or nothing is done.

use super::look::Hashing;
use super::plan::now;
use super::restore::RestoreError;
use crate::blob::{BlobSink, holds_secret};
use crate::diff::{FileDiff, Hunk, LineKind};
use crate::limits::Limits;
use crate::place::Place;
use crate::text::Text;
use domain::call::{Effect, Entry};
use domain::digest::Digest;
use similar::DiffableStr as _;
use std::collections::BTreeSet;
use std::ops::Range;

/// Largest file of which a part is taken back.
const BYTES: u64 = 2 << 20;

/// Why a part can't be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// Nothing has this name: the difference is another one by now.
    #[error("this isn't a part of the difference any more")]
    Stale,
    /// It is as it was before already.
    #[error("this part is as it was before already")]
    Done,
    /// The same lines were changed since, or the file can't be told apart line by line.
    #[error("the same lines were changed since")]
    Mixed,
    /// A file with a registered key in it, of which no copy is kept.
    #[error("the file holds a registered key")]
    HoldsKey,
}

/// The parts of one file's difference.
#[derive(Debug)]
pub struct Parts {
    before: (Vec<u8>, Text),
    after: (Vec<u8>, Text),
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    name: Digest,
    old: Range<usize>,
    new: Range<usize>,
}

impl Parts {
    /// The parts of a difference, one for each of its hunks; `None` where the whole file can't be told apart in parts: a
    /// side is no text, or they are written in different encodings.
    #[must_use]
    pub fn of(before: &[u8], after: &[u8], diff: &FileDiff) -> Option<Self> {
        let (old, new) = (Text::decode(before).ok()?, Text::decode(after).ok()?);
        if !old.is_like(&new) {
            return None;
        }
        let sides = (Digest::of(before), Digest::of(after));
        let parts = diff.hunks.iter().map(|hunk| Part::of(hunk, &sides)).collect();
        Some(Self { before: (before.to_vec(), old), after: (after.to_vec(), new), parts })
    }

    /// Their names, in the order of the hunks.
    pub fn names(&self) -> impl Iterator<Item = Digest> + '_ {
        self.parts.iter().map(|part| part.name)
    }

    /// Which of them were taken back, as the file stands now; `undone` are those of which the record says so.
    #[must_use]
    pub fn undone(&self, now: Option<&[u8]>, undone: &BTreeSet<Digest>) -> BTreeSet<Digest> {
        match now {
            Some(now) if now == self.before.0 => self.names().collect(),
            Some(now) if now == self.after.0 => BTreeSet::new(),
            _ => self.names().filter(|name| undone.contains(name)).collect(),
        }
    }

    /// What shall stand there when one more part is taken back from what stands there `now`.
    ///
    /// # Errors
    /// When there is no such part, it was taken back already, or it can't be told apart from what was changed since.
    pub fn without(
        &self,
        now: &[u8],
        undone: &BTreeSet<Digest>,
        part: &Digest,
    ) -> Result<Vec<u8>, PartError> {
        if !self.names().any(|name| name == *part) {
            return Err(PartError::Stale);
        }
        let gone = self.undone(Some(now), undone);
        let others: BTreeSet<Digest> = gone.iter().copied().filter(|name| name != part).collect();
        let with_it: BTreeSet<Digest> = others.iter().copied().chain([*part]).collect();
        let (with, without) = (self.body(&others), self.body(&with_it));
        let of = |body: &str| self.after.1.encode(body).map_err(|_| PartError::Mixed);
        if now == of(&without)? {
            return Err(PartError::Done);
        }
        if now == of(&with)? {
            return of(&without);
        }
        let text = Text::decode(now).ok().filter(|text| text.is_like(&self.after.1));
        let text = text.ok_or(PartError::Mixed)?;
        let merged = diffy::merge(&with, &without, &text.body).map_err(|_| PartError::Mixed)?;
        match merged == text.body {
            true => Err(PartError::Done),
            false => of(&merged),
        }
    }

    /// The text after the change, without these parts.
    fn body(&self, gone: &BTreeSet<Digest>) -> String {
        let old = self.before.1.body.tokenize_lines();
        let new = self.after.1.body.tokenize_lines();
        let mut body = String::with_capacity(self.after.1.body.len());
        let mut at = 0;
        for part in self.parts.iter().filter(|part| gone.contains(&part.name)) {
            body.extend(lines(&new, at..part.new.start));
            body.extend(lines(&old, part.old.clone()));
            at = part.new.end;
        }
        body.extend(lines(&new, at..new.len()));
        body
    }
}

fn lines<'a>(all: &[&'a str], range: Range<usize>) -> impl Iterator<Item = &'a str> {
    all.get(range).unwrap_or_default().to_vec().into_iter()
}

impl Part {
    fn of(hunk: &Hunk, (before, after): &(Digest, Digest)) -> Self {
        let same = |line: &&crate::diff::Line| line.kind == LineKind::Same;
        let head = hunk.lines.iter().take_while(same).count();
        let tail = hunk.lines.iter().skip(head).rev().take_while(same).count();
        let core = &hunk.lines[head..hunk.lines.len() - tail];
        let count = |not: LineKind| core.iter().filter(|line| line.kind != not).count();
        let range = |start: usize, lines: usize| {
            let from = start.saturating_sub(1) + head;
            from..from + lines
        };
        let old = range(hunk.old_start, count(LineKind::Added));
        let new = range(hunk.new_start, count(LineKind::Removed));
        let place = [old.start, old.end, new.start, new.end].map(|at| (at as u64).to_be_bytes()).concat();
        Self { name: Digest::of_parts(&[&before.0, &after.0, &place]), old, new }
    }
}

/// The parts of what an effect did to a file's text.
///
/// # Errors
/// When a content can't be read.
pub fn parts(
    blobs: &dyn BlobSink,
    effect: &Effect,
    limits: &Limits,
) -> Result<Option<(FileDiff, Parts)>, RestoreError> {
    let (Some(before), Some(after)) = (effect.content_before(), effect.content_after()) else {
        return Ok(None);
    };
    let read = |digest: Digest| {
        let of = |source| RestoreError::Content { path: effect.path.clone(), digest, source };
        blobs.get(&digest).map_err(of)
    };
    let (before, after) = (read(before)?, read(after)?);
    let diff = FileDiff::of(Some(&before), Some(&after), limits);
    if diff.hunks.is_empty() {
        return Ok(None);
    }
    Ok(Parts::of(&before, &after, &diff).map(|parts| (diff, parts)))
}

/// What a file holds now; `None` where it is no file, is large or can't be read.
#[must_use]
pub fn present(place: &Place, path: &str) -> Option<Vec<u8>> {
    standing(place, path).ok()?.map(|(_, bytes)| bytes)
}

/// The step that takes one part of a file's change back: its `after` is what is there now, its `before` what shall be there.
/// The new content is in the blobs.
///
/// # Errors
/// When a content can't be read or kept. The inner error says why nothing can be done.
pub fn plan_part(
    place: &Place,
    blobs: &dyn BlobSink,
    effect: &Effect,
    undone: &BTreeSet<Digest>,
    part: &Digest,
) -> Result<Result<Effect, PartError>, RestoreError> {
    let Some((_, parts)) = parts(blobs, effect, &Limits::default())? else {
        return Ok(Err(PartError::Stale));
    };
    let Some((entry, bytes)) = standing(place, &effect.path)? else { return Ok(Err(PartError::Mixed)) };
    let wanted = match parts.without(&bytes, undone, part) {
        Ok(wanted) => wanted,
        Err(why) => return Ok(Err(why)),
    };
    for content in [&bytes, &wanted] {
        match blobs.put(content) {
            Ok(_) => {}
            Err(error) if holds_secret(&error) => return Ok(Err(PartError::HoldsKey)),
            Err(error) => return Err(RestoreError::Blobs(error)),
        }
    }
    let Entry::File { mode, .. } = entry else { return Ok(Err(PartError::Mixed)) };
    let before = Entry::File { content: Digest::of(&wanted), bytes: wanted.len() as u64, mode };
    let path = effect.path.clone();
    Ok(Ok(Effect {
        path,
        before: Some(before),
        after: Some(entry),
        lines: None,
        kept_in: None,
        parted: None,
    }))
}

/// The file that stands at a path with its bytes, both of one moment.
fn standing(place: &Place, path: &str) -> Result<Option<(Entry, Vec<u8>)>, RestoreError> {
    let entry = now(place, path, &Hashing)?.entry().cloned();
    let bytes = match &entry {
        Some(Entry::File { .. }) => place.read_small(path, BYTES),
        _ => None,
    };
    Ok(entry.zip(bytes).filter(|(entry, bytes)| entry.content() == Some(Digest::of(bytes))))
}

impl PartError {
    /// Its code, as clients have it.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Stale => "restore/stale",
            Self::Done => "restore/nothing",
            Self::Mixed => "restore/mixed",
            Self::HoldsKey => "restore/holds_key",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// How a text is written down.
    #[derive(Debug, Clone, Copy)]
    struct Written {
        how: How,
        crlf: bool,
        ended: bool,
    }

    #[derive(Debug, Clone, Copy)]
    enum How {
        Utf8,
        Marked,
        Gbk,
        Utf16Le,
        Utf16Be,
    }

    impl Written {
        fn bytes(self, lines: &[String]) -> Vec<u8> {
            let end = if self.crlf { "\r\n" } else { "\n" };
            let mut body = lines.join(end);
            if self.ended && !lines.is_empty() {
                body.push_str(end);
            }
            let wide = |mark: &[u8], turn: fn(u16) -> [u8; 2]| {
                mark.iter().copied().chain(body.encode_utf16().flat_map(turn)).collect()
            };
            match self.how {
                How::Utf8 => body.into_bytes(),
                How::Marked => [b"\xef\xbb\xbf", body.as_bytes()].concat(),
                How::Gbk => encoding_rs::GBK.encode(&body).0.into_owned(),
                How::Utf16Le => wide(b"\xff\xfe", u16::to_le_bytes),
                How::Utf16Be => wide(b"\xfe\xff", u16::to_be_bytes),
            }
        }
    }

    fn written() -> impl Strategy<Value = Written> {
        let how = prop_oneof![
            Just(How::Utf8),
            Just(How::Marked),
            Just(How::Gbk),
            Just(How::Utf16Le),
            Just(How::Utf16Be)
        ];
        (how, any::<bool>(), any::<bool>()).prop_map(|(how, crlf, ended)| Written { how, crlf, ended })
    }

    /// Lines before and after: some go, some come, and many look alike unless they are numbered.
    fn two(numbered: bool) -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
        let word = prop_oneof![Just("的"), Just("一二"), Just("是 x"), Just("不在了")];
        let line = (word, prop_oneof![6 => Just(0u8), 1 => Just(1), 1 => Just(2), 1 => Just(3)]);
        prop::collection::vec(line, 1..90).prop_map(move |lines| {
            let (mut before, mut after) = (Vec::new(), Vec::new());
            for (n, (word, what)) in lines.into_iter().enumerate() {
                let line = if numbered { format!("{n} {word}") } else { word.to_owned() };
                if what != 1 {
                    before.push(line.clone());
                }
                match what {
                    0 | 1 => after.push(line),
                    2 => after.push(format!("{line} 新")),
                    _ => {}
                }
            }
            // Always something that tells the encoding.
            before.insert(0, "的一是在不了有和人这".to_owned());
            after.insert(0, "的一是在不了有和人这".to_owned());
            (before, after)
        })
    }

    fn compared(before: &[u8], after: &[u8]) -> Parts {
        let diff = FileDiff::of(Some(before), Some(after), &Limits::default());
        Parts::of(before, after, &diff).expect("both are texts in one encoding")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn all_parts_taken_back_one_by_one_in_any_order_give_the_bytes_from_before(
            (before, after) in two(false),
            written in written(),
            order in any::<prop::sample::Index>(),
        ) {
            let (before, after) = (written.bytes(&before), written.bytes(&after));
            let parts = compared(&before, &after);
            let mut names: Vec<Digest> = parts.names().collect();
            if !names.is_empty() {
                let turn = order.index(names.len());
                names.rotate_left(turn);
                if turn % 2 == 1 {
                    names.reverse();
                }
            }
            let (mut now, mut undone) = (after.clone(), BTreeSet::new());
            for name in names {
                now = parts.without(&now, &undone, &name).expect("it is taken back");
                prop_assert_eq!(parts.without(&now, &undone, &name), Err(PartError::Done));
                undone.insert(name);
            }
            prop_assert_eq!(now, before);
        }

        #[test]
        fn one_part_taken_back_leaves_the_others_as_they_are(
            (before, after) in two(true),
            written in written(),
            which in any::<prop::sample::Index>(),
        ) {
            let (before, after) = (written.bytes(&before), written.bytes(&after));
            let limits = Limits::default();
            let whole = FileDiff::of(Some(&before), Some(&after), &limits);
            let parts = compared(&before, &after);
            prop_assume!(!whole.hunks.is_empty());
            let at = which.index(whole.hunks.len());
            let name = parts.names().nth(at).expect("as many names as hunks");
            let now = parts.without(&after, &BTreeSet::new(), &name).expect("it is taken back");
            let left = FileDiff::of(Some(&before), Some(&now), &limits);
            let lines = |hunks: Vec<Hunk>| hunks.into_iter().map(|hunk| hunk.lines).collect::<Vec<_>>();
            let mut expect = lines(whole.hunks);
            expect.remove(at);
            prop_assert_eq!(lines(left.hunks), expect);
        }

        #[test]
        fn what_somebody_else_changed_elsewhere_stays(
            (before, after) in two(true),
            written in written(),
            which in any::<prop::sample::Index>(),
        ) {
            let written = Written { ended: true, ..written };
            let (tail, head) = (["末"; 9].map(str::to_owned), ["首"; 9].map(str::to_owned));
            let around = |lines: &[String], more: &[String]| {
                written.bytes(&[&head, lines, &tail, more].concat())
            };
            let (was, is) = (around(&before, &[]), around(&after, &[]));
            let parts = compared(&was, &is);
            prop_assume!(parts.names().next().is_some());
            let more = ["人写的".to_owned()];
            let names: Vec<Digest> = parts.names().collect();
            let name = names[which.index(names.len())];
            let alone = parts.without(&is, &BTreeSet::new(), &name).expect("it is taken back");
            let now = around(&after, &more);
            let merged = parts.without(&now, &BTreeSet::new(), &name).expect("only our part goes");
            prop_assert!(merged.starts_with(&alone), "the same, and more after it");
            prop_assert_eq!(&merged[alone.len()..], &now[is.len()..]);
        }
    }

    #[test]
    fn a_name_of_another_difference_names_nothing_and_the_same_lines_stay_with_who_changed_them() {
        let parts = compared(b"a\nb\nc\n", b"a\nB\nc\n");
        let other = compared(b"a\nb\nc\n", b"a\nBB\nc\n");
        let (own, stale) = (parts.names().next().unwrap(), other.names().next().unwrap());
        let none = BTreeSet::new();
        assert_eq!(parts.without(b"a\nB\nc\n", &none, &stale), Err(PartError::Stale));
        assert_eq!(parts.without(b"a\nmine\nc\n", &none, &own), Err(PartError::Mixed));
        assert_eq!(parts.without(b"\0\x01", &none, &own), Err(PartError::Mixed));
        assert_eq!(parts.without(b"a\nB\nc\n", &none, &own).as_deref(), Ok(&b"a\nb\nc\n"[..]));
        // Said so by nobody, but seen: the whole file is as it was before.
        assert_eq!(parts.undone(Some(b"a\nb\nc\n"), &none), BTreeSet::from([own]));
    }

    #[test]
    fn a_file_that_is_written_in_another_encoding_now_has_no_parts() {
        let diff = |one: &[u8], other: &[u8]| FileDiff::of(Some(one), Some(other), &Limits::default());
        let (before, after) = (b"a\n".as_slice(), b"\xef\xbb\xbfb\n".as_slice());
        assert!(Parts::of(before, after, &diff(before, after)).is_none());
        assert!(Parts::of(before, b"\0\x01", &diff(before, b"\0\x01")).is_none());
    }
}
