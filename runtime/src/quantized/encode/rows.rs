//! The rows of an affine map as bytes, with a scale each.

use core::ops::Range;
use std::vec;
use std::vec::Vec;

use super::super::format::Columns;
use super::super::sections::stores_squares;
use super::source_rows::SourceRow;
use crate::encode::{AffineSource, LARGEST_CODE, Rounded, RoundingObjective, row_codes};
use crate::spec::Layout;

/// Largest byte of a square or a variance: signed, because the kernels' instructions are.
const LARGEST_SQUARE: f64 = LARGEST_CODE as f64;

/// Rounding objectives of weights, of squares and of weight variances.
type Objective = [Option<RoundingObjective>; 3];

/// Rounding objectives for all columns, those of the input and those of the state.
pub(super) struct Objectives {
    all: Objective,
    input: Objective,
    state: Objective,
}

impl Objectives {
    pub(super) fn new(source: &AffineSource<'_>) -> Self {
        let AffineSource { shape, gram, .. } = source;
        let of_columns = |range: Range<usize>| {
            [&gram.means, &gram.vars, &gram.mean_squares].map(|matrix| {
                let rows = matrix.chunks(shape.cols).skip(range.start).take(range.len());
                let part: Vec<f64> = rows.flat_map(|row| row[range.clone()].to_vec()).collect();
                RoundingObjective::new(&part, range.len())
            })
        };
        let split =
            |range: Range<usize>| if shape.is_split() { of_columns(range) } else { [None, None, None] };
        Objectives {
            all: of_columns(0..shape.cols),
            input: split(0..shape.inputs),
            state: split(shape.inputs..shape.cols),
        }
    }

    fn of(&self, columns: Columns) -> &Objective {
        match columns {
            Columns::All => &self.all,
            Columns::Input => &self.input,
            Columns::State => &self.state,
        }
    }
}

/// One row as bytes: weight = code × scale, squared weight = square × square scale, and its variance
/// likewise.
///
/// With weight variances, squares are those of the mean plus the variance: what multiplies the variance of an
/// input.
pub(super) struct Row {
    pub(super) columns: Columns,
    pub(super) bias: f32,
    pub(super) bias_var: f32,
    pub(super) index: usize,
    pub(super) halved: bool,
    pub(super) codes: Vec<i64>,
    pub(super) scale: f64,
    pub(super) squares: Vec<i64>,
    pub(super) square_scale: f64,
    /// Empty without weight variances.
    pub(super) weight_vars: Vec<i64>,
    pub(super) weight_var_scale: f64,
}

impl Row {
    pub(super) fn new(source: &SourceRow<'_>, layout: Layout, objectives: &Objectives) -> Self {
        let SourceRow { weights, weight_vars, columns, bias, bias_var, index, halved } = *source;
        let [of_means, of_vars, of_mean_squares] = objectives.of(columns);
        let Rounded { codes, scale } = row_codes(weights, of_means.as_ref());
        let scale = f64::from(scale);
        // The small layout squares the codes themselves; the fast one stores the squares in a byte.
        let (squares, square_scale) = match (stores_squares(layout), of_vars) {
            // Squares of the exact weights: rounding twice would add errors.
            (true, Some(_)) => rounded(&second_moments(weights, weight_vars), of_vars.as_ref()),
            (true, None) if weight_vars.is_empty() => {
                let exact = codes.iter().map(|code| (code * code) as f64 / LARGEST_SQUARE);
                (carried(&exact.collect::<Vec<_>>()), scale * scale * LARGEST_SQUARE)
            }
            (true, None) => rounded(&second_moments(weights, weight_vars), None),
            (false, _) => (codes.iter().map(|code| code * code).collect(), scale * scale),
        };
        let (weight_vars, weight_var_scale) = rounded(weight_vars, of_mean_squares.as_ref());
        Row {
            columns,
            bias,
            bias_var,
            index,
            halved,
            codes,
            scale,
            squares,
            square_scale,
            weight_vars,
            weight_var_scale,
        }
    }

    /// Gives the squares a coarser scale where their codes add up to more than `most`.
    ///
    /// All rows of a map share the bits of their inputs' variances. A row whose squares are all alike, such
    /// as those of a unit that training left at its prior, has the largest codes in every column and would
    /// take these bits from rows of larger weights.
    pub(super) fn limit_squares(&mut self, most: i64) {
        limit_sum(&mut self.squares, &mut self.square_scale, most);
    }

    /// The same for weight variances, whose rows share the bits of squared means.
    pub(super) fn limit_weight_vars(&mut self, most: i64) {
        limit_sum(&mut self.weight_vars, &mut self.weight_var_scale, most);
    }
}

