//! Scenarios: whole turns on the real engine, store and hands, with a scripted model and a counting shell.

#![expect(clippy::expect_used, reason = "a test ends where its ground is missing")]

mod added;
mod anywhere;
mod attached;
mod attacks;
mod attacks_injection;
mod cases;
mod checkpoint;
mod closing;
mod crash;
mod declared;
mod effects;
mod erase;
mod erase_everywhere;
mod extended;
mod facts;
#[cfg(target_os = "linux")]
mod failing_disk;
mod folders;
mod golden;
mod grants;
mod hostile;
mod jobs;
mod long;
mod long_page;
mod long_service;
mod models;
mod money;
mod parts;
mod pipeline;
mod play;
#[cfg(target_os = "linux")]
mod power;
mod prompt;
mod rebuild;
mod record;
mod recovery;
mod replay;
mod rules;
mod scenarios;
mod simulation;
mod streams;
mod thin;
mod turns;
mod undo;
mod undo_whose;
mod verify;
