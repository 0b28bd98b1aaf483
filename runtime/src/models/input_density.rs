//! Rows against the density of the training rows: missing channels are imputed, unusual rows noticed.

use super::input::{RawRow, Reading};
use super::outputs::{OutputSlices, Outputs};
use super::parts::{Known, Network};
use super::prediction::Novelty;
use crate::arena::ArenaSplitter;
use crate::density;
use crate::format::F32s;
use crate::limits::UNIT_LIMIT;
use crate::moments::{Moments, at_most};
use crate::spec::{DensitySpec, Imputation};

/// The input density of a checkpoint.
#[derive(Clone, Copy, Debug)]
pub(super) struct InputDensity<'m> {
    pub(super) spec: DensitySpec,
    /// Lower triangle of the precision matrix.
    pub(super) precision: F32s<'m>,
    /// Range of the training rows in raw units.
    pub(super) low: F32s<'m>,
    pub(super) high: F32s<'m>,
}

/// The row just read in standardised units, missing channels imputed. Empty without an input density.
#[derive(Debug, Default)]
pub(super) struct StandardisedRow<'a> {
    mean: &'a mut [f32],
    var: &'a mut [f32],
}

impl<'a> StandardisedRow<'a> {
    pub(super) fn carve(words: &mut ArenaSplitter<'a>, count: usize) -> Option<Self> {
        let (mean, var) = (words.carve(count / 2)?, words.carve(count / 2)?);
        Some(StandardisedRow { mean, var })
    }

    pub(super) fn view(&self) -> ImputedRow<'_> {
        ImputedRow { mean: self.mean, var: self.var }
    }

    /// Standardises a row without gaps and variances and within the limits, as nearly all are; nothing for
    /// any other.
    fn read_usual(&mut self, model: &impl Known, row: &RawRow<'_>) -> Option<()> {
        let values = row.values.get(..self.mean.len()).filter(|_| row.is_plain())?;
        let parts = model.parts();
        let scales = parts.input_mean.iter().zip(parts.input_std_dev.iter());
        let mut largest = 0;
        for ((standardised, value), (mean, std_dev)) in self.mean.iter_mut().zip(values).zip(scales) {
            *standardised = (value - mean) / std_dev;
            // As integers, magnitudes are in the same order, and those of infinities and NaN are the largest.
            largest = largest.max(standardised.abs().to_bits());
        }
        if largest >= UNIT_LIMIT.to_bits() {
            return None;
        }
        self.var.fill(0.0);
        Some(())
    }

    /// Standardises any row and marks what is missing; the number of present channels, and whether all are
    /// exact.
    fn read_any(&mut self, model: &impl Known, row: &RawRow<'_>) -> (f32, bool) {
        let (mut present, mut exact) = (0.0, true);
        for (channel, (mean, var)) in self.mean.iter_mut().zip(self.var.iter_mut()).enumerate() {
            let moments = match row.reading(channel) {
                Some(reading) => {
                    present += 1.0;
                    model.standardised(channel, Some(reading))
                }
                None => Moments { mean: 0.0, var: density::MISSING },
            };
            exact &= moments.var == 0.0;
            (*mean, *var) = (moments.mean, moments.var);
        }
        (present, exact)
    }
}

/// A row in standardised units, to read from. Empty without an input density.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ImputedRow<'r> {
    mean: &'r [f32],
    var: &'r [f32],
}

impl<'r> ImputedRow<'r> {
    /// Means of all channels.
    pub(super) fn means(self) -> &'r [f32] {
        self.mean
    }

    /// Moments of a channel.
    pub(super) fn at(self, channel: usize) -> Moments {
        let [mean, var] = [self.mean, self.var].map(|list| list.get(channel).copied().unwrap_or(0.0));
        Moments { mean, var }
    }
}

