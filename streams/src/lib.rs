//! Replays a stream through a model and hashes every bit of the predictions, on hosts and boards alike.
//!
//! Tests and firmware share it, so that both run the same code on the same numbers.
//!
//! - [`replay`]: from a checkpoint and its rows to a fingerprint.
//! - [`fingerprint`]: a hash of a stream of predictions.
//! - [`text`]: text that a model writes.
//! - [`numbers`]: pseudo-random numbers that are the same on every machine.

#![no_std]

#[cfg(test)]
extern crate std;

pub mod fingerprint;
pub mod numbers;
pub mod replay;
pub mod text;
