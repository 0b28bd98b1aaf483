//! What `quaver demo` runs on when nobody has handed it data yet.

pub mod signal;
