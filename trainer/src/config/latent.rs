//! The sections `[latent]` and `[recognition]`: a model of latent sequences instead of a predictor.

use quaver::checkpoint::{Likelihood, MAX_WIDTH, OutputMode, Prior};
use serde::{Deserialize, Serialize};

use super::invalid::{InvalidValue, invalid, not_negative, within};
use super::{
    CellName, Config, ModelConfig, NetworkConfig, NoiseConfig, Padding, Targets, WeightPosterior,
    WeightsConfig,
};

/// The section `[latent]` (Bayer 2015, thesis, chapter 4; Bayer and Osendorfer 2014). With it, `[model]`, `[noise]` and
/// `[init]` describe the generative net, and `[recognition]` the recognition net.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatentConfig {
    /// `"storn"`, `"vosp"` or `"vrae"`.
    pub family: LatentFamily,
    /// Latent variables per step.
    pub latents: u16,
    /// What is expected of them: `"white"` (the default), or `"wiener"` for VOSP and VRAE.
    #[serde(default = "white", with = "PriorName")]
    pub prior: Prior,
    /// What the recognition net reads: `"causal"`, past and present, or `"bidirectional"`, the whole sequence. A STORN is
    /// causal unless given; a VOSP always is, and a VRAE never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Where the variances of the latent variables come from: `"output"` (the default), the recognition net has outputs for
    /// them, or `"carried"`, they are what variance propagation carries to its outputs, with learned keep probabilities.
    #[serde(default)]
    pub variance: LatentVariance,
    /// Epochs during which the weight of the divergence from the prior rises in a line to 1; 0 unless given. What is
    /// printed is the bound with its full weight from the first epoch on.
    #[serde(default)]
    pub warm_up: f64,
    /// How much the divergence from the prior counts after that, above 0 and at most 1; 1 unless given. Less is for a VOSP that
    /// learns from the truth, `data.targets = "clean"`: see `docs/latent.md`.
    #[serde(default = "whole")]
    pub divergence_weight: f64,
    /// Draws of the latent variables per sequence and step of the optimiser, and for validation; 1 unless given.
    #[serde(default = "one")]
    pub draws: usize,
    /// Longest gap that the recognition net is given in training, in rows; 0 unless given, which is none. For a VRAE that is to
    /// fill gaps.
    #[serde(default)]
    pub gaps: usize,
    /// The noise of a Gaussian output: `"learned"` (the default), or `"fixed"` to learn with a variance of 1 and to find the
    /// most likely one on the validation data after every epoch (Bayer 2015, thesis, 4.4.2).
    #[serde(default)]
    pub noise: OutputNoise,
}

/// Value of `latent.family`: how the generative net gets at the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LatentFamily {
    /// Stochastic recurrent network: a recurrent generative net reads [x_{t−1}, z_t] and says p(x_t | x_{1:t−1}, z_{1:t})
    /// (Bayer 2015, thesis, eqs. 29 to 31).
    Storn,
    /// Variational one-step predictor: a feed-forward generative net reads [h_{t−1}, z_t], where h is the last layer of the
    /// recognition net, and says p(x_t | h_{t−1}, z_t) (Bayer and Osendorfer 2014, 3.2). It must not read h_t, which has
    /// seen x_t.
    Vosp,
    /// Variational recurrent auto-encoder: both nets are bidirectional, and the generative net reads z alone
    /// (Bayer and Osendorfer 2014, 3.1).
    Vrae,
}

/// How `latent.prior` is written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Prior", rename_all = "lowercase")]
enum PriorName {
    White,
    Wiener,
}

/// Value of `latent.direction`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Past and present.
    Causal,
    /// The whole sequence.
    Bidirectional,
}

/// Value of `latent.variance`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LatentVariance {
    /// An output of its own.
    #[default]
    Output,
    /// What variance propagation carries.
    Carried,
}

/// Value of `latent.noise`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputNoise {
    /// Learned with everything else.
    #[default]
    Learned,
    /// 1 while learning, then found on validation data.
    Fixed,
}

