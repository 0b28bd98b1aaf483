//! Encoding affine maps in quantized layouts (feature `write`): scales chosen so that no sum can overflow.

use core::ops::Range;
use std::vec;
use std::vec::Vec;

use super::fixed::{INPUT_BITS, WIDE_VAR_BITS};
use super::format::{
    BIAS_LIMIT, BLOCK_ROWS, Columns, GruPart, LARGEST_EXPONENT, LARGEST_UNIT, PaddedShape, QuantParams,
    SQUARE_SUM_LIMIT, SUM_LIMIT,
};
use crate::encode::{Affine, AffineSource, LARGEST_CODE, Role, Rounded, RoundingObjective, row_codes};
use crate::format::{AffineShape, WriteError, extend_padded};
use crate::spec::{Activation, CellKind, Layout, Likelihood};

/// Standardised inputs are limited to eight standard deviations.
const INPUT_LIMIT: i64 = 8;
/// Largest byte of a square: signed, because the kernels' instructions are.
const LARGEST_SQUARE: f64 = LARGEST_CODE as f64;

/// Appends the sections of an affine map to the payload.
pub(crate) fn encode_affine(payload: &mut Vec<u8>, source: &AffineSource<'_>) -> Result<(), WriteError> {
    let AffineSource { shape, role, .. } = source;
    let objectives = Objectives::new(source);
    let rows: Vec<Row> =
        source_rows(source).iter().map(|row| Row::new(row, shape.layout, &objectives)).collect();
    let quant_params = quant_params(&rows, *shape, *role, source.one_hot);
    if !quant_params.is_sound() {
        return Err(WriteError::Scales { part: role.part() });
    }
    let padded = PaddedShape::new(*shape);
    let (mut weight_section, mut square_section) = (Vec::new(), Vec::new());
    for (index, group) in rows.chunks(BLOCK_ROWS).enumerate() {
        let mut fixed: Vec<FixedRow> = Vec::new();
        for row in group {
            fixed.push(fixed_row(row, &quant_params, source)?);
        }
        fixed.resize_with(BLOCK_ROWS, FixedRow::default);
        let columns = padded.columns(index);
        let blocks = |of: fn(&Row) -> &Vec<i64>| {
            blocks(&group.iter().map(of).collect::<Vec<_>>(), shape.inputs, padded, columns)
        };
        let words = |of: fn(&FixedRow) -> i32| fixed.iter().flat_map(move |row| of(row).to_le_bytes());
        weight_section.extend(blocks(|row| &row.codes));
        weight_section.extend(words(|row| row.bias).chain(words(|row| row.mean_scale)));
        if shape.propagates {
            if shape.layout == Layout::Fast {
                square_section.extend(blocks(|row| &row.squares));
            }
            square_section.extend(words(|row| row.var_scale));
        }
    }
    extend_padded(payload, &quant_params.to_bytes());
    extend_padded(payload, &weight_section);
    extend_padded(payload, &square_section);
    Ok(())
}

/// A row of a map, or the part of it that a group reads.
struct SourceRow<'a> {
    weights: &'a [f32],
    columns: Columns,
    bias: f32,
    /// Row of the map, for errors.
    index: usize,
    /// Whether it ends in a sigmoid, and is stored for tanh of half its argument.
    halved: bool,
}

/// The rows in the order of the payload, without padding at the end.
fn source_rows<'a>(source: &AffineSource<'a>) -> Vec<SourceRow<'a>> {
    let AffineSource { affine, shape, role, .. } = source;
    if let Role::Layer { cell: CellKind::Gru, .. } = role {
        return gru_rows(affine, *shape);
    }
    let row = |(index, (weights, bias)): (usize, (&'a [f32], &f32))| SourceRow {
        weights,
        columns: Columns::All,
        bias: *bias,
        index,
        halved: ends_in_sigmoid(*role, index),
    };
    affine.weight.chunks(shape.cols).zip(&affine.bias).enumerate().map(row).collect()
}

