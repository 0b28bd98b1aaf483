//! `quaver export`: a run's best model as a checkpoint, measured through the runtime before it is written.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use clap::ValueEnum;
use quaver::Model;
use quaver::checkpoint::{Layout, WeightFormat};

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
  quaver export runs/first --layout small -o model.qvr
  quaver export runs/first --weights f32 -o model-f32.qvr --json")]
pub struct Arguments {
    /// The run folder.
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// How weights are stored.
    #[arg(long, value_enum, default_value_t = Weights::Int8)]
    weights: Weights,
    /// In which order int8 weights are stored: fast if the integer kernels can run the net, else plain.
    #[arg(long, value_enum)]
    layout: Option<Order>,
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

/// In which order weights are stored.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Order {
    /// Row after row; runs in floating point.
    Plain,
    /// For integer kernels, a byte per weight.
    Small,
    /// For integer kernels, two bytes per weight.
    Fast,
    /// For integer kernels, means alone: for nets without noise and with a plain output.
    Mean,
}

impl From<Order> for Layout {
    fn from(order: Order) -> Self {
        match order {
            Order::Plain => Layout::Plain,
            Order::Small => Layout::Small,
            Order::Fast => Layout::Fast,
            Order::Mean => Layout::Mean,
        }
    }
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
    let layout = arguments.layout.map(Layout::from);
    let exported = export_as(&state, arguments.weights.into(), layout, &data.valid, &arguments.output)?;
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

/// Encodes a state in the fastest layout that can hold it, measures it on `sequences` through the runtime, and only then
/// writes it.
pub(super) fn export(
    state: &RunState,
    format: WeightFormat,
    sequences: &[Sequence],
    output: &Path,
) -> Result<Exported> {
    export_as(state, format, None, sequences, output)
}

fn export_as(
    state: &RunState,
    format: WeightFormat,
    layout: Option<Layout>,
    sequences: &[Sequence],
    output: &Path,
) -> Result<Exported> {
    let f32_bytes = encode(state, WeightFormat::F32, Layout::Plain)?;
    let bytes = match layout {
        Some(layout) => encode(state, format, layout)?,
        None if format == WeightFormat::F32 => f32_bytes.clone(),
        // What the integer kernels cannot run, floating point can.
        None => encode(state, format, Layout::Fast).or_else(|_| encode(state, format, Layout::Plain))?,
    };
    let cost = cost(state.spec.likelihood, &state.target_names, sequences, &f32_bytes, &bytes)?;
    let constants = output.with_extension("rs");
    let name = output.file_name().context("--output must name a file")?.to_string_lossy();
    let text = rust_constants(&name, &Model::load(&bytes)?);
    files::replace(output, &bytes)?;
    files::replace(&constants, text.as_bytes())?;
    Ok(Exported { bytes, f32_bytes, cost, constants })
}

fn encode(state: &RunState, format: WeightFormat, layout: Layout) -> Result<Vec<u8>> {
    let RunState { spec, parameters, scaling, input_names, target_names, .. } = state;
    let mut contents = contents(spec, format, parameters, scaling, input_names, target_names);
    contents.spec.layout = layout;
    quaver::checkpoint::write(&contents).map_err(|error| anyhow!("the model cannot be stored: {error}"))
}

fn render(arguments: &Arguments, exported: &Exported) -> Result<String> {
    let Exported { bytes, cost, constants, .. } = exported;
    let model = Model::load(bytes)?;
    let words = model.spec().arena_words();
    let layout = format!("{:?}", model.spec().layout).to_lowercase();
    let mut text = format!(
        "{}: {} bytes of flash in the layout {layout}, {} bytes of RAM per stream (Arena::<{words}>)\n\
         {}: constants for firmware\n",
        arguments.output.display(),
        bytes.len(),
        4 * words,
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
