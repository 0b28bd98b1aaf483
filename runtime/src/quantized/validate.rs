//! Checks of what the integer kernels can run, and of affine maps in quantized layouts.

use super::format::{BIAS_LIMIT, BLOCK_ROWS, QuantizedGroup, QuantizedView, SQUARE_SUM_LIMIT, SUM_LIMIT};
use super::kernels::integers;
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
/// their integers, and on biases that leave room for a product.
#[inline(never)]
pub(crate) fn check_affine(cursor: &mut Cursor<'_>, shape: AffineShape, part: Part) -> Result<(), Error> {
    let map = QuantizedView::read(cursor, shape);
    let quant_params = map.quant_params();
    check(quant_params.is_sound(), part, "quant_params", "scales within the range of the integer kernels")?;
    for group in map.groups() {
        let pairs = [group.weights, group.squares].map(|blocks| blocks.as_chunks().0.iter().all(is_pair));
        check(pairs == [true; 2], part, "weight", "pairs of codes from -127 to 127")?;
        check_squares(&map, &group, part)?;
        let large = integers(group.biases).into_iter().any(|bias| bias.unsigned_abs() >= BIAS_LIMIT);
        check(!large, part, "bias", "below 2^29 in magnitude")?;
        let signed = integers(group.var_scales).into_iter().any(i32::is_negative);
        check(!signed, part, "square", "scales that are not negative")?;
    }
    Ok(())
}

/// Checks that Σ square × code of four rows fits its integer whatever the codes of variances, which are at
/// most 2^bits: rounding up the largest of them takes one more than its bits can hold.
fn check_squares(map: &QuantizedView<'_>, group: &QuantizedGroup<'_>, part: Part) -> Result<(), Error> {
    let bits = map.quant_params().variance_bits;
    let (sums, limit) = if map.has_squares {
        (row_sums(group.squares, stored_square), SUM_LIMIT >> bits)
    } else if map.propagates {
        (
            row_sums(group.weights, |code| Some(code.unsigned_abs() * code.unsigned_abs())),
            SQUARE_SUM_LIMIT >> bits,
        )
    } else {
        return Ok(());
    };
    let fits = sums.is_some_and(|sums| sums.iter().all(|sum| *sum <= limit));
    check(fits, part, "square", "from 0 to 127 where stored, with sums that leave room for variances")
}

/// The square that a code stands for where squares are stored; `None` if it is negative.
fn stored_square(code: i32) -> Option<u32> {
    u32::try_from(code).ok()
}

/// Sums over the codes of four rows, each as `square` has it; `None` if one of them has none.
fn row_sums(blocks: &[u8], square: impl Fn(i32) -> Option<u32>) -> Option<[u32; BLOCK_ROWS]> {
    let mut sums = [0_u32; BLOCK_ROWS];
    // Two columns of rows 0 and 1, then of rows 2 and 3. Of at most 8,192 columns none exceeds 127².
    for pairs in blocks.as_chunks().0.as_chunks::<4>().0 {
        for (rows, pairs) in sums.as_chunks_mut::<2>().0.iter_mut().zip(pairs.as_chunks::<2>().0) {
            for codes in pairs.map(codes) {
                let [upper, lower] = codes.map(&square);
                *rows = [rows[0] + upper?, rows[1] + lower?];
            }
        }
    }
    Some(sums)
}

/// The two codes a and b of 256·a + b.
fn codes(pair: [u8; 2]) -> [i32; 2] {
    let lower = i32::from(pair[0] as i8);
    [(i32::from(i16::from_le_bytes(pair)) - lower) >> 8, lower]
}

/// Whether two bytes are 256·a + b with both codes in −127…127.
fn is_pair(bytes: &[u8; 2]) -> bool {
    codes(*bytes).into_iter().all(|code| (-127..=127).contains(&code))
}
