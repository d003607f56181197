//! A whole host from inside: the room, its subscriptions, the door, the tour.

#![expect(clippy::expect_used, reason = "a test that can't go on says where")]

mod added;
mod archive;
mod certificates;
mod copies;
mod door;
mod erasing;
mod lists;
mod moving;
mod queue;
mod record;
mod rig;
mod rules;
mod seat;
mod subscribing;
mod tour;
mod trace;
