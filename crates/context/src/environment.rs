//! The environment note: the few facts of the moment a model needs, given once and again only when they change.
//!
//! It stands in the history beside the person's words, never in the head, so the prefix stays byte-identical.

use domain::call::Mode;

/// Facts of the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// Today's date in the person's zone, `2026-11-29`.
    pub date: String,
    /// The folder's name (not its path).
    pub folder: String,
    /// `Linux`, `macOS` or `Windows`.
    pub system: String,
    /// The mode.
    pub mode: Mode,
    /// Can commands run here, and how: a cage's strength.
    pub shell: String,
}

impl Environment {
    /// The note as the model reads it.
    #[must_use]
    pub fn text(&self) -> String {
        let mode = match self.mode {
            Mode::Ask => "Ask first: every change and every command needs the person's yes",
            Mode::Edit => {
                "Edit freely: changes to files are free, deleting and commands need the person's yes"
            }
            Mode::Plan => "Plan only: nothing may be changed; look, then propose a plan",
            Mode::Auto => "Auto: changes and caged commands are free, deleting needs the person's yes",
        };
        format!(
            "<environment>\nDate: {}\nFolder: {}\nSystem: {} (commands: {})\nMode: {mode}\n</environment>",
            self.date, self.folder, self.system, self.shell
        )
    }
}
