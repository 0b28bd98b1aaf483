//! The host's half of Quaver: from sensor recordings to checkpoints.
//!
//! A sample walks through the modules in this order: [`data`] reads files as [`config`] says and makes batches; [`nn`] is
//! the network on Burn, and [`latent`] composes two of them into models of latent sequences; [`fit`] trains either and keeps the
//! run folder; [`evaluate`] scores forecasts; [`export`] writes
//! checkpoints for the `quaver` runtime; [`report`] draws; [`search`] tries many configs; [`commands`] is the command line.
#![warn(missing_docs)]

pub mod commands;
pub mod config;
pub mod data;
pub mod demo;
pub mod evaluate;
pub mod export;
mod files;
pub mod fit;
pub mod latent;
pub mod nn;
pub mod report;
pub mod search;
