//! Transfer functions over slices, with their derivatives.
//!
//! The functions of the runtime are straight-line code. Called in a loop over planes, with nothing but slices around
//! them, they compile to vector instructions; called unit by unit they would take several times as long.

use quaver::checkpoint::{MomentForm, Transfer};
use quaver::moments::{Jacobian, Moments, gradient};

use super::cell::Gradient;
use super::{Planes, PlanesMut};

/// Applies a transfer function to every unit: moments, and the derivatives of the moments.
pub(super) type Sweep = fn(Planes<'_>, PlanesMut<'_>, SlopesMut<'_>);

/// The sweep of a transfer function.
pub(super) fn sweep(transfer: Transfer, form: MomentForm) -> Sweep {
    match (transfer, form) {
        (Transfer::Tanh, MomentForm::Accurate) => {
            |pre, value, slopes| each(gradient::tanh, pre, value, slopes)
        }
        (Transfer::Tanh, MomentForm::Paper) => {
            |pre, value, slopes| each(gradient::paper_tanh, pre, value, slopes)
        }
        (Transfer::Sigmoid, MomentForm::Accurate) => {
            |pre, value, slopes| each(gradient::sigmoid, pre, value, slopes)
        }
        (Transfer::Sigmoid, MomentForm::Paper) => {
            |pre, value, slopes| each(gradient::paper_sigmoid, pre, value, slopes)
        }
        (Transfer::Rectifier, _) => |pre, value, slopes| each(gradient::rectifier, pre, value, slopes),
    }
}

#[inline(always)]
fn each(
    function: impl Fn(Moments) -> (Moments, Jacobian),
    pre: Planes<'_>,
    value: PlanesMut<'_>,
    slopes: SlopesMut<'_>,
) {
    let count = pre.mean.len();
    // Slices of one length that is known to be in range: no check is left inside the loop.
    let (pre_mean, pre_var) = (&pre.mean[..count], &pre.var[..count]);
    let (mean, var) = (&mut value.mean[..count], &mut value.var[..count]);
    let [mean_by_mean, mean_by_var, var_by_mean, var_by_var] = slopes.0.map(|plane| &mut plane[..count]);
    for unit in 0..count {
        let (moments, jacobian) = function(Moments { mean: pre_mean[unit], var: pre_var[unit] });
        mean[unit] = moments.mean;
        var[unit] = moments.var;
        mean_by_mean[unit] = jacobian.mean_by_mean;
        mean_by_var[unit] = jacobian.mean_by_var;
        var_by_mean[unit] = jacobian.var_by_mean;
        var_by_var[unit] = jacobian.var_by_var;
    }
}

/// Derivatives of a sweep, in the order of [`Jacobian`]'s fields, one plane each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slopes<'a>([&'a [f32]; 4]);

/// Derivatives of a sweep, to be written.
#[derive(Debug)]
pub(super) struct SlopesMut<'a>([&'a mut [f32]; 4]);

impl<'a> Slopes<'a> {
    /// Four planes, one after the other.
    pub(super) fn quarters(planes: &'a [f32]) -> Self {
        let (upper, lower) = planes.split_at(planes.len() / 2);
        let (first, third) = (upper.split_at(upper.len() / 2), lower.split_at(lower.len() / 2));
        Slopes([first.0, first.1, third.0, third.1])
    }

    /// The gradient for the argument of unit `unit`, given that for its value.
    #[inline(always)]
    pub(super) fn pull(&self, unit: usize, grad: Gradient) -> Gradient {
        let [mean_by_mean, mean_by_var, var_by_mean, var_by_var] = self.0.map(|plane| plane[unit]);
        Gradient {
            mean: grad.mean * mean_by_mean + grad.var * var_by_mean,
            var: grad.mean * mean_by_var + grad.var * var_by_var,
        }
    }
}

impl<'a> SlopesMut<'a> {
    /// Four planes, one after the other.
    pub(super) fn quarters(planes: &'a mut [f32]) -> Self {
        let (upper, lower) = planes.split_at_mut(planes.len() / 2);
        let (first, second) = upper.split_at_mut(upper.len() / 2);
        let (third, fourth) = lower.split_at_mut(lower.len() / 2);
        SlopesMut([first, second, third, fourth])
    }

    /// The first `count` units of each plane, and the rest.
    pub(super) fn split_at(self, count: usize) -> (Self, Self) {
        let [a, b, c, d] = self.0.map(|plane| plane.split_at_mut(count));
        (SlopesMut([a.0, b.0, c.0, d.0]), SlopesMut([a.1, b.1, c.1, d.1]))
    }
}
