//! Putting it together on one machine: data folder, store, keychain, settings, engine, room, the local door, archives.
//!
//! A **host** is the one process that has a store open for writing; everybody else comes through its door; a
//! **seat** is a client's place, whoever hosts. Invariants: one host a store; a key is in memory and in the keychain and
//! nowhere else; what a host closes has come to rest.

mod archive;
mod certificates;
pub mod data;
mod desk;
mod doctor;
pub mod door;
mod folders;
mod host;
mod keep;
mod keychain;
mod models;
mod permissions;
mod ports;
mod reading;
mod rules;
mod seat;
mod services;
pub mod settings;
mod show;
pub mod tour;
mod trace;
mod vault;
mod verify;
mod wide;

pub use archive::{ArchiveError, Archived, export, import};
pub use data::{data_folder, store_name};
pub use doctor::{Health, doctor};
pub use domain::ids::Ids;
pub use host::{Host, OpenFailure, Options};
pub use keychain::{Keychain, KeychainError, NoKeychain, SystemKeychain};
pub use models::SCRIPTED;
pub use ports::{SystemClock, SystemIds};
pub use providers::dialect::WIRES as DIALECTS;
pub use reading::read;
pub use seat::Seat;
pub use trace::{Words, trace};
pub use vault::{KeyError, KeyState, Source, Vault, environment};
pub use verify::{Checked, VerifyError, verify};
