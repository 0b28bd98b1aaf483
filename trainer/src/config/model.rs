//! The section `[model]`: what is trained.

use quaver::checkpoint::{
    Activation, CellKind, LayerSpec, Layout, Likelihood, MAX_LAYERS, MAX_WIDTH, ModelSpec, MomentForm,
    OutputMode, OutputSpec, Target, UnitNoise, WeightFormat,
};
use serde::{Deserialize, Serialize};

use super::check::{Fault, fault, share, within};
use super::noise::Noise;
use super::weights::Weights;

/// The section `[model]`: the architecture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// The recurrence of every layer: `"lstm"` (the default), or a simple recurrent layer with `"tanh"`,
    /// `"sigmoid"` or `"relu"` as its activation function; `"dense-tanh"`, `"dense-sigmoid"` and
    /// `"dense-relu"` have no recurrence.
    pub cell: Cell,
    /// Units per layer, input side first: 1 to 8 layers of 1 to 4096 units; `[32]` unless given.
    pub layers: Vec<u16>,
    /// `"propagating"` (the default) carries variance through the output layer; `"plain"` uses the means
    /// only.
    #[serde(with = "OutputName")]
    pub output: OutputMode,
    /// Whether the outputs are what the next row differs by from the last one, or a clean row from the noisy one, which is added
    /// to them: a net then starts from persistence, or from rows as they are; false unless given. For `data.targets = "next"` or
    /// `"clean"` and a normal likelihood.
    pub residual: bool,
    /// How targets scatter around the output: `"gaussian"` (the default) with a learned variance,
    /// `"heteroscedastic"` with a variance that the network predicts, `"bernoulli"` for targets of 0 and 1, or
    /// `"categorical"` if exactly one of them is 1.
    #[serde(with = "LikelihoodName")]
    pub likelihood: Likelihood,
    /// Moments of sigmoid and tanh: `"accurate"` (the default), or `"paper"` to reproduce published results.
    #[serde(with = "MomentsName")]
    pub moments: MomentForm,
    /// Whether the variance of a Gaussian output is what the network carries and nothing else: an implicit variance
    /// network (Bayer 2015, thesis, 2.6.1); false unless given.
    pub implicit_variance: bool,
    /// Whether the factor β on the variance of each layer is learned; false unless given, and β is 1.
    pub learn_variance_scale: bool,
    /// Lower bound β_min of a β that is learned; 0.1 unless given.
    pub variance_scale_min: f32,
}

/// Value of `model.cell`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cell {
    /// Long short-term memory.
    Lstm,
    /// Simple recurrence with tanh.
    Tanh,
    /// Simple recurrence with the logistic sigmoid.
    Sigmoid,
    /// Simple recurrence with max(0, a).
    #[serde(alias = "rectifier")]
    Relu,
    /// No recurrence, tanh.
    DenseTanh,
    /// No recurrence, the logistic sigmoid.
    DenseSigmoid,
    /// No recurrence, max(0, a).
    #[serde(alias = "dense-rectifier")]
    DenseRelu,
}

/// How `model.output` is written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "OutputMode", rename_all = "lowercase")]
enum OutputName {
    Propagating,
    #[serde(rename = "mean-only", alias = "plain")]
    MeanOnly,
}

/// How `model.likelihood` is written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Likelihood", rename_all = "lowercase")]
enum LikelihoodName {
    Gaussian,
    Bernoulli,
    Heteroscedastic,
    Categorical,
}

/// How `model.moments` is written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "MomentForm", rename_all = "lowercase")]
enum MomentsName {
    Accurate,
    Paper,
}

impl Default for Model {
    fn default() -> Self {
        Model {
            cell: Cell::Lstm,
            layers: vec![32],
            output: OutputMode::Propagating,
            residual: false,
            likelihood: Likelihood::Gaussian,
            moments: MomentForm::Accurate,
            implicit_variance: false,
            learn_variance_scale: false,
            variance_scale_min: 0.1,
        }
    }
}

