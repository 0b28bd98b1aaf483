//! QuantParams weights for the integer kernels (feature `std`): scales chosen so that no sum can leave its integer.

use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

use super::layout::{AffineShape, BLOCK_ROWS};
use super::quantized::{LARGEST_EXPONENT, LARGEST_UNIT, QuantParams, SUM_LIMIT};
use super::rounding::{GramMatrices, LARGEST_CODE, Rounded, RoundingObjective};
use super::spec::Layout;
use super::write::{Affine, row_codes};
use crate::kernels::RAW_VARIANCE_BITS;
use crate::moments::fixed::INPUT_BITS;

/// Standardised inputs beyond this are cut off: eight standard deviations.
const INPUT_REACH: i64 = 8;
/// Sums of squared bytes times variances stay below this.
const SQUARE_SUM_LIMIT: i64 = (1 << 31) - 1;
/// Largest byte of a square: signed, because the kernels' instructions are.
const LARGEST_SQUARE: f64 = LARGEST_CODE as f64;

/// The three sections of a quantized affine map.
#[derive(Default)]
pub(super) struct QuantizedAffine {
    pub(super) quant_params: Vec<u8>,
    pub(super) weight: Vec<u8>,
    pub(super) square: Vec<u8>,
}

/// One row as bytes: weight = code × scale, squared weight = square × square scale.
struct Row {
    codes: Vec<i64>,
    scale: f64,
    squares: Vec<i64>,
    square_scale: f64,
}

