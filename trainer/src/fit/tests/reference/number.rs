//! What the reference computes with: plain f64, or numbers of which Burn records how they came about.

use std::ops::{Add, Div, Mul, Sub};

use burn::tensor::{Device, Gradients, Tensor};

use crate::nn::tensors::to_vec;

/// A number that formulas can be written in.
pub(crate) trait Number:
    Clone + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// A number that nothing is differentiated by.
    fn constant(value: f64) -> Self;

    /// eˣ.
    fn exp(self) -> Self;

    /// ln x.
    fn ln(self) -> Self;

    /// √x.
    fn sqrt(self) -> Self;

    /// Φ(x), the probability that a standard normal number is below x.
    fn below(self) -> Self;

    /// The number, or 0 if it is negative.
    fn positive_part(self) -> Self;

    /// x².
    fn squared(self) -> Self {
        self.clone() * self
    }
}

impl Number for f64 {
    fn constant(value: f64) -> Self {
        value
    }

    fn exp(self) -> Self {
        libm::exp(self)
    }

    fn ln(self) -> Self {
        libm::log(self)
    }

    fn sqrt(self) -> Self {
        libm::sqrt(self)
    }

    fn below(self) -> Self {
        0.5 * libm::erfc(-self * std::f64::consts::FRAC_1_SQRT_2)
    }

    fn positive_part(self) -> Self {
        self.max(0.0)
    }
}

/// One number as a tensor: every operation is a node of Burn's own autodiff graph.
#[derive(Clone, Debug)]
pub(crate) struct Recorded(Tensor<1>);

impl Recorded {
    /// A number to differentiate by.
    pub(crate) fn leaf(value: f32) -> Self {
        Recorded(Tensor::from_data([value], &Device::flex().autodiff()).require_grad())
    }

    /// Its value.
    pub(crate) fn value(&self) -> f32 {
        to_vec(self.0.clone())[0]
    }

    /// The derivatives of this number by all leaves.
    pub(crate) fn backward(&self) -> Gradients {
        self.0.backward()
    }

    /// The derivative by this leaf; 0 if nothing depends on it.
    pub(crate) fn derivative(&self, gradients: &Gradients) -> f32 {
        self.0.grad(gradients).map_or(0.0, |gradient| to_vec(gradient)[0])
    }
}

impl Number for Recorded {
    fn constant(value: f64) -> Self {
        Recorded(Tensor::from_data([value as f32], &Device::flex().autodiff()))
    }

    fn exp(self) -> Self {
        Recorded(self.0.exp())
    }

    fn ln(self) -> Self {
        Recorded(self.0.log())
    }

    fn sqrt(self) -> Self {
        Recorded(self.0.sqrt())
    }

    fn below(self) -> Self {
        Recorded(((self.0 * std::f32::consts::FRAC_1_SQRT_2).erf() + 1.0) * 0.5)
    }

    fn positive_part(self) -> Self {
        Recorded(self.0.clamp_min(0.0))
    }
}

impl Add for Recorded {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Recorded(self.0 + other.0)
    }
}

impl Sub for Recorded {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Recorded(self.0 - other.0)
    }
}

impl Mul for Recorded {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Recorded(self.0 * other.0)
    }
}

impl Div for Recorded {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        Recorded(self.0 / other.0)
    }
}
