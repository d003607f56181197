//! Tests of revisions: what is covered, what stands in the way, laws, races, crashes.

mod rig;
mod there_and_back;