/// The rows of a GRU: four units at a time, part by part. Units beyond the last are rows of zeros.
fn gru_rows(affine: &Affine, shape: AffineShape) -> Vec<SourceRow<'_>> {
    let row = |unit: usize, part: GruPart| {
        let (gate, bias, halved) = match part {
            GruPart::Reset => (0, 0, true),
            GruPart::Update => (1, 1, true),
            GruPart::FromInput => (2, 2, false),
            GruPart::FromState => (2, 3, false),
        };
        let index = unit * shape.gates + gate;
        let weights = affine.weight.get(index * shape.cols..(index + 1) * shape.cols).unwrap_or_default();
        let (input, state) = weights.split_at(shape.inputs.min(weights.len()));
        SourceRow {
            weights: match part.columns() {
                Columns::All => weights,
                Columns::Input => input,
                Columns::State => state,
            },
            columns: part.columns(),
            bias: affine.bias.get(unit * shape.biases + bias).copied().unwrap_or(0.0),
            index,
            halved,
        }
    };
    let fours = (0..shape.units()).step_by(BLOCK_ROWS);
    fours
        .flat_map(|first| GruPart::ALL.map(|part| (first, part)))
        .flat_map(|(first, part)| (first..first + BLOCK_ROWS).map(move |unit| row(unit, part)))
        .collect()
}

