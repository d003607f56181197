//! The rows, one file for each goal; this is the list of them and the run over it.
//!
//! Invariant: a goal that can't be measured gives a row all the same, with the reason; a gate then doesn't hold.

mod barriers;
mod cache;
#[cfg(test)]
pub(crate) use cache::played;
mod growth;
mod idle;
mod long;
mod open;
mod output;
mod program;
mod replay;
mod step;
mod stop;
mod stream;
mod visible;
mod write;

use crate::Done;
use crate::report::{Kind, Row};
use std::path::PathBuf;
use tokio::runtime::Handle;

/// How a run is made.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Only these goals; all of them when empty.
    pub only: Vec<String>,
    /// Less of everything: for looking whether it works, not for numbers.
    pub quick: bool,
    /// What takes minutes as well.
    pub long: bool,
    /// The program itself, for what is measured from outside.
    pub program: PathBuf,
}

/// What every row is measured with.
pub(crate) struct Run<'a> {
    pub(crate) options: &'a Options,
    /// Where asynchronous work runs. The rows themselves run on a thread that may wait.
    pub(crate) runtime: Handle,
}

impl Run<'_> {
    /// This many; a few when it is to be quick.
    pub(crate) fn count(&self, usual: usize, quick: usize) -> usize {
        if self.options.quick { quick } else { usual }
    }

    /// Rounds of pairs.
    pub(crate) fn rounds(&self) -> usize {
        self.count(crate::pairs::ROUNDS, 3)
    }
}

/// A part of the run: the goals it measures, whether they are gates, and how.
struct Part {
    ids: &'static [&'static str],
    kind: Kind,
    measure: fn(&Run<'_>) -> Done<Vec<Row>>,
}

const PARTS: &[Part] = &[
    Part { ids: &["P1"], kind: Kind::Reported, measure: write::measure },
    Part { ids: &["P2"], kind: Kind::Gate, measure: barriers::measure },
    Part { ids: &["P3"], kind: Kind::Reported, measure: replay::measure },
    Part { ids: &["P4"], kind: Kind::Reported, measure: open::measure },
    Part { ids: &["P5"], kind: Kind::Gate, measure: step::measure },
    Part { ids: &["P6"], kind: Kind::Gate, measure: growth::measure },
    Part { ids: &["P7"], kind: Kind::Reported, measure: stream::measure },
    Part { ids: &["P8"], kind: Kind::Reported, measure: visible::measure },
    Part { ids: &["P10"], kind: Kind::Reported, measure: idle::measure },
    Part { ids: &["P12"], kind: Kind::Reported, measure: program::start },
    Part { ids: &["P14"], kind: Kind::Reported, measure: output::measure },
    Part { ids: &["P15"], kind: Kind::Reported, measure: long::measure },
    Part { ids: &["P16"], kind: Kind::Reported, measure: stop::measure },
    Part { ids: &["step"], kind: Kind::Reported, measure: program::steps },
    Part { ids: &["C1", "C2", "C3", "C4", "C5", "C6"], kind: Kind::Gate, measure: cache::measure },
];

/// The names of all goals that are measured.
pub fn names() -> impl Iterator<Item = &'static str> {
    PARTS.iter().flat_map(|part| part.ids.iter().copied())
}

/// Measures, telling each row as it comes. Blocks for minutes: not for a thread that must not wait.
pub fn run(options: &Options, runtime: Handle, tell: &mut dyn FnMut(&Row)) -> Vec<Row> {
    let run = Run { options, runtime };
    let mut all = Vec::new();
    let wanted = |id: &str| options.only.is_empty() || options.only.iter().any(|only| only == id);
    for part in PARTS.iter().filter(|part| part.ids.iter().any(|id| wanted(id))) {
        let rows = (part.measure)(&run).unwrap_or_else(|failed| could_not(part, failed.as_ref()));
        for row in rows.into_iter().filter(|row| wanted(row.id)) {
            tell(&row);
            all.push(row);
        }
    }
    all
}

fn could_not(part: &Part, failed: &(dyn std::error::Error + Send + Sync)) -> Vec<Row> {
    let row = |id: &&'static str| {
        let row = Row::absent(id, "", format!("it couldn't be measured: {failed}"));
        if part.kind == Kind::Gate { row.gate() } else { row }
    };
    part.ids.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_measured_still_gives_its_rows() {
        for (kind, fails) in [(Kind::Gate, true), (Kind::Reported, false)] {
            let part = Part { ids: &["P2", "P5"], kind, measure: |_| Err("no disk".into()) };
            let failed: Box<dyn std::error::Error + Send + Sync> = "no disk".into();
            let rows = could_not(&part, failed.as_ref());
            assert_eq!(rows.iter().map(|row| row.id).collect::<Vec<_>>(), ["P2", "P5"]);
            assert!(rows.iter().all(|row| row.fails() == fails && row.note.contains("no disk")));
        }
    }

    #[test]
    fn a_goal_belongs_to_one_part() {
        let mut names: Vec<_> = names().collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
