//! Moments of one block of lanes over time, as slices of the arrays of all lanes.

use super::{MomentSlices, MomentSlicesMut};
use crate::nn::parallel::{lane_blocks, lane_blocks_mut};

/// Moments of one block of lanes: a slice per step.
pub(super) struct LaneBlock<'a> {
    pub(super) mean: Vec<&'a [f32]>,
    pub(super) var: Vec<&'a [f32]>,
}

/// Mutable moments of one block of lanes.
pub(super) struct LaneBlockMut<'a> {
    pub(super) mean: Vec<&'a mut [f32]>,
    pub(super) var: Vec<&'a mut [f32]>,
}

/// Splits moments [steps, lanes, width] into blocks of lanes.
pub(super) fn lane_block(
    moment_slices: MomentSlices<'_>,
    lanes: usize,
    width: usize,
) -> impl Iterator<Item = LaneBlock<'_>> {
    let means = lane_blocks(moment_slices.mean, lanes, width);
    means
        .into_iter()
        .zip(lane_blocks(moment_slices.var, lanes, width))
        .map(|(mean, var)| LaneBlock { mean, var })
}

/// Like [`lane_block`], mutable.
pub(super) fn lane_block_mut(
    moment_slices: MomentSlicesMut<'_>,
    lanes: usize,
    width: usize,
) -> impl Iterator<Item = LaneBlockMut<'_>> {
    let means = lane_blocks_mut(moment_slices.mean, lanes, width);
    means
        .into_iter()
        .zip(lane_blocks_mut(moment_slices.var, lanes, width))
        .map(|(mean, var)| LaneBlockMut { mean, var })
}

impl<'a> LaneBlock<'a> {
    /// The moments at one step.
    pub(super) fn at(&self, step: usize) -> MomentSlices<'a> {
        MomentSlices { mean: self.mean[step], var: self.var[step] }
    }
}

impl<'a> LaneBlockMut<'a> {
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
