//! The report: one row for each goal, as JSON for programs and as a table for people.
//!
//! A **gate** must hold, what is only **reported** may not. Invariant: a number that wasn't measured is absent and the row
//! says why; nothing is made up to fill it.

use serde_json::{Value, json};

/// Must it hold?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Yes: counts and processor time, which one run settles.
    Gate,
    /// No: it is told.
    Reported,
}

/// One goal and what was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// `P1`, `C3`, or a name of ours; several rows may have the same where a goal has parts.
    pub id: &'static str,
    /// What should be so.
    pub goal: String,
    /// What is so; `None` where it wasn't measured.
    pub value: Option<f64>,
    /// The same of what it is compared with.
    pub baseline: Option<f64>,
    /// Of both.
    pub unit: &'static str,
    /// Must it hold?
    pub kind: Kind,
    /// Does it? `None` where nothing was measured, or there is nothing to hold.
    pub holds: Option<bool>,
    /// How it was measured, and what wasn't.
    pub note: String,
}

impl Row {
    /// A number that should be at most this.
    pub(crate) fn at_most(id: &'static str, goal: impl Into<String>, value: f64, most: f64) -> Self {
        Self::of(id, goal, value, value <= most)
    }

    /// A number that should be at least this.
    pub(crate) fn at_least(id: &'static str, goal: impl Into<String>, value: f64, least: f64) -> Self {
        Self::of(id, goal, value, value >= least)
    }

    fn of(id: &'static str, goal: impl Into<String>, value: f64, holds: bool) -> Self {
        let measured = value.is_finite();
        Self {
            id,
            goal: goal.into(),
            value: measured.then_some(value),
            baseline: None,
            unit: "",
            kind: Kind::Reported,
            holds: measured.then_some(holds),
            note: String::new(),
        }
    }

    /// What can't be measured here, and why.
    pub(crate) fn absent(id: &'static str, goal: impl Into<String>, why: impl Into<String>) -> Self {
        Self { note: why.into(), ..Self::of(id, goal, f64::NAN, false) }
    }

    pub(crate) fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    pub(crate) fn beside(self, baseline: f64) -> Self {
        Self { baseline: baseline.is_finite().then_some(baseline), ..self }
    }

    pub(crate) fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// It must hold: a gate that couldn't be measured doesn't.
    pub(crate) fn gate(self) -> Self {
        Self { kind: Kind::Gate, holds: Some(self.holds == Some(true)), ..self }
    }

    /// Is it a gate that doesn't hold?
    #[must_use]
    pub fn fails(&self) -> bool {
        self.kind == Kind::Gate && self.holds != Some(true)
    }

    /// For programs.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "id": self.id,
            "goal": self.goal,
            "value": self.value.map(rounded),
            "baseline": self.baseline.map(rounded),
            "unit": self.unit,
            "kind": match self.kind {
                Kind::Gate => "gate",
                Kind::Reported => "reported",
            },
            "holds": self.holds,
            "note": self.note,
        })
    }

    /// For people.
    #[must_use]
    pub fn line(&self) -> String {
        let number = |value: Option<f64>| value.map_or("–".to_owned(), shown);
        let word = match (self.holds, self.kind) {
            (Some(true), _) => "holds",
            (Some(false), Kind::Gate) => "FAILS",
            (Some(false), Kind::Reported) => "missed",
            (None, _) => "–",
        };
        let gate = if self.kind == Kind::Gate { "gate" } else { "" };
        let (value, baseline) = (number(self.value), number(self.baseline));
        let (id, unit, goal) = (self.id, self.unit, &self.goal);
        let note = if self.note.is_empty() { String::new() } else { format!("\n{:>46}{}", "", self.note) };
        format!("{id:<6}{word:<7}{gate:<5}{value:>10} {baseline:>10} {unit:<6}{goal}{note}")
    }
}

/// What stands above the lines.
pub const HEADER: &str = "goal               measured compared with";

fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

fn shown(value: f64) -> String {
    match value.abs() {
        1000.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_every_field_whatever_was_measured() {
        let row =
            Row::at_most("P1", "at most twice", 1.234_567, 2.0).unit("×").beside(1.0).note("in one run");
        let expect = json!({"id": "P1", "goal": "at most twice", "value": 1.2346, "baseline": 1.0, "unit": "×",
            "kind": "reported", "holds": true, "note": "in one run"});
        assert_eq!(row.json(), expect);
        let absent = Row::absent("P15", "fork", "not there").json();
        for (field, expect) in [("value", Value::Null), ("holds", Value::Null), ("note", json!("not there"))]
        {
            assert_eq!(absent[field], expect, "{field}");
        }
    }

    #[test]
    fn only_a_gate_fails_and_one_that_was_not_measured_does() {
        let row = |value| Row::at_most("P2", "at most 2", value, 2.0);
        for (value, fails) in [(1.0, false), (2.0, false), (3.0, true), (f64::NAN, true)] {
            assert_eq!(row(value).gate().fails(), fails, "{value}");
            assert!(!row(value).fails(), "{value} is only reported");
        }
    }

    #[test]
    fn a_line_says_what_holds() {
        let row = |value| Row::at_most("C1", "grows", value, 1.0);
        assert!(row(2.0).gate().line().starts_with("C1    FAILS  gate"), "{}", row(2.0).gate().line());
        assert!(row(2.0).line().contains("missed"));
        assert!(row(1.0).line().contains("holds"));
    }
}
