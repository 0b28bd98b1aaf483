//! One step of a model on a row: its inputs and its outputs.

use super::emitter::Emitter;
use super::input::{RawRow, ResidualBase};
use super::input_density::ImputedRow;
use super::parts::{Known, Network};
use crate::limits::UNIT_LIMIT;
use crate::moments::Moments;
use crate::step_io::{InputPairs, StepIo};

/// What a model reads and writes for one sample; without a row, for the prediction of the first one.
pub(super) struct RowStep<'i, 'p, K> {
    pub(super) row: Option<&'i RawRow<'i>>,
    /// The row with gaps imputed, if the model has an input density.
    pub(super) imputed: ImputedRow<'i>,
    /// Holds the prediction of the sample until it is overwritten.
    pub(super) emitter: Emitter<'i, 'p, K>,
}

impl<K: Known> InputPairs for RowStep<'_, '_, K> {
    #[inline(always)]
    fn deterministic(&self) -> impl Iterator<Item = Option<[f32; 2]>> {
        // Nearly all rows are complete, plausible, within the limits and without variances; all others take
        // the slow path, which limits them.
        let values = self.row.filter(|row| row.is_plain()).map_or(&[][..], |row| row.values);
        let parts = self.emitter.model.parts();
        let scales = parts.input_mean.pairs().zip(parts.input_std_dev.pairs());
        values.as_chunks().0.iter().zip(scales).map(|([x, y], ([m, n], [s, t]))| {
            let pair = [(x - m) / s, (y - n) / t];
            // Magnitudes are in the order of their bits, with infinities and NaN at the end.
            let largest = pair[0].abs().to_bits().max(pair[1].abs().to_bits());
            (largest < UNIT_LIMIT.to_bits()).then_some(pair)
        })
    }

    #[inline(always)]
    fn plain(&self, targets: &mut [f32]) -> bool {
        let Some(row) = self.row.filter(|row| row.is_plain()) else { return false };
        let parts = self.emitter.model.parts();
        let scales = parts.input_mean.words().iter().zip(parts.input_std_dev.words());
        let inputs = row.values.iter().zip(scales);
        let complete = row.values.len() >= targets.len();
        // No early exit: the loop vectorises.
        let mut within = true;
        for (target, (value, (mean, std_dev))) in targets.iter_mut().zip(inputs) {
            *target = (value - f32::from_le_bytes(*mean)) / f32::from_le_bytes(*std_dev);
            within &= target.abs() < UNIT_LIMIT;
        }
        complete && within
    }

    #[inline(never)]
    fn any(&self, pair: usize) -> [Moments; 2] {
        let model = self.emitter.model;
        [2 * pair, 2 * pair + 1].map(|channel| {
            let exists = channel < usize::from(model.spec().inputs);
            match exists {
                true => model.input(self.row, channel, self.imputed, self.emitter.outputs()),
                false => Moments::default(),
            }
        })
    }
}

impl<K: Known> StepIo for RowStep<'_, '_, K> {
    type Inputs = Self;

    #[inline(always)]
    fn inputs(&self) -> &Self {
        self
    }

    fn output(&mut self, row: Moments) {
        self.emitter.add(row, ResidualBase::Raw(self.row, self.imputed));
    }
}

/// A step whose rows of the output map are taken as they are, without a likelihood.
pub(super) struct PooledStep<'i, 'p, 'o, K> {
    pub(super) inputs: RowStep<'i, 'p, K>,
    /// Where means and variances of the next rows go.
    pub(super) rows: [core::slice::IterMut<'o, f32>; 2],
}

impl<'i, 'p, K: Known> StepIo for PooledStep<'i, 'p, '_, K> {
    type Inputs = RowStep<'i, 'p, K>;

    #[inline(always)]
    fn inputs(&self) -> &Self::Inputs {
        &self.inputs
    }

    #[inline(always)]
    fn output(&mut self, row: Moments) {
        for (list, value) in self.rows.iter_mut().zip([row.mean, row.var]) {
            if let Some(place) = list.next() {
                *place = value;
            }
        }
    }
}
