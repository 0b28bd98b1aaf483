//! What a checkpoint's numbers must satisfy, so that a step has nothing left to check.
//!
//! The limits are wide for any trained net and narrow enough that no sum of a step can leave the finite range
//! of f32 (see `models::network`).

#[cfg(feature = "quantized")]
use super::layout::BLOCK_ROWS;
use super::layout::{AffineShape, Section, Vector};
#[cfg(feature = "quantized")]
use super::quantized::{QuantizedView, SUM_LIMIT};
use super::read::Cursor;
use super::spec::{
    Activation, CellKind, Layout, Likelihood, MAX_WIDTH, ModelSpec, MomentForm, OutputMode, Target,
    UnitNoise, WeightFormat,
};
use super::{Error, F32s, Part};

/// Largest magnitude of a weight, a bias or a noise variance of units.
const WEIGHT_LIMIT: f32 = 1e6;
/// Largest variance of a weight or bias.
const VAR_LIMIT: f32 = 1e12;
/// Scales of raw units lie between this and its inverse.
const SCALE_LIMIT: f32 = 1e18;
/// Largest magnitude of a channel's training mean.
const MEAN_LIMIT: f32 = 1e30;

fn check(ok: bool, part: Part, field: &'static str, allowed: &'static str) -> Result<(), Error> {
    if ok { Ok(()) } else { Err(Error::Invalid { part, field, allowed }) }
}

/// Padding holds zeros, so that equal models are equal files.
#[inline(never)]
pub(crate) fn zeros(bytes: &[u8], part: Part, field: &'static str) -> Result<(), Error> {
    check(bytes.iter().all(|byte| *byte == 0), part, field, "zero")
}

/// Names are given for every channel or for none.
pub(crate) fn names(lines: &[u8], channels: u16, field: &'static str) -> Result<(), Error> {
    let ends = lines.iter().filter(|byte| **byte == b'\n').count();
    let count = ends + usize::from(lines.last().is_some_and(|byte| *byte != b'\n'));
    check(count == 0 || count == usize::from(channels), Part::Spec, field, "one per channel, or none")
}

/// Sizes, probabilities and combinations of the architecture.
pub(crate) fn spec(spec: &ModelSpec) -> Result<(), Error> {
    let width = |value: u16, field, part| check((1..=MAX_WIDTH).contains(&value), part, field, "1 to 4096");
    width(spec.inputs, "inputs", Part::Spec)?;
    width(spec.outputs, "outputs", Part::Spec)?;
    let (outputs_fit, allowed) = match spec.target {
        Target::Next => (spec.outputs == spec.inputs, "as many as inputs when the target is the next input"),
        Target::ResidualNext => {
            (spec.outputs <= spec.inputs, "at most as many as inputs, which they are changes of")
        }
        Target::ResidualSame => {
            (spec.outputs == spec.inputs, "as many as inputs, which they are corrections of")
        }
        Target::Columns => (true, ""),
    };
    check(outputs_fit, Part::Spec, "outputs", allowed)?;
    let normal = matches!(spec.likelihood, Likelihood::Gaussian | Likelihood::Heteroscedastic);
    let allowed = "normal when the target is a change or a correction";
    check(!spec.target.is_residual() || normal, Part::Spec, "likelihood", allowed)?;
    check(!spec.layers.is_empty(), Part::Spec, "layers", "at least one")?;
    built_in(spec.layout)?;
    if spec.layout.runs_quantized() {
        packed_spec(spec)?;
    }
    for (index, layer) in spec.layers.iter().enumerate() {
        let part = Part::Layer(index as u8);
        width(layer.units, "units", part)?;
        unit_noise(layer.input_noise, part, "input_noise")?;
        unit_noise(layer.recurrent_noise, part, "recurrent_noise")?;
        variance_scale(layer.variance_scale, part)?;
    }
    unit_noise(spec.output.noise, Part::Output, "noise")?;
    variance_scale(spec.output.variance_scale, Part::Output)?;
    let plain = spec.output.mode == OutputMode::MeanOnly;
    check(
        !(plain && spec.output.weight_variance),
        Part::Output,
        "weight_variance",
        "off when the output is plain",
    )
}

