//! Predictions and scores for people: "51.7 ± 4.7", the error bar with two significant digits.

use core::fmt;

use super::prediction::{Output, Prediction, Surprise};
use crate::anomaly::{Anomaly, AnomalyKind};

/// Most decimals that are printed.
const MAX_DECIMALS: usize = 9;

/// Decimals that give a standard deviation two significant digits; three where it is zero.
fn decimals(std_dev: f32) -> usize {
    if std_dev == 0.0 {
        return 3;
    }
    // 9.95 rounds to 10, which has two digits without a decimal.
    let (mut decimals, mut limit) = (0, 9.95);
    while std_dev < limit && decimals < MAX_DECIMALS {
        decimals += 1;
        limit *= 0.1;
    }
    decimals
}

/// "51.7 ± 4.7".
impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let std_dev = self.std_dev();
        let decimals = f.precision().unwrap_or_else(|| decimals(std_dev));
        write!(f, "{:.decimals$} ± {std_dev:.decimals$}", self.mean)
    }
}

/// An output with its unit, made by [`Output::with_unit`]. Printed as "51.7 ± 4.7 N".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WithUnit<'u> {
    output: Output,
    unit: &'u str,
}

impl Output {
    /// The output as a person would write it, "51.7 ± 4.7 N", for `fmt` and `defmt`. Checkpoints hold no
    /// units: they are the firmware's to know.
    pub fn with_unit(self, unit: &str) -> WithUnit<'_> {
        WithUnit { output: self, unit }
    }
}

impl fmt::Display for WithUnit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.output.fmt(f)?;
        write!(f, " {}", self.unit)
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for WithUnit<'_> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{} {=str}", self.output, self.unit);
    }
}

/// The outputs in order: "51.7 ± 4.7, 0.120 ± 0.015".
impl fmt::Display for Prediction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, output) in self.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            output.fmt(f)?;
        }
        Ok(())
    }
}

/// "stuck, channel 3 (score 1.8)".
impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            AnomalyKind::Unlikely => "unlikely row",
            AnomalyKind::Distant => "distant row",
            AnomalyKind::Shifted => "shifted",
            AnomalyKind::Noisy => "noisy",
            AnomalyKind::Mismatched => "mismatched",
            AnomalyKind::Rough => "rough",
            AnomalyKind::Quiet => "quiet",
            AnomalyKind::Stuck => "stuck",
            AnomalyKind::Saturated => "saturated",
            AnomalyKind::Implausible => "implausible",
        };
        f.write_str(kind)?;
        if let Some(channel) = self.channel {
            write!(f, ", channel {channel}")?;
        }
        write!(f, " (score {:.1})", self.score)
    }
}

/// "4.2 nats (z = 0.3, -2.9, missing)".
impl fmt::Display for Surprise<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} nats (z = ", self.nll)?;
        for (index, z) in self.z.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            if z.is_nan() { f.write_str("missing")? } else { write!(f, "{z:.1}")? }
        }
        f.write_str(")")
    }
}

/// A number rounded to some decimals, for loggers that print the shortest decimal form of an f32.
#[cfg(any(feature = "defmt", test))]
fn rounded(value: f32, decimals: usize) -> f32 {
    let scale = [1.0, 10.0, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9].get(decimals).copied().unwrap_or(1.0);
    let scaled = value * scale;
    // Beyond 2²⁴ an f32 has no fraction to round.
    if scaled.abs() < 16_777_216.0 { libm::roundf(scaled) / scale } else { value }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Output {
    fn format(&self, f: defmt::Formatter<'_>) {
        let std_dev = self.std_dev();
        let decimals = decimals(std_dev);
        defmt::write!(f, "{} ± {}", rounded(self.mean, decimals), rounded(std_dev, decimals));
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Prediction<'_> {
    fn format(&self, f: defmt::Formatter<'_>) {
        for (index, output) in self.iter().enumerate() {
            defmt::write!(f, "{=str}{}", if index == 0 { "" } else { ", " }, output);
        }
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Surprise<'_> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{} nats (z = ", rounded(self.nll, 1));
        for (index, z) in self.z.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            match z.is_nan() {
                true => defmt::write!(f, "{=str}missing", separator),
                false => defmt::write!(f, "{=str}{}", separator, rounded(*z, 1)),
            }
        }
        defmt::write!(f, ")");
    }
}

#[cfg(test)]
mod tests {
    use std::format;

    use super::*;
    use crate::likelihood::Variances;

    fn output(mean: f32, std_dev: f32) -> Output {
        Output::new(mean, Variances { epistemic: 0.0, aleatoric: std_dev * std_dev })
    }

    #[test]
    fn error_bars_have_two_digits_and_means_as_many_decimals() {
        let cases = [
            (51.68, 4.73, "51.7 ± 4.7"),
            (51.68, 47.3, "52 ± 47"),
            (-3.0, 0.0472, "-3.000 ± 0.047"),
            (1234.6, 9.96, "1235 ± 10"),
            (0.5, 0.996, "0.5 ± 1.0"),
            (7.0, 0.0, "7.000 ± 0.000"),
            (1e9, 1e6, "1000000000 ± 1000000"),
        ];
        for (mean, std_dev, expected) in cases {
            assert_eq!(format!("{}", output(mean, std_dev)), expected);
        }
        assert_eq!(format!("{:.2}", output(51.684, 4.73)), "51.68 ± 4.73");
        assert_eq!(format!("{}", output(51.68, 4.73).with_unit("N")), "51.7 ± 4.7 N");
    }

    #[test]
    fn rounded_numbers_print_like_those_with_decimals() {
        for (value, decimals, expected) in
            [(51.68, 1, "51.7"), (0.0472, 3, "0.047"), (4.73, 0, "5"), (-2.96, 1, "-3")]
        {
            assert_eq!(format!("{}", rounded(value, decimals)), expected);
        }
        assert_eq!(rounded(3e38, 9), 3e38);
        assert!(rounded(f32::NAN, 1).is_nan());
    }

    #[test]
    fn predictions_and_surprises_list_their_channels() {
        let (mean, epistemic, aleatoric) = ([51.68, 0.12], [0.0, 0.0001], [22.0, 0.0001]);
        let surprise = Surprise { nll: 4.16, z: &[0.31, f32::NAN], anomaly: None };
        let prediction = Prediction::new([&mean, &epistemic, &aleatoric]);
        assert_eq!(format!("{prediction}"), "51.7 ± 4.7, 0.120 ± 0.014");
        assert_eq!(format!("{surprise}"), "4.2 nats (z = 0.3, missing)");
        let stuck = Anomaly { score: 1.84, channel: Some(3), kind: AnomalyKind::Stuck };
        assert_eq!(format!("{stuck}"), "stuck, channel 3 (score 1.8)");
        let distant = Anomaly { score: -0.31, channel: None, kind: AnomalyKind::Distant };
        assert_eq!(format!("{distant}"), "distant row (score -0.3)");
    }
}
