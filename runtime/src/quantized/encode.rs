//! Encoding affine maps in quantized layouts (feature `write`): scales chosen so that no sum can overflow.

mod groups;
mod rows;
mod source_rows;

use std::vec;
use std::vec::Vec;

use groups::{EncodedGroup, Stream, drop_empty_pairs, section};
use rows::{Objectives, Row};
use source_rows::source_rows;

use super::fixed::{INPUT_BITS, LARGEST_SHIFT, VAR_BITS, WIDE_VAR_BITS};
use super::format::{
    BIAS_LIMIT, BLOCK_ROWS, Columns, LARGEST_EXPONENT, LARGEST_UNIT, PaddedShape, QuantParams,
    SQUARE_SUM_LIMIT, SUM_LIMIT,
};
use super::sections::stores_squares;
use super::weight_vars::{
    BIAS_VAR_LIMIT, LARGEST_SQUARE_EXPONENT, SHARED_VAR_SCALE_LIMIT, WEIGHT_VAR_SCALE_LIMIT, WeightVarParams,
};
use crate::encode::{AffineSource, Role};
use crate::format::{Error, WriteError, extend_padded};
use crate::limits::VAR_LIMIT;
use crate::spec::Layout;

/// Standardised inputs are limited to eight standard deviations.
const INPUT_LIMIT: i64 = 8;

/// Appends the sections of an affine map to the payload.
pub(crate) fn encode_affine(payload: &mut Vec<u8>, source: &AffineSource<'_>) -> Result<(), WriteError> {
    let AffineSource { shape, role, .. } = source;
    check_variances(source)?;
    let objectives = Objectives::new(source);
    let mut rows: Vec<Row> =
        source_rows(source).iter().map(|row| Row::new(row, shape.layout, &objectives)).collect();
    let mut quant_params = params_of_rows(&rows, source);
    if shape.propagates && stores_squares(shape.layout) && !quant_params.is_sound() {
        let most = square_sums(shape.layout).0 >> (quant_params.variance_bits + quant_params.missing_bits());
        rows.iter_mut().for_each(|row| row.limit_squares(most));
        quant_params = params_of_rows(&rows, source);
    }
    let mut weight_vars = shape.weight_variance.then(|| weight_var_params(&rows, &quant_params));
    if let Some(params) = weight_vars.filter(|params| !params.is_sound(&quant_params)) {
        let most = i64::from(SUM_LIMIT) >> (params.square_bits + params.missing_bits(&quant_params));
        rows.iter_mut().for_each(|row| row.limit_weight_vars(most));
        weight_vars = Some(weight_var_params(&rows, &quant_params));
    }
    if !quant_params.is_sound() || weight_vars.is_some_and(|params| !params.is_sound(&quant_params)) {
        return Err(WriteError::Scales { part: role.part() });
    }
    let padded = PaddedShape::new(*shape);
    let mut groups = Vec::new();
    for (index, group) in rows.chunks(BLOCK_ROWS).enumerate() {
        let mut fixed: Vec<FixedRow> = Vec::new();
        for row in group {
            fixed.push(fixed_row(row, &quant_params, weight_vars.as_ref(), source)?);
        }
        fixed.resize_with(BLOCK_ROWS, FixedRow::default);
        let columns = padded.columns(index);
        let blocks = |of: fn(&Row) -> &Vec<i64>| {
            blocks(&group.iter().map(of).collect::<Vec<_>>(), shape.inputs, padded, columns)
        };
        let words = |of: fn(&FixedRow) -> i32| fixed.iter().flat_map(move |row| of(row).to_le_bytes());
        let mut streams = vec![Stream {
            blocks: blocks(|row| &row.codes),
            words: words(|row| row.bias).chain(words(|row| row.mean_scale)).collect(),
        }];
        if shape.propagates {
            let squares = stores_squares(shape.layout).then(|| blocks(|row| &row.squares));
            let words = words(|row| row.var_scale).collect();
            streams.push(Stream { blocks: squares.unwrap_or_default(), words });
        }
        if weight_vars.is_some() {
            let words = words(|row| row.weight_var_scale).chain(words(|row| row.bias_var)).collect();
            streams.push(Stream { blocks: blocks(|row| &row.weight_vars), words });
        }
        groups.push(EncodedGroup { streams });
    }
    extend_padded(payload, &quant_params.to_bytes());
    if shape.layout == Layout::Sparse {
        let (form, lists) = drop_empty_pairs(&mut groups, *shape, padded);
        extend_padded(payload, &form.to_bytes());
        extend_padded(payload, &lists);
    }
    extend_padded(payload, &section(&groups, 0));
    extend_padded(payload, &section(&groups, 1));
    if let Some(params) = weight_vars {
        extend_padded(payload, &params.to_bytes());
        extend_padded(payload, &section(&groups, 2));
    }
    Ok(())
}