/// Makes codes smaller and their scale larger where they add up to more than `most`.
fn limit_sum(codes: &mut Vec<i64>, scale: &mut f64, most: i64) {
    let sum: i64 = codes.iter().sum();
    if sum > most {
        // Codes are carried to their sum, which may end half a code above it.
        let factor = sum as f64 / (most - 1).max(1) as f64;
        *codes = carried(&codes.iter().map(|code| *code as f64 / factor).collect::<Vec<_>>());
        *scale *= factor;
    }
}

/// E[w²] = μ² + τ; without weight variances μ².
fn second_moments(weights: &[f32], weight_vars: &[f32]) -> Vec<f32> {
    let vars = weight_vars.iter().copied().chain(core::iter::repeat(0.0));
    weights.iter().zip(vars).map(|(mean, var)| mean * mean + var).collect()
}

/// Numbers that are not negative as bytes, and their scale: rounded jointly where there is an objective.
fn rounded(values: &[f32], objective: Option<&RoundingObjective>) -> (Vec<i64>, f64) {
    if let Some(objective) = objective {
        let Rounded { codes, scale } = objective.round(values);
        return (codes, scale.into());
    }
    let scale = values.iter().fold(0.0_f32, |most, value| most.max(*value)) / LARGEST_SQUARE as f32;
    let exact = |value: &f32| if scale > 0.0 { f64::from(value / scale).min(LARGEST_SQUARE) } else { 0.0 };
    (carried(&values.iter().map(exact).collect::<Vec<_>>()), scale.into())
}

/// Integers near numbers from 0 to [`LARGEST_SQUARE`].
///
/// From the smallest to the largest, each rounding error is carried over to the next number, so that sums
/// over weights of similar size are right. Rounded independently, the small weights of a row with one large
/// weight would all become zero, and their variance with them.
fn carried(exact: &[f64]) -> Vec<i64> {
    let mut order: Vec<usize> = (0..exact.len()).collect();
    order.sort_by(|left, right| exact[*left].total_cmp(&exact[*right]));
    let mut codes = vec![0; exact.len()];
    let mut carried = 0.0;
    for index in order {
        let exact = exact[index] + carried;
        let rounded = exact.round().clamp(0.0, LARGEST_SQUARE);
        carried = exact - rounded;
        codes[index] = rounded as i64;
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_weights_next_to_a_large_one_keep_their_sum_of_squares() {
        let mut exact = vec![7.0 * 7.0 / 127.0; 40];
        exact.push(127.0);
        let squares = carried(&exact);
        assert_eq!(squares[40], 127);
        // 40 · 7² / 127 = 15.4, where each rounded by itself would become 0.
        assert_eq!(squares[..40].iter().sum::<i64>(), 15);
    }

    /// A pruned weight must not come back by what was carried over, or nothing could be left out.
    #[test]
    fn zeros_stay_zero_however_they_are_rounded() {
        let values: Vec<f32> =
            (0..60).map(|k| if k % 3 == 0 { 0.11 + 0.013 * k as f32 } else { 0.0 }).collect();
        let mut correlated = vec![1.0; 60 * 60];
        correlated.iter_mut().step_by(61).for_each(|square| *square = 1.1);
        let objective = RoundingObjective::new(&correlated, 60);
        for objective in [None, objective.as_ref()] {
            for codes in [rounded(&values, objective).0, row_codes(&values, objective).codes] {
                assert!(
                    codes.iter().zip(&values).all(|(code, value)| *value != 0.0 || *code == 0),
                    "{codes:?}"
                );
                assert!(codes.iter().any(|code| *code != 0));
            }
        }
    }

    #[test]
    fn codes_that_are_all_alike_take_a_coarser_scale_and_keep_their_sum() {
        let (mut codes, mut scale) = rounded(&[0.01; 100], None);
        limit_sum(&mut codes, &mut scale, 12_700);
        assert_eq!(codes, [127; 100], "enough room: nothing changes");
        limit_sum(&mut codes, &mut scale, 512);
        let sum: i64 = codes.iter().sum();
        assert!((500..=512).contains(&sum), "{sum}");
        // Half a code, by which carried codes may miss their sum.
        assert!((sum as f64 * scale - 1.0).abs() <= 0.5 * scale + 1e-6, "{sum} × {scale}");
    }

    #[test]
    fn variances_add_to_squares_and_keep_their_sum() {
        assert_eq!(second_moments(&[3.0, -2.0], &[0.5, 0.25]), [9.5, 4.25]);
        assert_eq!(second_moments(&[3.0, -2.0], &[]), [9.0, 4.0]);
        let mut values = vec![0.003; 50];
        values.push(1.27);
        let (codes, scale) = rounded(&values, None);
        let sum: f64 = codes.iter().map(|code| *code as f64 * scale).sum();
        // Within one code of the sum, where each rounded by itself would leave out 0.15.
        assert!((sum - 1.42).abs() <= scale, "{sum}");
        assert_eq!(rounded(&[0.0; 3], None), (vec![0; 3], 0.0));
    }
}
