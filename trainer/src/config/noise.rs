//! The section `[noise]`: noise on the inputs of affine maps.

use serde::{Deserialize, Serialize};

use super::limits::{InvalidValue, Limits, Rule, check_rules, invalid};

/// The section `[noise]`: noise on units before an affine map, propagated as variance (Bayer 2015, thesis,
/// 2.3.4 and 2.5). Dropout is set by keep probabilities, of which 1 means no noise; the other kinds are set
/// by variances, of which 0 means no noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NoiseConfig {
    /// The kind of noise: dropout, or Gaussian noise that is multiplicative (mean 1) or additive (mean 0).
    pub kind: NoiseKind,
    /// Keep probability of the inputs of the first layer.
    pub input_keep: f32,
    /// Keep probability of the inputs of every further layer, which are the states of the layer below.
    pub between_keep: f32,
    /// Keep probability of each layer's own last state.
    pub recurrent_keep: f32,
    /// Keep probability of the last layer's state before the output layer. Has no effect with
    /// `model.output = "mean-only"`.
    pub output_keep: f32,
    /// Whether keep probabilities below 1 are learned; the values given are where learning starts.
    pub learn_keep: bool,
    /// Variance of multiplicative or additive noise on the inputs of the first layer.
    pub input_var: f32,
    /// Variance of that noise on the inputs of every further layer.
    pub between_var: f32,
    /// Variance of that noise on each layer's own last state.
    pub recurrent_var: f32,
    /// Variance of that noise on the last layer's state before the output layer.
    pub output_var: f32,
}

/// Value of `noise.kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoiseKind {
    /// A unit is kept with a probability, and zero otherwise.
    Dropout,
    /// A unit is multiplied by a normal variate of mean 1.
    Multiplicative,
    /// A normal variate of mean 0 is added to a unit.
    Additive,
}

impl Default for NoiseConfig {
    fn default() -> Self {
        NoiseConfig {
            kind: NoiseKind::Dropout,
            input_keep: 1.0,
            between_keep: 1.0,
            recurrent_keep: 1.0,
            output_keep: 1.0,
            learn_keep: false,
            input_var: 0.0,
            between_var: 0.0,
            recurrent_var: 0.0,
            output_var: 0.0,
        }
    }
}

impl NoiseConfig {
    pub(super) const RULES: [Rule<Self>; 8] = [
        Rule::new("input_keep", Limits::KEEP, |noise| vec![noise.input_keep.into()]),
        Rule::new("between_keep", Limits::KEEP, |noise| vec![noise.between_keep.into()]),
        Rule::new("recurrent_keep", Limits::KEEP, |noise| vec![noise.recurrent_keep.into()]),
        Rule::new("output_keep", Limits::KEEP, |noise| vec![noise.output_keep.into()]),
        Rule::new("input_var", Limits::NOT_NEGATIVE, |noise| vec![noise.input_var.into()]),
        Rule::new("between_var", Limits::NOT_NEGATIVE, |noise| vec![noise.between_var.into()]),
        Rule::new("recurrent_var", Limits::NOT_NEGATIVE, |noise| vec![noise.recurrent_var.into()]),
        Rule::new("output_var", Limits::NOT_NEGATIVE, |noise| vec![noise.output_var.into()]),
    ];

    /// Checks the section, which the config calls `section`.
    pub(super) fn check(&self, section: &str) -> Result<(), InvalidValue> {
        check_rules(section, self, &Self::RULES)?;
        let dropout = self.kind == NoiseKind::Dropout;
        if let Some((key, _)) = self.keeps().into_iter().find(|(_, keep)| !dropout && *keep != 1.0) {
            let problem =
                format!("belongs to `{section}.kind = \"dropout\"`; other kinds are set by variances");
            return Err(invalid(&format!("{section}.{key}"), problem));
        }
        if let Some((key, _)) = self.vars().into_iter().find(|(_, var)| dropout && *var != 0.0) {
            let problem = format!(
                "belongs to `{section}.kind = \"multiplicative\"` or `\"additive\"`; dropout is set by keep probabilities"
            );
            return Err(invalid(&format!("{section}.{key}"), problem));
        }
        if self.learn_keep && !self.has_dropout() {
            let problem = format!(
                "needs a keep probability below 1 to start from, such as `{section}.recurrent_keep = 0.9`"
            );
            return Err(invalid(&format!("{section}.learn_keep"), problem));
        }
        Ok(())
    }

    /// Whether any keep probability is below 1.
    pub(super) fn has_dropout(&self) -> bool {
        self.keeps().iter().any(|(_, keep)| *keep < 1.0)
    }

    fn keeps(&self) -> [(&'static str, f32); 4] {
        [
            ("input_keep", self.input_keep),
            ("between_keep", self.between_keep),
            ("recurrent_keep", self.recurrent_keep),
            ("output_keep", self.output_keep),
        ]
    }

    fn vars(&self) -> [(&'static str, f32); 4] {
        [
            ("input_var", self.input_var),
            ("between_var", self.between_var),
            ("recurrent_var", self.recurrent_var),
            ("output_var", self.output_var),
        ]
    }
}
