//! Gaussian density of standardised input rows: what the channels that are present say about those that are
//! missing, and how far a row is from the training rows.
//!
//! Rows x have mean 0 and covariance Σ with a unit diagonal; Λ = Σ⁻¹ is stored as its lower triangle, row by
//! row. With P the channels that are present and M those that are missing,
//!
//! x_M | x_P ~ N(−Λ_MM⁻¹ Λ_MP x_P, Λ_MM⁻¹),
//!
//! the conditional of a normal distribution in terms of its precision matrix (Bishop 2006, *Pattern
//! Recognition and Machine Learning*, eqs. 2.96 and 2.97): only the block of the missing channels has to be
//! solved. Variance propagation takes the diagonal of the covariance; it cannot carry the rest.
//!
//! Every function is total: whatever the numbers, means are finite and variances are between 0 and the
//! marginal variance 1.

use crate::limits::UNIT_LIMIT;
use crate::moments::{Moments, Scalar, at_most, limited_mean};

/// Variance that marks a channel as missing.
pub const MISSING: f32 = f32::INFINITY;

/// Smallest pivot of a factorisation. With a covariance of unit diagonal no pivot is below 1; what is below
/// this is no precision matrix.
const SMALLEST_PIVOT: f32 = 0.5;

/// Numbers in the lower triangle of a precision matrix.
pub const fn triangle(channels: usize) -> usize {
    channels * (channels + 1) / 2
}

/// Words of scratch that [`impute`] needs for rows of this many channels.
pub const fn scratch_words(channels: usize) -> usize {
    triangle(channels) + channels
}

/// Replaces missing channels by their conditional mean and variance.
///
/// `precision` returns element k of the lower triangle. A variance of [`MISSING`] marks a missing channel,
/// 0 an exact reading; any other is that of an uncertain reading, which is left as it is and counts with its
/// variance: the unknown true values U (missing and uncertain) have the precision Λ_UU + diag(1/v_U), with
/// 1/v = 0 for a missing one (Bishop 2006, eqs. 2.116 and 2.117). `scratch` needs [`scratch_words`]; if it is
/// shorter, missing channels get the marginal mean 0 and variance 1.
///
/// ```
/// use quaver::density::{MISSING, impute, scratch_words};
///
/// // Two channels with a correlation of 0.8.
/// let precision = [1.0 / 0.36, -0.8 / 0.36, 1.0 / 0.36];
/// let (mut mean, mut var) = ([1.5, 0.0], [0.0, MISSING]);
/// impute(|k| precision[k], &mut mean, &mut var, &mut [0.0; scratch_words(2)]);
/// assert!((mean[1] - 0.8 * 1.5).abs() < 1e-6 && (var[1] - 0.36).abs() < 1e-6);
/// ```
#[inline(never)] // rows with gaps are rare: their code must not be spread over the callers
pub fn impute(
    precision: impl Fn(usize) -> f32 + Copy,
    mean: &mut [f32],
    var: &mut [f32],
    scratch: &mut [f32],
) {
    let count = unknown(var).count();
    let solved = scratch.split_at_mut_checked(triangle(count)).and_then(|(matrix, rest)| {
        let (vector, _) = rest.split_at_mut_checked(count)?;
        system(precision, mean, var, matrix, vector);
        factor(matrix, count);
        invert(matrix, count);
        solve(matrix, vector);
        Some((&*matrix, &*vector))
    });
    let unknown = mean.iter_mut().zip(var.iter_mut()).filter(|(_, var)| **var > 0.0);
    for (place, (mean, var)) in unknown.enumerate() {
        if *var == MISSING {
            let marginal = Moments { mean: 0.0, var: 1.0 };
            let found = solved.map_or(marginal, |(matrix, vector)| moments(matrix, vector, place));
            (*mean, *var) = (found.mean, found.var);
        }
    }
}

