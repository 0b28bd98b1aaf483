//! The section `[weights]`: whether weights are numbers or distributions.

use serde::{Deserialize, Serialize};

use super::limits::{InvalidValue, Limits, Rule, check_rules, invalid};

/// The section `[weights]`: posterior distributions of the weights and noise on them (Bayer 2015, thesis,
/// 2.6.2 and 2.7; Fortunato, Blundell and Vinyals 2017).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WeightsConfig {
    /// What is learned for each weight: a point estimate, or mean and variance of a normal distribution, by
    /// fast adaptive weight noise (`"ropd"`, `"vb"`) or by Bayes by Backprop (`"bbb"`).
    pub posterior: PosteriorName,
    /// Factor on the Kullback–Leibler divergence of the weights from their prior; 1 is the published
    /// objective. A smaller factor helps where there are few data for many weights.
    pub divergence_weight: f32,
    /// Standard deviation of Gaussian noise on every weight. Excludes `keep`.
    pub noise_std_dev: f32,
    /// Keep probability of every weight (DropConnect).
    pub keep: f32,
    /// The prior of every weight. If not set, `"mixture"` for `"bbb"` and `"learned"` for `"ropd"` and
    /// `"vb"`, which have no other.
    pub prior: Option<WeightPriorName>,
    /// Weight π of the first component of a mixture prior.
    pub prior_weight: f32,
    /// Standard deviations σ₁ and σ₂ of the components of a mixture prior.
    pub prior_std_dev: [f32; 2],
    /// `"bbb"`: draws of the weights per training step, whose gradients are averaged.
    pub draws: u16,
    /// `"bbb"`: whether draws are pairs μ ± σ∘ε, whose errors of odd order cancel; needs an even number of
    /// draws.
    pub antithetic: bool,
    /// `"bbb"`: whether the posterior is sharpened by the gradient of each batch, with a rate learned for
    /// every weight. A training step takes two passes.
    pub sharpen: bool,
    /// Standard deviation σ₀ of the sharpened posterior around its mean.
    pub sharpen_std_dev: f32,
}

/// Value of `weights.posterior`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PosteriorName {
    /// A point estimate.
    #[default]
    Point,
    /// Mean and variance by regularised optimisation of the predictive distribution: the variance that
    /// weights contribute to an output counts as predictive variance (Bayer 2015, thesis, 2.6.2.2).
    Ropd,
    /// Mean and variance by variational Bayes (Bayer 2015, thesis, 2.6.2.1).
    Vb,
    /// Mean and variance by Bayes by Backprop: each training step draws all weights (Fortunato, Blundell and
    /// Vinyals 2017).
    Bbb,
}

/// Value of `weights.prior`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WeightPriorName {
    /// π N(0, σ₁²) + (1 − π) N(0, σ₂²), fixed: one component for weights that matter, one that pulls the
    /// others to zero.
    Mixture,
    /// A normal distribution whose mean and variance are learned, shared by all weights.
    Learned,
}

impl PosteriorName {
    /// Whether variances of weights are learned.
    pub fn has_variance(self) -> bool {
        self != PosteriorName::Point
    }
}

impl Default for WeightsConfig {
    fn default() -> Self {
        WeightsConfig {
            posterior: PosteriorName::Point,
            divergence_weight: 1.0,
            noise_std_dev: 0.0,
            keep: 1.0,
            prior: None,
            prior_weight: 0.5,
            prior_std_dev: [1.0, 0.0025],
            draws: 1,
            antithetic: false,
            sharpen: false,
            sharpen_std_dev: 0.02,
        }
    }
}

