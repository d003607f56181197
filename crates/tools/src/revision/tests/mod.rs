//! Tests of revisions: what is covered, what stands in the way, laws, races, crashes.
#![cfg(unix)]

mod crashing;
mod kept;
mod laws;
mod racing;
mod rig;
mod scanning;
mod there_and_back;
mod uncovered;