/// Squared Mahalanobis distance xᵀ Λ x of a row; `precision` is the lower triangle, whose elements `number`
/// reads.
///
/// With missing channels at their conditional means it is that of the channels that are present, because the
/// conditional mean minimises the quadratic form over the missing ones. For rows like those of the training
/// data its expectation is the number of present channels.
#[inline(never)] // its loops want the registers for themselves
pub fn distance<W: Copy>(precision: &[W], number: impl Fn(W) -> f32, row: &[f32]) -> f32 {
    let term = |x: f32, inner: f32, diagonal: W| x * (inner + inner + number(diagonal) * x);
    let (pairs, last) = row.as_chunks();
    let (mut rest, mut sum) = (precision, 0.0);
    // Two rows of the triangle at a time, which share the values they are multiplied by.
    for (index, [x, y]) in pairs.iter().enumerate() {
        let Some((upper, [upper_diagonal, below @ ..])) = rest.split_at_checked(2 * index) else { break };
        let Some((lower, [beside, lower_diagonal, below @ ..])) = below.split_at_checked(2 * index) else {
            break;
        };
        let (mut above, mut under) = (0.0, 0.0);
        for ((value, upper), lower) in row.iter().zip(upper).zip(lower) {
            above += number(*upper) * value;
            under += number(*lower) * value;
        }
        sum += term(*x, above, *upper_diagonal);
        sum += term(*y, under + number(*beside) * x, *lower_diagonal);
        rest = below;
    }
    if let ([x], Some((diagonal, elements))) = (last, rest.split_last()) {
        let inner = elements.iter().zip(row).map(|(element, value)| number(*element) * value).sum();
        sum += term(*x, inner, *diagonal);
    }
    // Comparisons with NaN are false.
    if sum > 0.0 { at_most(sum, UNIT_LIMIT * UNIT_LIMIT) } else { 0.0 }
}

/// Residual of a channel given all others, in standard deviations of that conditional: (Λx)_c / √Λ_cc.
///
/// The conditional of one channel has the mean x_c − (Λx)_c/Λ_cc and the variance 1/Λ_cc (Bishop 2006, eqs.
/// 2.96 and 2.97 with a single missing channel). Channels that are missing count with the values in `row`; at
/// their conditional means they leave the residual of the others given those that are present, in units
/// that are at most as wide.
pub fn neighbour_residual(precision: impl Fn(usize) -> f32, row: &[f32], channel: usize) -> f32 {
    // Row `channel` of the triangle up to its diagonal, then its column below, whose elements are ever
    // further apart.
    let (mut index, mut product) = (triangle(channel), 0.0);
    let diagonal = precision(index + channel);
    for (other, x) in row.iter().enumerate() {
        product += precision(index) * x;
        index += if other < channel { 1 } else { other + 1 };
    }
    if diagonal > 0.0 { product / Scalar::sqrt(diagonal) } else { 0.0 }
}

/// Combines two estimates of one standardised value: its prediction from the past, and its conditional given
/// the other channels.
///
/// If past and present are independent given the value, its distribution is proportional to N₁ N₂ / N₀, where
/// N₀ = N(0, 1) is the marginal that both contain: 1/v = 1/v₁ + 1/v₂ − 1, m/v = m₁/v₁ + m₂/v₂ (Bayes' rule).
/// An estimate that is wider than the marginal has nothing to add: the other one is then returned alone. From
/// precision 1 to 2 the weaker estimate fades in, so that the result is continuous.
pub fn combine(prediction: Moments, conditional: Moments) -> Moments {
    let (strong, weak) =
        if prediction.var < conditional.var { (prediction, conditional) } else { (conditional, prediction) };
    if weak.var >= 1.0 || weak.var.is_nan() {
        return strong;
    }
    if strong.var <= 0.0 {
        return Moments { mean: strong.mean, var: 0.0 };
    }
    let (strong_precision, weak_precision) = (1.0 / strong.var, 1.0 / weak.var);
    let gain = weak_precision - 1.0;
    let fade = if gain < 1.0 { gain } else { 1.0 };
    let precision = strong_precision + gain;
    let mean = (strong_precision * strong.mean + fade * weak_precision * weak.mean) / precision;
    Moments { mean: limited_mean(mean), var: 1.0 / precision }
}

/// A prediction in place of a reading, after forgetting: m ← (1 − d) m, v ← (1 − d)² i v + 1 − (1 − d)²,
/// which approaches the marginal N(0, 1) step by step. See [`Imputation`](crate::checkpoint::Imputation).
pub fn forget(prediction: Moments, decay: f32, inflation: f32) -> Moments {
    let keep = 1.0 - decay;
    let kept = keep * keep;
    let var = kept * (inflation * prediction.var) + (1.0 - kept);
    Moments { mean: keep * prediction.mean, var }.limited()
}

/// Indices of channels whose true value is not known exactly.
fn unknown(var: &[f32]) -> impl Iterator<Item = usize> + '_ {
    var.iter().enumerate().filter(|(_, var)| **var > 0.0).map(|(index, _)| index)
}

/// Index of element (row, column) in the lower triangle of a symmetric matrix.
fn packed(row: usize, column: usize) -> usize {
    let (row, column) = if row < column { (column, row) } else { (row, column) };
    triangle(row) + column
}

