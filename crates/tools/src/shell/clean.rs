//! Terminal output as the text a person would have seen at the end.
//!
//! Control sequences are obeyed where they move or erase within the last lines (progress bars) and dropped otherwise;
//! bytes that are no UTF-8 are written `\xNN`. Invariant: the result holds no control character but line feed and tab,
//! and the same bytes always give the same text.

use std::collections::VecDeque;
use vte::{Params, Parser, Perform};

/// Lines that cursor movements can still change.
const OPEN_LINES: usize = 64;
/// Furthest column a cursor movement reaches.
const MAX_COLUMN: usize = 4_096;

/// The text of these bytes.
pub(crate) fn clean(bytes: &[u8]) -> String {
    let mut cleaner = Cleaner::default();
    cleaner.push(bytes);
    cleaner.finish()
}

/// Cleans output that arrives in pieces.
pub(crate) struct Cleaner {
    parser: Parser,
    screen: Screen,
    /// An unfinished UTF-8 sequence.
    held: Vec<u8>,
}

impl Default for Cleaner {
    fn default() -> Self {
        Self::keeping(OPEN_LINES)
    }
}

impl Cleaner {
    /// For watching: a line is given out as soon as it ends, so nothing can move back up to it.
    pub(crate) fn live() -> Self {
        Self::keeping(1)
    }

    fn keeping(lines: usize) -> Self {
        let screen = Screen { done: String::new(), open: VecDeque::new(), lines, row: 0, column: 0 };
        Self { parser: Parser::new(), screen, held: Vec::new() }
    }

    /// Takes more output.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let joined;
        let bytes = if self.held.is_empty() {
            bytes
        } else {
            joined = [std::mem::take(&mut self.held).as_slice(), bytes].concat();
            &joined
        };
        let (whole, rest) = bytes.split_at(bytes.len() - unfinished(bytes));
        for chunk in whole.utf8_chunks() {
            self.parser.advance(&mut self.screen, chunk.valid().as_bytes());
            for byte in chunk.invalid() {
                self.parser.advance(&mut self.screen, format!("\\x{byte:02X}").as_bytes());
            }
        }
        self.held = rest.to_vec();
    }

    /// Gives out the lines that can't change any more.
    pub(crate) fn take(&mut self) -> String {
        std::mem::take(&mut self.screen.done)
    }

    /// Gives out the rest.
    pub(crate) fn finish(mut self) -> String {
        for byte in std::mem::take(&mut self.held) {
            self.parser.advance(&mut self.screen, format!("\\x{byte:02X}").as_bytes());
        }
        let Screen { mut done, open, .. } = self.screen;
        let lines: Vec<String> = open.into_iter().map(|line| ended(&line)).collect();
        done.push_str(&lines.join("\n"));
        done
    }
}

/// Bytes at the end that begin a character and don't finish it.
fn unfinished(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let length = match byte {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            0x80..=0xbf => continue,
            _ => return 0,
        };
        return if length > back { back } else { 0 };
    }
    0
}

/// The last lines of a terminal, and the finished ones above.
struct Screen {
    done: String,
    open: VecDeque<Vec<char>>,
    /// How many lines stay open.
    lines: usize,
    row: usize,
    column: usize,
}

impl Screen {
    fn line(&mut self) -> &mut Vec<char> {
        while self.open.len() <= self.row {
            self.open.push_back(Vec::new());
        }
        &mut self.open[self.row]
    }

    fn put(&mut self, ch: char) {
        let column = self.column;
        let line = self.line();
        if line.len() < column {
            line.resize(column, ' ');
        }
        match line.get_mut(column) {
            Some(cell) => *cell = ch,
            None => line.push(ch),
        }
        self.column += 1;
    }

    fn write(&mut self, text: &str) {
        text.chars().for_each(|ch| self.put(ch));
    }

    fn line_feed(&mut self) {
        self.row += 1;
        self.column = 0;
        self.line();
        if self.open.len() > self.lines {
            if let Some(line) = self.open.pop_front() {
                self.done.push_str(&ended(&line));
                self.done.push('\n');
            }
            self.row -= 1;
        }
    }

    fn erase_line(&mut self, how: u16) {
        let column = self.column;
        let line = self.line();
        match how {
            0 => line.truncate(column),
            1 => line.iter_mut().take(column + 1).for_each(|cell| *cell = ' '),
            _ => line.clear(),
        }
    }

