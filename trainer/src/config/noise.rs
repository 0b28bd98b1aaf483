//! The section `[noise]`: noise on units before affine maps.

use serde::{Deserialize, Serialize};

use super::invalid::{InvalidValue, invalid, not_negative, probability};

/// The section `[noise]` (Bayer 2015, thesis, 2.3.4 and 2.5). Dropout is given by probabilities to *keep* a unit, of which
/// 1 means no noise; the other kinds by variances, of which 0 means no noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NoiseConfig {
    /// `"dropout"` (the default), or Gaussian noise that is `"multiplicative"` (mean 1) or `"additive"` (mean 0).
    pub kind: NoiseKind,
    /// For the inputs of the first layer.
    pub input_keep: f32,
    /// For the inputs of every further layer: the state of the layer below it.
    pub between_keep: f32,
    /// For each layer's own last state.
    pub recurrent_keep: f32,
    /// For the last state before the output layer. Without effect when the output is plain.
    pub output_keep: f32,
    /// Whether keep probabilities below 1 are where learning begins rather than fixed; false unless given.
    pub learn_keep: bool,
    /// Variance of multiplicative or additive noise on the inputs of the first layer.
    pub input_var: f32,
    /// The same for the inputs of every further layer.
    pub between_var: f32,
    /// The same for each layer's own last state.
    pub recurrent_var: f32,
    /// The same for the last state before the output layer.
    pub output_var: f32,
}

/// Value of `noise.kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoiseKind {
    /// A unit is kept or not.
    Dropout,
    /// A unit is multiplied by a normal number of mean 1.
    Multiplicative,
    /// A normal number of mean 0 is added to a unit.
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
    pub(super) fn check(&self) -> Result<(), InvalidValue> {
        self.check_at("noise")
    }

    /// Checks the noise that stands in section `section`.
    pub(super) fn check_at(&self, section: &str) -> Result<(), InvalidValue> {
        for (key, keep) in self.keeps() {
            let key = &format!("{section}.{key}");
            probability(key, keep.into())?;
            if self.kind != NoiseKind::Dropout && keep != 1.0 {
                let problem =
                    format!("belongs to `{section}.kind = \"dropout\"`; other kinds are set by variances");
                return Err(invalid(key, problem));
            }
        }
        for (key, var) in self.vars() {
            let key = &format!("{section}.{key}");
            not_negative(key, var.into())?;
            if self.kind == NoiseKind::Dropout && var != 0.0 {
                let problem = format!(
                    "belongs to `{section}.kind = \"multiplicative\"` or `\"additive\"`; dropout is set by \
                     probabilities to keep"
                );
                return Err(invalid(key, problem));
            }
        }
        if self.learn_keep && !self.has_dropout() {
            let problem = format!(
                "needs a probability below 1 to begin with, such as `{section}.recurrent_keep = 0.9`"
            );
            return Err(invalid(&format!("{section}.learn_keep"), problem));
        }
        Ok(())
    }

    /// Whether anything is dropped anywhere.
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
