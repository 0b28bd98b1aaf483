//! The sections `[model]` and `[noise]`: what is trained.

use quaver::checkpoint::{
    CellKind, LayerSpec, Likelihood, MAX_LAYERS, MAX_WIDTH, MomentForm, OutputMode, OutputSpec, Transfer,
    UnitNoise,
};
use serde::{Deserialize, Serialize};

use super::check::{Fault, fault, probability, within};

/// The section `[model]`: the architecture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// The recurrence of every layer: `"lstm"` (the default), or a simple recurrent layer with `"tanh"`,
    /// `"sigmoid"` or `"rectifier"` as its transfer function.
    pub cell: Cell,
    /// Units per layer, input side first: 1 to 8 layers of 1 to 4096 units; `[32]` unless given.
    pub layers: Vec<u16>,
    /// `"propagating"` (the default) carries variance through the output layer; `"plain"` uses the means
    /// only.
    #[serde(with = "OutputName")]
    pub output: OutputMode,
    /// How targets scatter around the output: `"gaussian"` (the default) with a learned variance, or
    /// `"bernoulli"` for targets of 0 and 1.
    #[serde(with = "LikelihoodName")]
    pub likelihood: Likelihood,
    /// Moments of sigmoid and tanh: `"accurate"` (the default), or `"paper"` to reproduce published results.
    #[serde(with = "MomentsName")]
    pub moments: MomentForm,
}

/// Value of `model.cell`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cell {
    /// Long short-term memory.
    Lstm,
    /// Simple recurrence with tanh.
    Tanh,
    /// Simple recurrence with the logistic sigmoid.
    Sigmoid,
    /// Simple recurrence with max(0, a).
    Rectifier,
}

/// How `model.output` is written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "OutputMode", rename_all = "lowercase")]
enum OutputName {
    Propagating,
    Plain,
}

/// How `model.likelihood` is written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Likelihood", rename_all = "lowercase")]
enum LikelihoodName {
    Gaussian,
    Bernoulli,
}

/// How `model.moments` is written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "MomentForm", rename_all = "lowercase")]
enum MomentsName {
    Accurate,
    Paper,
}

/// The section `[noise]`: fast dropout (Bayer 2015, thesis, 2.5), as probabilities to *keep* a unit. 1 means
/// no noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Noise {
    /// For the inputs of the first layer.
    pub input_keep: f32,
    /// For the inputs of every further layer: the state of the layer below it.
    pub between_keep: f32,
    /// For each layer's own last state.
    pub recurrent_keep: f32,
    /// For the last state before the output layer. Without effect when the output is plain.
    pub output_keep: f32,
}

impl Default for Model {
    fn default() -> Self {
        Model {
            cell: Cell::Lstm,
            layers: vec![32],
            output: OutputMode::Propagating,
            likelihood: Likelihood::Gaussian,
            moments: MomentForm::Accurate,
        }
    }
}

impl Default for Noise {
    fn default() -> Self {
        Noise { input_keep: 1.0, between_keep: 1.0, recurrent_keep: 1.0, output_keep: 1.0 }
    }
}

impl Model {
    pub(super) fn check(&self) -> Result<(), Fault> {
        let key = "model.layers";
        if !(1..=MAX_LAYERS).contains(&self.layers.len()) {
            let found = self.layers.len();
            return Err(fault(
                key,
                format!("must list the units of 1 to {MAX_LAYERS} layers, found {found}"),
            ));
        }
        self.layers.iter().try_for_each(|&units| within(key, units, 1..=MAX_WIDTH))
    }

    /// The layers of the model with their noise.
    pub(super) fn layer_specs(&self, noise: &Noise) -> impl Iterator<Item = LayerSpec> {
        let layer = move |(index, &units): (usize, &u16)| LayerSpec {
            cell: self.cell.into(),
            units,
            input_noise: dropout(if index == 0 { noise.input_keep } else { noise.between_keep }),
            recurrent_noise: dropout(noise.recurrent_keep),
            weight_variance: false,
            variance_scale: 1.0,
        };
        self.layers.iter().enumerate().map(layer)
    }

    /// The output layer of the model with its noise.
    pub(super) fn output_spec(&self, noise: &Noise) -> OutputSpec {
        OutputSpec {
            mode: self.output,
            noise: dropout(noise.output_keep),
            weight_variance: false,
            variance_scale: 1.0,
        }
    }
}

impl Noise {
    pub(super) fn check(&self) -> Result<(), Fault> {
        probability("noise.input_keep", self.input_keep.into())?;
        probability("noise.between_keep", self.between_keep.into())?;
        probability("noise.recurrent_keep", self.recurrent_keep.into())?;
        probability("noise.output_keep", self.output_keep.into())
    }
}

/// Keeping every unit is no noise at all, which the runtime then does not pay for.
fn dropout(keep: f32) -> UnitNoise {
    if keep == 1.0 { UnitNoise::None } else { UnitNoise::Dropout { keep } }
}

impl From<Cell> for CellKind {
    fn from(cell: Cell) -> CellKind {
        match cell {
            Cell::Lstm => CellKind::Lstm,
            Cell::Tanh => CellKind::Elman(Transfer::Tanh),
            Cell::Sigmoid => CellKind::Elman(Transfer::Sigmoid),
            Cell::Rectifier => CellKind::Elman(Transfer::Rectifier),
        }
    }
}
