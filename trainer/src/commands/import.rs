//! `quaver import`: a network of PyTorch's as a run.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use quaver::checkpoint::Likelihood;
use serde::Serialize;

use super::print::{print_json, print_note, print_text};
use super::progress::TrainingConsole;
use super::text_table;
use crate::config::Config;
use crate::data::{Dataset, Sequence};
use crate::evaluate::{OutputScores, scores};
use crate::fit::{RunFolder, RunState, create_begun_run};
use crate::import::{ImportOptions, imported_state, safetensors};
use crate::prediction::predict_by_network;

/// Import a network that was trained with PyTorch
///
/// Reads the weights of nn.RNN (tanh or relu), nn.LSTM or nn.GRU, stacked, with a linear head, from a
/// safetensors file, and makes a run of them that every other command takes: eval, export, prune, train
/// --resume. The config names the data, and describes the network: model.cell and model.layers; its columns
/// are the network's inputs and outputs, in this order. Every tensor of the file must have its place, and
/// every place its tensor, or the message names the one that has not.
///
/// In raw units, means are those of PyTorch. If the network was trained on scaled rows, store the scaling in
/// the same file, as tensors input_mean, input_std, target_mean and target_std: it then reads
/// (x − input_mean)/input_std, and predicts (y − target_mean)/target_std.
///
/// Such a network has no error bar of its own. Its noise variance, one number per output, is fitted to the
/// validation rows; docs/how-to/import-from-pytorch.md describes what that is and what it is not. Without
/// --out, nothing is written.
#[derive(Debug, clap::Args)]
#[command(after_help = "In Python:
  from safetensors.torch import save_file
  weights = {name: tensor.contiguous() for name, tensor in model.cpu().state_dict().items()}
  save_file(weights, \"weights.safetensors\")

Examples:
  quaver import weights.safetensors --like config.toml                     check that everything fits
  quaver import weights.safetensors --like config.toml --out runs/torch
  quaver eval runs/torch
  quaver export runs/torch --weights int8 -o model.qvr
  quaver train runs/torch/config.toml --out runs/torch --resume            go on training
  quaver import gru.safetensors --like config.toml --set model.cell=gru --out runs/gru")]
pub struct Arguments {
    /// The weights, as `safetensors.torch.save_file` writes them.
    #[arg(value_name = "WEIGHTS.safetensors")]
    weights: PathBuf,
    /// The config with the data, and the network that the weights are of.
    #[arg(long, value_name = "CONFIG.toml")]
    like: PathBuf,
    /// The run folder to create.
    #[arg(long, value_name = "RUN")]
    out: Option<PathBuf>,
    /// Folder for relative paths of data, instead of the config's folder. Stored in the run folder.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The module was made with bias=False: maps without biases get zeros.
    #[arg(long)]
    no_bias: bool,
    /// Override a value of the config.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// An imported network on the validation data.
#[derive(Serialize)]
struct Imported {
    /// Tensors in the file.
    tensors: usize,
    /// Numbers in these tensors.
    numbers: usize,
    /// Names of the inputs, in the order in which the network reads them.
    inputs: Vec<String>,
    /// Units of each layer.
    layers: Vec<u16>,
    /// Validation loss in nats per time step, with densities in raw units.
    nll: f64,
    /// The outputs, in the network's order.
    outputs: Vec<ImportedOutput>,
}

/// An output on the validation data.
#[derive(Serialize)]
struct ImportedOutput {
    name: String,
    /// Coefficient of determination of the means.
    r2: f64,
    /// Root of the mean squared error, in raw units.
    rmse: f64,
    /// Root of the noise variance that was fitted, in raw units; none for probabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    noise_std_dev: Option<f64>,
    /// Root of the mean epistemic variance, in raw units.
    epistemic_std_dev: f64,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let file = arguments.weights.display().to_string();
    let bytes = fs::read(&arguments.weights).with_context(|| format!("cannot read {file}"))?;
    let weights = safetensors::parse(&bytes).with_context(|| file.clone())?;
    if let Some(out) = &arguments.out {
        RunFolder::new(out).check_empty()?;
    }
    let config = Config::load_with_data(&arguments.like, &arguments.set, arguments.data_dir.as_deref())?;
    let data = config.load_data()?;
    data.notes.iter().for_each(|note| print_note(&format!("note: {note}")));
    let (tensors, numbers) = (weights.len(), weights.values().map(|tensor| tensor.values.len()).sum());
    let rows: usize = data.valid.iter().map(Sequence::len).sum();
    print_note(&format!("running the network on {rows} validation rows"));
    let options = ImportOptions { biases: !arguments.no_bias };
    let state = imported_state(weights, &config, &data, options).with_context(|| file.clone())?;
    let imported = describe(&state, &data, (tensors, numbers));
    if let Some(out) = &arguments.out {
        create_begun_run(state, (&config, &data), out, &mut TrainingConsole::new())?;
    }
    if arguments.json { print_json(&imported) } else { print_text(&render(arguments, &imported)) }
}

fn describe(state: &RunState, data: &Dataset, (tensors, numbers): (usize, usize)) -> Imported {
    let RunState { spec, parameters, scaling, target_names, .. } = state;
    let predictions = predict_by_network(spec, parameters, scaling, &data.valid);
    let found = scores(spec.likelihood, target_names, &data.valid, &predictions);
    let output = |output: OutputScores| ImportedOutput {
        noise_std_dev: (spec.likelihood == Likelihood::Gaussian)
            .then_some(output.uncertainty.aleatoric.sqrt()),
        epistemic_std_dev: output.uncertainty.epistemic.sqrt(),
        name: output.name,
        r2: output.r2,
        rmse: output.mse.sqrt(),
    };
    Imported {
        tensors,
        numbers,
        inputs: state.input_names.clone(),
        layers: spec.layers.iter().map(|layer| layer.units).collect(),
        nll: found.nll,
        outputs: found.per_output.into_iter().map(output).collect(),
    }
}

fn render(arguments: &Arguments, imported: &Imported) -> String {
    let Imported { tensors, numbers, inputs, nll, outputs, .. } = imported;
    let mut text = format!(
        "{tensors} tensors, {numbers} numbers, all of them used; inputs: {}\n\non the validation data, in raw units:\n",
        inputs.join(", ")
    );
    let header = ["output", "R²", "RMSE", "noise", "epistemic"].map(String::from).to_vec();
    let row = |output: &ImportedOutput| {
        let noise = output.noise_std_dev.map_or("none".into(), |noise| format!("± {noise:.4}"));
        let epistemic = format!("± {:.4}", output.epistemic_std_dev);
        vec![
            output.name.clone(),
            format!("{:.4}", output.r2),
            format!("{:.4}", output.rmse),
            noise,
            epistemic,
        ]
    };
    text += &text_table::render(&[vec![header], outputs.iter().map(row).collect()].concat());
    text += &format!("NLL {nll:.4} nats per time step\n");
    for output in outputs.iter().filter(|output| output.r2 <= 0.0) {
        text += &format!(
            "`{}` is predicted no better than by its mean: are the columns in the order of the network's inputs and \
             outputs, and were rows scaled in Python (input_mean, input_std, target_mean, target_std)?\n",
            output.name
        );
    }
    text += &match &arguments.out {
        Some(out) => format!("{}: the run\n", out.display()),
        None => "nothing is written without --out\n".into(),
    };
    text
}
