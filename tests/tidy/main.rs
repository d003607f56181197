//! House rules that no compiler checks: the walls between crates, how files open and how long they are, words that may
//! not appear, both languages, and the table that says which promise is held by which test.
//!
//! Each rule reads the tree itself and names every place that breaks it.

#![expect(clippy::expect_used, reason = "a test that cannot go on fails with the reason at hand")]

mod coverage;
mod events;
mod generated;
mod texts;
mod tree;
mod walls;
mod words;
