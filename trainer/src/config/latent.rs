//! The sections `[latent]` and `[recognition]`: a model of latent sequences instead of a predictor.

use quaver::checkpoint::{Likelihood, MAX_WIDTH, OutputMode, Prior};
use serde::{Deserialize, Serialize};

use super::limits::{InvalidValue, Limits, Rule, check_rules, invalid};
use super::{
    CellName, Config, Missing, ModelConfig, NetworkConfig, NoiseConfig, Padding, PosteriorName, Targets,
    WeightsConfig,
};

/// The section `[latent]`: makes the model one of latent sequences (Bayer 2015, thesis, chapter 4; Bayer and
/// Osendorfer 2014). `[model]`, `[noise]` and `[init]` then describe its generative network, and
/// `[recognition]` its recognition network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatentConfig {
    /// What the generative network reads.
    pub family: LatentFamily,
    /// Latent variables per time step.
    pub latents: u16,
    /// Prior of the latent variables: white noise, or a Wiener process (VOSP and VRAE only).
    #[serde(default = "white", with = "PriorName")]
    pub prior: Prior,
    /// What the recognition network reads: past and present rows, or the whole sequence. If not set, a VRAE
    /// is bidirectional and the other families are causal; only a STORN can be either.
    #[serde(default)]
    pub direction: Option<Direction>,
    /// Where the posterior variances of the latent variables come from: outputs of the recognition network,
    /// or variance propagation through it, with learned keep probabilities.
    #[serde(default)]
    pub variance: LatentVariance,
    /// Epochs over which the weight of the divergence from the prior rises linearly to `divergence_weight`.
    /// The bound is printed with the full weight from the first epoch on.
    #[serde(default)]
    pub warm_up: f64,
    /// Weight of the divergence from the prior after the warm-up. Below 1 only for a VOSP with
    /// `data.targets = "clean"`: see `docs/latent.md`.
    #[serde(default = "full_weight")]
    pub divergence_weight: f64,
    /// Draws of the latent variables per sequence, in every training step and for validation.
    #[serde(default = "one_draw")]
    pub draws: usize,
    /// Longest gap, in rows, that is masked in the recognition network's input during training; 0 for none.
    /// Makes a VRAE impute gaps.
    #[serde(default)]
    pub max_gap: usize,
    /// Noise variance of a Gaussian output: learned, or fixed at 1 in training and then set to its
    /// maximum-likelihood value on the validation data after every epoch (Bayer 2015, thesis, 4.4.2).
    #[serde(default)]
    pub noise: OutputNoise,
}

/// Value of `latent.family`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LatentFamily {
    /// Stochastic recurrent network: a recurrent generative network reads [x_{t−1}, z_t] and gives
    /// p(x_t | x_{1:t−1}, z_{1:t}) (Bayer 2015, thesis, eqs. 29 to 31).
    Storn,
    /// Variational one-step predictor: a feed-forward generative network reads [h_{t−1}, z_t], where h is the
    /// last layer of the recognition network, and gives p(x_t | h_{t−1}, z_t) (Bayer and Osendorfer 2014,
    /// 3.2). It must not read h_t, which depends on x_t.
    Vosp,
    /// Variational recurrent auto-encoder: both networks are bidirectional, and the generative network reads
    /// z alone (Bayer and Osendorfer 2014, 3.1).
    Vrae,
}

/// How `latent.prior` is written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Prior", rename_all = "lowercase")]
enum PriorName {
    /// z_t ~ N(0, 1), independent of the past (Bayer 2015, thesis, 4.3.2).
    White,
    /// z_t − z_{t−1} ~ N(0, 1), z_0 = 0 (Bayer and Osendorfer 2014, 3.3).
    Wiener,
}

/// Value of `latent.direction`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Past and present rows.
    Causal,
    /// The whole sequence.
    Bidirectional,
}

/// Value of `latent.variance`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LatentVariance {
    /// An output of the recognition network.
    #[default]
    Output,
    /// Variance propagation through the recognition network.
    Propagated,
}

/// Value of `latent.noise`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputNoise {
    /// Learned with all other parameters.
    #[default]
    Learned,
    /// 1 in training, then fitted to the validation data.
    Fixed,
}

/// The section `[recognition]`: the network that infers the latent variables from the observed rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecognitionConfig {
    /// Cell of every layer, as in `[model]`; if not set, that of the generative network, or an LSTM if that
    /// one has no recurrence.
    pub cell: Option<CellName>,
    /// Units of each layer, as in `[model]`; if not set, those of the generative network.
    pub layers: Option<Vec<u16>>,
    /// Noise on units, with the keys of `[noise]`.
    pub noise: NoiseConfig,
}

