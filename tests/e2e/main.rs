//! End to end: the built program in its real window, driven as a person would, under a display, a session bus and a key
//! store of its own.
//!
//! `scripts/test` starts those and runs this with one thread; pictures of every station stay in `target/e2e`.

#![expect(clippy::expect_used, reason = "a test that cannot go on fails with the reason at hand")]

mod baseline;
mod driver;
mod hand;
mod made;
mod model;
mod notices;
mod tour;
mod window;
mod work;
