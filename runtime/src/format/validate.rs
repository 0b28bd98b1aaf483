//! Checks of the architecture and of the vectors, so that a step has nothing left to check.
//!
//! The limits (`limits.rs`) are wide for any trained network and narrow enough to keep every sum of a step
//! finite.

use super::vector::Vector;
use super::{Error, F32s, Part};
use crate::conformal::{LEVELS, stored_level};
use crate::limits::{MEAN_LIMIT, SCALE_LIMIT, VAR_LIMIT, WEIGHT_LIMIT};
use crate::spec::{
    AnomalySpec, DensitySpec, Extensions, Imputation, Layout, LinearSpec, MAX_WIDTH, ModelSpec, OutputMode,
    Target, TrackingSpec, UnitNoise,
};

/// An error unless `ok`.
pub(crate) fn check(ok: bool, part: Part, field: &'static str, allowed: &'static str) -> Result<(), Error> {
    if ok { Ok(()) } else { Err(Error::Invalid { part, field, allowed }) }
}

/// Padding holds zeros, so that equal models are equal files.
#[inline(never)]
pub(crate) fn zeros(bytes: &[u8], part: Part, field: &'static str) -> Result<(), Error> {
    check(bytes.iter().all(|byte| *byte == 0), part, field, "zero")
}

/// Names are given for every channel or for none, one per line in UTF-8. None is empty and no line ends the
/// last one, so that equal names are equal bytes; none has control characters, which a terminal would obey.
#[inline(never)]
pub(crate) fn names(lines: &[u8], channels: u16, field: &'static str) -> Result<(), Error> {
    check(core::str::from_utf8(lines).is_ok(), Part::Spec, field, "UTF-8")?;
    let (mut count, mut before) = (0, b'\n');
    for byte in lines.iter().chain((!lines.is_empty()).then_some(&b'\n')) {
        let ends = *byte == b'\n';
        // U+0080 to U+009F are control characters too: C2 80 to C2 9F in UTF-8.
        let control = byte.is_ascii_control() || (before == 0xC2 && matches!(byte, 0x80..=0x9F));
        let wrong = if ends { before == b'\n' } else { control };
        check(!wrong, Part::Spec, field, "lines that are not empty, without control characters")?;
        count += usize::from(ends);
        before = *byte;
    }
    check(count == 0 || count == usize::from(channels), Part::Spec, field, "one per channel, or none")
}

/// Sizes, probabilities and combinations of the architecture.
pub(crate) fn spec(spec: &ModelSpec) -> Result<(), Error> {
    let width = |value: u16, field, part| check((1..=MAX_WIDTH).contains(&value), part, field, "1 to 4096");
    width(spec.inputs, "inputs", Part::Spec)?;
    width(spec.outputs, "outputs", Part::Spec)?;
    target(spec)?;
    let alone = spec.extensions.linear.is_some() && spec.layout == Layout::Float;
    let allowed = "at least one, but for a linear part alone in the layout float";
    check(alone || !spec.layers.is_empty(), Part::Spec, "layers", allowed)?;
    for (index, layer) in spec.layers.iter().enumerate() {
        let part = Part::Layer(index as u8);
        width(layer.units, "units", part)?;
        unit_noise(layer.input_noise, part, "input_noise")?;
        unit_noise(layer.recurrent_noise, part, "recurrent_noise")?;
        variance_scale(layer.variance_scale, part)?;
    }
    unit_noise(spec.output.noise, Part::Output, "noise")?;
    variance_scale(spec.output.variance_scale, Part::Output)?;
    let mean_only = spec.output.mode == OutputMode::MeanOnly;
    let allowed = "off when the output propagates means only";
    check(!(mean_only && spec.output.weight_variance), Part::Output, "weight_variance", allowed)?;
    extensions(spec)
}

/// Optional parts beyond the network.
fn extensions(spec: &ModelSpec) -> Result<(), Error> {
    let Extensions { density, tracking, quantiles, anomaly, ranges: _, linear } = spec.extensions;
    density.map_or(Ok(()), |density| input_density(&density, spec))?;
    let normal = spec.likelihood.is_normal();
    check(normal || !quantiles, Part::Output, "quantiles", "normal outputs only")?;
    tracking.map_or(Ok(()), |tracking| scale_tracking(&tracking, spec))?;
    if let Some(AnomalySpec { window }) = anomaly {
        check(window > 0, Part::Anomaly, "window", "at least one row")?;
        let allowed = "normal outputs when the target is the next input";
        check(normal || !spec.target.is_next(), Part::Anomaly, "likelihood", allowed)?;
    }
    linear.map_or(Ok(()), |linear| linear_part(linear, spec))
}

/// Linear prediction from the last rows.
fn linear_part(LinearSpec { rows }: LinearSpec, spec: &ModelSpec) -> Result<(), Error> {
    let part = Part::Linear;
    let values = u32::from(rows) * u32::from(spec.inputs);
    check((1..=MAX_WIDTH.into()).contains(&values), part, "rows", "1 to 4096 values in all rows")?;
    check(spec.likelihood.is_normal(), part, "likelihood", "Gaussian or heteroscedastic")?;
    // The newest row is among those that are read: a residual connection would be a second weight of it.
    check(!spec.target.is_residual(), part, "target", "the next input or other columns, not residual")
}

