//! The host side of Quaver: from sensor recordings to checkpoints.
//!
//! An experiment passes through the modules in this order, and a module imports only those before it
//! (`ARCHITECTURE.md`, *Layers*): [`config`] is a TOML file as plain data; [`data`] reads the files it names
//! and makes batches; [`nn`] is the network on Burn; [`prediction`] holds its predictions in raw units;
//! [`fit`] trains and keeps the run folder; [`latent`] composes two networks into models of latent
//! sequences, and [`reduce`] reduces sequences to points and classes;
//! [`runs`] trains and loads either kind, and [`import`] takes networks that were trained elsewhere;
//! [`evaluate`] scores; [`export`] writes checkpoints for the `quaver` runtime; [`report`] draws; [`search`]
//! tries many configs; [`auto`] goes from files that [`survey`] has looked at to a model that fits a board;
//! [`commands`] is the command line.
#![warn(missing_docs)]

pub mod auto;
pub mod commands;
pub mod config;
pub mod data;
pub mod demo;
pub mod evaluate;
pub mod export;
mod files;
pub mod fit;
mod golden_section;
pub mod import;
pub mod latent;
mod memory;
pub mod nn;
pub mod prediction;
mod printable;
pub mod random;
pub mod reduce;
pub mod report;
pub mod runs;
pub mod search;
mod signing;
pub mod survey;
pub mod text;
