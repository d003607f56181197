//! What Daybook costs, measured: the goals of speed and of the prompt cache, each beside a control in the same run.
//!
//! A **row** is one goal with its number and what it is compared with. [`run`] measures in temporary folders and asks nobody
//! but a server of its own on this machine; [`audit`] looks at what a store recorded. Invariant: nothing of a person's is
//! touched; what can't be measured here is said to be absent, never guessed.

pub mod audit;
mod bare;
mod log;
mod meter;
mod model;
mod outside;
mod pairs;
mod place;
mod raw;
mod report;
mod rows;

pub use report::{HEADER, Kind, Row};
pub use rows::{Options, names, run};

/// What measuring comes to, or why it came to nothing.
pub(crate) type Done<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
