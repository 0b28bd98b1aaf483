//! `quaver export`: a run's best model as a checkpoint, measured through the runtime before it is written.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use clap::ValueEnum;
use quaver::Model;
use quaver::checkpoint::WeightFormat;

use crate::config::Config;
use crate::data::Sequence;
use crate::export::{Cost, contents, cost, rust_constants};
use crate::files;
use crate::fit::{RunFolder, RunState};

/// Write a run's best model as a checkpoint, and say what that costs.
///
/// The checkpoint is run through the runtime on the validation data, beside the same net in f32, before anything is
/// written. Beside MODEL.qvr a Rust file of the same name holds the constants that firmware needs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver export runs/first -o model.qvr
  quaver export runs/first --weights f32 -o model-f32.qvr --json")]
pub struct Arguments {
    /// The run folder.
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// How weights are stored.
    #[arg(long, value_enum, default_value_t = Weights::Int8)]
    weights: Weights,
    /// The checkpoint to write.
    #[arg(short, long, value_name = "MODEL.qvr")]
    output: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// How weights are stored.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(super) enum Weights {
    Int8,
    F32,
}

impl From<Weights> for WeightFormat {
    fn from(weights: Weights) -> Self {
        match weights {
            Weights::Int8 => WeightFormat::Int8,
            Weights::F32 => WeightFormat::F32,
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let folder = RunFolder::new(&arguments.run);
    let state = RunState::load(&folder.best_state())?;
    let data = Config::load(&folder.config(), &[])?.load_data()?;
    let exported = export(&state, arguments.weights.into(), &data.valid, &arguments.output)?;
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&exported.cost)?);
    } else {
        print!("{}", render(arguments, &exported)?);
    }
    Ok(())
}

/// A checkpoint that has been measured and written.
pub(super) struct Exported {
    pub(super) bytes: Vec<u8>,
    pub(super) f32_bytes: Vec<u8>,
    pub(super) cost: Cost,
    constants: PathBuf,
}

/// Encodes a state, measures it on `sequences` through the runtime, and only then writes it.
pub(super) fn export(
    state: &RunState,
    format: WeightFormat,
    sequences: &[Sequence],
    output: &Path,
) -> Result<Exported> {
    let encode = |format| {
        let contents = contents(
            &state.spec,
            format,
            &state.parameters,
            &state.scaling,
            &state.input_names,
            &state.target_names,
        );
        quaver::checkpoint::write(&contents).map_err(|error| anyhow!("the model cannot be stored: {error}"))
    };
    let (bytes, f32_bytes) = (encode(format)?, encode(WeightFormat::F32)?);
    let cost = cost(state.spec.likelihood, &state.target_names, sequences, &f32_bytes, &bytes)?;
    let constants = output.with_extension("rs");
    let name = output.file_name().context("--output must name a file")?.to_string_lossy();
    let text = rust_constants(&name, &Model::load(&bytes)?);
    files::replace(output, &bytes)?;
    files::replace(&constants, text.as_bytes())?;
    Ok(Exported { bytes, f32_bytes, cost, constants })
}

fn render(arguments: &Arguments, exported: &Exported) -> Result<String> {
    let Exported { bytes, cost, constants, .. } = exported;
    let spec_words = Model::load(bytes)?.spec().arena_words();
    let mut text = format!(
        "{}: {} bytes of flash, {} bytes of RAM per stream (Arena::<{spec_words}>)\n{}: constants for firmware\n",
        arguments.output.display(),
        bytes.len(),
        4 * spec_words,
        constants.display(),
    );
    text += &format!("validation NLL  {:.4} nats per step", cost.exported.nll);
    if arguments.weights == Weights::Int8 {
        text += &format!(
            ", {:+.4} against f32\npredicted variance × {:.4}, means shifted by {:.4} standard deviations",
            cost.nll_increase, cost.variance_ratio, cost.mean_shift
        );
    }
    Ok(text + "\n")
}
