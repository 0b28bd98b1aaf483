//! The section `[model]`: the architecture.

use quaver::checkpoint::{Likelihood, MAX_LAYERS, MAX_WIDTH, MomentForm, OutputMode};
use serde::{Deserialize, Serialize};

use super::limits::{InvalidValue, Limits, Rule, check_rules, invalid};
use super::noise::{NoiseConfig, NoiseKind};

/// Most rows of a linear part; the number of inputs limits them further.
const MAX_LINEAR_ROWS: f64 = 1024.0;

/// The section `[model]`: the architecture of the network, or of a latent model's generative network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelConfig {
    /// The cell of every layer: an LSTM, a GRU, an Elman cell named by its activation function, or a layer
    /// without recurrence (`"dense-…"`).
    pub cell: CellName,
    /// Units of each layer, the one next to the inputs first: 1 to 8 layers, or none (`[]`) with `linear`.
    pub layers: Vec<u16>,
    /// Number of last rows, the newest included, of a ridge regression that the outputs of the network are
    /// added to; 0 for none. It is fitted on the training data before the first epoch, with the penalty that
    /// has the smallest error on the validation data, and stays as it is. Needs a Gaussian or heteroscedastic
    /// likelihood.
    pub linear: u16,
    /// Text: length of the vector that is learned for each token and fed to the first layer; 0 for none,
    /// where the columns of the first layer's weights are these vectors.
    pub embedding: u16,
    /// Whether the output layer propagates variance, or maps means only.
    #[serde(with = "OutputName")]
    pub output: OutputMode,
    /// Whether the outputs are residuals, added to the last row (`data.targets = "next"`) or to the noisy row
    /// (`data.targets = "clean"`): an untrained network then predicts that nothing changes. Needs a Gaussian
    /// or heteroscedastic likelihood.
    pub residual: bool,
    /// Distribution of a target given the output: Gaussian with a learned variance per output,
    /// heteroscedastic with a variance that the network predicts, Bernoulli for targets of 0 and 1, or
    /// categorical where exactly one target of a row is 1.
    #[serde(with = "LikelihoodName")]
    pub likelihood: Likelihood,
    /// Moments of sigmoid and tanh: the accurate form, or the one of the papers, to reproduce published
    /// results.
    #[serde(with = "MomentsName")]
    pub moments: MomentForm,
    /// Implicit variance network: the variance of a Gaussian output is the propagated one, without learned
    /// noise (Bayer 2015, thesis, 2.6.1).
    pub implicit_variance: bool,
    /// Whether the factor β on the variance of each layer's state is learned; otherwise β = 1.
    pub learn_variance_scale: bool,
    /// Lower bound β_min of a learned β.
    pub variance_scale_min: f32,
}

/// Value of `model.cell`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellName {
    /// Long short-term memory.
    Lstm,
    /// Gated recurrent unit, with the reset gate after the recurrent product as in PyTorch and cuDNN.
    Gru,
    /// Elman cell with tanh.
    Tanh,
    /// Elman cell with the logistic sigmoid.
    Sigmoid,
    /// Elman cell with max(0, a).
    Relu,
    /// No recurrence, tanh.
    DenseTanh,
    /// No recurrence, the logistic sigmoid.
    DenseSigmoid,
    /// No recurrence, max(0, a).
    DenseRelu,
}

/// How `model.output` is written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "OutputMode", rename_all = "kebab-case")]
enum OutputName {
    /// Mean and variance.
    Propagating,
    /// Means only: the propagated variance of the outputs is zero.
    MeanOnly,
}

/// How `model.likelihood` is written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Likelihood", rename_all = "lowercase")]
enum LikelihoodName {
    /// Normal with a learned noise variance per output.
    Gaussian,
    /// 0 or 1 with the sigmoid of the output as probability.
    Bernoulli,
    /// Normal with a noise variance that a second output predicts.
    Heteroscedastic,
    /// One of several classes, with the softmax of the outputs as probabilities.
    Categorical,
}

/// How `model.moments` is written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "MomentForm", rename_all = "lowercase")]
enum MomentsName {
    /// Within 5·10⁻⁴ of quadrature in f32.
    Accurate,
    /// The approximation of the papers.
    Paper,
}

