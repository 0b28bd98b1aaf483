//! Slices of means and variances.

use quaver::moments::Moments;

use super::cell::Gradient;

/// Means and variances of the same units, or gradients for them.
#[derive(Clone, Copy, Debug)]
pub struct MomentSlices<'a> {
    /// Means.
    pub mean: &'a [f32],
    /// Variances.
    pub var: &'a [f32],
}

/// Mutable means and variances.
#[derive(Debug)]
pub(super) struct MomentSlicesMut<'a> {
    pub(super) mean: &'a mut [f32],
    pub(super) var: &'a mut [f32],
}

impl<'a> MomentSlices<'a> {
    /// Means in the first half, variances in the second.
    pub fn halves(values: &'a [f32]) -> Self {
        let (mean, var) = values.split_at(values.len() / 2);
        MomentSlices { mean, var }
    }

    /// The first `count` units, and the remaining ones.
    pub(super) fn split_at(self, count: usize) -> (Self, Self) {
        let (mean, var) = (self.mean.split_at(count), self.var.split_at(count));
        (MomentSlices { mean: mean.0, var: var.0 }, MomentSlices { mean: mean.1, var: var.1 })
    }

    /// The units of one lane.
    pub(super) fn lane(self, lane: usize, units: usize) -> Self {
        let range = lane * units..(lane + 1) * units;
        MomentSlices { mean: &self.mean[range.clone()], var: &self.var[range] }
    }

    /// The first `count` units: a loop over them needs no bounds checks.
    #[inline(always)]
    pub(super) fn first(self, count: usize) -> Self {
        MomentSlices { mean: &self.mean[..count], var: &self.var[..count] }
    }

    #[inline(always)]
    pub(super) fn at(self, unit: usize) -> Moments {
        Moments { mean: self.mean[unit], var: self.var[unit] }
    }

    #[inline(always)]
    pub(super) fn gradient(self, unit: usize) -> Gradient {
        Gradient { mean: self.mean[unit], var: self.var[unit] }
    }
}

impl<'a> MomentSlicesMut<'a> {
    /// Means in the first half, variances in the second.
    pub(super) fn halves(values: &'a mut [f32]) -> Self {
        let (mean, var) = values.split_at_mut(values.len() / 2);
        MomentSlicesMut { mean, var }
    }

    /// Four parts of one length.
    pub(super) fn quarters(self) -> [Self; 4] {
        let quarter = self.mean.len() / 4;
        let (upper, lower) = self.split_at(2 * quarter);
        let ((first, second), (third, fourth)) = (upper.split_at(quarter), lower.split_at(quarter));
        [first, second, third, fourth]
    }

    /// The first `count` units, and the remaining ones.
    pub(super) fn split_at(self, count: usize) -> (Self, Self) {
        let (mean, var) = (self.mean.split_at_mut(count), self.var.split_at_mut(count));
        (MomentSlicesMut { mean: mean.0, var: var.0 }, MomentSlicesMut { mean: mean.1, var: var.1 })
    }

    /// The units of one lane.
    pub(super) fn lane(&mut self, lane: usize, units: usize) -> MomentSlicesMut<'_> {
        let range = lane * units..(lane + 1) * units;
        MomentSlicesMut { mean: &mut self.mean[range.clone()], var: &mut self.var[range] }
    }

    /// The first `count` units, as in [`MomentSlices::first`].
    #[inline(always)]
    pub(super) fn first(self, count: usize) -> Self {
        MomentSlicesMut { mean: &mut self.mean[..count], var: &mut self.var[..count] }
    }

    pub(super) fn reborrow(&mut self) -> MomentSlicesMut<'_> {
        MomentSlicesMut { mean: self.mean, var: self.var }
    }

    pub(super) fn as_slices(&self) -> MomentSlices<'_> {
        MomentSlices { mean: self.mean, var: self.var }
    }

    #[inline(always)]
    pub(super) fn put(&mut self, unit: usize, moments: Moments) {
        self.mean[unit] = moments.mean;
        self.var[unit] = moments.var;
    }

    #[inline(always)]
    pub(super) fn set(&mut self, unit: usize, gradient: Gradient) {
        let gradient = gradient.relevant();
        self.mean[unit] = gradient.mean;
        self.var[unit] = gradient.var;
    }
}