/// Whether this program has the kernels for a layout.
fn built_in(layout: Layout) -> Result<(), Error> {
    let (built_in, feature) = match layout {
        Layout::Float => (cfg!(feature = "float"), "float"),
        Layout::Small | Layout::Fast | Layout::Mean => (cfg!(feature = "quantized"), "quantized"),
    };
    if built_in { Ok(()) } else { Err(Error::NotBuiltIn { feature }) }
}

/// What the integer kernels can run.
fn packed_spec(spec: &ModelSpec) -> Result<(), Error> {
    let plain = |ok, part, field, allowed| check(ok, part, field, allowed);
    plain(spec.weight_format == WeightFormat::Int8, Part::Spec, "weight_format", "int8 in this layout")?;
    plain(spec.moment_form == MomentForm::Accurate, Part::Spec, "moment_form", "accurate in this layout")?;
    let means_only = spec.layout == Layout::Mean;
    for (index, layer) in spec.layers.iter().enumerate() {
        let part = Part::Layer(index as u8);
        let relu = [CellKind::Elman, CellKind::Dense].map(|cell| cell(Activation::Relu));
        plain(!relu.contains(&layer.cell), part, "cell", "tanh, sigmoid or LSTM in this layout")?;
        plain(!layer.weight_variance, part, "weight_variance", "off in this layout")?;
        plain(layer.variance_scale == 1.0, part, "variance_scale", "1 in this layout")?;
        packed_noise(layer.input_noise, means_only, part, "input_noise")?;
        packed_noise(layer.recurrent_noise, means_only, part, "recurrent_noise")?;
    }
    plain(!spec.output.weight_variance, Part::Output, "weight_variance", "off in this layout")?;
    let scaled_probability = spec.likelihood == Likelihood::Bernoulli && spec.output.variance_scale != 1.0;
    plain(!scaled_probability, Part::Output, "variance_scale", "1 in this layout")?;
    let plain_output = spec.output.mode == OutputMode::MeanOnly;
    plain(plain_output || !means_only, Part::Output, "mode", "plain in this layout")?;
    packed_noise(spec.output.noise, means_only && !plain_output, Part::Output, "noise")
}

/// Noise that has room in the kernels' integers.
fn packed_noise(noise: UnitNoise, means_only: bool, part: Part, field: &'static str) -> Result<(), Error> {
    let allowed = match noise {
        UnitNoise::None => true,
        UnitNoise::Dropout { .. } => !means_only,
        UnitNoise::Multiplicative { var } => !means_only && var <= 2.0,
        UnitNoise::Additive { var } => !means_only && var <= 16.0,
    };
    check(
        allowed,
        part,
        field,
        "none in the layout mean, and of a variance up to 2 or 16 in the other packed ones",
    )
}

fn unit_noise(noise: UnitNoise, part: Part, field: &'static str) -> Result<(), Error> {
    match noise {
        UnitNoise::None => Ok(()),
        UnitNoise::Dropout { keep } => {
            check(keep > 0.0 && keep <= 1.0, part, field, "a keep probability in (0, 1]")
        }
        UnitNoise::Multiplicative { var } | UnitNoise::Additive { var } => {
            check((0.0..=WEIGHT_LIMIT).contains(&var), part, field, "a variance from 0 to 1e6")
        }
    }
}

fn variance_scale(scale: f32, part: Part) -> Result<(), Error> {
    check((0.0..=WEIGHT_LIMIT).contains(&scale), part, "variance_scale", "from 0 to 1e6")
}

/// What numbers of a section may be.
struct Limits {
    low: f32,
    high: f32,
    allowed: &'static str,
}

/// One function for every section, with limits as data: it loads once and has time.
#[inline(never)]
fn numbers(
    (bytes, padding): (&[u8], &[u8]),
    part: Part,
    field: &'static str,
    limits: &Limits,
) -> Result<(), Error> {
    zeros(padding, part, field)?;
    let within = |number: f32| limits.low <= number && number <= limits.high;
    check(F32s::new(bytes).iter().all(within), part, field, limits.allowed)
}

