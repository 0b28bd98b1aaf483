//! Optional parts of a checkpoint that follow the stream: tracking, conformal quantiles, limits of faults.

use quaver::checkpoint::{AnomalySpec, Contents, TrackingSpec};
use quaver::conformal::LEVELS;

use super::anomaly_limits::AnomalyLimits;
use super::ranges::InputRanges;
use crate::evaluate::OutputQuantiles;

/// Optional parts of a checkpoint; none by default.
#[derive(Clone, Debug, Default)]
pub struct Additions {
    /// Error bars whose width follows the truth.
    pub tracking: Option<TrackingSpec>,
    /// Quantiles of the residuals, four per output.
    pub quantiles: Option<Vec<f32>>,
    /// Detection of faulty channels.
    pub anomaly: Option<AnomalyLimits>,
    /// Plausible ranges of the inputs.
    pub ranges: Option<InputRanges>,
}

impl Additions {
    /// Puts the parts into the contents of a checkpoint.
    pub(super) fn add_to(&self, contents: &mut Contents) {
        let extensions = &mut contents.spec.extensions;
        extensions.tracking = self.tracking;
        if let Some(quantiles) = &self.quantiles {
            extensions.quantiles = true;
            contents.quantiles = quantiles.clone();
        }
        if let Some(limits) = &self.anomaly {
            extensions.anomaly = Some(AnomalySpec { window: limits.window });
            contents.anomaly_row = limits.row.iter().flat_map(|limit| [limit.start, limit.weight]).collect();
            contents.anomaly_channels =
                limits.channels.iter().flat_map(|channel| channel.numbers()).collect();
        }
        if let Some(ranges) = &self.ranges {
            ranges.add_to(contents);
        }
    }
}

/// Quantiles as a checkpoint holds them; `None` if some output has too few residuals for the highest level.
pub fn stored_quantiles(found: &[OutputQuantiles]) -> Option<Vec<f32>> {
    const { assert!(LEVELS.len() == crate::evaluate::CONFORMAL_LEVELS.len()) };
    let all = found.iter().flat_map(|output| output.quantiles);
    all.map(|quantile| quantile.map(|value| (value as f32).clamp(1e-6, 1e6))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::CONFORMAL_LEVELS;

    #[test]
    fn levels_of_fit_and_format_agree_and_missing_ones_are_not_stored() {
        assert!(LEVELS.iter().zip(CONFORMAL_LEVELS).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-7));
        let output = |quantiles| OutputQuantiles { n: 30, quantiles };
        let full = output([0.5, 1.2, 1.6, 0.0].map(Some));
        assert_eq!(stored_quantiles(std::slice::from_ref(&full)), Some(vec![0.5, 1.2, 1.6, 1e-6]));
        let short = output([Some(0.5), Some(1.2), Some(1.6), None]);
        assert_eq!(stored_quantiles(&[full, short]), None);
    }
}