    fn erase_below(&mut self) {
        self.erase_line(0);
        self.open.truncate(self.row + 1);
    }
}

/// A finished line: blanks that only erasing left at its end go.
fn ended(line: &[char]) -> String {
    let text: String = line.iter().collect();
    text.trim_end_matches(' ').to_owned()
}

impl Perform for Screen {
    fn print(&mut self, ch: char) {
        match ch {
            ch if ch.is_control() => self.write(&format!("\\u{{{:x}}}", u32::from(ch))),
            ch => self.put(ch),
        }
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' | 0x0b | 0x0c => self.line_feed(),
            b'\r' => self.column = 0,
            0x08 => self.column = self.column.saturating_sub(1),
            b'\t' => self.put('\t'),
            // The bell and shifts of character sets say nothing.
            0x07 | 0x0e | 0x0f | 0x18 | 0x1a | 0x1b => {}
            // A control character above ASCII; bytes that are no UTF-8 never come here.
            byte @ 0x80.. => self.write(&format!("\\u{{{byte:x}}}")),
            byte => self.write(&format!("\\x{byte:02X}")),
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], _: bool, action: char) {
        if !intermediates.is_empty() {
            return;
        }
        let first = params.iter().next().and_then(|one| one.first().copied()).unwrap_or(0);
        let count = usize::from(first.max(1));
        match action {
            'A' | 'F' => self.row = self.row.saturating_sub(count),
            'B' | 'E' => self.row = (self.row + count).min(self.open.len().saturating_sub(1)),
            'C' => self.column = (self.column + count).min(MAX_COLUMN),
            'D' => self.column = self.column.saturating_sub(count),
            'G' => self.column = (count - 1).min(MAX_COLUMN),
            'K' => self.erase_line(first),
            'J' if first == 0 => self.erase_below(),
            _ => {}
        }
        if matches!(action, 'E' | 'F') {
            self.column = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(given: &[u8], expect: &str) {
        assert_eq!(clean(given), expect);
    }

    #[test]
    fn s13_progress_bars_and_private_modes() {
        check(b"\x1b[?25lWo\rWork\rWorking \x1b[?25h\r\nnext\r\n", "Working\nnext\n");
        check(b"10%\r20%\r100%\n", "100%\n");
        check(b"long text\rab\x1b[K\n", "ab\n");
        check(b"a\r\nb\r\n", "a\nb\n");
        check(b"one\ntwo\x1b[1A\r\x1b[2KONE\n\x1b[2KTWO\n", "ONE\nTWO\n");
        check(b"abc\x08\x08X\n", "aXc\n");
    }

    #[test]
    fn colours_links_and_titles_go() {
        check(
            b"\x1b[1;31mred\x1b[0m \x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\ \x1b]0;title\x07end\n",
            "red link end\n",
        );
        check(b"\tx\n", "\tx\n");
    }

    #[test]
    fn x09_what_is_no_text_is_written_out() {
        check(b"a\xff\xfeb\n", "a\\xFF\\xFEb\n");
        check(b"nul \0 end", "nul \\x00 end");
        check(b"\xef\xbb\xbfbom", "\u{feff}bom");
        check("line\u{2028}sep\u{85}\n".as_bytes(), "line\u{2028}sep\\u{85}\n");
        check(b"cut \xe4\xbd", "cut \\xE4\\xBD");
        check(b"\xed\xa0\x80", "\\xED\\xA0\\x80");
    }

    #[test]
    fn many_lines_scroll_through() {
        let lines: String = (0..1_000).map(|n| format!("{n}\n")).collect();
        check(lines.as_bytes(), &lines);
    }

    proptest! {
        #[test]
        fn x09_cleaning_is_the_same_however_output_is_cut(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0usize..200) {
            let cut = cut.min(bytes.len());
            let mut cleaner = Cleaner::default();
            cleaner.push(&bytes[..cut]);
            let mut text = cleaner.take();
            cleaner.push(&bytes[cut..]);
            text.push_str(&cleaner.finish());
            prop_assert_eq!(&text, &clean(&bytes));
            prop_assert!(!text.chars().any(|ch| ch.is_control() && ch != '\n' && ch != '\t'));
        }
    }
}
