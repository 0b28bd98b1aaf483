//! Moments of one block of lanes over time, as slices of the arrays of all lanes.

use super::{MomentSlices, MomentSlicesMut};
use crate::nn::parallel::{lane_blocks, lane_blocks_mut};

/// Moments of one block of lanes: a slice per step.
pub(super) struct LaneBlock<S> {
    pub(super) mean: Vec<S>,
    pub(super) var: Vec<S>,
}

/// Splits moments [steps, lanes, width] into blocks of lanes.
pub(super) fn lane_block(
    MomentSlices { mean, var }: MomentSlices<'_>,
    lanes: usize,
    width: usize,
) -> impl Iterator<Item = LaneBlock<&[f32]>> {
    paired(lane_blocks(mean, lanes, width), lane_blocks(var, lanes, width))
}

/// Like [`lane_block`], mutable.
pub(super) fn lane_block_mut(
    MomentSlicesMut { mean, var }: MomentSlicesMut<'_>,
    lanes: usize,
    width: usize,
) -> impl Iterator<Item = LaneBlock<&mut [f32]>> {
    paired(lane_blocks_mut(mean, lanes, width), lane_blocks_mut(var, lanes, width))
}

/// Blocks of means with those of variances.
fn paired<S>(means: Vec<Vec<S>>, vars: Vec<Vec<S>>) -> impl Iterator<Item = LaneBlock<S>> {
    means.into_iter().zip(vars).map(|(mean, var)| LaneBlock { mean, var })
}

impl<'a> LaneBlock<&'a [f32]> {
    /// The moments at one step.
    pub(super) fn at(&self, step: usize) -> MomentSlices<'a> {
        MomentSlices { mean: self.mean[step], var: self.var[step] }
    }
}

impl LaneBlock<&mut [f32]> {
    /// The moments at one step, to be written.
    pub(super) fn at(&mut self, step: usize) -> MomentSlicesMut<'_> {
        MomentSlicesMut { mean: &mut *self.mean[step], var: &mut *self.var[step] }
    }

    /// The mutable moments of one step, and those of the step before it, or `start` at the first.
    pub(super) fn around<'s>(
        &'s mut self,
        step: usize,
        start: MomentSlices<'s>,
    ) -> (MomentSlices<'s>, MomentSlicesMut<'s>) {
        let (mean_before, mean) = self.mean.split_at_mut(step);
        let (var_before, var) = self.var.split_at_mut(step);
        let before = MomentSlices {
            mean: mean_before.last().map_or(start.mean, |mean| &**mean),
            var: var_before.last().map_or(start.var, |var| &**var),
        };
        (before, MomentSlicesMut { mean: &mut *mean[0], var: &mut *var[0] })
    }
}