/// Calibration that follows the stream.
fn scale_tracking(tracking: &TrackingSpec, spec: &ModelSpec) -> Result<(), Error> {
    let part = Part::Tracking;
    let TrackingSpec { rate, miss_rate, bound } = *tracking;
    check(spec.likelihood.is_normal(), part, "likelihood", "Gaussian or heteroscedastic")?;
    check(rate > 0.0 && rate <= 1.0, part, "rate", "above 0, at most 1")?;
    check(miss_rate > 0.0 && miss_rate < 1.0, part, "miss_rate", "above 0, below 1")?;
    check(bound > 0.0 && bound <= 10.0, part, "bound", "above 0, at most 10")?;
    let stored = !spec.extensions.quantiles || stored_level(1.0 - miss_rate).is_some();
    check(stored, part, "miss_rate", "0.5, 0.2, 0.1 or 0.05 where quantiles are stored")
}

/// Use of the input density.
fn input_density(density: &DensitySpec, spec: &ModelSpec) -> Result<(), Error> {
    let part = Part::Density;
    let growth = 0.0..=WEIGHT_LIMIT;
    check(growth.contains(&density.familiar), part, "familiar", "from 0 to 1e6")?;
    check(growth.contains(&density.widening), part, "widening", "from 0 to 1e6")?;
    match density.imputation {
        Imputation::Conditional => Ok(()),
        Imputation::Combined { decay, inflation } => {
            let predicts = spec.target.is_next() && spec.likelihood.is_normal();
            let allowed = "conditional unless the outputs are normal distributions of the next input";
            check(predicts, part, "imputation", allowed)?;
            forgetting(decay, inflation)
        }
        Imputation::LastEstimate { decay, inflation, share } => {
            let own_inputs = !spec.target.is_next() && spec.outputs == spec.inputs;
            let allowed = "conditional unless the outputs are normal distributions of the inputs";
            check(own_inputs && spec.likelihood.is_normal(), part, "imputation", allowed)?;
            check((0.0..=1.0).contains(&share), part, "share", "from 0 to 1")?;
            forgetting(decay, inflation)
        }
    }
}

/// How fast a prediction in place of a reading is forgotten.
fn forgetting(decay: f32, inflation: f32) -> Result<(), Error> {
    check((0.0..=1.0).contains(&decay), Part::Density, "decay", "from 0 to 1")?;
    check((1.0..=WEIGHT_LIMIT).contains(&inflation), Part::Density, "inflation", "from 1 to 1e6")
}

/// Number of outputs and likelihood that go with the target.
fn target(spec: &ModelSpec) -> Result<(), Error> {
    let (outputs_fit, allowed) = match spec.target {
        Target::Next => (spec.outputs == spec.inputs, "as many as inputs when the target is the next input"),
        Target::ResidualNext => {
            (spec.outputs <= spec.inputs, "at most as many as inputs when they are residuals")
        }
        Target::ResidualSame => (spec.outputs == spec.inputs, "as many as inputs when they are residuals"),
        Target::Columns => (true, ""),
    };
    check(outputs_fit, Part::Spec, "outputs", allowed)?;
    let normal = spec.likelihood.is_normal();
    check(
        !spec.target.is_residual() || normal,
        Part::Spec,
        "likelihood",
        "normal when the target is residual",
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

/// Range of the numbers of a section.
pub(crate) struct Limits {
    pub(crate) low: f32,
    pub(crate) high: f32,
    pub(crate) allowed: &'static str,
}

/// Checks a section's numbers and its padding. One function for every section, with limits as data: it runs
/// once at load and is written for size.
#[inline(never)]
pub(crate) fn numbers(
    (bytes, padding): (&[u8], &[u8]),
    part: Part,
    field: &'static str,
    limits: &Limits,
) -> Result<(), Error> {
    zeros(padding, part, field)?;
    let within = |number: f32| limits.low <= number && number <= limits.high;
    check(F32s::new(bytes).iter().all(within), part, field, limits.allowed)
}

/// Scalers, noise and calibration.
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
        Vector::InputPrecision | Vector::Linear => {
            &Limits { low: -WEIGHT_LIMIT, high: WEIGHT_LIMIT, allowed: "finite, at most 1e6" }
        }
        Vector::InputLow | Vector::InputHigh => {
            &Limits { low: -MEAN_LIMIT, high: MEAN_LIMIT, allowed: "finite, at most 1e30" }
        }
        Vector::Quantiles => {
            &Limits { low: 1.0 / WEIGHT_LIMIT, high: WEIGHT_LIMIT, allowed: "from 1e-6 to 1e6" }
        }
        Vector::AnomalyRow | Vector::AnomalyChannels => {
            &Limits { low: 0.0, high: VAR_LIMIT, allowed: "from 0 to 1e12" }
        }
        Vector::InputRange => {
            &Limits { low: f32::NEG_INFINITY, high: f32::INFINITY, allowed: "numbers or infinities" }
        }
    };
    numbers(bytes, part, vector.name(), limits)
}

/// What vectors must satisfy together: ranges of inputs are not empty, quantiles increase with their level,
/// and plausible ranges hold more than one value.
pub(crate) fn vectors(last: &[F32s<'_>; Vector::AFTER_LAYERS.len()]) -> Result<(), Error> {
    let [_, _, _, low, high, quantiles, _, _, ranges, _] = last;
    let ordered = low.iter().zip(high.iter()).all(|(low, high)| low <= high);
    check(ordered, Part::Density, Vector::InputHigh.name(), "at least input_low")?;
    let pairs = quantiles.iter().zip(quantiles.iter().skip(1)).enumerate();
    let mut within_outputs = pairs.filter(|(index, _)| index % LEVELS.len() != LEVELS.len() - 1);
    let increasing = within_outputs.all(|(_, (lower, upper))| lower <= upper);
    check(increasing, Part::Output, Vector::Quantiles.name(), "increasing with the level")?;
    let wide = ranges.pairs().all(|[low, high]| low < high);
    check(wide, Part::Ranges, Vector::InputRange.name(), "a lower limit below the upper one")
}