impl WeightsConfig {
    pub(super) const RULES: [Rule<Self>; 7] = [
        Rule::new("divergence_weight", Limits::NOT_NEGATIVE, |weights| {
            vec![weights.divergence_weight.into()]
        }),
        Rule::new("noise_std_dev", Limits::NOT_NEGATIVE, |weights| vec![weights.noise_std_dev.into()]),
        Rule::new("keep", Limits::KEEP, |weights| vec![weights.keep.into()]),
        Rule::new("prior_weight", Limits::FRACTION, |weights| vec![weights.prior_weight.into()]),
        Rule::new("prior_std_dev", Limits::closed(1e-4, 1e4), |weights| {
            weights.prior_std_dev.map(f64::from).to_vec()
        }),
        Rule::new("draws", Limits::closed(1.0, 1000.0), |weights| vec![weights.draws.into()]),
        Rule::new("sharpen_std_dev", Limits::closed(1e-4, 1e4), |weights| {
            vec![weights.sharpen_std_dev.into()]
        }),
    ];

    pub(super) fn check(&self) -> Result<(), InvalidValue> {
        check_rules("weights", self, &Self::RULES)?;
        if self.noise_std_dev > 0.0 && self.keep < 1.0 {
            let problem = "and `weights.keep` are two kinds of noise on the same weights; remove one of them";
            return Err(invalid("weights.noise_std_dev", problem));
        }
        if self.posterior == PosteriorName::Bbb { self.check_drawn() } else { self.check_not_drawn() }
    }

    /// Checks the keys of Bayes by Backprop.
    fn check_drawn(&self) -> Result<(), InvalidValue> {
        let noise = [("noise_std_dev", self.noise_std_dev > 0.0), ("keep", self.keep < 1.0)];
        if let Some((key, _)) = noise.into_iter().find(|(_, set)| *set) {
            let problem = "does not go with `weights.posterior = \"bbb\"`, which draws every weight from its posterior; \
                           remove it";
            return Err(invalid(&format!("weights.{key}"), problem));
        }
        if self.antithetic && !self.draws.is_multiple_of(2) {
            let problem = format!("must be even with `weights.antithetic = true`, found {}", self.draws);
            return Err(invalid("weights.draws", problem));
        }
        let default = WeightsConfig::default();
        let mixture = [
            ("prior_weight", self.prior_weight != default.prior_weight),
            ("prior_std_dev", self.prior_std_dev != default.prior_std_dev),
        ];
        if let Some((key, _)) = mixture.into_iter().find(|(_, set)| *set && !self.has_mixture()) {
            let problem = "describes a mixture, but `weights.prior` is \"learned\"; remove one of them";
            return Err(invalid(&format!("weights.{key}"), problem));
        }
        if self.sharpen_std_dev != default.sharpen_std_dev && !self.sharpen {
            return Err(invalid("weights.sharpen_std_dev", "needs `weights.sharpen = true`"));
        }
        Ok(())
    }

    /// Refuses keys of Bayes by Backprop that would have no effect.
    fn check_not_drawn(&self) -> Result<(), InvalidValue> {
        let default = WeightsConfig::default();
        let keys = [
            ("prior", self.prior == Some(WeightPriorName::Mixture) || self.is_point_with_prior()),
            ("prior_weight", self.prior_weight != default.prior_weight),
            ("prior_std_dev", self.prior_std_dev != default.prior_std_dev),
            ("draws", self.draws != default.draws),
            ("antithetic", self.antithetic),
            ("sharpen", self.sharpen),
            ("sharpen_std_dev", self.sharpen_std_dev != default.sharpen_std_dev),
        ];
        match keys.into_iter().find(|(_, set)| *set) {
            Some((key, _)) => Err(invalid(
                &format!("weights.{key}"),
                "needs `weights.posterior = \"bbb\"`; remove it, or set that",
            )),
            None => Ok(()),
        }
    }

    fn is_point_with_prior(&self) -> bool {
        self.posterior == PosteriorName::Point && self.prior.is_some()
    }

    fn has_mixture(&self) -> bool {
        self.prior != Some(WeightPriorName::Learned)
    }

    /// Whether weights have variances, learned or from noise.
    pub fn has_variance(&self) -> bool {
        self.posterior.has_variance() || self.keep < 1.0 || self.noise_std_dev > 0.0
    }

    /// Whether weights have variances while they are trained: Bayes by Backprop trains draws, which have
    /// none.
    pub(super) fn has_variance_in_training(&self) -> bool {
        self.has_variance() && self.posterior != PosteriorName::Bbb
    }
}
