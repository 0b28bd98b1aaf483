//! How the variance of a weight is stored: the one place that converts between the stored number and the
//! variance.

use std::f32::consts::LOG2_E;

use burn::tensor::Tensor;
use burn::tensor::activation::softplus;
use quaver::export::exp2;

/// What is stored for the variance τ = σ² of a weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightSpread {
    /// ln τ, of fast adaptive weight noise.
    LogVar,
    /// ρ with σ = softplus(ρ) = ln(1 + e^ρ), of Bayes by Backprop (Blundell et al. 2015, section 3.2).
    Softplus,
}

impl WeightSpread {
    /// What is appended to the name of a list of means for that of its spreads.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            WeightSpread::LogVar => "_log_var",
            WeightSpread::Softplus => "_rho",
        }
    }

    /// Range of the stored number: variances from about 1e-6 to 1e6, or standard deviations from 0.001 to 14.
    /// Far beyond any effect, and within what a checkpoint can hold.
    pub(super) fn limits(self) -> [f32; 2] {
        match self {
            WeightSpread::LogVar => [-14.0, 14.0],
            WeightSpread::Softplus => [-7.0, 14.0],
        }
    }

    /// The stored number of a variance.
    pub(crate) fn stored(self, var: f32) -> f32 {
        match self {
            WeightSpread::LogVar => libm::logf(var),
            // ln(e^σ − 1); f64 because both terms are near 1 where σ is small.
            WeightSpread::Softplus => libm::log(libm::expm1(f64::from(var).sqrt())) as f32,
        }
    }

    /// τ.
    pub(crate) fn var<const D: usize>(self, stored: Tensor<D>) -> Tensor<D> {
        match self {
            WeightSpread::LogVar => stored.exp(),
            WeightSpread::Softplus => softplus(stored, 1.0).square(),
        }
    }

    /// ln τ.
    pub(crate) fn log_var<const D: usize>(self, stored: Tensor<D>) -> Tensor<D> {
        match self {
            WeightSpread::LogVar => stored,
            WeightSpread::Softplus => softplus(stored, 1.0).log() * 2.0,
        }
    }
}

/// softplus(x) = ln(1 + eˣ) and its derivative for x ≥ −87, without branches. Their relative error is below
/// 5·10⁻⁷ + 10⁻⁷|x|: that of [`exp2`], and that of rounding its argument.
///
/// With t = e^−|x| and s = t/(2 + t) ≤ ⅓, it is max(x, 0) + ln(1 + t), and ln(1 + t) = 2(s + s³/3 + s⁵/5 + …).
#[inline(always)]
pub(crate) fn softplus_and_slope(x: f32) -> [f32; 2] {
    let distance = if x.abs() > 87.0 { 87.0 } else { x.abs() };
    let t = exp2(-distance * LOG2_E);
    let s = t / (2.0 + t);
    let square = s * s;
    let series = [1.0 / 13.0, 1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 0.2, 1.0 / 3.0, 1.0];
    let mut sum = 0.0;
    for factor in series {
        sum = sum * square + factor;
    }
    let (above, numerator) = if x > 0.0 { (x, 1.0) } else { (0.0, t) };
    [above + 2.0 * s * sum, numerator / (1.0 + t)]
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;
    use crate::nn::tensors::to_vec;

    #[test]
    fn softplus_and_its_slope_are_those_of_f64() {
        for index in -8600..=8600 {
            let x = index as f32 * 0.01;
            let exact = [f64::from(x).exp().ln_1p(), 1.0 / (1.0 + (-f64::from(x)).exp())];
            for (found, exact) in softplus_and_slope(x).into_iter().zip(exact) {
                let most = 5e-7 + 1e-7 * f64::from(x.abs());
                assert!((f64::from(found) / exact - 1.0).abs() < most, "{x}: {found} against {exact}");
            }
        }
        assert!(softplus_and_slope(-1e9)[0] > 0.0);
        assert_eq!(softplus_and_slope(1e9), [1e9, 1.0]);
    }

    #[test]
    fn variances_are_those_that_were_stored() {
        for spread in [WeightSpread::LogVar, WeightSpread::Softplus] {
            for var in [1e-6_f32, 1e-4, 0.01, 0.5, 1.0, 9.0, 150.0] {
                let stored = spread.stored(var);
                let [low, high] = spread.limits();
                assert!((low..=high).contains(&stored), "{spread:?}: {stored} of {var}");
                let tensor = || Tensor::<1>::from_data([stored], &Device::flex());
                let found = [to_vec(spread.var(tensor()))[0], to_vec(spread.log_var(tensor()))[0].exp()];
                // A logarithm of 14 has a rounding error of 1e-6, which is relative in the variance.
                assert!(found.iter().all(|found| (found / var - 1.0).abs() < 1e-5), "{found:?} {var}");
            }
        }
    }
}