/// Scaler, noise and calibration.
pub(crate) fn vector(bytes: (&[u8], &[u8]), vector: Vector, part: Part) -> Result<(), Error> {
    let limits = match vector {
        Vector::InputMean | Vector::OutputMean => {
            &Limits { low: -MEAN_LIMIT, high: MEAN_LIMIT, allowed: "finite, at most 1e30" }
        }
        Vector::InputStdDev | Vector::OutputStdDev => {
            &Limits { low: 1.0 / SCALE_LIMIT, high: SCALE_LIMIT, allowed: "from 1e-18 to 1e18" }
        }
        Vector::NoiseVar | Vector::Calibration => {
            &Limits { low: 1.0 / VAR_LIMIT, high: VAR_LIMIT, allowed: "from 1e-12 to 1e12" }
        }
    };
    numbers(bytes, part, vector.name(), limits)
}

/// Every section of one affine map.
#[inline(never)]
pub(crate) fn affine(cursor: &mut Cursor<'_>, shape: AffineShape, part: Part) -> Result<(), Error> {
    #[cfg(feature = "quantized")]
    if shape.layout.runs_quantized() {
        let mut ahead = *cursor;
        quantized(ahead.quantized(shape), part)?;
    }
    for section in Section::ALL {
        let bytes = cursor.padded(shape.bytes(section));
        if shape.layout.runs_quantized() {
            // Its rows have been checked, four at a time.
            zeros(bytes.1, part, section.name())?;
        } else {
            plain_section(section, bytes, shape.format, part)?;
        }
    }
    Ok(())
}

fn plain_section(
    section: Section,
    bytes: (&[u8], &[u8]),
    format: WeightFormat,
    part: Part,
) -> Result<(), Error> {
    let limits = match (section, format) {
        (Section::Weight, WeightFormat::Int8) => {
            let codes = bytes.0.iter().all(|code| *code != 0x80);
            check(codes, part, section.name(), "codes from -127 to 127")?;
            return zeros(bytes.1, part, section.name());
        }
        (Section::WeightVar, WeightFormat::Int8) => return zeros(bytes.1, part, section.name()),
        (Section::QuantParams | Section::Square, _) => return Ok(()),
        (Section::Bias | Section::Weight, _) => {
            &Limits { low: -WEIGHT_LIMIT, high: WEIGHT_LIMIT, allowed: "finite, at most 1e6" }
        }
        // Codes go up to 255, so a scale is limited to what keeps the product within the limit.
        (Section::WeightScale | Section::DeviationScale, _) => {
            &Limits { low: 0.0, high: 3e3, allowed: "from 0 to 3000" }
        }
        (Section::BiasVar | Section::WeightVar, _) => {
            &Limits { low: 0.0, high: VAR_LIMIT, allowed: "from 0 to 1e12" }
        }
    };
    numbers(bytes, part, section.name(), limits)
}

/// A quantized map's scales and rows: kernels count on variances that are not negative and do not leave their integers.
#[cfg(feature = "quantized")]
fn quantized(map: QuantizedView<'_>, part: Part) -> Result<(), Error> {
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
#[cfg(feature = "quantized")]
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
#[cfg(feature = "quantized")]
fn is_pair(bytes: &[u8; 2]) -> bool {
    let [low, _] = *bytes;
    let pair = i32::from(i16::from_le_bytes(*bytes));
    let upper = (pair - i32::from(low as i8)) >> 8;
    low != 0x80 && (-127..=127).contains(&upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_that_was_left_out_is_refused_and_its_feature_named() {
        for layout in [Layout::Float, Layout::Small, Layout::Fast, Layout::Mean] {
            let (there, feature) = match layout.is_quantized() {
                true => (cfg!(feature = "quantized"), "quantized"),
                false => (cfg!(feature = "float"), "float"),
            };
            let expected = if there { Ok(()) } else { Err(Error::NotBuiltIn { feature }) };
            assert_eq!(built_in(layout), expected, "{layout:?}");
        }
    }
}
