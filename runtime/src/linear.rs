//! Linear prediction from the last rows: the best linear model, which a network adds to, or which stands
//! alone.
//!
//! With x_0 the newest row in standardised units, x_1 the one before it and so on, an output has the mean and
//! the variance
//!
//! `E[y] = b + Σ_j wⱼᵀ m_j,  V[y] = Σ_j (wⱼ²)ᵀ v_j`
//!
//! of an affine map of independent inputs (Bayer 2015, thesis, eqs. 17 and 18, without weight variances). The
//! weights are those of a ridge regression (Hoerl and Kennard 1970), fitted by the trainer.
//!
//! - A missing channel has the moments by which the network reads it, here for as long as its row is among
//!   the last ones: it widens the error bar.
//! - Before the first row nothing is known: every row has the training mean 0 and variance 1. The first row
//!   takes the place of all rows before it, as if the stream had stood still until then.
//! - Errors of imputed values are taken as independent, of each other and of what the network propagates of
//!   them: one that is wrong in the same direction in several rows is understated where weights have one
//!   sign, and overstated where they differ in sign, as those of a derivative do.

use crate::moments::Moments;

/// Numbers of one output: its bias, and a weight for each value of the last rows.
pub const fn numbers(rows: usize, inputs: usize) -> usize {
    rows.saturating_mul(inputs).saturating_add(1)
}

/// Words of a ring of rows: means, variances, the place of the newest row, and for how long one of them is
/// uncertain.
pub(crate) const fn ring_words(rows: usize, inputs: usize) -> usize {
    rows.saturating_mul(inputs).saturating_mul(2).saturating_add(2)
}

/// Mean and variance of one output.
///
/// `numbers` are its bias and weights, which `number` reads. `means` are those of the rows, the newest first,
/// in two parts: a ring has an end. `vars` are their variances, `None` if all are zero. The order of
/// summation is part of the definition: value after value, from zero, the bias last.
///
/// ```
/// // The difference of the last two rows of one channel, the older one uncertain.
/// let y = quaver::linear::moments(&[0.5, 1.0, -1.0], |x| x, [&[3.0], &[1.0]], Some([&[0.0], &[0.25]]));
/// assert_eq!((y.mean, y.var), (2.5, 0.25));
/// ```
pub fn moments<W: Copy>(
    numbers: &[W],
    number: impl Fn(W) -> f32 + Copy,
    means: [&[f32]; 2],
    vars: Option<[&[f32]; 2]>,
) -> Moments {
    let Some((bias, weights)) = numbers.split_first() else { return Moments::default() };
    let mean = sum(weights, means, |weight, x| number(weight) * x) + number(*bias);
    let var = vars.map_or(0.0, |vars| {
        sum(weights, vars, |weight, var| {
            let weight = number(weight);
            weight * weight * var
        })
    });
    Moments { mean, var }
}

/// Sums `term(weight, x)` over both parts.
#[inline(always)]
fn sum<W: Copy>(weights: &[W], parts: [&[f32]; 2], term: impl Fn(W, f32) -> f32) -> f32 {
    let (mut sum, mut rest) = (0.0, weights);
    for part in parts {
        let (own, after) = rest.split_at_checked(part.len()).unwrap_or((rest, &[]));
        for (weight, x) in own.iter().zip(part) {
            sum += term(*weight, *x);
        }
        rest = after;
    }
    sum
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::random::fixed_normal;

    /// In f64 and in another order: 24 terms of a size below 10 in f32, 10⁻⁵.
    #[test]
    fn moments_are_those_of_an_affine_map_wherever_the_ring_ends() {
        let (rows, inputs) = (8, 3);
        let draw = |k: u16| (0..rows * inputs).map(move |i| fixed_normal(k, i as u16)).collect::<Vec<f32>>();
        let (weights, means) = (draw(0), draw(1));
        let vars: Vec<f32> = draw(2).iter().map(|x| x * x).collect();
        let numbers: Vec<f32> = [0.75].into_iter().chain(weights.iter().copied()).collect();
        let products = |values: &[f32], power: i32| -> f64 {
            let terms = weights.iter().zip(values).rev();
            terms.map(|(weight, x)| f64::from(*weight).powi(power) * f64::from(*x)).sum()
        };
        let whole = moments(&numbers, |x| x, [&means, &[]], Some([&vars, &[]]));
        assert!((f64::from(whole.mean) - products(&means, 1) - 0.75).abs() < 1e-5);
        assert!((f64::from(whole.var) - products(&vars, 2)).abs() < 1e-5);
        for end in 0..=rows {
            let (means, vars) = (means.split_at(end * inputs), vars.split_at(end * inputs));
            let found = moments(&numbers, |x| x, [means.0, means.1], Some([vars.0, vars.1]));
            assert_eq!(
                (found.mean.to_bits(), found.var.to_bits()),
                (whole.mean.to_bits(), whole.var.to_bits())
            );
            let exact = moments(&numbers, |x| x, [means.0, means.1], None);
            assert_eq!((exact.mean.to_bits(), exact.var), (whole.mean.to_bits(), 0.0));
        }
    }

    #[test]
    fn lists_of_any_length_are_harmless() {
        assert_eq!(moments(&[], |x: f32| x, [&[1.0], &[2.0]], None), Moments::default());
        let short = moments(&[1.0, 2.0], |x| x, [&[3.0, 4.0], &[5.0]], Some([&[1.0, 1.0], &[1.0]]));
        assert_eq!((short.mean, short.var), (7.0, 4.0));
    }
}
