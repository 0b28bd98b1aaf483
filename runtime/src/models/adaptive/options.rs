//! Settings of adaptation.

use super::covariance::Covariance;
use crate::format::{Error, Part};

/// How the output layer learns from labels.
///
/// The defaults suit labels at the sensors' rate of some hundred per second. They were chosen on EMG
/// recordings of arms that the model had not been trained on; `quaver adapt` shows what others would do.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct AdaptOptions {
    /// Full or diagonal covariance of the correction's weights: memory against accuracy.
    pub covariance: Covariance,
    /// Prior variance of each weight of the correction, in units of the output's noise variance, from 10⁻⁶
    /// to 10⁶. Larger values learn faster from few labels, follow their noise more, and have wider error
    /// bars before the first label.
    pub prior: f32,
    /// Forgetting factor λ of a label, above 0.9 and at most 1: labels lose half their weight after
    /// ln 2 / (1 − λ) later ones. 1 forgets nothing.
    pub forgetting: f32,
    /// Successive labels that together carry the information of one independent label, from 1 to 10⁶: the
    /// time over which errors are correlated, times the rate of labels. 1 for labels that are far apart.
    pub correlation: f32,
}

impl Default for AdaptOptions {
    fn default() -> Self {
        AdaptOptions { covariance: Covariance::Full, prior: 1.0, forgetting: 0.9999, correlation: 100.0 }
    }
}

impl AdaptOptions {
    /// An error that names the first setting out of its range.
    pub(super) fn check(&self) -> Result<(), Error> {
        let settings = [
            ("prior", (1e-6..=1e6).contains(&self.prior), "from 1e-6 to 1e6"),
            ("forgetting", self.forgetting > 0.9 && self.forgetting <= 1.0, "above 0.9 and at most 1"),
            ("correlation", (1.0..=1e6).contains(&self.correlation), "from 1 to 1e6"),
        ];
        match settings.into_iter().find(|(_, allowed, _)| !allowed) {
            Some((field, _, allowed)) => Err(Error::Invalid { part: Part::Adaptation, field, allowed }),
            None => Ok(()),
        }
    }
}
