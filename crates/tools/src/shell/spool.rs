//! A command's output, kept in bounded space.
//!
//! A **spool** is a file with a head and a ring for the tail, plus small windows of both in memory for the text a model
//! reads. Invariant: memory is flat whatever is printed, output that fits is kept byte for byte, and what doesn't fit is
//! counted.

use crate::redact::{Needles, Stream};
use crate::shell::clean::clean;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Raw output at either end that text is made from.
const WINDOW: usize = 256 << 10;

/// Output on its way in.
pub(crate) struct Spool {
    file: File,
    path: PathBuf,
    /// Bytes of the file for the head, and as many for the tail.
    half: u64,
    total: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
    filter: Option<Stream>,
}

/// What the model reads of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// Cleaned text, with what was left out said in the middle.
    pub(crate) text: String,
    /// Bytes left out.
    pub(crate) left_out: u64,
}

static COUNT: AtomicU64 = AtomicU64::new(0);

impl Spool {
    /// An empty spool in a private folder that keeps `keep` bytes and takes these secrets out.
    pub(crate) fn create(folder: &Path, keep: u64, secrets: &Arc<Needles>) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("spool-{}-{number}", std::process::id()));
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
        if cfg!(unix) {
            // Without a name it is gone with us, however we end.
            std::fs::remove_file(&path)?;
        }
        let filter = Some(secrets.stream());
        Ok(Self { file, path, half: (keep / 2).max(1), total: 0, head: Vec::new(), tail: Vec::new(), filter })
    }

    /// Takes output as it was printed; gives back what of it may be shown (secrets taken out).
    pub(crate) fn push(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let clean = self.filter.as_mut().map_or_else(Vec::new, |filter| filter.push(bytes));
        self.keep(&clean)?;
        Ok(clean)
    }

    /// Everything was printed.
    pub(crate) fn end(&mut self) -> io::Result<Vec<u8>> {
        let rest = self.filter.take().map_or_else(Vec::new, Stream::finish);
        self.keep(&rest)?;
        Ok(rest)
    }

    /// Bytes printed so far.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    fn keep(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        self.remember(bytes);
        while !bytes.is_empty() {
            let (at, room) = if self.total < self.half {
                (self.total, self.half - self.total)
            } else {
                let in_ring = (self.total - self.half) % self.half;
                (self.half + in_ring, self.half - in_ring)
            };
            let count = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
            self.file.seek(SeekFrom::Start(at))?;
            self.file.write_all(&bytes[..count])?;
            self.total += count as u64;
            bytes = &bytes[count..];
        }
        Ok(())
    }

    /// The windows in memory: the first bytes, and the last ones, cut back only when they have doubled.
    fn remember(&mut self, bytes: &[u8]) {
        let (to_head, rest) = bytes.split_at(bytes.len().min(WINDOW - self.head.len()));
        self.head.extend_from_slice(to_head);
        self.tail.extend_from_slice(&rest[rest.len().saturating_sub(WINDOW)..]);
        if self.tail.len() > 2 * WINDOW {
            self.tail.drain(..self.tail.len() - WINDOW);
        }
    }

    /// What was kept, in order; where something is missing, a line says how much.
    pub(crate) fn reader(&mut self) -> io::Result<impl Read + '_> {
        let in_ring = self.total.saturating_sub(self.half);
        let lost = in_ring.saturating_sub(self.half);
        let start = if lost > 0 { in_ring % self.half } else { 0 };
        let note =
            if lost > 0 { format!("\n[… {lost} bytes left out …]\n").into_bytes() } else { Vec::new() };
        let part = |from: u64, len: u64| -> io::Result<Part> {
            Ok(Part { file: self.file.try_clone()?, at: from, left: len })
        };
        let head = part(0, self.total.min(self.half))?;
        let older = part(self.half + start, in_ring.min(self.half) - start)?;
        let newer = part(self.half, start)?;
        Ok(head.chain(io::Cursor::new(note)).chain(older).chain(newer))
    }

    /// Cleaned head and tail, together at most `most` bytes besides the note.
    pub(crate) fn excerpt(&self, most: usize) -> Excerpt {
        let seen = self.head.len() + self.tail.len();
        if seen as u64 == self.total {
            let text = clean(&[self.head.as_slice(), &self.tail].concat());
            return joined(&text, &text, text.len() as u64, most);
        }
        let tail = &self.tail[self.tail.len().saturating_sub(WINDOW)..];
        // The cut may have split a character, or a line that a progress bar rewrote.
        let from = tail.iter().take(4).position(|byte| (*byte as i8) >= -0x40).unwrap_or(0);
        joined(&clean(&self.head), &clean(&tail[from..]), self.total, most)
    }
}

