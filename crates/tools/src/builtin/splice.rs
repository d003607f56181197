//! Replacing text in a body whose line ends may be of any kind.
//!
//! [`Lf`] is a view with plain line breaks that knows where each byte stood. Invariant: only what really differs between
//! the old and the new text is replaced, so the line ends of untouched lines stay; new lines end like their neighbours.

/// A body seen with `\n` line ends only.
pub(super) struct Lf<'a> {
    /// As it is.
    pub(super) body: &'a str,
    /// The view.
    pub(super) text: String,
    /// Positions in the view of line breaks that are `\r\n` in the body.
    crlf: Vec<usize>,
}

impl<'a> Lf<'a> {
    pub(super) fn of(body: &'a str) -> Self {
        let mut text = String::with_capacity(body.len());
        let mut crlf = Vec::new();
        let mut rest = body;
        while let Some(at) = rest.find("\r\n") {
            text.push_str(&rest[..at]);
            crlf.push(text.len());
            text.push('\n');
            rest = &rest[at + 2..];
        }
        text.push_str(rest);
        Self { body, text, crlf }
    }

    /// Where `old` stands in the view, without overlaps.
    pub(super) fn find_all(&self, old: &str) -> Vec<usize> {
        self.text.match_indices(old).map(|(at, _)| at).collect()
    }

    /// The line of a position in the view, from 1.
    pub(super) fn line_of(&self, at: usize) -> usize {
        self.text[..at].matches('\n').count() + 1
    }

    /// The body with `old` at these positions of the view replaced.
    pub(super) fn replaced(&self, found: &[usize], old: &str, new: &str) -> String {
        let (before, after) = common(old, new);
        let changed = &new[before..new.len() - after];
        let mut out = String::with_capacity(self.body.len() + new.len());
        let mut from = 0;
        for at in found {
            let start = self.in_body(at + before);
            let end = self.in_body(at + old.len() - after);
            out.push_str(&self.body[from..start]);
            match self.line_end(at + before) {
                "\r\n" => out.push_str(&changed.replace('\n', "\r\n")),
                _ => out.push_str(changed),
            }
            from = end;
        }
        out.push_str(&self.body[from..]);
        out
    }

    /// A position of the view, in the body: one more for each `\r` before it.
    fn in_body(&self, at: usize) -> usize {
        at + self.crlf.partition_point(|crlf| *crlf < at)
    }

    /// How the line at this position of the view ends; the last line ends like the one before it.
    fn line_end(&self, at: usize) -> &'static str {
        let next = self.text[at..].find('\n').map(|ahead| at + ahead);
        let near = next.or_else(|| self.text[..at].rfind('\n'));
        match near {
            Some(at) if self.crlf.binary_search(&at).is_ok() => "\r\n",
            _ => "\n",
        }
    }
}

/// How many bytes two texts share at their beginning and, besides those, at their end.
fn common(old: &str, new: &str) -> (usize, usize) {
    let pairs = old.char_indices().zip(new.chars());
    let before = pairs.take_while(|((_, a), b)| a == b).last().map_or(0, |((at, ch), _)| at + ch.len_utf8());
    let (old, new) = (&old[before..], &new[before..]);
    let after = old
        .chars()
        .rev()
        .zip(new.chars().rev())
        .take_while(|(a, b)| a == b)
        .map(|(ch, _)| ch.len_utf8())
        .sum();
    (before, after)
}
