//! Lines of text that existing plotters read: `>name:value`, optionally with a time in milliseconds and a
//! unit, `>name:time:value§unit`, as Teleplot defines them.

use core::fmt;

use crate::frame::{Channel, Sample};

/// Standard deviations on each side of the mean within which 90 % of a normal distribution lie.
const NINETY_PERCENT: f32 = 1.644_853_6;

/// One value of one line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value<S> {
    /// What it is plotted as.
    pub name: S,
    /// When, in milliseconds.
    pub time_ms: Option<f64>,
    /// The number.
    pub value: f64,
    /// Its unit; empty if there is none.
    pub unit: S,
}

#[cfg(any(feature = "std", test))]
impl Value<&str> {
    /// The same with texts of its own.
    pub fn into_owned(self) -> Value<std::string::String> {
        let Value { name, time_ms, value, unit } = self;
        Value { name: name.into(), time_ms, value, unit: unit.into() }
    }
}

/// Reads a line without its end; `None` if it is no value. Flags after `|` are ignored.
pub fn parse(line: &str) -> Option<Value<&str>> {
    let line = line.strip_prefix('>')?;
    let line = line.split('|').next().unwrap_or(line);
    let (line, unit) = line.split_once('§').unwrap_or((line, ""));
    let (name, numbers) = line.split_once(':')?;
    let (time_ms, value) = match numbers.split_once(':') {
        Some((time, value)) => (Some(time.trim().parse().ok()?), value),
        None => (None, numbers),
    };
    let value = value.trim().parse().ok()?;
    (!name.is_empty()).then_some(Value { name, time_ms, value, unit })
}

/// Writes a sample, one line for each input that is there, three for each output (its mean and both ends of
/// the interval that holds 90 %), and one for the surprise, the time of the step and steps that were late.
///
/// # Errors
/// Those of the writer.
pub fn write_sample<'n>(
    out: &mut impl fmt::Write,
    inputs: impl Iterator<Item = Channel<&'n str>>,
    outputs: impl Iterator<Item = Channel<&'n str>>,
    sample: &Sample<&[f32]>,
) -> fmt::Result {
    for (channel, value) in inputs.zip(sample.row) {
        if !value.is_nan() {
            write_value(out, &channel, "", *value)?;
        }
    }
    let variances = sample.epistemic.iter().zip(sample.aleatoric);
    for (channel, (mean, (epistemic, aleatoric))) in outputs.zip(sample.mean.iter().zip(variances)) {
        let half = NINETY_PERCENT * libm::sqrtf(epistemic + aleatoric);
        write_value(out, &channel, "", *mean)?;
        write_value(out, &channel, ".low", mean - half)?;
        write_value(out, &channel, ".high", mean + half)?;
    }
    if let Some(surprise) = sample.surprise {
        writeln!(out, ">surprise:{surprise}§nats")?;
    }
    writeln!(out, ">step:{}§µs\n>late:{}", sample.step_ns / 1000, sample.late)
}

fn write_value(out: &mut impl fmt::Write, channel: &Channel<&str>, suffix: &str, value: f32) -> fmt::Result {
    write!(out, ">{}{suffix}:{value}", channel.name)?;
    match channel.unit {
        "" => writeln!(out),
        unit => writeln!(out, "§{unit}"),
    }
}
