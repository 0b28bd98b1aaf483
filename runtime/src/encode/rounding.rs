//! Rounding the weights of a row jointly, guided by the Gram matrix of its inputs.
//!
//! A row is used as a sum Σ w_j x_j over correlated columns. Rounded to nearest one by one, weights leave
//! errors e that add up; rounded jointly, they leave errors that cancel. The objective is the mean square of
//! the sum's error over observed inputs, eᵀ(Σ x xᵀ)e. Coordinate descent minimises it: from the nearest
//! codes, column after column, to the better of the two codes around the exact weight. A few scales are
//! tried, and the best is kept.

use std::vec::Vec;

/// Gram matrices of an affine map's inputs: symmetric matrices of `cols × cols` numbers. Where one is
/// empty, each weight is rounded to nearest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GramMatrices {
    /// Σ m̃ m̃ᵀ over steps: maps errors of weights to errors of the rows' means.
    pub means: Vec<f64>,
    /// Weighted Σ ṽ ṽᵀ over steps: maps errors of squared weights to errors of the rows' variances.
    pub vars: Vec<f64>,
    /// Weighted Σ m̃² (m̃²)ᵀ over steps: maps errors of weight variances to errors of the rows' variances.
    /// Used where weights have variances.
    pub mean_squares: Vec<f64>,
}

/// Largest code of a weight, and of a stored square.
pub(crate) const LARGEST_CODE: u32 = 127;
/// Number of scales tried: those that give the largest number of a row the code 127, 126, and so on.
const SCALES: u32 = 16;
/// Most sweeps over all columns; most rows converge after three.
const SWEEPS: u32 = 20;
/// Ridge added to the diagonal, relative to its mean: columns without data keep the nearest codes.
const RIDGE: f64 = 0.01;

/// A row as integers: value ≈ code × scale.
pub(crate) struct Rounded {
    pub(crate) codes: Vec<i64>,
    pub(crate) scale: f32,
}

/// The objective eᵀGe for one of the [`GramMatrices`], with its ridge.
pub(crate) struct RoundingObjective {
    matrix: Vec<f64>,
    cols: usize,
}

impl RoundingObjective {
    /// `None` if the matrix is empty or zero.
    pub(crate) fn new(matrix: &[f64], cols: usize) -> Option<Self> {
        let mut matrix = matrix.to_vec();
        let diagonal = |matrix: &[f64]| matrix.iter().step_by(cols + 1).sum::<f64>();
        let ridge = RIDGE * diagonal(&matrix) / cols as f64;
        matrix.iter_mut().step_by(cols + 1).for_each(|square| *square += ridge);
        (ridge > 0.0).then_some(RoundingObjective { matrix, cols })
    }

    /// Rounds a row's numbers jointly.
    pub(crate) fn round(&self, row: &[f32]) -> Rounded {
        let largest = row.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        let mut best = (f64::INFINITY, Rounded { codes: std::vec![0; row.len()], scale: 0.0 });
        if largest == 0.0 {
            return best.1;
        }
        for code in (LARGEST_CODE - SCALES + 1..=LARGEST_CODE).rev() {
            let scale = largest / code as f32;
            let limit = f64::from(code);
            let exact = row.iter().map(|value| f64::from(value / scale).clamp(-limit, limit)).collect();
            let (codes, error) = self.descend(exact);
            let error = error * f64::from(scale) * f64::from(scale);
            if error < best.0 {
                best = (error, Rounded { codes: codes.into_iter().map(|code| code as i64).collect(), scale });
            }
        }
        best.1
    }

    /// Codes around the exact numbers, and eᵀGe of their errors.
    fn descend(&self, exact: Vec<f64>) -> (Vec<f64>, f64) {
        let mut codes: Vec<f64> = exact.iter().map(|value| value.round_ties_even()).collect();
        let errors: Vec<f64> = codes.iter().zip(&exact).map(|(code, exact)| code - exact).collect();
        let mut gradient: Vec<f64> = self.matrix.chunks(self.cols).map(|row| dot(row, &errors)).collect();
        for _ in 0..SWEEPS {
            let mut converged = true;
            for (column, row) in self.matrix.chunks(self.cols).enumerate() {
                // Of the two codes around the exact number, the one nearer to the minimum along this column.
                let least = codes[column] - gradient[column] / row[column];
                let code = least.round().clamp(exact[column].floor(), exact[column].ceil());
                let change = code - codes[column];
                if change != 0.0 {
                    codes[column] = code;
                    gradient
                        .iter_mut()
                        .zip(row)
                        .for_each(|(gradient, product)| *gradient += change * product);
                    converged = false;
                }
            }
            if converged {
                break;
            }
        }
        let errors: Vec<f64> = codes.iter().zip(&exact).map(|(code, exact)| code - exact).collect();
        let error = dot(&errors, &gradient);
        (codes, error)
    }
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

#[cfg(test)]
mod tests {
    use std::vec;

    use super::*;

    /// Strongly correlated columns.
    fn correlated(cols: usize) -> Vec<f64> {
        let mut matrix = vec![1.0; cols * cols];
        matrix.iter_mut().step_by(cols + 1).for_each(|square| *square = 1.1);
        matrix
    }

    fn sum_error(rounded: &Rounded, row: &[f32]) -> f64 {
        let exact: f64 = row.iter().map(|value| f64::from(*value)).sum();
        rounded.codes.iter().sum::<i64>() as f64 * f64::from(rounded.scale) - exact
    }

    #[test]
    fn correlated_columns_keep_their_sum() {
        // Every weight but the largest is 0.4 above a code: rounded to nearest, the sum would be off by
        // eleven times as much.
        let mut row = vec![0.104; 11];
        row.push(1.27);
        let rounded = RoundingObjective::new(&correlated(12), 12).unwrap().round(&row);
        assert!(sum_error(&rounded, &row).abs() < 0.01, "{}", sum_error(&rounded, &row));
        for (code, value) in rounded.codes.iter().zip(&row) {
            assert!((*code as f32 * rounded.scale - value).abs() < rounded.scale, "{code} for {value}");
        }
    }

    #[test]
    fn uncorrelated_columns_keep_the_nearest_codes() {
        let matrix: Vec<f64> = (0..9).map(|place| f64::from(u8::from(place % 4 == 0))).collect();
        let row = [0.104, -0.996, 1.27];
        let rounded = RoundingObjective::new(&matrix, 3).unwrap().round(&row);
        for (code, value) in rounded.codes.iter().zip(row) {
            assert_eq!(*code, (value / rounded.scale).round() as i64);
        }
    }

    #[test]
    fn an_empty_or_zero_matrix_is_no_objective() {
        assert!(RoundingObjective::new(&[0.0; 4], 2).is_none());
        assert!(RoundingObjective::new(&[], 2).is_none());
    }
}
