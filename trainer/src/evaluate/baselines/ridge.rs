//! Ridge regression on the last input rows.

use nalgebra::DVector;

use super::memory::Memory;
use crate::data::normal_equations::Features;
use crate::data::ridge::RidgeFit;
use crate::data::{Dataset, Rows, Scaling, Sequence, ridge_rows};
use crate::prediction::SequencePrediction;

/// A linear prediction with constant variance.
#[derive(Clone, Debug)]
pub(super) struct Ridge {
    scaling: Scaling,
    fit: RidgeFit,
}

impl Ridge {
    /// Its names: where targets are other columns, and where they are inputs of later rows.
    pub(super) const NAMES: [&str; 2] = ["ridge regression", "ridge AR"];

    /// Fits all candidates on the training data, and keeps the one with the smallest squared error on the
    /// validation data; nothing where there are too many inputs or too few data.
    pub(super) fn fit(train: &[Sequence], valid: &[Sequence]) -> Option<Self> {
        let scaling = Scaling::fit(train);
        let fit = RidgeFit::fit(train, valid, &scaling, &ridge_rows(scaling.inputs.channels()))?;
        Some(Ridge { scaling, fit })
    }

    /// Name of the baseline.
    pub(super) fn name(&self, data: &Dataset) -> &'static str {
        let autoregressive = data.target.is_next() || !Memory { look_ahead: &data.look_ahead }.sees_targets();
        Self::NAMES[usize::from(autoregressive)]
    }

    pub(super) fn detail(&self) -> String {
        format!(
            "linear in the last {} input rows, penalty {}, both chosen on validation; variance of its training residuals",
            self.fit.lags, self.fit.penalty
        )
    }

    pub(super) fn prediction(&self, sequence: &Sequence) -> SequencePrediction {
        let targets = &self.scaling.targets;
        let mut prediction = SequencePrediction::zeros(sequence.len(), targets.channels());
        for step in 0..sequence.len() {
            for (output, mean) in self.means(sequence, step).into_iter().enumerate() {
                let variance = targets.unstandardise_variance(output, self.fit.variance[output] as f32);
                prediction.set(step, output, mean, 0.0, variance);
            }
        }
        prediction
    }

    /// Fills gaps by predictions, each made from the rows before it, filled or observed.
    pub(super) fn fill(&self, rows: &Rows) -> Rows {
        let mut filled = rows.clone();
        for step in 0..rows.len() {
            if rows.row(step).iter().all(|value| !value.is_nan()) {
                continue;
            }
            let means = self.means(&Sequence::next(filled.clone()), step);
            let places = filled.values[step * rows.channels..].iter_mut();
            places.zip(means).filter(|(value, _)| value.is_nan()).for_each(|(value, mean)| *value = mean);
        }
        filled
    }

    /// The prediction of one step, in raw units.
    fn means(&self, sequence: &Sequence, step: usize) -> Vec<f32> {
        let features = Features { scaling: &self.scaling, lags: self.fit.lags };
        let means = self.fit.weights.tr_mul(&DVector::from_vec(features.at(sequence, step)));
        let raw = |(output, mean): (usize, &f64)| self.scaling.targets.unstandardise(output, *mean as f32);
        means.iter().enumerate().map(raw).collect()
    }
}