impl Model {
    pub(super) fn check(&self) -> Result<(), Fault> {
        self.check_at("model")?;
        let normal = matches!(self.likelihood, Likelihood::Gaussian | Likelihood::Heteroscedastic);
        if self.residual && !normal {
            let problem = "needs `model.likelihood = \"gaussian\"` or `\"heteroscedastic\"`: probabilities are not sums";
            return Err(fault("model.residual", problem));
        }
        share("model.variance_scale_min", self.variance_scale_min.into())?;
        if self.implicit_variance && self.likelihood != Likelihood::Gaussian {
            return Err(fault("model.implicit_variance", "needs `model.likelihood = \"gaussian\"`"));
        }
        if self.implicit_variance && self.output == OutputMode::MeanOnly {
            let problem = "needs `model.output = \"propagating\"`: a plain output carries no variance";
            return Err(fault("model.implicit_variance", problem));
        }
        Ok(())
    }

    /// Checks the layers, which section `section` lists.
    pub(super) fn check_at(&self, section: &str) -> Result<(), Fault> {
        let key = &format!("{section}.layers");
        if !(1..=MAX_LAYERS).contains(&self.layers.len()) {
            let found = self.layers.len();
            return Err(fault(
                key,
                format!("must list the units of 1 to {MAX_LAYERS} layers, found {found}"),
            ));
        }
        self.layers.iter().try_for_each(|&units| within(key, units, 1..=MAX_WIDTH))
    }

    /// The whole architecture, with weights of 32 bits.
    pub(super) fn spec(
        &self,
        inputs: u16,
        outputs: u16,
        target: Target,
        noise: &Noise,
        weights: &Weights,
    ) -> ModelSpec {
        ModelSpec {
            inputs,
            outputs,
            target,
            likelihood: self.likelihood,
            moment_form: self.moments,
            weight_format: WeightFormat::F32,
            layout: Layout::Float,
            layers: self.layer_specs(noise, weights).collect(),
            output: self.output_spec(noise, weights),
        }
    }

    /// Whether none of its connections has noise that variance could come from.
    pub(super) fn is_silent(&self, noise: &Noise) -> bool {
        let deterministic = Weights::default();
        let mut layers = self.layer_specs(noise, &deterministic);
        layers.all(|layer| [layer.input_noise, layer.recurrent_noise] == [UnitNoise::None; 2])
            && noise.output() == UnitNoise::None
    }

    /// The layers of the model with their noise.
    fn layer_specs(&self, noise: &Noise, weights: &Weights) -> impl Iterator<Item = LayerSpec> {
        let cell = CellKind::from(self.cell);
        let weight_variance = weights.has_variance();
        let layer = move |(index, &units): (usize, &u16)| LayerSpec {
            cell,
            units,
            input_noise: if index == 0 { noise.input() } else { noise.between() },
            recurrent_noise: if cell.is_recurrent() { noise.recurrent() } else { UnitNoise::None },
            weight_variance,
            variance_scale: 1.0,
        };
        self.layers.iter().enumerate().map(layer)
    }

    /// The output layer of the model with its noise.
    fn output_spec(&self, noise: &Noise, weights: &Weights) -> OutputSpec {
        OutputSpec {
            mode: self.output,
            noise: noise.output(),
            weight_variance: weights.has_variance(),
            variance_scale: 1.0,
        }
    }
}

impl From<Cell> for CellKind {
    fn from(cell: Cell) -> CellKind {
        match cell {
            Cell::Lstm => CellKind::Lstm,
            Cell::Tanh => CellKind::Elman(Activation::Tanh),
            Cell::Sigmoid => CellKind::Elman(Activation::Sigmoid),
            Cell::Relu => CellKind::Elman(Activation::Relu),
            Cell::DenseTanh => CellKind::Dense(Activation::Tanh),
            Cell::DenseSigmoid => CellKind::Dense(Activation::Sigmoid),
            Cell::DenseRelu => CellKind::Dense(Activation::Relu),
        }
    }
}
