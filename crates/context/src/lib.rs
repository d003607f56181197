//! What the model sees: fragments in a fixed order, the host's notes, project documents, and the addition to the history.
//!
//! A **fragment** is one typed contribution to a request, with source, trust, digest and token estimate. The head
//! (instructions and tools) is stable and the same for every provider; everything that changes goes to the end of the
//! history as a recorded note. Invariant: nothing reaches a request that isn't an event or a fragment named here, so
//! what the model saw can be rebuilt.

pub mod added;
pub mod addition;
pub mod budget;
pub mod checkpoint;
pub mod documents;
pub mod environment;
pub mod estimate;
pub mod fragment;
pub mod head;
pub mod plan;

pub use addition::{Addition, addition};
pub use documents::{Document, Documents};
pub use environment::Environment;
pub use fragment::{Fragment, Fragments, Registration};