/// The section `[recognition]`: the net that guesses the latent variables from what was observed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecognitionConfig {
    /// The recurrence of every layer, as in `[model]`; that of the generative net unless given, or `"lstm"` if that net
    /// has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<CellName>,
    /// Units per layer, as in `[model]`; those of the generative net unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layers: Option<Vec<u16>>,
    /// Noise on units, as in `[noise]`; none unless given.
    pub noise: NoiseConfig,
}

fn white() -> Prior {
    Prior::White
}

fn one() -> usize {
    1
}

fn whole() -> f64 {
    1.0
}

/// More draws than anyone wants to wait for: a slip of the finger.
const MOST_DRAWS: usize = 1000;

impl LatentConfig {
    /// What the recognition net reads, where that is not given either.
    pub fn direction(&self) -> Direction {
        let usual =
            if self.family == LatentFamily::Vrae { Direction::Bidirectional } else { Direction::Causal };
        self.direction.unwrap_or(usual)
    }

    fn check(&self) -> Result<(), InvalidValue> {
        within("latent.latents", self.latents, 1..=MAX_WIDTH)?;
        not_negative("latent.warm_up", self.warm_up)?;
        within("latent.draws", self.draws, 1..=MOST_DRAWS)?;
        if !(self.divergence_weight > 0.0 && self.divergence_weight <= 1.0) {
            let problem = format!("must be above 0 and at most 1, found {}", self.divergence_weight);
            return Err(invalid("latent.divergence_weight", problem));
        }
        if self.family == LatentFamily::Storn && self.prior == Prior::Wiener {
            let problem = "must be \"white\" for a STORN, whose generative net remembers by itself; \
                           \"wiener\" is for VOSP and VRAE";
            return Err(invalid("latent.prior", problem));
        }
        if self.gaps > 0 && self.family != LatentFamily::Vrae {
            let problem = "needs `latent.family = \"vrae\"`: the generative net of any other family reads past rows itself, so \
                           that they are not hidden";
            return Err(invalid("latent.gaps", problem));
        }
        match (self.family, self.direction()) {
            (LatentFamily::Vosp, Direction::Bidirectional) => Err(invalid(
                "latent.direction",
                "must be \"causal\" for a VOSP: its generative net reads what the recognition net has kept of the past, \
                 which must not hold the row to be explained",
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
    /// Checks what `[latent]` and `[recognition]` ask for, on their own and together with the rest.
    pub(super) fn check_latent(&self) -> Result<(), InvalidValue> {
        let Some(latent) = &self.latent else {
            return match self.recognition {
                Some(_) => Err(invalid("recognition", "belongs to a model with a section `[latent]`")),
                None => Ok(()),
            };
        };
        latent.check()?;
        let recognition = self.recognition_model();
        recognition.check_at("recognition")?;
        self.recognition_noise().check_at("recognition.noise")?;
        self.init.check(recognition.layers.iter().min().copied())?;
        self.check_company(latent)?;
        self.check_recognition(latent)
    }

    /// Refuses what other sections ask for and latent models do not offer.
    fn check_company(&self, latent: &LatentConfig) -> Result<(), InvalidValue> {
        let dense = !self.model.cell.is_recurrent();
        self.check_explained(latent)?;
        if self.model.residual && latent.family != LatentFamily::Storn {
            let problem =
                "needs `latent.family = \"storn\"`: no other generative net reads the row that changes";
            return Err(invalid("model.residual", problem));
        }
        if latent.family == LatentFamily::Vosp && !dense {
            let problem = "must be \"dense-tanh\", \"dense-sigmoid\" or \"dense-relu\" for a VOSP, whose generative net \
                           has no memory of its own; its recognition net has one, see `recognition.cell`";
            return Err(invalid("model.cell", problem));
        }
        let bidirectional =
            latent.family == LatentFamily::Vrae && self.weights.posterior != WeightPosterior::Point;
        if bidirectional || self.weights.posterior == WeightPosterior::Vb {
            let problem =
                "must be \"point\" with `[latent]`, or \"ropd\" for the generative net of a STORN or a VOSP";
            return Err(invalid("weights.posterior", problem));
        }
        if self.training.carry_state {
            let problem = "does not go with `[latent]`: a chunk is a sequence of its own there, whose bound must not lean on \
                           another one's draws";
            return Err(invalid("training.carry_state", problem));
        }
        if self.training.padding == Padding::Before {
            return Err(invalid(
                "training.padding",
                "must be \"after\" with `[latent]`: sequences begin at their first step",
            ));
        }
        let searched = latent.noise == OutputNoise::Fixed;
        if searched && (self.model.likelihood != Likelihood::Gaussian || self.model.implicit_variance) {
            let problem = "\"fixed\" needs `model.likelihood = \"gaussian\"` and no `model.implicit_variance`: there is no \
                           noise variance to find otherwise";
            return Err(invalid("latent.noise", problem));
        }
        Ok(())
    }

    /// Refuses rows to explain other than those that are read, unless they are their truth and the model is a VOSP.
    fn check_explained(&self, latent: &LatentConfig) -> Result<(), InvalidValue> {
        match (&self.data.targets, latent.family) {
            (Targets::Next, _) if latent.divergence_weight < 1.0 => Err(invalid(
                "latent.divergence_weight",
                "must be 1 with `data.targets = \"next\"`: less of the divergence bounds no likelihood of the rows that are read; \
                 `latent.warm_up` makes a beginning easier",
            )),
            (Targets::Next, _) | (Targets::Clean, LatentFamily::Vosp) => Ok(()),
            (Targets::Clean, LatentFamily::Storn | LatentFamily::Vrae) => Err(invalid(
                "data.targets",
                "\"clean\" with `[latent]` needs `latent.family = \"vosp\"`: a STORN feeds itself the rows that it explains, and a \
                 VRAE takes noise off nothing that comes row by row; set \"next\", or change the family",
            )),
            (Targets::Matching(_), _) => Err(invalid(
                "data.targets",
                "must be \"next\" with `[latent]`, such a model explains the rows it reads; or \"clean\" for a VOSP that explains \
                 what they were without their noise",
            )),
        }
    }

    fn check_recognition(&self, latent: &LatentConfig) -> Result<(), InvalidValue> {
        let model = self.recognition_model();
        if latent.family == LatentFamily::Vosp && !model.cell.is_recurrent() {
            let problem = "must be \"lstm\", \"tanh\", \"sigmoid\" or \"relu\" for a VOSP: what it keeps of the past is \
                           all that its generative net knows of it";
            return Err(invalid("recognition.cell", problem));
        }
        if latent.variance == LatentVariance::Carried && model.is_silent(&self.recognition_noise()) {
            let problem = "\"carried\" needs a source of variance in the recognition net, such as \
                           `recognition.noise.recurrent_keep = 0.9` and `recognition.noise.output_keep = 0.9`";
            return Err(invalid("latent.variance", problem));
        }
        Ok(())
    }

    fn recognition_noise(&self) -> NoiseConfig {
        self.recognition.as_ref().map(|recognition| recognition.noise.clone()).unwrap_or_default()
    }

    /// The recognition net as if it had a section `[model]` of its own.
    fn recognition_model(&self) -> ModelConfig {
        let given = self.recognition.clone().unwrap_or_default();
        let recurrent = self.model.cell.is_recurrent();
        let carried = self.latent.as_ref().is_some_and(|latent| latent.variance == LatentVariance::Carried);
        ModelConfig {
            cell: given.cell.unwrap_or(if recurrent { self.model.cell } else { CellName::Lstm }),
            layers: given.layers.unwrap_or_else(|| self.model.layers.clone()),
            output: OutputMode::Propagating,
            likelihood: if carried { Likelihood::Gaussian } else { Likelihood::Heteroscedastic },
            implicit_variance: carried,
            learn_variance_scale: carried,
            ..self.model.clone()
        }
    }

    /// The sections of the recognition net, defaults filled in from the generative net. The keep probabilities of one whose
    /// variance is carried are always learned (Bayer 2015, thesis, 4.4).
    pub fn recognition_network(&self) -> NetworkConfig {
        let (model, mut noise) = (self.recognition_model(), self.recognition_noise());
        noise.learn_keep |= model.implicit_variance && noise.has_dropout();
        NetworkConfig { model, noise, weights: WeightsConfig::default() }
    }
}

#[cfg(test)]
mod tests;