impl Row {
    fn new(weights: &[f32], layout: Layout, judges: &[Option<RoundingObjective>; 2]) -> Self {
        let [of_means, of_vars] = judges;
        let Rounded { codes, scale } = row_codes(weights, of_means.as_ref());
        let scale = f64::from(scale);
        // The small layout squares the codes themselves; the fast one stores the squares in a byte.
        let (squares, square_scale) = match (layout, of_vars) {
            (Layout::Fast, Some(judge)) => {
                // Of the weights as they were: there is no need to err twice.
                let Rounded { codes, scale } =
                    judge.round(&weights.iter().map(|w| w * w).collect::<Vec<_>>());
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
/// From the smallest to the largest, what rounding leaves over goes to the next, so that sums over weights of a size are right. Rounded
/// each for itself, the small weights of a row that has one large one would all become zero, and their variance with them.
fn squares(codes: &[i64]) -> Vec<i64> {
    let mut order: Vec<usize> = (0..codes.len()).collect();
    order.sort_by_key(|index| codes[*index].abs());
    let mut squares = vec![0; codes.len()];
    let mut left_over = 0.0;
    for index in order {
        let exact = (codes[index] * codes[index]) as f64 / LARGEST_SQUARE + left_over;
        let rounded = exact.round().clamp(0.0, LARGEST_SQUARE);
        left_over = exact - rounded;
        squares[index] = rounded as i64;
    }
    squares
}

/// Packs one affine map. `first` says that its inputs are the model's own, which are not bounded by one.
pub(super) fn pack(
    affine: &Affine,
    shape: AffineShape,
    usage: &GramMatrices,
    first: bool,
) -> Result<QuantizedAffine, String> {
    let judges = [&usage.means, &usage.vars].map(|matrix| RoundingObjective::new(matrix, shape.cols));
    let rows: Vec<Row> =
        affine.weight.chunks(shape.cols).map(|weights| Row::new(weights, shape.layout, &judges)).collect();
    let quant_params = quant_params(&rows, shape, first);
    if !quant_params.is_sound() {
        return Err("the weights are too large for integer kernels; use the layout float".into());
    }
    let mut fixed: Vec<FixedRow> = Vec::new();
    for (index, (row, bias)) in rows.iter().zip(&affine.bias).enumerate() {
        fixed.push(fixed_row(row, *bias, &quant_params, shape, index)?);
    }
    fixed.resize_with(shape.quantized_rows(), FixedRow::default);
    let blocks = |of: fn(&Row) -> &Vec<i64>| blocks(&rows.iter().map(of).collect::<Vec<_>>(), shape);
    let (codes, squares) = (blocks(|row| &row.codes), blocks(|row| &row.squares));
    let mut quantized =
        QuantizedAffine { quant_params: quant_params.to_bytes().into(), ..QuantizedAffine::default() };
    for ((codes, squares), rows) in codes.iter().zip(&squares).zip(fixed.chunks(BLOCK_ROWS)) {
        let words = |of: fn(&FixedRow) -> i32| rows.iter().flat_map(move |row| of(row).to_le_bytes());
        quantized.weight.extend(codes);
        quantized.weight.extend(words(|row| row.bias).chain(words(|row| row.mean_scale)));
        if shape.propagates {
            quantized.square.extend(squares.iter().filter(|_| shape.layout == Layout::Fast));
            quantized.square.extend(words(|row| row.var_scale));
        }
    }
    Ok(quantized)
}

/// Bias and scales of one row, with the fractional bits of `moments::fixed`.
#[derive(Default)]
struct FixedRow {
    bias: i32,
    mean_scale: i32,
    var_scale: i32,
}

/// The finest scales with which no row can overflow.
fn quant_params(rows: &[Row], shape: AffineShape, first: bool) -> QuantParams {
    let reach = if first { INPUT_REACH } else { 1 };
    let largest_sum = |row: &Row| {
        let (inputs, state) = row.codes.split_at(shape.inputs);
        let sum = |codes: &[i64]| codes.iter().map(|code| code.abs()).sum::<i64>();
        reach * sum(inputs) + sum(state)
    };
    let mean_sum = rows.iter().map(largest_sum).max().unwrap_or(0).max(1);
    let unit = (i64::from(SUM_LIMIT) / mean_sum).min(LARGEST_UNIT as i64).min(32767 / reach);
    let square_sum = rows.iter().map(|row| row.squares.iter().sum::<i64>()).max().unwrap_or(0).max(1);
    let (limit, _) = square_sums(shape.layout);
    let largest_scale = rows.iter().map(|row| row.square_scale).fold(1e-12, f64::max);
    let room = f64::from(31 - square_sums(shape.layout).1) - largest_scale.log2();
    QuantParams {
        unit: unit as f32,
        input_limit: (unit * reach) as i32,
        variance_bits: (limit / square_sum).ilog2().min(14),
        variance_exponent: (room.floor() as i64).clamp(0, LARGEST_EXPONENT.into()) as u32,
    }
}

/// Limit of a row's sum of squares, and by how many bits a row's scale is smaller than its square scale × 2^exponent.
///
/// Kernels return 256 times the sum of stored squares, and the sum itself where they square.
fn square_sums(layout: Layout) -> (i64, u32) {
    match layout {
        Layout::Fast => (SUM_LIMIT.into(), 32 - 8 - RAW_VARIANCE_BITS),
        _ => (SQUARE_SUM_LIMIT, 32 - RAW_VARIANCE_BITS),
    }
}

fn fixed_row(
    row: &Row,
    bias: f32,
    quant_params: &QuantParams,
    shape: AffineShape,
    index: usize,
) -> Result<FixedRow, String> {
    let half = if shape.sigmoids.includes(index) { 0.5 } else { 1.0 };
    let one = f64::from(1_u32 << INPUT_BITS);
    // The kernel's 256 × sum, times this, divided by 2³², is the pre-activation.
    let mean_scale = half * row.scale * one * 2f64.powi(24) / f64::from(quant_params.unit);
    let bits = quant_params.variance_exponent + square_sums(shape.layout).1;
    let var_scale = half * half * row.square_scale * 2f64.powi(bits as i32);
    let var_scale = if shape.propagates { var_scale } else { 0.0 };
    Ok(FixedRow {
        // A product of 30 bits has room beside it.
        bias: integer(half * f64::from(bias) * one, 29).ok_or_else(|| too_large(index, "bias"))?,
        mean_scale: integer(mean_scale, 31).ok_or_else(|| too_large(index, "weight"))?,
        var_scale: integer(var_scale, 31).ok_or_else(|| too_large(index, "squared weight"))?,
    })
}

/// The nearest integer, if its magnitude has at most so many bits.
fn integer(value: f64, bits: i32) -> Option<i32> {
    let rounded = value.round();
    (rounded.abs() < 2f64.powi(bits)).then_some(rounded as i32)
}

fn too_large(row: usize, what: &str) -> String {
    format!("row {row}: {what} is too large for integer kernels; use the layout float")
}

/// The blocks of each four rows; the order within a block is that of `kernels::quantized`.
fn blocks(rows: &[&Vec<i64>], shape: AffineShape) -> Vec<Vec<u8>> {
    let (inputs, padded_inputs) = (shape.inputs, shape.packed_inputs());
    let mut grid = vec![vec![0_i64; shape.quantized_cols()]; shape.quantized_rows()];
    for (place, row) in grid.iter_mut().zip(rows) {
        place[..inputs].copy_from_slice(&row[..inputs]);
        place[padded_inputs..padded_inputs + row.len() - inputs].copy_from_slice(&row[inputs..]);
    }
    let group_bytes = |group: &[Vec<i64>]| {
        let mut bytes = Vec::new();
        for column in (0..shape.quantized_cols()).step_by(2) {
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
    fn small_weights_beside_a_large_one_keep_their_sum_of_squares() {
        let mut codes = vec![7; 40];
        codes.push(127);
        let squares = squares(&codes);
        assert_eq!(squares[40], 127);
        // 40 · 7² / 127 = 15.4, where each by itself would become 0.
        assert_eq!(squares[..40].iter().sum::<i64>(), 15);
    }
}
