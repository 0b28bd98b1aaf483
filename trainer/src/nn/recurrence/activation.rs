//! Activation functions over slices, with their derivatives.
//!
//! The runtime's functions are straight-line code. In a loop over slices they compile to vector instructions;
//! called unit by unit they would take several times as long.

use std::marker::PhantomData;

use quaver::checkpoint::{Activation, MomentForm};
use quaver::moments::Moments;

use super::cell::Gradient;
use super::{MomentSlices, MomentSlicesMut};
use crate::nn::activation_moments::{ActivationMoments, PaperSigmoid, PaperTanh, Relu, Sigmoid, Tanh};
use crate::nn::vectorised::{self, Kernel, Processor};

/// Applies an activation function to every unit: moments, and their derivatives.
pub(super) type ActivationFn = fn(MomentSlices<'_>, MomentSlicesMut<'_>, DerivativesMut<'_>);

/// The activation functions of cells with gates.
pub(super) struct GateActivations {
    pub(super) sigmoid: ActivationFn,
    pub(super) tanh: ActivationFn,
}

impl GateActivations {
    pub(super) fn new(form: MomentForm) -> Self {
        let [sigmoid, tanh] =
            [Activation::Sigmoid, Activation::Tanh].map(|activation| activation_fn(activation, form));
        GateActivations { sigmoid, tanh }
    }
}

/// The function over slices for an activation.
pub(super) fn activation_fn(activation: Activation, form: MomentForm) -> ActivationFn {
    match (activation, form) {
        (Activation::Tanh, MomentForm::Accurate) => activate_each::<Tanh>,
        (Activation::Tanh, MomentForm::Paper) => activate_each::<PaperTanh>,
        (Activation::Sigmoid, MomentForm::Accurate) => activate_each::<Sigmoid>,
        (Activation::Sigmoid, MomentForm::Paper) => activate_each::<PaperSigmoid>,
        (Activation::Relu, _) => activate_each::<Relu>,
    }
}

fn activate_each<F: ActivationMoments>(
    pre: MomentSlices<'_>,
    value: MomentSlicesMut<'_>,
    derivatives: DerivativesMut<'_>,
) {
    vectorised::run(ActivateKernel { pre, value, derivatives, function: PhantomData::<F> });
}

struct ActivateKernel<'a, F> {
    pre: MomentSlices<'a>,
    value: MomentSlicesMut<'a>,
    derivatives: DerivativesMut<'a>,
    function: PhantomData<F>,
}

impl<F: ActivationMoments> Kernel for ActivateKernel<'_, F> {
    #[inline(always)]
    fn run<P: Processor>(self) {
        let count = self.pre.mean.len();
        // Slices of equal length: no bounds check remains inside the loop.
        let (pre_mean, pre_var) = (&self.pre.mean[..count], &self.pre.var[..count]);
        let (mean, var) = (&mut self.value.mean[..count], &mut self.value.var[..count]);
        let [mean_by_mean, mean_by_var, var_by_mean, var_by_var] =
            self.derivatives.0.map(|plane| &mut plane[..count]);
        for unit in 0..count {
            let (moments, jacobian) = F::differentiate(Moments { mean: pre_mean[unit], var: pre_var[unit] });
            mean[unit] = moments.mean;
            var[unit] = moments.var;
            mean_by_mean[unit] = jacobian.mean_by_mean;
            mean_by_var[unit] = jacobian.mean_by_var;
            var_by_mean[unit] = jacobian.var_by_mean;
            var_by_var[unit] = jacobian.var_by_var;
        }
    }
}

/// Derivatives of an activation, in the order of `Jacobian`'s fields, one slice each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Derivatives<'a>([&'a [f32]; 4]);

/// Mutable derivatives of an activation.
#[derive(Debug)]
pub(super) struct DerivativesMut<'a>([&'a mut [f32]; 4]);

impl<'a> Derivatives<'a> {
    /// Four concatenated slices.
    pub(super) fn quarters(moment_slices: &'a [f32]) -> Self {
        let (upper, lower) = moment_slices.split_at(moment_slices.len() / 2);
        let (first, third) = (upper.split_at(upper.len() / 2), lower.split_at(lower.len() / 2));
        Derivatives([first.0, first.1, third.0, third.1])
    }

    /// Units `part * units` to `(part + 1) * units` of each slice.
    pub(super) fn part(&self, part: usize, units: usize) -> Derivatives<'a> {
        Derivatives(self.0.map(|plane| &plane[part * units..(part + 1) * units]))
    }

    /// The first `count` units of each slice, as in [`MomentSlices::first`].
    #[inline(always)]
    pub(super) fn first(self, count: usize) -> Derivatives<'a> {
        Derivatives(self.0.map(|plane| &plane[..count]))
    }

    /// The gradient for the argument of unit `unit`, given that for its value.
    #[inline(always)]
    pub(super) fn backward(&self, unit: usize, grad: Gradient) -> Gradient {
        let [mean_by_mean, mean_by_var, var_by_mean, var_by_var] = self.0.map(|plane| plane[unit]);
        Gradient {
            mean: grad.mean * mean_by_mean + grad.var * var_by_mean,
            var: grad.mean * mean_by_var + grad.var * var_by_var,
        }
    }
}

impl<'a> DerivativesMut<'a> {
    /// Four concatenated slices.
    pub(super) fn quarters(moment_slices: &'a mut [f32]) -> Self {
        let (upper, lower) = moment_slices.split_at_mut(moment_slices.len() / 2);
        let (first, second) = upper.split_at_mut(upper.len() / 2);
        let (third, fourth) = lower.split_at_mut(lower.len() / 2);
        DerivativesMut([first, second, third, fourth])
    }

    /// The first `count` units of each slice, and the remaining ones.
    pub(super) fn split_at(self, count: usize) -> (Self, Self) {
        let [a, b, c, d] = self.0.map(|plane| plane.split_at_mut(count));
        (DerivativesMut([a.0, b.0, c.0, d.0]), DerivativesMut([a.1, b.1, c.1, d.1]))
    }
}
