//! Our own lexer of the plain part of the shell's language: words, quotes, joints and redirections.
//!
//! It takes quotes off itself and stops at the first thing it doesn't know. Invariant: a word it returns is what bash and
//! a POSIX shell pass on, whatever the folder, the variables and the options are.

use super::reading::{Doubt, Span, Why};

/// Longest list of tokens.
const MAX_TOKENS: usize = 4_096;

/// A piece of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word, unquoted.
    Word(Word),
    /// `;` or a line's end, `&&`, `||`, `|`.
    Break(Break, Span),
    /// A redirection; its target is the word that follows.
    Redirect(Arrow, Span),
}

/// What separates commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Break {
    Semicolon,
    Line,
    And,
    Or,
    Pipe,
}

/// A redirection's sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrow {
    Read,
    Write,
    Append,
    Duplicate,
    /// `&>`: output and errors.
    WriteBoth,
}

/// A word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Unquoted.
    pub(super) text: String,
    /// With its quotes.
    pub(super) span: Span,
    /// Nothing in it is quoted.
    pub(super) bare: bool,
    /// Where its first `=` is in `text`, if all before it is a bare name: an assignment, at the right place.
    pub(super) equals: Option<usize>,
}

/// Takes a text apart.
pub(super) fn lex(text: &str) -> Result<Vec<Token>, Why> {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new() };
    while lexer.step()? {
        if lexer.tokens.len() > MAX_TOKENS {
            return Err(Why::all(Doubt::TooLarge, text));
        }
    }
    Ok(lexer.tokens)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn doubt(&self, doubt: Doubt, bytes: usize) -> Why {
        Why::at(doubt, self.at, (self.at + bytes).min(self.text.len()))
    }

    /// One token; false at the end.
    fn step(&mut self) -> Result<bool, Why> {
        match self.peek() {
            None => return Ok(false),
            Some(' ' | '\t') => self.at += 1,
            Some('#') => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
            Some('\n' | ';' | '|' | '&' | '<' | '>' | '(' | ')') => self.operator(None)?,
            Some(_) => self.word()?,
        }
        Ok(true)
    }

    fn operator(&mut self, descriptor: Option<usize>) -> Result<(), Why> {
        use Break::{And, Line, Or, Pipe, Semicolon};
        let rest = self.rest();
        // Longest first.
        let refused = [
            // Older versions of bash take its first sign for work in the background.
            ("&>>", Doubt::Redirection),
            ("<<", Doubt::HereDocument),
            ("<(", Doubt::Substitution),
            (">(", Doubt::Substitution),
            ("<>", Doubt::Redirection),
            (">|", Doubt::Redirection),
            ("<&", Doubt::Redirection),
            (">!", Doubt::Redirection),
            (";;", Doubt::Compound),
            (";&", Doubt::Compound),
            ("|&", Doubt::Redirection),
            ("(", Doubt::Compound),
            (")", Doubt::Compound),
        ];
        if let Some((sign, doubt)) = refused.iter().find(|(sign, _)| rest.starts_with(sign)) {
            return Err(self.doubt(*doubt, sign.len()));
        }
        let arrows = [
            ("&>", Arrow::WriteBoth),
            (">>", Arrow::Append),
            (">&", Arrow::Duplicate),
            (">", Arrow::Write),
            ("<", Arrow::Read),
        ];
        if let Some((sign, arrow)) = arrows.iter().find(|(sign, _)| rest.starts_with(sign)) {
            let span = Span { start: descriptor.unwrap_or(self.at), end: self.at + sign.len() };
            self.tokens.push(Token::Redirect(*arrow, span));
            self.at += sign.len();
            return Ok(());
        }
        let breaks = [("&&", And), ("||", Or), ("|", Pipe), (";", Semicolon), ("\n", Line)];
        let Some((sign, kind)) = breaks.iter().find(|(sign, _)| rest.starts_with(sign)) else {
            return Err(self.doubt(Doubt::Background, 1));
        };
        let span = Span { start: self.at, end: self.at + sign.len() };
        self.tokens.push(Token::Break(*kind, span));
        self.at += sign.len();
        Ok(())
    }

    fn word(&mut self) -> Result<(), Why> {
        let start = self.at;
        let mut word =
            Word { text: String::new(), span: Span { start, end: start }, bare: true, equals: None };
        if let Some(sign) = whole_sign(self.rest()) {
            word.text.push_str(sign);
            self.at += sign.len();
        }
        while let Some(ch) = self.peek() {
            match ch {
                ' ' | '\t' | '\n' | ';' | '|' | '&' | '<' | '>' | '(' | ')' => break,
                '\'' => self.single(&mut word)?,
                '"' => self.double(&mut word)?,
                '\\' => self.escape(&mut word)?,
                ch => self.plain(ch, &mut word)?,
            }
        }
        word.span.end = self.at;
        let number = word.bare && !word.text.is_empty() && word.text.bytes().all(|b| b.is_ascii_digit());
        if number && self.peek().is_some_and(|ch| matches!(ch, '<' | '>')) {
            return match word.text.as_str() {
                "0" | "1" | "2" => self.operator(Some(start)),
                _ => Err(Why { doubt: Doubt::Redirection, span: word.span }),
            };
        }
        self.tokens.push(Token::Word(word));
        Ok(())
    }

    fn single(&mut self, word: &mut Word) -> Result<(), Why> {
        let Some(end) = self.rest().get(1..).and_then(|rest| rest.find('\'')) else {
            return Err(self.doubt(Doubt::Quote, 1));
        };
        let inner = self.rest().get(1..=end).unwrap_or_default().to_owned();
        word.text.push_str(&inner);
        word.bare = false;
        self.at += end + 2;
        Ok(())
    }

    fn double(&mut self, word: &mut Word) -> Result<(), Why> {
        let open = self.at;
        word.bare = false;
        self.at += 1;
        while let Some(ch) = self.peek() {
            match ch {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                '$' | '`' => return Err(self.value(ch)),
                '\\' => match self.rest().chars().nth(1) {
                    Some(next @ ('"' | '\\' | '$' | '`')) => {
                        word.text.push(next);
                        self.at += 2;
                    }
                    Some('\n') => return Err(self.doubt(Doubt::Continuation, 2)),
                    Some(_) => self.take('\\', word),
                    None => break,
                },
                ch => self.take(ch, word),
            }
        }
        Err(Why::at(Doubt::Quote, open, open + 1))
    }

    fn escape(&mut self, word: &mut Word) -> Result<(), Why> {
        match self.rest().chars().nth(1) {
            None => Err(self.doubt(Doubt::Quote, 1)),
            Some('\n') => Err(self.doubt(Doubt::Continuation, 2)),
            Some(ch) => {
                word.bare = false;
                self.at += 1;
                self.take(ch, word);
                Ok(())
            }
        }
    }

    fn plain(&mut self, ch: char, word: &mut Word) -> Result<(), Why> {
        let last = word.text.chars().next_back();
        match ch {
            '$' | '`' => return Err(self.value(ch)),
            '*' | '?' | '[' | ']' => return Err(self.doubt(Doubt::Glob, 1)),
            '{' | '}' => return Err(self.doubt(Doubt::Brace, 1)),
            '!' => return Err(self.doubt(Doubt::History, 1)),
            // A home at the beginning and after `=` and `:`; elsewhere it is a letter like others (`HEAD~1`).
            '~' if !last.is_some_and(|ch| ch.is_ascii_alphanumeric() || ch == '^') => {
                return Err(self.doubt(Doubt::Tilde, 1));
            }
            '=' if word.equals.is_none() && word.bare && is_name(&word.text) => {
                word.equals = Some(word.text.len());
            }
            _ => {}
        }
        self.take(ch, word);
        Ok(())
    }

    fn take(&mut self, ch: char, word: &mut Word) {
        word.text.push(ch);
        self.at += ch.len_utf8();
    }

    /// What a `$` or a backtick begins.
    fn value(&self, ch: char) -> Why {
        let next = self.rest().chars().nth(1);
        match (ch, next) {
            ('`', _) => self.doubt(Doubt::Substitution, 1),
            (_, Some('(')) if self.rest().starts_with("$((") => self.doubt(Doubt::Expansion, 3),
            (_, Some('(')) => self.doubt(Doubt::Substitution, 2),
            (_, Some('\'' | '"')) => self.doubt(Doubt::Quote, 2),
            _ => self.doubt(Doubt::Expansion, 1),
        }
    }
}

/// A sign that is plain only when it is the whole word: `!` and `{}` of `find`, the brackets of a test.
fn whole_sign(rest: &str) -> Option<&'static str> {
    let ends = |after: &str| after.chars().next().is_none_or(|ch| " \t\n;|&<>()".contains(ch));
    ["{}", "!", "[", "]"].into_iter().find(|sign| rest.strip_prefix(sign).is_some_and(ends))
}

fn is_name(text: &str) -> bool {
    text.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
