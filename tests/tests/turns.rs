//! Turns: limits, refusals, steering and stopping on the whole engine.
