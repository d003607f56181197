//! Recovery: what a new process does about what a dead one left open.
