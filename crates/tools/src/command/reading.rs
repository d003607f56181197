//! What a reading is made of: simple commands, or doubts with their places.
//!
//! A **simple command** is one program with literal words. A **doubt** is a code and a span; the window words it. Invariant:
//! every word in here is what the shell would pass on, byte for byte, with nothing left to expand.

use serde::{Deserialize, Serialize};

/// Which shell's language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// GNU bash, not interactive.
    Bash,
    /// A POSIX shell.
    Sh,
    /// Windows PowerShell without a profile.
    PowerShell,
    /// The command processor of Windows: never understood.
    Cmd,
}

/// A command's text, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// All of it, in order; at least one command.
    Understood(Vec<Simple>),
    /// Not all of it.
    Unclear {
        /// Why; at least one.
        why: Vec<Why>,
        /// The words in it with quotes taken off, whatever they mean: to see whether a denied program is mentioned.
        words: Vec<String>,
    },
}

/// Bytes of the text, from and up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// One reason why a text isn't understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Why {
    /// What it is.
    pub doubt: Doubt,
    /// Where it is.
    pub span: Span,
}

impl Why {
    pub(super) fn at(doubt: Doubt, start: usize, end: usize) -> Self {
        Self { doubt, span: Span { start, end } }
    }

    pub(super) fn all(doubt: Doubt, text: &str) -> Self {
        Self::at(doubt, 0, text.len())
    }
}

/// What isn't understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// There is no command in it.
    Empty,
    /// Too long, or too deeply nested.
    TooLarge,
    /// This shell's language isn't read at all.
    Dialect,
    /// It doesn't follow the grammar.
    Syntax,
    /// A control character, a carriage return among them.
    Control,
    /// A character that can't be seen, turns the direction of writing, or imitates another.
    Hidden,
    /// A quote that isn't closed, or a kind of quote that isn't read (`$'…'`).
    Quote,
    /// A line that goes on on the next one.
    Continuation,
    /// A value that is only known when it runs: `$x`, `${x}`, `$((x))`.
    Expansion,
    /// A command inside another one: `$(…)`, backticks, `<(…)`.
    Substitution,
    /// Names that match a pattern: `*`, `?`, `[…]`.
    Glob,
    /// `{a,b}`.
    Brace,
    /// `~`.
    Tilde,
    /// `!`.
    History,
    /// Loops, conditions, groups, functions, coprocesses.
    Compound,
    /// Runs in the background: `&`.
    Background,
    /// Text fed to a command: `<<`, `<<<`.
    HereDocument,
    /// A redirection whose meaning isn't plain.
    Redirection,
    /// A redirection that opens a connection: `/dev/tcp/…`.
    NetworkDevice,
    /// Changes the shell itself: variables, options, traps.
    State,
    /// A program that runs another, called in a way that isn't read.
    Wrapper,
    /// The two readings of the text differ.
    Disagreement,
}

/// One program with its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    /// The program and its arguments, wrappers taken off; never empty.
    pub argv: Vec<String>,
    /// Variables set for it, by the shell or by a wrapper.
    pub assignments: Vec<Assignment>,
    /// Redirections, in order; those of a shell around it come first.
    pub redirects: Vec<Redirect>,
    /// Programs that were looked through to reach it, outermost first.
    pub via: Vec<Via>,
    /// Words are added when it runs (`xargs`, `find -exec`).
    pub open: bool,
    /// How it hangs on the one before.
    pub joint: Joint,
    /// Whose language it is written in: a name means another program in PowerShell.
    pub dialect: Dialect,
    /// Where it stands in the text; of a nested shell's commands, where the outer one stands.
    pub span: Span,
}

impl Simple {
    /// The program as written.
    #[must_use]
    pub fn program(&self) -> &str {
        self.argv.first().map_or("", String::as_str)
    }

    /// The arguments.
    #[must_use]
    pub fn args(&self) -> &[String] {
        self.argv.get(1..).unwrap_or_default()
    }
}

/// `name=value` before a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// Its literal value.
    pub value: String,
}

/// A program that starts the one that follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Via {
    /// Its name, without a folder.
    pub program: String,
    /// Does the program behind it run just as it would by itself?
    pub transparent: bool,
}

/// Where input comes from or output goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redirect {
    /// What it does.
    pub kind: RedirectKind,
    /// The file, or the descriptor for [`RedirectKind::Duplicate`].
    pub target: String,
}

/// What a redirection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RedirectKind {
    /// Reads the file.
    Read,
    /// Empties and writes the file.
    Write,
    /// Adds to the file.
    Append,
    /// Joins two descriptors, or closes one (`-`).
    Duplicate,
}

impl Redirect {
    /// Does it neither read nor write a file?
    pub(super) fn is_idle(&self) -> bool {
        match self.kind {
            RedirectKind::Duplicate => true,
            RedirectKind::Read | RedirectKind::Write | RedirectKind::Append => self.target == "/dev/null",
        }
    }
}

/// How a command hangs on the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Joint {
    /// It is the first.
    First,
    /// Runs after it.
    Then,
    /// Runs if it succeeded.
    And,
    /// Runs if it failed.
    Or,
    /// Reads its output.
    Pipe,
}

/// An unclear reading, with the words in it.
pub(super) fn unclear(text: &str, why: Vec<Why>) -> Reading {
    Reading::Unclear { why, words: words(text) }
}

/// Most words kept of an unclear text.
const MAX_WORDS: usize = 4_096;

/// Whatever could be a word: runs without quotes, spaces and operators.
fn words(text: &str) -> Vec<String> {
    let bare: String =
        text.replace("\\\n", "").chars().filter(|ch| !matches!(ch, '\'' | '"' | '\\' | '^')).collect();
    let apart = |ch: char| ch.is_whitespace() || ch.is_control() || "`$(){}[]<>|&;,=@".contains(ch);
    let mut out: Vec<String> = bare.split(apart).filter(|word| !word.is_empty()).map(str::to_owned).collect();
    out.truncate(MAX_WORDS);
    out
}