fn white() -> Prior {
    Prior::White
}

fn one_draw() -> usize {
    1
}

fn full_weight() -> f64 {
    1.0
}

/// More draws than any run needs: a typing error.
const MAX_DRAWS: f64 = 1000.0;

impl LatentConfig {
    pub(super) const RULES: [Rule<Self>; 4] = [
        Rule::new("latents", Limits::closed(1.0, MAX_WIDTH as f64), |latent| vec![latent.latents.into()]),
        Rule::new("warm_up", Limits::NOT_NEGATIVE, |latent| vec![latent.warm_up]),
        Rule::new("divergence_weight", Limits::KEEP, |latent| vec![latent.divergence_weight]),
        Rule::new("draws", Limits::closed(1.0, MAX_DRAWS), |latent| vec![latent.draws as f64]),
    ];

    /// What the recognition network reads, the default of the family filled in.
    pub fn direction(&self) -> Direction {
        let usual = match self.family {
            LatentFamily::Vrae => Direction::Bidirectional,
            LatentFamily::Storn | LatentFamily::Vosp => Direction::Causal,
        };
        self.direction.unwrap_or(usual)
    }

    fn check(&self) -> Result<(), InvalidValue> {
        check_rules("latent", self, &Self::RULES)?;
        if self.family == LatentFamily::Storn && self.prior == Prior::Wiener {
            let problem = "must be \"white\" for a STORN, whose generative network has a memory of its own; \
                           \"wiener\" is for VOSP and VRAE";
            return Err(invalid("latent.prior", problem));
        }
        if self.max_gap > 0 && self.family != LatentFamily::Vrae {
            let problem = "needs `latent.family = \"vrae\"`: the generative network of the other families reads past \
                           rows itself, so masking them in the recognition network does not hide them";
            return Err(invalid("latent.max_gap", problem));
        }
        match (self.family, self.direction()) {
            (LatentFamily::Vosp, Direction::Bidirectional) => Err(invalid(
                "latent.direction",
                "must be \"causal\" for a VOSP: its generative network reads the recognition network's state, which \
                 must not depend on the row to be explained",
            )),
            (LatentFamily::Vrae, Direction::Causal) => Err(invalid(
                "latent.direction",
                "must be \"bidirectional\" for a VRAE; a causal model is a STORN or a VOSP",
            )),
            _ => Ok(()),
        }
    }
}

impl Config {
    /// Checks `[latent]` and `[recognition]`, on their own and together with the other sections.
    pub(super) fn check_latent(&self) -> Result<(), InvalidValue> {
        let Some(latent) = &self.latent else {
            return match self.recognition {
                Some(_) => Err(invalid("recognition", "needs a section `[latent]`")),
                None => Ok(()),
            };
        };
        latent.check()?;
        let recognition = self.recognition_model();
        recognition.check_layers("recognition")?;
        self.recognition_noise().check("recognition.noise")?;
        self.init.check(recognition.layers.iter().min().copied())?;
        self.check_other_sections(latent)?;
        self.check_recognition(latent)
    }

    /// Refuses settings of other sections that latent models do not support.
    fn check_other_sections(&self, latent: &LatentConfig) -> Result<(), InvalidValue> {
        self.check_targets(latent)?;
        let missing = self.data.augment.as_ref().and_then(|augment| augment.missing);
        if let Some(Missing::On(_)) = missing {
            let problem = "is for predictors; latent models learn with gaps by `latent.max_gap`";
            return Err(invalid("data.augment.missing", problem));
        }
        if self.model.linear > 0 {
            let problem = "is for predictors; remove it, or `[latent]`";
            return Err(invalid("model.linear", problem));
        }
        if self.model.residual && latent.family != LatentFamily::Storn {
            let problem = "needs `latent.family = \"storn\"`: no other generative network reads the last row";
            return Err(invalid("model.residual", problem));
        }
        if latent.family == LatentFamily::Vosp && self.model.cell.is_recurrent() {
            let problem = "must be \"dense-tanh\", \"dense-sigmoid\" or \"dense-relu\" for a VOSP, whose generative \
                           network has no memory; its recognition network has one, see `recognition.cell`";
            return Err(invalid("model.cell", problem));
        }
        let bidirectional =
            latent.family == LatentFamily::Vrae && self.weights.posterior != PosteriorName::Point;
        if bidirectional || matches!(self.weights.posterior, PosteriorName::Vb | PosteriorName::Bbb) {
            let problem = "must be \"point\" with `[latent]`, or \"ropd\" for the generative network of a STORN or a VOSP";
            return Err(invalid("weights.posterior", problem));
        }
        if self.training.carry_state {
            let problem = "does not go with `[latent]`: a chunk is a sequence of its own there, whose bound must not \
                           depend on the draws of another";
            return Err(invalid("training.carry_state", problem));
        }
        if self.training.padding == Padding::Before {
            let problem = "must be \"after\" with `[latent]`: sequences start at their first step";
            return Err(invalid("training.padding", problem));
        }
        let gaussian = self.model.likelihood == Likelihood::Gaussian && !self.model.implicit_variance;
        if latent.noise == OutputNoise::Fixed && !gaussian {
            let problem = "\"fixed\" needs `model.likelihood = \"gaussian\"` and no `model.implicit_variance`: \
                           otherwise there is no noise variance to fit";
            return Err(invalid("latent.noise", problem));
        }
        Ok(())
    }

