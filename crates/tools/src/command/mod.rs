//! What a command would do, as far as it can be known without running it.
//!
//! A **reading** is a command's text taken apart into simple commands with literal words, or the reasons why it can't be.
//! A parser from a library and a lexer of ours must agree on every word, and everything either doesn't know is *unclear*.
//! Invariant: an unclear reading is never harmless and never covered by a rule; the verdict is made here, not by a parser.

mod about;
mod bash;
mod denial;
mod git;
mod harmless;
mod kinds;
mod lex;
mod look;
mod options;
mod pattern;
mod powershell;
mod reading;
mod shown;
mod special;
mod summary;
mod table;
mod tree;
mod unwrap;

#[cfg(test)]
mod tests;

pub(crate) use about::{mentions, mentions_publishing, named};
pub use denial::{Denial, denied_by};
pub use harmless::{Harmless, harmless, named_folders};
pub use pattern::{Pattern, covers};
pub use reading::{
    Assignment, Dialect, Doubt, Joint, Reading, Redirect, RedirectKind, Simple, Span, Via, Why,
};
pub(crate) use shown::hidden_between;
pub use shown::{Shown, Warning, WarningKind, shown};
pub use summary::{Summary, summary};

/// Reads a command as the given shell would. Never fails: what isn't fully understood is [`Reading::Unclear`].
#[must_use]
pub fn read(text: &str, dialect: Dialect) -> Reading {
    match dialect {
        Dialect::Bash | Dialect::Sh => bash::read(text, dialect),
        Dialect::PowerShell => powershell::read(text),
        // Its quoting depends on the program that is called, and no parser of it can be had.
        Dialect::Cmd => reading::unclear(text, vec![Why::all(Doubt::Dialect, text)]),
    }
}