impl InputDensity<'_> {
    /// Standardises a row, imputes what is missing, and measures how unusual the row is. `predicted` is what
    /// the model expected.
    #[inline(never)] // its stack is free again for the layers
    pub(super) fn read(
        &self,
        model: &impl Known,
        row: &RawRow<'_>,
        predicted: &Outputs<'_>,
        standardised: &mut StandardisedRow<'_>,
        scratch: &mut [f32],
    ) -> Novelty {
        let (present, exact) = match standardised.read_usual(model, row) {
            Some(()) => (standardised.mean.len() as f32, true),
            None => standardised.read_any(model, row),
        };
        let StandardisedRow { mean, var } = standardised;
        if !exact {
            density::impute(|index| self.precision.at(index), mean, var, scratch);
        }
        let distance = density::distance(self.precision.words(), f32::from_le_bytes, mean)
            / if present > 1.0 { present } else { 1.0 };
        if !exact {
            self.finish(model, row, predicted, standardised);
        }
        Novelty { distance, familiar: self.spec.familiar }
    }

    /// Combines the conditionals of missing channels with their predictions, within the range of the training
    /// rows.
    fn finish(
        &self,
        model: &impl Known,
        row: &RawRow<'_>,
        predicted: &Outputs<'_>,
        standardised: &mut StandardisedRow<'_>,
    ) {
        let moments = standardised.mean.iter_mut().zip(standardised.var.iter_mut()).enumerate();
        for (channel, (mean, var)) in moments.filter(|(channel, _)| row.reading(*channel).is_none()) {
            let conditional = Moments { mean: *mean, var: *var };
            let imputed = match (self.spec.imputation, predicted.impute(channel)) {
                (
                    Imputation::Combined { decay, inflation }
                    | Imputation::LastEstimate { decay, inflation, .. },
                    Some(reading),
                ) => {
                    let prediction = model.standardised(channel, Some(reading));
                    density::combine(density::forget(prediction, decay, inflation), conditional)
                }
                _ => conditional,
            };
            let Moments { mean: value, var: spread } = self.within_range(model, channel, imputed);
            (*mean, *var) = (value, spread);
        }
    }

    /// Moves variances of outputs whose channels were imputed towards the imputed ones, where those are
    /// larger: w ← w + s max(0, v − w) with the share s, in raw units.
    pub(super) fn add_lasting(
        &self,
        row: &RawRow<'_>,
        imputed: ImputedRow<'_>,
        std_devs: F32s<'_>,
        [_, epistemic, aleatoric]: OutputSlices<'_>,
    ) {
        let Imputation::LastEstimate { share, .. } = self.spec.imputation else { return };
        let outputs = epistemic.iter_mut().zip(&*aleatoric).zip(std_devs.iter()).enumerate();
        for (channel, ((var, noise), std_dev)) in outputs {
            if row.reading(channel).is_none() {
                let excess = imputed.at(channel).var * (std_dev * std_dev) - (*var + noise);
                // The sum of both parts stays finite.
                let lasting = if excess > 0.0 { share * excess } else { 0.0 };
                *var = at_most(*var + lasting, f32::MAX - noise);
            }
        }
    }

    /// Standardised moments with their mean inside the range of the training rows.
    pub(super) fn within_range(&self, model: &impl Known, channel: usize, moments: Moments) -> Moments {
        let end = |raw: f32| Reading::new(raw, 0.0).map(|end| model.standardised(channel, Some(end)).mean);
        let (Some(low), Some(high)) = (end(self.low.at(channel)), end(self.high.at(channel))) else {
            return moments;
        };
        let mean = if moments.mean < high { moments.mean } else { high };
        Moments { mean: if mean > low { mean } else { low }, ..moments }
    }

    /// Factor on the variances of outputs.
    pub(super) fn widening(&self, novelty: Novelty) -> f32 {
        let excess = novelty.distance - self.spec.familiar;
        if excess > 0.0 { 1.0 + self.spec.widening * excess } else { 1.0 }
    }
}
