//! The section `[model]`: what is trained.

use quaver::checkpoint::{Likelihood, MAX_LAYERS, MAX_WIDTH, MomentForm, OutputMode};
use serde::{Deserialize, Serialize};

use super::invalid::{InvalidValue, invalid, share, within};
use super::noise::{NoiseConfig, NoiseKind};

/// The section `[model]`: the architecture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelConfig {
    /// The recurrence of every layer: `"lstm"` (the default), or a simple recurrent layer with `"tanh"`,
    /// `"sigmoid"` or `"relu"` as its activation function; `"dense-tanh"`, `"dense-sigmoid"` and
    /// `"dense-relu"` have no recurrence.
    pub cell: CellName,
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
pub enum CellName {
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

impl Default for ModelConfig {
    fn default() -> Self {
        ModelConfig {
            cell: CellName::Lstm,
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

impl ModelConfig {
    pub(super) fn check(&self) -> Result<(), InvalidValue> {
        self.check_at("model")?;
        let normal = matches!(self.likelihood, Likelihood::Gaussian | Likelihood::Heteroscedastic);
        if self.residual && !normal {
            let problem = "needs `model.likelihood = \"gaussian\"` or `\"heteroscedastic\"`: probabilities are not sums";
            return Err(invalid("model.residual", problem));
        }
        share("model.variance_scale_min", self.variance_scale_min.into())?;
        if self.implicit_variance && self.likelihood != Likelihood::Gaussian {
            return Err(invalid("model.implicit_variance", "needs `model.likelihood = \"gaussian\"`"));
        }
        if self.implicit_variance && self.output == OutputMode::MeanOnly {
            let problem = "needs `model.output = \"propagating\"`: a plain output carries no variance";
            return Err(invalid("model.implicit_variance", problem));
        }
        Ok(())
    }

    /// Checks the layers, which section `section` lists.
    pub(super) fn check_at(&self, section: &str) -> Result<(), InvalidValue> {
        let key = &format!("{section}.layers");
        if !(1..=MAX_LAYERS).contains(&self.layers.len()) {
            let found = self.layers.len();
            return Err(invalid(
                key,
                format!("must list the units of 1 to {MAX_LAYERS} layers, found {found}"),
            ));
        }
        self.layers.iter().try_for_each(|&units| within(key, units, 1..=MAX_WIDTH))
    }

    /// Whether no connection of the network has noise that variance could come from.
    pub(super) fn is_silent(&self, noise: &NoiseConfig) -> bool {
        let silent = |keep: f32, var: f32| match noise.kind {
            NoiseKind::Dropout => keep >= 1.0,
            NoiseKind::Multiplicative | NoiseKind::Additive => var <= 0.0,
        };
        silent(noise.input_keep, noise.input_var)
            && (self.layers.len() < 2 || silent(noise.between_keep, noise.between_var))
            && (!self.cell.is_recurrent() || silent(noise.recurrent_keep, noise.recurrent_var))
            && silent(noise.output_keep, noise.output_var)
    }
}

impl CellName {
    /// Whether a layer of this kind reads its own last state.
    pub fn is_recurrent(self) -> bool {
        match self {
            CellName::Lstm | CellName::Tanh | CellName::Sigmoid | CellName::Relu => true,
            CellName::DenseTanh | CellName::DenseSigmoid | CellName::DenseRelu => false,
        }
    }
}
