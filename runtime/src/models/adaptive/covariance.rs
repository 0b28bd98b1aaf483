//! Covariance of the weights of a linear regression, and its recursive update by one label.
//!
//! The model is y = wᵀφ + ε with ε ~ N(0, τσ²) and w ~ N(ŵ, σ²P): everything here is in units of the noise
//! variance σ², so that all outputs share one P. τ is the number of successive labels that count as one: a
//! likelihood raised to the power 1/τ (generalised Bayes; Bissiri, Holmes and Walker 2016, eq. 3), because
//! errors of neighbouring samples are alike.

use core::ops::RangeInclusive;

use super::options::AdaptOptions;
use crate::arena::ArenaSplitter;
use crate::moments::at_most;

/// Form of the covariance of a readout's weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Covariance {
    /// All n(n + 1)/2 of its numbers, where n is the number of units in the last layer plus one: exact.
    Full,
    /// Its diagonal of n numbers. Learns more slowly where units are correlated.
    Diagonal,
}

impl Covariance {
    /// Words that it takes for `features` units, the constant one included.
    pub(crate) const fn words(self, features: usize) -> usize {
        match self {
            // One of two neighbours is even, so that halving the product is exact.
            Covariance::Full => features * (features + 1) / 2,
            Covariance::Diagonal => features,
        }
    }
}

/// No variance falls below this fraction of the prior: a direction that was seen often can still learn, and
/// the factors of the covariance stay inside the finite range.
pub(super) const SMALLEST: f32 = 1e-9;
/// Largest magnitude of a factor of U.
pub(super) const COLUMN_LIMIT: f32 = 1e9;

/// A covariance in the caller's memory: P = U D Uᵀ with unit upper triangular U, or P = D.
///
/// Factors instead of P itself keep it positive definite in f32 whatever is learned (Bierman 1977,
/// "Factorization Methods for Discrete Sequential Estimation", V.3).
#[derive(Debug)]
pub(super) struct Factors<'a> {
    covariance: Covariance,
    prior: f32,
    /// τ.
    correlation: f32,
    /// D.
    pub(super) diagonal: &'a mut [f32],
    /// U above its diagonal, column after column: column j has j numbers. Empty for a diagonal covariance.
    pub(super) columns: &'a mut [f32],
    /// Uᵀφ of the current features φ. Empty for a diagonal covariance.
    transformed: &'a mut [f32],
    /// Pφ/s after an update: the change of the weights per unit of error.
    pub(super) gain: &'a mut [f32],
    /// Trace of P.
    pub(super) trace: f32,
    /// φᵀPφ of the current features: variance of the regression function in units of σ².
    pub(super) variance: f32,
}

impl<'a> Factors<'a> {
    /// Words of memory.
    pub(super) const fn words(covariance: Covariance, features: usize) -> usize {
        let buffers = match covariance {
            Covariance::Full => 2,
            Covariance::Diagonal => 1,
        };
        covariance.words(features) + buffers * features
    }

    /// The prior, in memory of [`words`](Self::words).
    pub(super) fn carve(
        words: &mut ArenaSplitter<'a>,
        features: usize,
        options: &AdaptOptions,
    ) -> Option<Self> {
        let AdaptOptions { covariance, prior, correlation, .. } = *options;
        let full = covariance == Covariance::Full;
        let mut factors = Factors {
            covariance,
            prior,
            correlation,
            diagonal: words.carve(features)?,
            columns: words.carve(covariance.words(features).checked_sub(features)?)?,
            transformed: words.carve(if full { features } else { 0 })?,
            gain: words.carve(features)?,
            trace: 0.0,
            variance: 0.0,
        };
        factors.forget();
        Some(factors)
    }

    /// Back to the prior, P₀ = prior · I.
    pub(super) fn forget(&mut self) {
        self.diagonal.fill(self.prior);
        self.columns.fill(0.0);
        self.trace = self.prior_trace();
    }

    /// Limits of the numbers of D.
    pub(super) fn limits(&self) -> RangeInclusive<f32> {
        self.smallest()..=self.prior
    }

    /// Trace of P₀: the largest that P may have.
    fn prior_trace(&self) -> f32 {
        self.prior * self.diagonal.len() as f32
    }

    /// Smallest number of D.
    fn smallest(&self) -> f32 {
        SMALLEST * self.prior
    }

    /// Takes in the features of a sample: Uᵀφ and φᵀPφ.
    pub(super) fn set_features(&mut self, features: &[f32]) {
        self.variance = match self.covariance {
            Covariance::Full => transform(self.columns, self.diagonal, features, self.transformed),
            Covariance::Diagonal => {
                self.diagonal.iter().zip(features).fold(0.0, |sum, (d, feature)| sum + d * feature * feature)
            }
        };
    }

    /// Learns that the current features were observed. Forgets first, D ← D/λ; then s = τ + φᵀPφ, the gain is
    /// Pφ/s, and P ← P − Pφφᵀ P/s. With `keep`, P stays and only the gain is computed. `false` if the numbers
    /// overflow: nothing is changed.
    ///
    /// Directions that are never observed must not blow up: no number of D grows beyond the prior, and the
    /// trace of P not beyond that of the prior (bounded trace: Salgado, Goodwin and Middleton 1988). The
    /// first limit lets the others go on forgetting.
    pub(super) fn update(&mut self, features: &[f32], forgetting: f32, keep: bool) -> bool {
        let s = self.correlation + self.variance;
        if !(s / forgetting).is_finite() {
            return false;
        }
        match (self.covariance, keep) {
            (Covariance::Full, false) => self.update_full(forgetting),
            (Covariance::Diagonal, false) => self.update_diagonal(features, forgetting),
            (Covariance::Full, true) => self.full_gain(1.0 / s),
            (Covariance::Diagonal, true) => self.diagonal_gain(features, 1.0 / s),
        }
        if self.is_degenerate() {
            self.forget();
        }
        true
    }

