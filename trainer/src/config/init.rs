//! The section `[init]`: initial parameters.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::limits::{InvalidValue, Limits, Rule, check_path, check_rules, invalid, optional};

/// The section `[init]`: where training starts (Bayer 2015, thesis, 1.3.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InitConfig {
    /// Run folder whose best state training starts from, scaling included: fine-tuning of what was learned
    /// from many recordings to one person or machine. Excludes all other keys of this section, except
    /// `sharpen_rate` where the run's posterior was not sharpened and this one is.
    pub from: Option<PathBuf>,
    /// Standard deviation of the weights from a layer's inputs; 1/√inputs if not set.
    pub input_std_dev: Option<f32>,
    /// Standard deviation of the recurrent weights; 1/√units if not set. Excludes `spectral_radius`.
    pub recurrent_std_dev: Option<f32>,
    /// Spectral radius ρ (largest absolute eigenvalue) that each recurrent matrix is scaled to. Excludes
    /// `recurrent_std_dev`.
    pub spectral_radius: Option<f32>,
    /// Number ν of recurrent weights per unit that are not zero; 0 for all of them.
    pub sparse: u16,
    /// Standard deviation of the biases of layers without recurrence. With few inputs, zero biases let all
    /// units bend in one place, from which they are slow to spread over their range.
    pub bias_std_dev: f32,
    /// Initial bias of every output. A negative one suits outputs that are rarely 1.
    pub output_bias: f32,
    /// Initial standard deviation of weights that have one, in units of 1/√columns of their affine map.
    pub weight_std_dev: f32,
    /// Initial rate r of a sharpened posterior (`weights.sharpen`), whose shift is rσ₀² times the gradient of
    /// the batch; 1 is the best one where the likelihood is linear. Adam learns it from 0 on, plain descent
    /// hardly moves it.
    pub sharpen_rate: f32,
    /// Initial noise variance of outputs with a normal likelihood. That of a residual network is always the
    /// mean squared residual.
    pub noise: InitialNoise,
}

/// Value of `init.noise`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InitialNoise {
    /// The error of a linear regression of the targets on the last two input rows, at least 0.01 and at most
    /// 1 in standardised units: about where training will end.
    Linear,
    /// 1, the variance of the standardised targets.
    One,
}

impl Default for InitConfig {
    fn default() -> Self {
        InitConfig {
            from: None,
            input_std_dev: None,
            recurrent_std_dev: None,
            spectral_radius: None,
            sparse: 0,
            bias_std_dev: 0.0,
            output_bias: 0.0,
            weight_std_dev: 0.1,
            sharpen_rate: 0.0,
            noise: InitialNoise::Linear,
        }
    }
}

impl InitConfig {
    pub(super) const RULES: [Rule<Self>; 7] = [
        Rule::new("input_std_dev", Limits::NOT_NEGATIVE, |init| optional(init.input_std_dev)),
        Rule::new("recurrent_std_dev", Limits::NOT_NEGATIVE, |init| optional(init.recurrent_std_dev)),
        Rule::new("spectral_radius", Limits::NOT_NEGATIVE, |init| optional(init.spectral_radius)),
        Rule::new("bias_std_dev", Limits::NOT_NEGATIVE, |init| vec![init.bias_std_dev.into()]),
        Rule::new("output_bias", Limits::FINITE, |init| vec![init.output_bias.into()]),
        Rule::new("weight_std_dev", Limits::POSITIVE, |init| vec![init.weight_std_dev.into()]),
        Rule::new("sharpen_rate", Limits::NOT_NEGATIVE, |init| vec![init.sharpen_rate.into()]),
    ];

    /// Resolves relative paths against `folder`.
    pub(super) fn anchor(&mut self, folder: &Path) {
        self.from = self.from.take().map(|run| folder.join(run));
    }

    /// Checks the section; `units` is the size of the smallest layer.
    pub(super) fn check(&self, units: Option<u16>) -> Result<(), InvalidValue> {
        check_rules("init", self, &Self::RULES)?;
        self.from.iter().try_for_each(|path| check_path("init.from", path))?;
        let alone =
            InitConfig { from: self.from.clone(), sharpen_rate: self.sharpen_rate, ..InitConfig::default() };
        if self.from.is_some() && *self != alone {
            let problem = "excludes the other keys of `[init]` except `sharpen_rate`; remove them";
            return Err(invalid("init.from", problem));
        }
        if self.recurrent_std_dev.is_some() && self.spectral_radius.is_some() {
            let problem =
                "and `init.spectral_radius` both set the size of the recurrent weights; remove one of them";
            return Err(invalid("init.recurrent_std_dev", problem));
        }
        if let Some(units) = units.filter(|&units| self.sparse > units) {
            let problem =
                format!("must be at most the {units} units of the smallest layer, found {}", self.sparse);
            return Err(invalid("init.sparse", problem));
        }
        Ok(())
    }
}
