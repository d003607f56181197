//! What a client sees: typed commands, subscriptions by sequence number, errors with a code, a message and a hint.
//!
//! Three doors lead to this one room (the window's IPC, the local door, stdio); wire types stop here. Invariant: no
//! command takes a path or a program from the page, and no reply holds a secret.

pub mod wire;
