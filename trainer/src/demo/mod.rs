//! The synthetic recordings of `quaver demo`.

pub mod signal;