/// Rounding would make zeros of negative variances.
fn check_variances(AffineSource { affine, role, .. }: &AffineSource<'_>) -> Result<(), WriteError> {
    for (field, vars) in [("weight_var", &affine.weight_var), ("bias_var", &affine.bias_var)] {
        if !vars.iter().all(|var| (0.0..=VAR_LIMIT).contains(var)) {
            let allowed = "from 0 to 1e12";
            return Err(WriteError::Refused(Error::Invalid { part: role.part(), field, allowed }));
        }
    }
    Ok(())
}

/// Bias and scales of one row, with the fractional bits of `fixed.rs`.
#[derive(Default)]
struct FixedRow {
    bias: i32,
    mean_scale: i32,
    var_scale: i32,
    weight_var_scale: i32,
    bias_var: i32,
}

/// The finest scales with which no row can overflow.
fn params_of_rows(rows: &[Row], source: &AffineSource<'_>) -> QuantParams {
    let AffineSource { shape, role, one_hot, .. } = *source;
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
    let room = if shape.weight_variance {
        doublings(largest_scale, SHARED_VAR_SCALE_LIMIT) - f64::from(square_sums(shape.layout).1)
    } else {
        room
    };
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

/// The finest scales of weight variances with which no row can overflow.
fn weight_var_params(rows: &[Row], quant_params: &QuantParams) -> WeightVarParams {
    let largest_sum = rows.iter().map(|row| row.weight_vars.iter().sum::<i64>()).max().unwrap_or(0).max(1);
    let largest = |of: fn(&Row) -> f64| rows.iter().map(of).fold(1e-12, f64::max);
    let scale = squared_scale(largest(|row| row.weight_var_scale), quant_params);
    let exponent = doublings(scale, WEIGHT_VAR_SCALE_LIMIT).clamp(0.0, LARGEST_SQUARE_EXPONENT.into());
    let bias_shift = doublings(largest(|row| row.bias_var.into()), BIAS_VAR_LIMIT) - f64::from(VAR_BITS);
    WeightVarParams::new(
        (i64::from(SUM_LIMIT) / largest_sum).ilog2().min(14),
        exponent as u32,
        bias_shift.clamp(0.0, LARGEST_SHIFT.into()) as u32,
    )
}

/// The most doublings with which a number stays below a limit, also when it is rounded.
fn doublings(number: f64, limit: u32) -> f64 {
    (f64::from(limit - 1) / number).log2().ceil() - 1.0
}

/// A scale of weight variances times squared codes of means, for an exponent of zero: the kernel's 256 × sum,
/// times this, divided by 2³², is a variance.
fn squared_scale(weight_var_scale: f64, quant_params: &QuantParams) -> f64 {
    weight_var_scale * 2f64.powi(24) / f64::from(quant_params.unit).powi(2)
}

/// Limit of a row's sum of squares, and by how many bits a row's scale is smaller than its square scale ×
/// 2^exponent.
///
/// Kernels return 256 times the sum of stored squares, and the sum itself where they square.
fn square_sums(layout: Layout) -> (i64, u32) {
    match layout {
        Layout::Fast | Layout::Sparse => (SUM_LIMIT.into(), 32 - 8 - WIDE_VAR_BITS),
        _ => (SQUARE_SUM_LIMIT.into(), 32 - WIDE_VAR_BITS),
    }
}

fn fixed_row(
    row: &Row,
    quant_params: &QuantParams,
    weight_vars: Option<&WeightVarParams>,
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
    let var_scale_bits = if weight_vars.is_some() { SHARED_VAR_SCALE_LIMIT.ilog2() } else { 31 };
    let [square_exponent, bias_shift] =
        weight_vars.map_or([0; 2], |params| [params.square_exponent, params.bias_shift]);
    let weight_var_scale =
        squared_scale(row.weight_var_scale, quant_params) * 2f64.powi(square_exponent as i32);
    let bias_var = f64::from(row.bias_var) * 2f64.powi((VAR_BITS + bias_shift) as i32);
    Ok(FixedRow {
        bias: integer(half * f64::from(row.bias) * one, BIAS_LIMIT.ilog2() as i32)
            .ok_or(too_large("bias"))?,
        mean_scale: integer(mean_scale, 31).ok_or(too_large("weight"))?,
        var_scale: integer(var_scale, var_scale_bits as i32).ok_or(too_large("squared weight"))?,
        weight_var_scale: integer(half * half * weight_var_scale, WEIGHT_VAR_SCALE_LIMIT.ilog2() as i32)
            .ok_or(too_large("weight variance"))?,
        bias_var: integer(half * half * bias_var, BIAS_VAR_LIMIT.ilog2() as i32)
            .ok_or(too_large("bias variance"))?,
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