fn at(list: &[f32], index: usize) -> f32 {
    list.get(index).copied().unwrap_or(0.0)
}

fn set(list: &mut [f32], index: usize, value: f32) {
    if let Some(place) = list.get_mut(index) {
        *place = value;
    }
}

/// Writes Λ_UU + diag(1/v) and −Λ_UC x_C + y/v for the unknown channels U and the exact ones C.
fn system(
    precision: impl Fn(usize) -> f32 + Copy,
    mean: &[f32],
    var: &[f32],
    matrix: &mut [f32],
    vector: &mut [f32],
) {
    let mut elements = matrix.iter_mut();
    for (row, i) in unknown(var).enumerate() {
        let start = triangle(i);
        for (element, j) in elements.by_ref().take(row + 1).zip(unknown(var)) {
            *element = precision(start + j) + if i == j { 1.0 / at(var, i) } else { 0.0 };
        }
    }
    for (element, i) in vector.iter_mut().zip(unknown(var)) {
        let exact = mean.iter().zip(var).enumerate().filter(|(_, (_, var))| **var <= 0.0 || var.is_nan());
        let known: f32 = exact.map(|(j, (x, _))| precision(packed(i, j)) * x).sum();
        let own = if at(var, i) == MISSING { 0.0 } else { at(mean, i) / at(var, i) };
        *element = own - known;
    }
}

/// Replaces a positive definite matrix A by its Cholesky factor L, A = L Lᵀ, in its lower triangle (Golub and
/// Van Loan 2013, *Matrix Computations*, alg. 4.2.1).
fn factor(matrix: &mut [f32], count: usize) {
    for index in 0..count {
        let Some((above, row)) = split_row(matrix, index) else { return };
        for column in 0..index {
            let upper = above.get(triangle(column)..).unwrap_or_default();
            let left = at(row, column) - dot(row.get(..column).unwrap_or_default(), upper);
            set(row, column, left / at(upper, column));
        }
        let before = row.get(..index).unwrap_or_default();
        let left = at(row, index) - dot(before, before);
        set(row, index, Scalar::sqrt(if left > SMALLEST_PIVOT { left } else { SMALLEST_PIVOT }));
    }
}

/// Replaces L by W = L⁻¹, so that A⁻¹ = Wᵀ W.
fn invert(matrix: &mut [f32], count: usize) {
    for index in 0..count {
        let Some((above, row)) = split_row(matrix, index) else { return };
        let diagonal = at(row, index);
        for column in 0..index {
            let inner = column_dot(above, column, row.get(column..index).unwrap_or_default());
            set(row, column, -inner / diagonal);
        }
        set(row, index, 1.0 / diagonal);
    }
}

/// A row of a lower triangle, and the rows above it.
fn split_row(matrix: &mut [f32], index: usize) -> Option<(&[f32], &mut [f32])> {
    let (above, row) = matrix.get_mut(..triangle(index + 1))?.split_at_mut_checked(triangle(index))?;
    Some((above, row))
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Product of a column of a lower triangle, from its diagonal down, and a vector.
fn column_dot(matrix: &[f32], column: usize, vector: &[f32]) -> f32 {
    // Down a column, elements are ever further apart.
    let (mut place, mut sum) = (triangle(column) + column, 0.0);
    for (value, next) in vector.iter().zip(column + 1..) {
        let Some(element) = matrix.get(place) else { break };
        sum += element * value;
        place += next;
    }
    sum
}

/// Replaces b by W b. From the last row up, so that no element is read after it was written.
fn solve(inverse_factor: &[f32], vector: &mut [f32]) {
    for row in (0..vector.len()).rev() {
        let elements = inverse_factor.get(triangle(row)..).unwrap_or_default();
        let value = dot(vector.get(..=row).unwrap_or_default(), elements);
        set(vector, row, value);
    }
}

/// Element `place` of A⁻¹ b = Wᵀ (W b) and of the diagonal of A⁻¹, within their limits.
fn moments(inverse_factor: &[f32], product: &[f32], place: usize) -> Moments {
    let mean = column_dot(inverse_factor, place, product.get(place..).unwrap_or_default());
    let column = (place..product.len()).map(|row| at(inverse_factor, triangle(row) + place));
    let var: f32 = column.map(|w| w * w).sum();
    if mean.is_finite() && var.is_finite() {
        Moments { mean: limited_mean(mean), var: at_most(var, 1.0) }
    } else {
        Moments { mean: 0.0, var: 1.0 }
    }
}

#[cfg(test)]
mod tests;