impl Default for ModelConfig {
    fn default() -> Self {
        ModelConfig {
            cell: CellName::Lstm,
            layers: vec![32],
            linear: 0,
            embedding: 0,
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
    pub(super) const RULES: [Rule<Self>; 4] = [
        Rule::new("layers", Limits::closed(1.0, MAX_WIDTH as f64), |model| {
            model.layers.iter().map(|units| (*units).into()).collect()
        }),
        Rule::new("linear", Limits::closed(0.0, MAX_LINEAR_ROWS), |model| vec![model.linear.into()]),
        Rule::new("embedding", Limits::closed(0.0, MAX_WIDTH as f64), |model| vec![model.embedding.into()]),
        Rule::new("variance_scale_min", Limits::BELOW_ONE, |model| vec![model.variance_scale_min.into()]),
    ];

    pub(super) fn check(&self) -> Result<(), InvalidValue> {
        self.check_layers("model")?;
        check_rules("model", self, &Self::RULES)?;
        let normal = matches!(self.likelihood, Likelihood::Gaussian | Likelihood::Heteroscedastic);
        if self.residual && !normal {
            let problem = "needs `model.likelihood = \"gaussian\"` or `\"heteroscedastic\"`: probabilities do not add up";
            return Err(invalid("model.residual", problem));
        }
        if self.linear > 0 && !normal {
            let problem = "needs `model.likelihood = \"gaussian\"` or `\"heteroscedastic\"`: probabilities are not linear";
            return Err(invalid("model.linear", problem));
        }
        if self.linear > 0 && self.residual {
            let problem =
                "does not go with `model.linear`, which reads the last row as well; remove one of them";
            return Err(invalid("model.residual", problem));
        }
        if self.implicit_variance && self.layers.is_empty() {
            return Err(invalid(
                "model.implicit_variance",
                "needs layers: without them there is no variance",
            ));
        }
        if self.implicit_variance && self.likelihood != Likelihood::Gaussian {
            return Err(invalid("model.implicit_variance", "needs `model.likelihood = \"gaussian\"`"));
        }
        if self.implicit_variance && self.output == OutputMode::MeanOnly {
            let problem = "needs `model.output = \"propagating\"`: a mean-only output has no variance";
            return Err(invalid("model.implicit_variance", problem));
        }
        Ok(())
    }

    /// Checks the layers, which the section `section` of the config lists.
    pub(super) fn check_layers(&self, section: &str) -> Result<(), InvalidValue> {
        let alone = self.layers.is_empty() && self.linear > 0;
        if !alone && !(1..=MAX_LAYERS).contains(&self.layers.len()) {
            let found = self.layers.len();
            let problem = format!(
                "must list the units of 1 to {MAX_LAYERS} layers, found {found}; it may be empty with `model.linear`"
            );
            return Err(invalid(&format!("{section}.layers"), problem));
        }
        check_rules(section, self, &Self::RULES[..1])
    }

    /// Whether no affine map of the network has input noise that variance could come from.
    pub(super) fn is_noiseless(&self, noise: &NoiseConfig) -> bool {
        let noiseless = |keep: f32, var: f32| match noise.kind {
            NoiseKind::Dropout => keep >= 1.0,
            NoiseKind::Multiplicative | NoiseKind::Additive => var <= 0.0,
        };
        noiseless(noise.input_keep, noise.input_var)
            && (self.layers.len() < 2 || noiseless(noise.between_keep, noise.between_var))
            && (!self.cell.is_recurrent() || noiseless(noise.recurrent_keep, noise.recurrent_var))
            && noiseless(noise.output_keep, noise.output_var)
    }
}

impl CellName {
    /// Whether a layer of this kind reads its own last state.
    pub fn is_recurrent(self) -> bool {
        match self {
            CellName::Lstm | CellName::Gru | CellName::Tanh | CellName::Sigmoid | CellName::Relu => true,
            CellName::DenseTanh | CellName::DenseSigmoid | CellName::DenseRelu => false,
        }
    }
}

/// Every cell by its name in a config, read off the error for a name that is none.
#[cfg(test)]
pub(crate) fn test_cell_names() -> Vec<(String, CellName)> {
    let named = |name: &str| serde_json::from_value::<CellName>(name.into());
    let error = named("?").expect_err("no cell has this name").to_string();
    let names = error.split('`').skip(3).step_by(2);
    names.map(|name| (name.to_string(), named(name).expect("a name that the error lists"))).collect()
}