/// `head` from its beginning and `tail` from its end, of a text of `total` bytes.
fn joined(head: &str, tail: &str, total: u64, most: usize) -> Excerpt {
    if head.len() as u64 == total && head.len() <= most {
        return Excerpt { text: head.to_owned(), left_out: 0 };
    }
    let head = &head[..head.floor_char_boundary((most / 2).min(head.len()))];
    let tail = &tail[tail.ceil_char_boundary(tail.len().saturating_sub(most / 2))..];
    // Whole lines where that costs little.
    let head = head.rfind('\n').filter(|at| head.len() - at < most / 10).map_or(head, |at| &head[..at]);
    let tail = tail.find('\n').filter(|at| *at < most / 10).map_or(tail, |at| &tail[at + 1..]);
    let left_out = total.saturating_sub((head.len() + tail.len()) as u64);
    Excerpt { text: format!("{head}\n[… {left_out} bytes left out …]\n{tail}"), left_out }
}

impl Drop for Spool {
    fn drop(&mut self) {
        if cfg!(not(unix)) {
            // Best effort: the host clears its private folder at start.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// A stretch of the file.
struct Part {
    file: File,
    at: u64,
    left: u64,
}

impl Read for Part {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(into.len());
        if most == 0 {
            return Ok(0);
        }
        // Clones share their position with the file, so each read says where it is.
        self.file.seek(SeekFrom::Start(self.at))?;
        let count = self.file.read(&mut into[..most])?;
        self.at += count as u64;
        self.left -= count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spooled(keep: u64, pieces: &[&[u8]]) -> (Vec<u8>, Spool) {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::create(folder.path(), keep, &Arc::default()).unwrap();
        for piece in pieces {
            spool.push(piece).unwrap();
        }
        spool.end().unwrap();
        let mut kept = Vec::new();
        spool.reader().unwrap().read_to_end(&mut kept).unwrap();
        (kept, spool)
    }

    #[test]
    fn x07_head_and_tail_are_kept_and_the_rest_is_counted() {
        let (kept, _) = spooled(8, &[b"abcdefghijklmnop"]);
        assert_eq!(String::from_utf8(kept).unwrap(), "abcd\n[… 8 bytes left out …]\nmnop");
        let (kept, _) = spooled(8, &[b"abc", b"defgh"]);
        assert_eq!(kept, b"abcdefgh");
    }

    #[test]
    fn x09_raw_bytes_that_fit_are_kept_as_they_are() {
        let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        let pieces: Vec<&[u8]> = bytes.chunks(7).collect();
        assert_eq!(spooled(1 << 20, &pieces).0, bytes);
    }

    #[test]
    fn excerpts_say_what_is_missing() {
        let text: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
        let (_, spool) = spooled(1 << 20, &[text.as_bytes()]);
        let excerpt = spool.excerpt(1_000);
        assert!(
            excerpt.text.starts_with("line 0\n") && excerpt.text.ends_with("line 19999\n"),
            "{}",
            excerpt.text
        );
        assert!(excerpt.text.contains(&format!("[… {} bytes left out …]", excerpt.left_out)));
        assert!(excerpt.text.len() < 1_100);
    }

    #[test]
    fn x08_a_line_without_end_is_bounded() {
        let (_, spool) = spooled(1 << 20, &vec![[b'x'; 65_536].as_slice(); 32]);
        let excerpt = spool.excerpt(30 << 10);
        assert_eq!(excerpt.left_out, 32 * 65_536 - (30 << 10));
    }

    #[test]
    fn x08_empty_lines_and_progress_bars_cost_no_more_than_text() {
        let begun = std::time::Instant::now();
        let (_, spool) = spooled(1 << 20, &vec![[b'\n'; 65_536].as_slice(); 153]);
        let left_out = spool.excerpt(1_000).left_out;
        assert!((153 * 65_536 - 1_000..153 * 65_536 - 900).contains(&left_out), "{left_out}");
        let bar: Vec<u8> = (0..100_000).flat_map(|n| format!("\r{n} of 100000").into_bytes()).collect();
        assert_eq!(spooled(1 << 20, &[&bar[..200_000]]).1.excerpt(1_000).text.lines().count(), 1);
        let (_, spool) = spooled(1 << 20, &bar.chunks(13).collect::<Vec<_>>());
        assert!(spool.excerpt(1_000).text.ends_with("99999 of 100000"));
        // Looking at all of it again for each piece takes hours; a busy machine doesn't.
        assert!(begun.elapsed().as_secs() < 120, "{:?}", begun.elapsed());
    }

    proptest! {
        #[test]
        fn x07_the_ring_keeps_exactly_the_ends(bytes in proptest::collection::vec(any::<u8>(), 0..300), step in 1usize..50, half in 1u64..40) {
            let pieces: Vec<&[u8]> = bytes.chunks(step).collect();
            let (kept, _) = spooled(half * 2, &pieces);
            let half = half as usize;
            let lost = bytes.len().saturating_sub(half * 2);
            let expect = if lost == 0 { bytes.clone() } else {
                [&bytes[..half], format!("\n[… {lost} bytes left out …]\n").as_bytes(), &bytes[bytes.len() - half..]].concat()
            };
            prop_assert_eq!(kept, expect);
        }
    }
}
