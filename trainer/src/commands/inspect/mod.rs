//! `quaver inspect`: the contents and requirements of a checkpoint.

mod latent;
mod network;
mod ranges;
mod reducer;

use std::path::PathBuf;

use anyhow::{Context, Result};
use quaver::checkpoint::Kind;
use quaver::{LatentModel, Model, ReducerModel};

use super::checkpoint_file;
use super::print::{print_json, print_text};

/// Show the contents and requirements of a checkpoint
///
/// Prints architecture, parameters, what pruning has left of each map, flash, RAM (arena, handle, stack of a
/// step and of loading), predicted instructions per step in the worst row, and plausible ranges of the
/// inputs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver inspect model.qvr
  quaver inspect model.qvr --json | jq .device_memory.M4F")]
pub struct Arguments {
    /// The checkpoint of a network, a latent model or a reducer.
    #[arg(value_name = "MODEL.qvr")]
    model: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let path = arguments.model.display();
    let bytes = checkpoint_file::read(&arguments.model, "")?;
    let unusable = || format!("{path} is not a usable checkpoint");
    let (description, text) = if Kind::of(&bytes) == Some(Kind::Latent) {
        let model = LatentModel::load(&bytes).with_context(unusable)?;
        (latent::describe(&model, bytes.len()), latent::render(&model, bytes.len()))
    } else if Kind::of(&bytes) == Some(Kind::Reducer) {
        let model = ReducerModel::load(&bytes).with_context(unusable)?;
        (reducer::describe(&model, bytes.len()), reducer::render(&model, bytes.len()))
    } else {
        let model = Model::load(&bytes).with_context(unusable)?;
        let description = network::describe(&model, bytes.len());
        let text = network::render(&model, &description);
        (description, text)
    };
    if arguments.json { print_json(&description) } else { print_text(&text) }
}

/// One fact per line. Values are aligned to the left, unlike in a table.
fn facts<'t>(facts: impl IntoIterator<Item = (&'t str, String)>) -> String {
    facts.into_iter().map(|(label, value)| format!("{label:<11} {}\n", value.trim_end())).collect()
}
