//! The built program, from outside: its lines, its exit codes, a second process at the door, a kill in the middle.

mod attack;
mod codes;
mod keys;
mod killed;
mod people;
mod rig;
