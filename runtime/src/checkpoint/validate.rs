//! What a checkpoint's numbers must satisfy, so that a step has nothing left to check.
//!
//! The limits are wide for any trained net and narrow enough that no sum of a step can leave the finite range
//! of f32 (see `models::network`).

use super::layout::{AffineShape, BLOCK_ROWS, Section, Vector};
use super::packed::{PackedView, SUM_LIMIT};
use super::read::Cursor;
use super::spec::{
    CellKind, Layout, Likelihood, MAX_WIDTH, ModelSpec, MomentForm, OutputMode, Target, Transfer, UnitNoise,
    WeightFormat,
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
pub(crate) fn zeros(bytes: &[u8], part: Part, field: &'static str) -> Result<(), Error> {
    check(bytes.iter().all(|byte| *byte == 0), part, field, "zero")
}

/// Names are given for every channel or for none.
pub(crate) fn names(lines: &str, channels: u16, field: &'static str) -> Result<(), Error> {
    let count = lines.lines().count();
    check(count == 0 || count == usize::from(channels), Part::Spec, field, "one per channel, or none")
}

/// Sizes, probabilities and combinations of the architecture.
pub(crate) fn spec(spec: &ModelSpec) -> Result<(), Error> {
    let width = |value: u16, field, part| check((1..=MAX_WIDTH).contains(&value), part, field, "1 to 4096");
    width(spec.inputs, "inputs", Part::Spec)?;
    width(spec.outputs, "outputs", Part::Spec)?;
    let as_many = spec.target != Target::Next || spec.inputs == spec.outputs;
    check(as_many, Part::Spec, "outputs", "as many as inputs when the target is the next input")?;
    check(!spec.layers.is_empty(), Part::Spec, "layers", "at least one")?;
    packed_spec(spec)?;
    for (index, layer) in spec.layers.iter().enumerate() {
        let part = Part::Layer(index as u8);
        width(layer.units, "units", part)?;
        unit_noise(layer.input_noise, part, "input_noise")?;
        unit_noise(layer.recurrent_noise, part, "recurrent_noise")?;
        variance_scale(layer.variance_scale, part)?;
    }
    unit_noise(spec.output.noise, Part::Output, "noise")?;
    variance_scale(spec.output.variance_scale, Part::Output)?;
    let plain = spec.output.mode == OutputMode::Plain;
    check(
        !(plain && spec.output.weight_variance),
        Part::Output,
        "weight_variance",
        "off when the output is plain",
    )
}

/// What the integer kernels can run.
fn packed_spec(spec: &ModelSpec) -> Result<(), Error> {
    if !spec.layout.is_packed() {
        return Ok(());
    }
    let plain = |ok, part, field, allowed| check(ok, part, field, allowed);
    plain(spec.weight_format == WeightFormat::Int8, Part::Spec, "weight_format", "int8 in this layout")?;
    plain(spec.moment_form == MomentForm::Accurate, Part::Spec, "moment_form", "accurate in this layout")?;
    let means_only = spec.layout == Layout::Mean;
    for (index, layer) in spec.layers.iter().enumerate() {
        let part = Part::Layer(index as u8);
        let rectifier = [CellKind::Elman, CellKind::Dense].map(|cell| cell(Transfer::Rectifier));
        plain(!rectifier.contains(&layer.cell), part, "cell", "tanh, sigmoid or LSTM in this layout")?;
        plain(!layer.weight_variance, part, "weight_variance", "off in this layout")?;
        plain(layer.variance_scale == 1.0, part, "variance_scale", "1 in this layout")?;
        packed_noise(layer.input_noise, means_only, part, "input_noise")?;
        packed_noise(layer.recurrent_noise, means_only, part, "recurrent_noise")?;
    }
    plain(!spec.output.weight_variance, Part::Output, "weight_variance", "off in this layout")?;
    let scaled_probability = spec.likelihood == Likelihood::Bernoulli && spec.output.variance_scale != 1.0;
    plain(!scaled_probability, Part::Output, "variance_scale", "1 in this layout")?;
    let plain_output = spec.output.mode == OutputMode::Plain;
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

fn numbers(
    (bytes, padding): (&[u8], &[u8]),
    part: Part,
    field: &'static str,
    allowed: &'static str,
    ok: impl Fn(f32) -> bool,
) -> Result<(), Error> {
    zeros(padding, part, field)?;
    check(F32s::new(bytes).iter().all(ok), part, field, allowed)
}

/// Scaler, noise and calibration.
pub(crate) fn vector(bytes: (&[u8], &[u8]), vector: Vector, part: Part) -> Result<(), Error> {
    let name = vector.name();
    match vector {
        Vector::InputMean | Vector::OutputMean => {
            numbers(bytes, part, name, "finite, at most 1e30", |x| x.abs() <= MEAN_LIMIT)
        }
        Vector::InputStd | Vector::OutputStd => numbers(bytes, part, name, "from 1e-18 to 1e18", |x| {
            (1.0 / SCALE_LIMIT..=SCALE_LIMIT).contains(&x)
        }),
        Vector::NoiseVar | Vector::Calibration => {
            numbers(bytes, part, name, "from 1e-12 to 1e12", |x| (1.0 / VAR_LIMIT..=VAR_LIMIT).contains(&x))
        }
    }
}

/// Every section of one affine map.
pub(crate) fn affine(cursor: &mut Cursor<'_>, shape: AffineShape, part: Part) -> Result<(), Error> {
    if shape.layout.is_packed() {
        let mut ahead = *cursor;
        packed(ahead.packed(shape), part)?;
    }
    for section in Section::ALL {
        let bytes = cursor.padded(shape.bytes(section));
        let int8 = shape.format == WeightFormat::Int8;
        let name = section.name();
        match section {
            Section::Packing => zeros(bytes.1, part, name)?,
            // Their rows have been checked, four at a time.
            Section::Weight | Section::Square if shape.layout.is_packed() => zeros(bytes.1, part, name)?,
            Section::Square => {}
            Section::Weight if int8 => {
                zeros(bytes.1, part, name)?;
                check(bytes.0.iter().all(|code| *code != 0x80), part, name, "codes from -127 to 127")?;
            }
            Section::WeightVar if int8 => zeros(bytes.1, part, name)?,
            Section::Bias | Section::Weight => {
                numbers(bytes, part, name, "finite, at most 1e6", |x| x.abs() <= WEIGHT_LIMIT)?;
            }
            // Codes go up to 255, so a scale is limited to what keeps the product within the limit.
            Section::WeightScale | Section::DeviationScale => {
                numbers(bytes, part, name, "from 0 to 3000", |x| (0.0..=3e3).contains(&x))?;
            }
            Section::BiasVar | Section::WeightVar => {
                numbers(bytes, part, name, "from 0 to 1e12", |x| (0.0..=VAR_LIMIT).contains(&x))?;
            }
        }
    }
    Ok(())
}

/// A packed map's scales and rows: kernels count on variances that are not negative and do not leave their integers.
fn packed(map: PackedView<'_>, part: Part) -> Result<(), Error> {
    let packing = map.packing;
    check(packing.is_sound(), part, "packing", "scales within the range of the integer kernels")?;
    for group in map.groups() {
        let pairs = [group.weights, group.squares].map(|blocks| blocks.as_chunks().0.iter().all(is_pair));
        check(pairs == [true; 2], part, "weight", "pairs of codes from -127 to 127")?;
        let sums = square_sums(group.squares);
        let fits = sums.is_some_and(|sums| sums.iter().all(|sum| *sum <= SUM_LIMIT >> packing.variance_bits));
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
