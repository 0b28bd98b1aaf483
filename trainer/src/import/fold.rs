//! A network of PyTorch's as parameters in Quaver's order and units.
//!
//! Quaver's networks read and predict standardised values z = (x − μ)/σ, with μ and σ of the training rows:
//! that is what imputes missing channels, and what integer kernels expect. The network that is imported reads
//! u = (x − m)/s, with m = 0 and s = 1 if it was trained on raw rows. With x = μ + σ z, its first map is
//!
//! W u + b = (W α) z + (b + W β), α = σ/s, β = (μ − m)/s
//!
//! and its outputs o, y = m + s o, become (y − μ)/σ = (s/σ) o + (m − μ)/σ with those of the targets. Both are
//! affine, so that the outputs in raw units are the same, up to rounding.
//!
//! PyTorch's dropout divides what it keeps by the keep probability p, Quaver's does not
//! ([`quaver::noise`]): weights after dropout are divided by p.

use anyhow::{Result, ensure};
use quaver::checkpoint::{CellKind, ModelSpec, OutputMode, UnitNoise};

use super::pytorch::{ChannelScale, Linear, RecurrentLayer, TorchNetwork};
use crate::data::{Scaler, Scaling};
use crate::nn::Parameters;

/// Position of the candidate n among the gates of a GRU.
const CANDIDATE: usize = 2;

/// Writes the weights and biases of a network over those of `parameters`.
///
/// # Errors
/// If one is too large for f32.
pub(super) fn fold(
    network: &TorchNetwork,
    spec: &ModelSpec,
    scaling: &Scaling,
    parameters: &mut Parameters,
) -> Result<()> {
    for (index, (layer, own)) in network.layers.iter().zip(&spec.layers).enumerate() {
        let kept = [own.input_noise, own.recurrent_noise].map(keep);
        let inputs = match index {
            0 => InputUnits::of(&network.inputs, &scaling.inputs),
            _ => InputUnits::unchanged(layer.input.columns),
        };
        let (weight, bias) = recurrent(layer, own.cell, usize::from(own.units), &inputs, kept);
        set(parameters, &format!("layer{index}.weight"), weight)?;
        set(parameters, &format!("layer{index}.bias"), bias)?;
    }
    let kept = match spec.output.mode {
        OutputMode::Propagating => keep(spec.output.noise),
        OutputMode::MeanOnly => 1.0,
    };
    let (weight, bias) = output(&network.head, &network.targets, &scaling.targets, kept);
    set(parameters, "output.weight", weight)?;
    set(parameters, "output.bias", bias)
}

/// u = α z + β: the units of the network's inputs in those of standardised ones.
struct InputUnits {
    scale: Vec<f64>,
    shift: Vec<f64>,
}

impl InputUnits {
    fn of(read: &ChannelScale, standardised: &Scaler) -> Self {
        let both =
            || read.std_dev.iter().zip(&read.mean).zip(standardised.std_dev.iter().zip(&standardised.mean));
        InputUnits {
            scale: both().map(|((s, _), (sigma, _))| f64::from(*sigma) / s).collect(),
            shift: both().map(|((s, m), (_, mu))| (f64::from(*mu) - m) / s).collect(),
        }
    }

    fn unchanged(inputs: usize) -> Self {
        InputUnits { scale: vec![1.0; inputs], shift: vec![0.0; inputs] }
    }
}

/// Keep probability of a noise.
fn keep(noise: UnitNoise) -> f64 {
    match noise {
        UnitNoise::Dropout { keep } => keep.into(),
        UnitNoise::None | UnitNoise::Multiplicative { .. } | UnitNoise::Additive { .. } => 1.0,
    }
}

/// Weights and biases of a recurrent layer: PyTorch's rows are ordered gate by gate, Quaver's unit by unit,
/// with the gates in the same order; a row has the weights of inputs and state, and one bias. The candidate
/// of a GRU keeps both of its biases apart.
fn recurrent(
    layer: &RecurrentLayer,
    cell: CellKind,
    units: usize,
    inputs: &InputUnits,
    [input_keep, recurrent_keep]: [f64; 2],
) -> (Vec<f64>, Vec<f64>) {
    let (mut weight, mut bias) = (Vec::new(), Vec::new());
    for (unit, gate) in (0..units).flat_map(|unit| (0..cell.gates()).map(move |gate| (unit, gate))) {
        let row = gate * units + unit;
        let from_inputs = layer.input.row(row);
        weight.extend(from_inputs.iter().zip(&inputs.scale).map(|(w, scale)| w * scale / input_keep));
        weight.extend(layer.recurrent.row(row).iter().map(|w| w / recurrent_keep));
        let shift: f64 = from_inputs.iter().zip(&inputs.shift).map(|(w, shift)| w * shift).sum();
        let (input_bias, state_bias) = (layer.input.bias[row] + shift, layer.recurrent.bias[row]);
        if cell == CellKind::Gru && gate == CANDIDATE {
            bias.extend([input_bias, state_bias]);
        } else {
            bias.push(input_bias + state_bias);
        }
    }
    (weight, bias)
}

/// Weights and biases of the output map, in standardised units of the targets.
fn output(head: &Linear, predicted: &ChannelScale, standardised: &Scaler, keep: f64) -> (Vec<f64>, Vec<f64>) {
    let (mut weight, mut bias) = (Vec::new(), Vec::new());
    for (row, own) in head.bias.iter().enumerate() {
        let (s, m) = (predicted.std_dev[row], predicted.mean[row]);
        let (sigma, mu) = (f64::from(standardised.std_dev[row]), f64::from(standardised.mean[row]));
        weight.extend(head.row(row).iter().map(|w| w * s / sigma / keep));
        bias.push((s * own + m - mu) / sigma);
    }
    (weight, bias)
}

fn set(parameters: &mut Parameters, name: &str, values: Vec<f64>) -> Result<()> {
    let values: Vec<f32> = values.into_iter().map(|value| value as f32).collect();
    ensure!(
        values.iter().all(|value| value.is_finite()),
        "a weight of {name} is too large for 32 bits in the units of the data: look for channels that hardly vary"
    );
    let own = parameters.get_mut(name).filter(|own| own.values.len() == values.len());
    own.expect("the shapes are those of the architecture").values = values;
    Ok(())
}
