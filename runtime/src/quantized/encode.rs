//! Encoding affine maps in quantized layouts (feature `write`): scales chosen so that no sum can overflow.

use std::vec;
use std::vec::Vec;

use super::fixed::{INPUT_BITS, WIDE_VAR_BITS};
use super::format::{BLOCK_ROWS, LARGEST_EXPONENT, LARGEST_UNIT, PaddedShape, QuantParams, SUM_LIMIT};
use crate::encode::{AffineSource, LARGEST_CODE, Role, Rounded, RoundingObjective, row_codes};
use crate::format::{AffineShape, WriteError, extend_padded};
use crate::spec::{Activation, CellKind, Layout, Likelihood};

/// Standardised inputs are limited to eight standard deviations.
const INPUT_LIMIT: i64 = 8;
/// Sums of squared bytes times variances stay below this.
const SQUARE_SUM_LIMIT: i64 = (1 << 31) - 1;
/// Largest byte of a square: signed, because the kernels' instructions are.
const LARGEST_SQUARE: f64 = LARGEST_CODE as f64;

/// Appends the sections of an affine map to the payload.
pub(crate) fn encode_affine(payload: &mut Vec<u8>, source: &AffineSource<'_>) -> Result<(), WriteError> {
    let AffineSource { affine, shape, role, gram } = source;
    let objectives = [&gram.means, &gram.vars].map(|matrix| RoundingObjective::new(matrix, shape.cols));
    let rows: Vec<Row> = affine
        .weight
        .chunks(shape.cols)
        .map(|weights| Row::new(weights, shape.layout, &objectives))
        .collect();
    let quant_params = quant_params(&rows, *shape, *role);
    if !quant_params.is_sound() {
        return Err(WriteError::Scales { part: role.part() });
    }
    let mut fixed: Vec<FixedRow> = Vec::new();
    for (index, (row, bias)) in rows.iter().zip(&affine.bias).enumerate() {
        fixed.push(fixed_row(row, *bias, &quant_params, source, index)?);
    }
    fixed.resize_with(PaddedShape::new(*shape).rows, FixedRow::default);
    let blocks = |of: fn(&Row) -> &Vec<i64>| blocks(&rows.iter().map(of).collect::<Vec<_>>(), *shape);
    let (codes, squares) = (blocks(|row| &row.codes), blocks(|row| &row.squares));
    let (mut weight_section, mut square_section) = (Vec::new(), Vec::new());
    for ((codes, squares), rows) in codes.iter().zip(&squares).zip(fixed.chunks(BLOCK_ROWS)) {
        let words = |of: fn(&FixedRow) -> i32| rows.iter().flat_map(move |row| of(row).to_le_bytes());
        weight_section.extend(codes);
        weight_section.extend(words(|row| row.bias).chain(words(|row| row.mean_scale)));
        if shape.propagates {
            square_section.extend(squares.iter().filter(|_| shape.layout == Layout::Fast));
            square_section.extend(words(|row| row.var_scale));
        }
    }
    extend_padded(payload, &quant_params.to_bytes());
    extend_padded(payload, &weight_section);
    extend_padded(payload, &square_section);
    Ok(())
}

/// Whether row `index` of a map ends in a sigmoid, and is stored for tanh of half its argument.
fn ends_in_sigmoid(role: Role, index: usize) -> bool {
    match role {
        // All gates but the third of four, the candidate.
        Role::Layer { cell: CellKind::Lstm, .. } => index % 4 != 2,
        Role::Layer { cell: CellKind::Elman(activation) | CellKind::Dense(activation), .. } => {
            match activation {
                Activation::Sigmoid => true,
                Activation::Tanh | Activation::Relu => false,
            }
        }
        Role::Output { likelihood } => match likelihood {
            Likelihood::Bernoulli => true,
            Likelihood::Gaussian | Likelihood::Heteroscedastic | Likelihood::Categorical => false,
        },
    }
}

/// One row as bytes: weight = code × scale, squared weight = square × square scale.
struct Row {
    codes: Vec<i64>,
    scale: f64,
    squares: Vec<i64>,
    square_scale: f64,
}

impl Row {
    fn new(weights: &[f32], layout: Layout, objectives: &[Option<RoundingObjective>; 2]) -> Self {
        let [of_means, of_vars] = objectives;
        let Rounded { codes, scale } = row_codes(weights, of_means.as_ref());
        let scale = f64::from(scale);
        // The small layout squares the codes themselves; the fast one stores the squares in a byte.
        let (squares, square_scale) = match (layout, of_vars) {
            (Layout::Fast, Some(objective)) => {
                // Squares of the exact weights: rounding twice would add errors.
                let Rounded { codes, scale } =
                    objective.round(&weights.iter().map(|w| w * w).collect::<Vec<_>>());
                (codes, scale.into())
            }
            (Layout::Fast, None) => (squares(&codes), scale * scale * LARGEST_SQUARE),
            _ => (codes.iter().map(|code| code * code).collect(), scale * scale),
        };
        Row { codes, scale, squares, square_scale }
    }
}

/// Squares in units of which the largest of the row has [`LARGEST_SQUARE`].
///
/// From the smallest to the largest, each rounding error is carried over to the next square, so that sums over weights of
/// similar size are right. Rounded independently, the small weights of a row with one large weight would all become zero, and
/// their variance with them.
fn squares(codes: &[i64]) -> Vec<i64> {
    let mut order: Vec<usize> = (0..codes.len()).collect();
    order.sort_by_key(|index| codes[*index].abs());
    let mut squares = vec![0; codes.len()];
    let mut carried = 0.0;
    for index in order {
        let exact = (codes[index] * codes[index]) as f64 / LARGEST_SQUARE + carried;
        let rounded = exact.round().clamp(0.0, LARGEST_SQUARE);
        carried = exact - rounded;
        squares[index] = rounded as i64;
    }
    squares
}

