//! Tests that go the whole way of a call: text of the model in, result out.
//!
//! Each file proves rows of one part of the case lists; the rig stands for engine and host: a temporary folder, blobs in
//! memory, the real cage. Tests are named after the rows they prove.

mod added;
mod leaving;
mod network;
mod odd;
mod paths;
mod permission;
mod race;
mod repository;
mod rig;
mod rules;
mod saving;
mod secrecy;
mod several;
mod shapes;
mod shell;
mod words;

mod bytes;
mod deleting;
mod editing;
mod files;
mod flow;
mod granted;
