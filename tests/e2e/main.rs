//! End to end: the built program in its real window, driven as a person would, under a display, a session bus and a key
//! store of its own.
//!
//! `scripts/test` starts those and runs this with one thread; pictures of every station stay in `target/e2e`.

mod baseline;
mod driver;
mod tour;
mod window;
