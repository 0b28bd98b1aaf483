//! A sample's row as a network's inputs.

use super::input::RawRow;
use super::model::Model;
use super::outputs::Outputs;
use crate::cells::InputPairs;
use crate::moments::Moments;

/// The inputs of a model for one sample; without a row, those that the first sample is predicted from.
pub(super) struct RowInputs<'i> {
    pub(super) model: &'i Model<'i>,
    pub(super) row: Option<&'i RawRow<'i>>,
    /// What was predicted for the sample.
    pub(super) outputs: &'i Outputs<'i>,
}

impl InputPairs for RowInputs<'_> {
    #[inline(always)]
    fn deterministic(&self) -> impl Iterator<Item = Option<[f32; 2]>> {
        // Nearly all rows are whole and certain; any doubt is for the slow path.
        let values = self.row.filter(|row| row.vars.is_empty()).map_or(&[][..], |row| row.values);
        let scales = self.model.input_mean.pairs().zip(self.model.input_std_dev.pairs());
        values.as_chunks().0.iter().zip(scales).map(|([x, y], ([m, n], [s, t]))| {
            let there = x.is_finite() && y.is_finite();
            there.then(|| [(x - m) / s, (y - n) / t])
        })
    }

    #[inline(never)]
    fn any(&self, pair: usize) -> [Moments; 2] {
        let Outputs { mean, epistemic, aleatoric, .. } = self.outputs;
        [2 * pair, 2 * pair + 1].map(|channel| {
            let exists = channel < usize::from(self.model.spec().inputs);
            if exists {
                self.model.input(self.row, channel, [mean, epistemic, aleatoric])
            } else {
                Moments::default()
            }
        })
    }
}