/// Whether row `index` of a map ends in a sigmoid, and is stored for tanh of half its argument.
fn ends_in_sigmoid(role: Role, index: usize) -> bool {
    match role {
        // All gates but the third of four, the candidate.
        Role::Layer { cell: CellKind::Lstm, .. } => index % 4 != 2,
        // All gates but the third of three, the candidate.
        Role::Layer { cell: CellKind::Gru, .. } => index % 3 != 2,
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

/// Rounding objectives of means and of variances, for all columns, those of the input and those of the state.
struct Objectives {
    all: [Option<RoundingObjective>; 2],
    input: [Option<RoundingObjective>; 2],
    state: [Option<RoundingObjective>; 2],
}

impl Objectives {
    fn new(source: &AffineSource<'_>) -> Self {
        let AffineSource { shape, gram, .. } = source;
        let of_columns = |range: Range<usize>| {
            [&gram.means, &gram.vars].map(|matrix| {
                let rows = matrix.chunks(shape.cols).skip(range.start).take(range.len());
                let part: Vec<f64> = rows.flat_map(|row| row[range.clone()].to_vec()).collect();
                RoundingObjective::new(&part, range.len())
            })
        };
        let split = |range: Range<usize>| if shape.is_split() { of_columns(range) } else { [None, None] };
        Objectives {
            all: of_columns(0..shape.cols),
            input: split(0..shape.inputs),
            state: split(shape.inputs..shape.cols),
        }
    }

    fn of(&self, columns: Columns) -> &[Option<RoundingObjective>; 2] {
        match columns {
            Columns::All => &self.all,
            Columns::Input => &self.input,
            Columns::State => &self.state,
        }
    }
}

/// One row as bytes: weight = code × scale, squared weight = square × square scale.
struct Row {
    columns: Columns,
    bias: f32,
    index: usize,
    halved: bool,
    codes: Vec<i64>,
    scale: f64,
    squares: Vec<i64>,
    square_scale: f64,
}

impl Row {
    fn new(source: &SourceRow<'_>, layout: Layout, objectives: &Objectives) -> Self {
        let SourceRow { weights, columns, bias, index, halved } = *source;
        let [of_means, of_vars] = objectives.of(columns);
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
        Row { columns, bias, index, halved, codes, scale, squares, square_scale }
    }
}

/// Squares in units of which the largest of the row has [`LARGEST_SQUARE`].
///
/// From the smallest to the largest, each rounding error is carried over to the next square, so that sums
/// over weights of similar size are right. Rounded independently, the small weights of a row with one large
/// weight would all become zero, and their variance with them.
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
fn quant_params(rows: &[Row], shape: AffineShape, role: Role, one_hot: bool) -> QuantParams {
    // Inputs of the model are not bounded by one, as units are, unless they are tokens.
    let input_limit = if matches!(role, Role::Layer { index: 0, .. }) && !one_hot { INPUT_LIMIT } else { 1 };
    let largest_sum = |row: &Row| {
        let inputs = match row.columns {
            Columns::All | Columns::Input => shape.inputs.min(row.codes.len()),
            Columns::State => 0,
        };
        let (inputs, state) = row.codes.split_at(inputs);
        let sum = |codes: &[i64]| codes.iter().map(|code| code.abs()).sum::<i64>();
        input_limit * sum(inputs) + sum(state)
    };
    let mean_sum = rows.iter().map(largest_sum).max().unwrap_or(0).max(1);
    let unit = (i64::from(SUM_LIMIT) / mean_sum).min(LARGEST_UNIT as i64).min(32767 / input_limit);
    let square_sum = rows.iter().map(|row| row.squares.iter().sum::<i64>()).max().unwrap_or(0).max(1);
    let (limit, _) = square_sums(shape.layout);
    let largest_scale = rows.iter().map(|row| row.square_scale).fold(1e-12, f64::max);
    let room = f64::from(31 - square_sums(shape.layout).1) - largest_scale.log2();
    let quant_params = QuantParams {
        unit: unit as f32,
        input_limit: (unit * input_limit) as i32,
        variance_bits: (limit / square_sum).ilog2().min(14),
        variance_exponent: (room.floor() as i64).clamp(0, LARGEST_EXPONENT.into()) as u32,
    };
    // Weights whose squares leave no room for variances do no harm where there are none.
    match shape.propagates || quant_params.is_sound() {
        true => quant_params,
        false => QuantParams { variance_bits: 14, variance_exponent: LARGEST_EXPONENT, ..quant_params },
    }
}

/// Limit of a row's sum of squares, and by how many bits a row's scale is smaller than its square scale ×
/// 2^exponent.
///
/// Kernels return 256 times the sum of stored squares, and the sum itself where they square.
fn square_sums(layout: Layout) -> (i64, u32) {
    match layout {
        Layout::Fast => (SUM_LIMIT.into(), 32 - 8 - WIDE_VAR_BITS),
        _ => (SQUARE_SUM_LIMIT.into(), 32 - WIDE_VAR_BITS),
    }
}

fn fixed_row(
    row: &Row,
    quant_params: &QuantParams,
    source: &AffineSource<'_>,
) -> Result<FixedRow, WriteError> {
    let AffineSource { shape, role, .. } = source;
    let too_large = |field| WriteError::TooLarge { part: role.part(), row: row.index, field };
    let half = if row.halved { 0.5 } else { 1.0 };
    let one = f64::from(1_u32 << INPUT_BITS);
    // The kernel's 256 × sum, times this, divided by 2³², is the pre-activation.
    let mean_scale = half * row.scale * one * 2f64.powi(24) / f64::from(quant_params.unit);
    let bits = quant_params.variance_exponent + square_sums(shape.layout).1;
    let var_scale = half * half * row.square_scale * 2f64.powi(bits as i32);
    let var_scale = if shape.propagates { var_scale } else { 0.0 };
    Ok(FixedRow {
        bias: integer(half * f64::from(row.bias) * one, BIAS_LIMIT.ilog2() as i32)
            .ok_or(too_large("bias"))?,
        mean_scale: integer(mean_scale, 31).ok_or(too_large("weight"))?,
        var_scale: integer(var_scale, 31).ok_or(too_large("squared weight"))?,
    })
}

/// The nearest integer, if its magnitude has at most `bits` bits.
fn integer(value: f64, bits: i32) -> Option<i32> {
    let rounded = value.round();
    (rounded.abs() < 2f64.powi(bits)).then_some(rounded as i32)
}

/// The blocks of four rows; the order within a block is that of `kernels::portable`.
fn blocks(rows: &[&Vec<i64>], inputs: usize, padded: PaddedShape, columns: Columns) -> Vec<u8> {
    let width = padded.width(columns);
    let mut grid = vec![vec![0_i64; width]; BLOCK_ROWS];
    for (target, row) in grid.iter_mut().zip(rows) {
        let inputs = if columns == Columns::All { inputs.min(row.len()) } else { row.len() };
        target[..inputs].copy_from_slice(&row[..inputs]);
        if inputs < row.len() {
            target[padded.inputs..padded.inputs + row.len() - inputs].copy_from_slice(&row[inputs..]);
        }
    }
    let mut bytes = Vec::new();
    for column in (0..width).step_by(2) {
        for rows in grid.chunks(2) {
            for column in [column, column + 1] {
                let pair = 256 * rows[0][column] + rows[1][column];
                bytes.extend((pair as i16).to_le_bytes());
            }
        }
    }
    bytes
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
