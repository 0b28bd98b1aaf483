//! Checks of what the integer kernels can run, and of affine maps in quantized layouts.

use super::format::{BLOCK_ROWS, QuantizedView, SUM_LIMIT};
use crate::format::{AffineShape, Cursor, Error, Part, check};
use crate::spec::{
    Activation, CellKind, Layout, Likelihood, ModelSpec, MomentForm, OutputMode, UnitNoise, WeightFormat,
};

/// Checks that the integer kernels can run an architecture.
pub(crate) fn check_spec(spec: &ModelSpec) -> Result<(), Error> {
    check(spec.weight_format == WeightFormat::Int8, Part::Spec, "weight_format", "int8 in this layout")?;
    check(spec.moment_form == MomentForm::Accurate, Part::Spec, "moment_form", "accurate in this layout")?;
    let means_only = spec.layout == Layout::Mean;
    for (index, layer) in spec.layers.iter().enumerate() {
        let part = Part::Layer(index as u8);
        check(can_run(layer.cell), part, "cell", "tanh, sigmoid, LSTM or GRU in this layout")?;
        check(!layer.weight_variance, part, "weight_variance", "off in this layout")?;
        check(layer.variance_scale == 1.0, part, "variance_scale", "1 in this layout")?;
        check_noise(layer.input_noise, means_only, part, "input_noise")?;
        check_noise(layer.recurrent_noise, means_only, part, "recurrent_noise")?;
    }
    let output = &spec.output;
    check(!output.weight_variance, Part::Output, "weight_variance", "off in this layout")?;
    let scaled_probability = spec.likelihood == Likelihood::Bernoulli && output.variance_scale != 1.0;
    check(!scaled_probability, Part::Output, "variance_scale", "1 in this layout")?;
    let mean_only = output.mode == OutputMode::MeanOnly;
    check(mean_only || !means_only, Part::Output, "mode", "mean only in this layout")?;
    check_noise(output.noise, means_only && !mean_only, Part::Output, "noise")
}

/// Whether there are kernels for a cell.
fn can_run(cell: CellKind) -> bool {
    match cell {
        CellKind::Lstm | CellKind::Gru => true,
        CellKind::Elman(activation) | CellKind::Dense(activation) => match activation {
            Activation::Tanh | Activation::Sigmoid => true,
            Activation::Relu => false,
        },
    }
}

/// Checks that a noise fits the kernels' integers.
fn check_noise(noise: UnitNoise, means_only: bool, part: Part, field: &'static str) -> Result<(), Error> {
    let allowed = match noise {
        UnitNoise::None => true,
        UnitNoise::Dropout { .. } => !means_only,
        UnitNoise::Multiplicative { var } => !means_only && var <= 2.0,
        UnitNoise::Additive { var } => !means_only && var <= 16.0,
    };
    let ranges =
        "none in the layout mean, of a variance up to 2 (factor) or 16 (summand) in the other quantized ones";
    check(allowed, part, field, ranges)
}

/// Checks the scales and rows of the next affine map: kernels rely on variances that are not negative and fit
/// their integers.
#[inline(never)]
pub(crate) fn check_affine(cursor: &mut Cursor<'_>, shape: AffineShape, part: Part) -> Result<(), Error> {
    let map = QuantizedView::read(cursor, shape);
    let quant_params = map.quant_params();
    check(quant_params.is_sound(), part, "quant_params", "scales within the range of the integer kernels")?;
    for group in map.groups() {
        let pairs = [group.weights, group.squares].map(|blocks| blocks.as_chunks().0.iter().all(is_pair));
        check(pairs == [true; 2], part, "weight", "pairs of codes from -127 to 127")?;
        let sums = square_sums(group.squares);
        let fits =
            sums.is_some_and(|sums| sums.iter().all(|sum| *sum <= SUM_LIMIT >> quant_params.variance_bits));
        check(fits, part, "square", "codes from 0 to 127 whose sums leave room for variances")?;
        let signed = group.var_scales.iter().any(|scale| i32::from_le_bytes(*scale) < 0);
        check(!signed, part, "square", "scales that are not negative")?;
    }
    Ok(())
}

/// Sums of the codes of four rows; `None` if one is negative.
fn square_sums(blocks: &[u8]) -> Option<[u32; BLOCK_ROWS]> {
    let mut sums = [0; BLOCK_ROWS];
    // Two columns of rows 0 and 1, lower row first, then of rows 2 and 3.
    for [b0, a0, b1, a1, d0, c0, d1, c1] in blocks.as_chunks().0 {
        for (sum, codes) in sums.iter_mut().zip([[a0, a1], [b0, b1], [c0, c1], [d0, d1]]) {
            let [first, second] = codes.map(|code| *code as i8);
            *sum += u32::from(u8::try_from(first).ok()?) + u32::from(u8::try_from(second).ok()?);
        }
    }
    Some(sums)
}

/// Whether two bytes are 256·a + b with both codes in −127…127.
fn is_pair(bytes: &[u8; 2]) -> bool {
    let [low, _] = *bytes;
    let pair = i32::from(i16::from_le_bytes(*bytes));
    let upper = (pair - i32::from(low as i8)) >> 8;
    low != 0x80 && (-127..=127).contains(&upper)
}