/// Bias and scales of one row, with the fractional bits of `fixed.rs`.
#[derive(Default)]
struct FixedRow {
    bias: i32,
    mean_scale: i32,
    var_scale: i32,
}

/// The finest scales with which no row can overflow.
fn quant_params(rows: &[Row], shape: AffineShape, role: Role) -> QuantParams {
    // Inputs of the model are not bounded by one, as units are.
    let input_limit = if matches!(role, Role::Layer { index: 0, .. }) { INPUT_LIMIT } else { 1 };
    let largest_sum = |row: &Row| {
        let (inputs, state) = row.codes.split_at(shape.inputs);
        let sum = |codes: &[i64]| codes.iter().map(|code| code.abs()).sum::<i64>();
        input_limit * sum(inputs) + sum(state)
    };
    let mean_sum = rows.iter().map(largest_sum).max().unwrap_or(0).max(1);
    let unit = (i64::from(SUM_LIMIT) / mean_sum).min(LARGEST_UNIT as i64).min(32767 / input_limit);
    let square_sum = rows.iter().map(|row| row.squares.iter().sum::<i64>()).max().unwrap_or(0).max(1);
    let (limit, _) = square_sums(shape.layout);
    let largest_scale = rows.iter().map(|row| row.square_scale).fold(1e-12, f64::max);
    let room = f64::from(31 - square_sums(shape.layout).1) - largest_scale.log2();
    QuantParams {
        unit: unit as f32,
        input_limit: (unit * input_limit) as i32,
        variance_bits: (limit / square_sum).ilog2().min(14),
        variance_exponent: (room.floor() as i64).clamp(0, LARGEST_EXPONENT.into()) as u32,
    }
}

/// Limit of a row's sum of squares, and by how many bits a row's scale is smaller than its square scale × 2^exponent.
///
/// Kernels return 256 times the sum of stored squares, and the sum itself where they square.
fn square_sums(layout: Layout) -> (i64, u32) {
    match layout {
        Layout::Fast => (SUM_LIMIT.into(), 32 - 8 - WIDE_VAR_BITS),
        _ => (SQUARE_SUM_LIMIT, 32 - WIDE_VAR_BITS),
    }
}

fn fixed_row(
    row: &Row,
    bias: f32,
    quant_params: &QuantParams,
    source: &AffineSource<'_>,
    index: usize,
) -> Result<FixedRow, WriteError> {
    let AffineSource { shape, role, .. } = source;
    let too_large = |field| WriteError::TooLarge { part: role.part(), row: index, field };
    let half = if ends_in_sigmoid(*role, index) { 0.5 } else { 1.0 };
    let one = f64::from(1_u32 << INPUT_BITS);
    // The kernel's 256 × sum, times this, divided by 2³², is the pre-activation.
    let mean_scale = half * row.scale * one * 2f64.powi(24) / f64::from(quant_params.unit);
    let bits = quant_params.variance_exponent + square_sums(shape.layout).1;
    let var_scale = half * half * row.square_scale * 2f64.powi(bits as i32);
    let var_scale = if shape.propagates { var_scale } else { 0.0 };
    Ok(FixedRow {
        // Leaves room for a product of 30 bits.
        bias: integer(half * f64::from(bias) * one, 29).ok_or(too_large("bias"))?,
        mean_scale: integer(mean_scale, 31).ok_or(too_large("weight"))?,
        var_scale: integer(var_scale, 31).ok_or(too_large("squared weight"))?,
    })
}

/// The nearest integer, if its magnitude has at most `bits` bits.
fn integer(value: f64, bits: i32) -> Option<i32> {
    let rounded = value.round();
    (rounded.abs() < 2f64.powi(bits)).then_some(rounded as i32)
}

/// The blocks of each four rows; the order within a block is that of `kernels::portable`.
fn blocks(rows: &[&Vec<i64>], shape: AffineShape) -> Vec<Vec<u8>> {
    let (inputs, padded) = (shape.inputs, PaddedShape::new(shape));
    let mut grid = vec![vec![0_i64; padded.cols]; padded.rows];
    for (target, row) in grid.iter_mut().zip(rows) {
        target[..inputs].copy_from_slice(&row[..inputs]);
        target[padded.inputs..padded.inputs + row.len() - inputs].copy_from_slice(&row[inputs..]);
    }
    let group_bytes = |group: &[Vec<i64>]| {
        let mut bytes = Vec::new();
        for column in (0..padded.cols).step_by(2) {
            for rows in group.chunks(2) {
                for column in [column, column + 1] {
                    let pair = 256 * rows[0][column] + rows[1][column];
                    bytes.extend((pair as i16).to_le_bytes());
                }
            }
        }
        bytes
    };
    grid.chunks(BLOCK_ROWS).map(group_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_weights_next_to_a_large_one_keep_their_sum_of_squares() {
        let mut codes = vec![7; 40];
        codes.push(127);
        let squares = squares(&codes);
        assert_eq!(squares[40], 127);
        // 40 · 7² / 127 = 15.4, where each rounded by itself would become 0.
        assert_eq!(squares[..40].iter().sum::<i64>(), 15);
    }
}