    /// Refuses targets other than the rows that are read, except for a VOSP that explains their clean
    /// versions.
    fn check_targets(&self, latent: &LatentConfig) -> Result<(), InvalidValue> {
        match (&self.data.targets, latent.family) {
            (Targets::Next, _) if latent.divergence_weight < 1.0 => Err(invalid(
                "latent.divergence_weight",
                "must be 1 with `data.targets = \"next\"`: a smaller weight bounds no likelihood of the rows that are \
                 read; use `latent.warm_up` to ease the start of training",
            )),
            (Targets::Next, _) | (Targets::Clean, LatentFamily::Vosp) => Ok(()),
            (Targets::Clean, LatentFamily::Storn | LatentFamily::Vrae) => Err(invalid(
                "data.targets",
                "\"clean\" with `[latent]` needs `latent.family = \"vosp\"`: a STORN feeds back the rows that it \
                 explains, and a VRAE does not denoise row by row; set \"next\", or change the family",
            )),
            (Targets::Labels | Targets::Matching(_) | Targets::Ahead(_) | Targets::Class(_), _) => {
                Err(invalid(
                    "data.targets",
                    "must be \"next\" with `[latent]`, because such a model explains the rows it reads, or \"clean\" for a \
                 VOSP that explains them without their noise",
                ))
            }
        }
    }

    fn check_recognition(&self, latent: &LatentConfig) -> Result<(), InvalidValue> {
        let model = self.recognition_model();
        if latent.family == LatentFamily::Vosp && !model.cell.is_recurrent() {
            let problem = "must be \"lstm\", \"gru\", \"tanh\", \"sigmoid\" or \"relu\" for a VOSP: its state is all that the \
                           generative network gets of the past";
            return Err(invalid("recognition.cell", problem));
        }
        if latent.variance == LatentVariance::Propagated && model.is_noiseless(&self.recognition_noise()) {
            let problem = "\"propagated\" needs a source of variance in the recognition network, such as \
                           `recognition.noise.recurrent_keep = 0.9` and `recognition.noise.output_keep = 0.9`";
            return Err(invalid("latent.variance", problem));
        }
        Ok(())
    }

    fn recognition_noise(&self) -> NoiseConfig {
        self.recognition.as_ref().map(|recognition| recognition.noise.clone()).unwrap_or_default()
    }

    /// The recognition network as a section `[model]`, defaults filled in from the generative network.
    fn recognition_model(&self) -> ModelConfig {
        let given = self.recognition.clone().unwrap_or_default();
        let recurrent = self.model.cell.is_recurrent();
        let propagated =
            self.latent.as_ref().is_some_and(|latent| latent.variance == LatentVariance::Propagated);
        ModelConfig {
            cell: given.cell.unwrap_or(if recurrent { self.model.cell } else { CellName::Lstm }),
            layers: given.layers.unwrap_or_else(|| self.model.layers.clone()),
            output: OutputMode::Propagating,
            likelihood: if propagated { Likelihood::Gaussian } else { Likelihood::Heteroscedastic },
            implicit_variance: propagated,
            learn_variance_scale: propagated,
            ..self.model.clone()
        }
    }

    /// The sections that describe the recognition network. Where posterior variances are propagated, keep
    /// probabilities are always learned (Bayer 2015, thesis, 4.4).
    pub fn recognition_network(&self) -> NetworkConfig {
        let (model, mut noise) = (self.recognition_model(), self.recognition_noise());
        noise.learn_keep |= model.implicit_variance && noise.has_dropout();
        NetworkConfig { model, noise, weights: WeightsConfig::default() }
    }
}

#[cfg(test)]
mod tests;
