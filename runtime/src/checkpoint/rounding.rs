//! Rounding the weights of a row with regard to each other (feature `std`).
//!
//! A row is only ever used as a sum, Σ w_j x_j, over columns that rise and fall together. Rounded each to the nearest, weights leave
//! errors e that add up; chosen together, they leave errors that cancel where it matters. What matters is the mean square of the
//! sum's error over inputs that were seen, eᵀ(Σ x xᵀ)e, which is made small by coordinate descent: from the nearest code, column
//! after column, to the better of the two codes around the exact weight. A few scales are tried, and the best is kept.

use std::vec::Vec;

/// How the columns of an affine map were used by data: two symmetric matrices of `cols × cols` numbers.
///
/// A matrix that is empty says nothing: its weights are rounded each for itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GramMatrices {
    /// Σ m̃ m̃ᵀ over steps: how errors of weights become errors of the rows' means.
    pub means: Vec<f64>,
    /// Σ ṽ ṽᵀ over steps, each with a weight of its own: how errors of squared weights become errors of the rows' variances.
    pub vars: Vec<f64>,
}

/// Largest code of a weight, and of a stored square.
pub(super) const LARGEST_CODE: u32 = 127;
/// How many scales are tried: those that give the largest number of a row the code 127, 126, and so on.
const SCALES: u32 = 16;
/// Turns over all columns; most rows settle after three.
const TURNS: u32 = 20;
/// What is added to the matrix's diagonal, as a part of its mean: columns that were hardly used keep the nearest codes.
const RIDGE: f64 = 0.01;

/// A row as integers: value ≈ code × scale.
pub(super) struct Rounded {
    pub(super) codes: Vec<i64>,
    pub(super) scale: f32,
}

/// One matrix of a [`GramMatrices`], ready to round rows by.
pub(super) struct RoundingObjective {
    matrix: Vec<f64>,
    cols: usize,
}

impl RoundingObjective {
    /// `None` if the matrix says nothing.
    pub(super) fn new(matrix: &[f64], cols: usize) -> Option<Self> {
        let mut matrix = matrix.to_vec();
        let diagonal = |matrix: &[f64]| matrix.iter().step_by(cols + 1).sum::<f64>();
        let ridge = RIDGE * diagonal(&matrix) / cols as f64;
        matrix.iter_mut().step_by(cols + 1).for_each(|square| *square += ridge);
        (ridge > 0.0).then_some(RoundingObjective { matrix, cols })
    }

    /// Rounds a row's numbers together.
    pub(super) fn round(&self, row: &[f32]) -> Rounded {
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

    /// Codes around the exact numbers, and eᵀGe of what they miss.
    fn descend(&self, exact: Vec<f64>) -> (Vec<f64>, f64) {
        let mut codes: Vec<f64> = exact.iter().map(|value| value.round_ties_even()).collect();
        let missed: Vec<f64> = codes.iter().zip(&exact).map(|(code, exact)| code - exact).collect();
        let mut slope: Vec<f64> = self.matrix.chunks(self.cols).map(|row| dot(row, &missed)).collect();
        for _ in 0..TURNS {
            let mut settled = true;
            for (column, uses) in self.matrix.chunks(self.cols).enumerate() {
                // Of the codes around the exact number, the one nearer to where the error is least.
                let least = codes[column] - slope[column] / uses[column];
                let code = least.round().clamp(exact[column].floor(), exact[column].ceil());
                let change = code - codes[column];
                if change != 0.0 {
                    codes[column] = code;
                    slope.iter_mut().zip(uses).for_each(|(slope, used)| *slope += change * used);
                    settled = false;
                }
            }
            if settled {
                break;
            }
        }
        let missed: Vec<f64> = codes.iter().zip(&exact).map(|(code, exact)| code - exact).collect();
        let error = dot(&missed, &slope);
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

    /// Columns that rise and fall together, with a little of their own.
    fn together(cols: usize) -> Vec<f64> {
        let mut matrix = vec![1.0; cols * cols];
        matrix.iter_mut().step_by(cols + 1).for_each(|square| *square = 1.1);
        matrix
    }

    fn sum_missed(rounded: &Rounded, row: &[f32]) -> f64 {
        let exact: f64 = row.iter().map(|value| f64::from(*value)).sum();
        rounded.codes.iter().sum::<i64>() as f64 * f64::from(rounded.scale) - exact
    }

    #[test]
    fn columns_that_move_together_keep_their_sum() {
        // Every weight but the largest is 0.4 above a code: to the nearest, the sum would miss eleven times as much.
        let mut row = vec![0.104; 11];
        row.push(1.27);
        let rounded = RoundingObjective::new(&together(12), 12).unwrap().round(&row);
        assert!(sum_missed(&rounded, &row).abs() < 0.01, "{}", sum_missed(&rounded, &row));
        for (code, value) in rounded.codes.iter().zip(&row) {
            assert!((*code as f32 * rounded.scale - value).abs() < rounded.scale, "{code} for {value}");
        }
    }

    #[test]
    fn columns_that_move_by_themselves_keep_the_nearest_codes() {
        let matrix: Vec<f64> = (0..9).map(|place| f64::from(u8::from(place % 4 == 0))).collect();
        let row = [0.104, -0.996, 1.27];
        let rounded = RoundingObjective::new(&matrix, 3).unwrap().round(&row);
        for (code, value) in rounded.codes.iter().zip(row) {
            assert_eq!(*code, (value / rounded.scale).round() as i64);
        }
    }

    #[test]
    fn what_was_never_used_judges_nothing() {
        assert!(RoundingObjective::new(&[0.0; 4], 2).is_none());
        assert!(RoundingObjective::new(&[], 2).is_none());
    }
}
