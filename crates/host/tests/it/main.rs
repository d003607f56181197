//! A whole host from inside: the room, its subscriptions, the door, the tour.

mod door;
mod lists;
mod rig;
mod subscribing;
mod tour;
