//! Sums over rows in safe, portable Rust: the definition that accelerated kernels must equal bit for bit.
//!
//! The order of summation is part of the definition: column after column, from zero. Rows are independent, so
//! that a core may take as many of them at a time as it has registers or lanes.

use super::NoisyInput;

/// Sums `term(weight, x)` over the columns, for `ROWS` adjacent rows.
///
/// `W` is a stored weight of four bytes or one. A column has `rows` of them; the sums are those of rows
/// `first` and following.
#[inline(always)]
pub(super) fn sums<W: Copy, const ROWS: usize>(
    weights: &[W],
    (rows, first): (usize, usize),
    input: &[f32],
    term: impl Fn(W, f32) -> f32,
) -> [f32; ROWS] {
    let mut sums = [0.0; ROWS];
    let mut add = |weights: &[W; ROWS], x: f32| {
        for (sum, weight) in sums.iter_mut().zip(weights) {
            *sum += term(*weight, x);
        }
    };
    if cfg!(feature = "vectors") && rows == ROWS && ROWS == 1 {
        return [one_row(weights, input, term); ROWS];
    }
    if rows == ROWS {
        // All rows of the group: nothing lies between a column and the next.
        weights.as_chunks().0.iter().zip(input).for_each(|(weights, x)| add(weights, *x));
        return sums;
    }
    // Not `chunks`: compiled for size, its division by `rows` may keep a check for zero.
    let mut rest = weights.get(first..).unwrap_or_default();
    for x in input {
        // Every column has that many rows left: groups are complete.
        let Some(weights) = rest.first_chunk::<ROWS>() else { break };
        add(weights, *x);
        rest = rest.get(rows..).unwrap_or_default();
    }
    sums
}

/// [`sums`] of a group of one row, four columns to a turn: products share a vector, additions stay in order.
#[inline(always)]
fn one_row<W: Copy>(weights: &[W], input: &[f32], term: impl Fn(W, f32) -> f32) -> f32 {
    let ((weights, last_weights), (xs, last_xs)) = (weights.as_chunks::<4>(), input.as_chunks::<4>());
    let mut sum = 0.0;
    for (weights, xs) in weights.iter().zip(xs) {
        // Written out: a closure in a method of arrays may become a call.
        let products = [
            term(weights[0], xs[0]),
            term(weights[1], xs[1]),
            term(weights[2], xs[2]),
            term(weights[3], xs[3]),
        ];
        sum = sum + products[0] + products[1] + products[2] + products[3];
    }
    last_weights.iter().zip(last_xs).fold(sum, |sum, (weight, x)| sum + term(*weight, *x))
}

/// Σ (m̃² + ṽ) τ for `ROWS` rows; 0 when there are no weight variances.
#[inline(always)]
pub(super) fn weight_variance<W: Copy, const ROWS: usize>(
    variances: &[W],
    at: (usize, usize),
    input: NoisyInput<'_>,
    variance: impl Fn(W) -> f32,
) -> [f32; ROWS] {
    let by_mean: [f32; ROWS] = sums(variances, at, input.mean, |var, mean| variance(var) * (mean * mean));
    let by_var: [f32; ROWS] = sums(variances, at, input.var, |var, unit_var| variance(var) * unit_var);
    core::array::from_fn(|row| by_mean[row] + by_var[row])
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    /// Values with short mantissas: every product and sum below is exact, so any order gives the same answer.
    fn exact_values(count: usize) -> Vec<f32> {
        (0..count).map(|index| ((index * 37) % 64) as f32 / 8.0 - 4.0).collect()
    }

    #[test]
    fn sums_cover_every_column_of_their_rows() {
        for columns in 0..20 {
            let rows = 8;
            let weights = exact_values(rows * columns);
            let input = exact_values(columns + 3).split_off(3);
            for first in [0, 4] {
                let found: [f32; 4] = sums(&weights, (rows, first), &input, |weight, x| weight * x);
                for (row, found) in (first..).zip(found) {
                    let expected: f32 = (0..columns).map(|col| weights[col * rows + row] * input[col]).sum();
                    assert_eq!(found, expected, "{columns} columns, row {row}");
                }
            }
        }
    }

    #[test]
    fn weight_variance_multiplies_the_second_moment() {
        // (m² + v) τ summed: (9 + 1) · 0.5 + (4 + 2) · 0.25.
        let input = NoisyInput { mean: &[3.0, -2.0], var: &[1.0, 2.0] };
        assert_eq!(weight_variance(&[0.5_f32, 0.25], (1, 0), input, |var| var), [6.5]);
        assert_eq!(weight_variance(&[] as &[f32], (1, 0), input, |var| var), [0.0]);
    }

    #[test]
    fn the_order_of_summation_is_the_documented_one() {
        // From a large number on, ones are swallowed one by one; before it they count.
        let large = 2.0_f32.powi(24);
        let sum = |input: &[f32]| sums::<f32, 1>(&[1.0; 4], (1, 0), input, |weight, x| weight * x);
        assert_eq!(sum(&[large, 1.0, 1.0, 1.0]), [large]);
        assert_eq!(sum(&[1.0, 1.0, large, 0.0]), [large + 2.0]);
    }
}