    /// Whether P has lost its meaning: where D is kept from falling below its smallest number, features of
    /// very different magnitudes can blow up the trace. As no number of D is below [`SMALLEST`] of the prior,
    /// Σ D_j U_ij² below the limit keeps every factor of U below [`COLUMN_LIMIT`].
    fn is_degenerate(&self) -> bool {
        let largest = 0.9 * SMALLEST * COLUMN_LIMIT * COLUMN_LIMIT * self.prior;
        self.trace.is_nan() || self.trace > largest
    }

    /// Factor by which D may grow.
    fn growth(&self, forgetting: f32) -> f32 {
        // Rounding of the trace alone must not shrink P.
        at_most(1.0 / forgetting, at_least(self.prior_trace() / self.trace, 1.0))
    }

    /// k = Pφ/s, P_i ← P_i (1 − k_i φ_i): what the full update does to the diagonal of a diagonal P.
    fn update_diagonal(&mut self, features: &[f32], forgetting: f32) {
        let (growth, smallest) = (self.growth(forgetting), self.smallest());
        let mut s = self.correlation;
        for (d, feature) in self.diagonal.iter_mut().zip(features) {
            *d = at_most(growth * *d, self.prior);
            s += *d * feature * feature;
        }
        self.trace = 0.0;
        for ((d, gain), feature) in self.diagonal.iter_mut().zip(self.gain.iter_mut()).zip(features) {
            *gain = *d * feature / s;
            *d = at_least(*d * (1.0 - *gain * feature), smallest);
            self.trace += *d;
        }
    }

    fn diagonal_gain(&mut self, features: &[f32], factor: f32) {
        for ((d, gain), feature) in self.diagonal.iter().zip(self.gain.iter_mut()).zip(features) {
            *gain = factor * d * feature;
        }
    }

    /// U D Uᵀφ times `factor`.
    fn full_gain(&mut self, factor: f32) {
        let mut columns = &*self.columns;
        for (j, (d, f)) in self.diagonal.iter().zip(&*self.transformed).enumerate() {
            let (column, rest) = columns.split_at_checked(j).unwrap_or_default();
            let v = factor * d * f;
            self.gain.iter_mut().zip(column).for_each(|(gain, u)| *gain += v * u);
            put(self.gain, j, v);
            columns = rest;
        }
    }

    /// Update of U and D by one observation, column by column (Bierman 1977, V.3). Before column j, `gain`
    /// holds the first j numbers of Pφ as far as they follow from the columns before, and `alpha` the part
    /// of s.
    fn update_full(&mut self, forgetting: f32) {
        let (growth, smallest) = (self.growth(forgetting), self.smallest());
        let (mut columns, mut alpha) = (&mut *self.columns, self.correlation);
        self.trace = 0.0;
        for (j, (d, f)) in self.diagonal.iter_mut().zip(&*self.transformed).enumerate() {
            let (column, rest) = core::mem::take(&mut columns).split_at_mut_checked(j).unwrap_or_default();
            let grown = at_most(growth * *d, self.prior);
            let (v, factor) = (grown * f, f / alpha);
            let squares = update_column(column, self.gain, v, factor);
            put(self.gain, j, v);
            let before = alpha;
            alpha += v * f;
            *d = at_least(grown * (before / alpha), smallest);
            self.trace += *d * squares;
            columns = rest;
        }
        self.gain.iter_mut().for_each(|gain| *gain /= alpha);
    }
}

/// Uᵀφ, and φᵀPφ = Σ d_j (Uᵀφ)_j².
#[inline(never)] // once in flash, not once per caller
fn transform(columns: &[f32], diagonal: &[f32], features: &[f32], transformed: &mut [f32]) -> f32 {
    let (mut columns, mut variance) = (columns, 0.0);
    for (j, ((place, d), feature)) in transformed.iter_mut().zip(diagonal).zip(features).enumerate() {
        let (column, rest) = columns.split_at_checked(j).unwrap_or_default();
        let f = column.iter().zip(features).fold(*feature, |sum, (u, feature)| sum + u * feature);
        *place = f;
        variance += d * f * f;
        columns = rest;
    }
    variance
}

/// U_ij ← U_ij − b_i f_j/α and b_i ← b_i + v_j U_ij for all i of one column; the sum of its squares, with the
/// one on the diagonal.
#[inline(always)]
fn update_column(column: &mut [f32], gain: &mut [f32], v: f32, factor: f32) -> f32 {
    let mut squares = 1.0;
    for (u, gain) in column.iter_mut().zip(gain) {
        let (old, new) = (*u, *u - factor * *gain);
        *gain += v * old;
        *u = new;
        squares += new * new;
    }
    squares
}

/// The larger of the two; `limit` for NaN.
pub(super) fn at_least(value: f32, limit: f32) -> f32 {
    if value > limit { value } else { limit }
}

fn put(list: &mut [f32], index: usize, value: f32) {
    if let Some(place) = list.get_mut(index) {
        *place = value;
    }
}

#[cfg(test)]
mod tests;
