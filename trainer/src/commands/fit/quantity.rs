//! Durations, sizes, rates and shares as people type them.

use std::time::Duration;

/// A duration: `10min`, `90s`, `1h`, `1.5min`, or a number of seconds.
pub(in crate::commands) fn duration(text: &str) -> Result<Duration, String> {
    let units = [("min", 60.0), ("ms", 1e-3), ("h", 3600.0), ("s", 1.0), ("m", 60.0), ("", 1.0)];
    let seconds = with_unit(text, &units).filter(|seconds| (0.001..=1e7).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "give a time such as 10min, 90s or 1h".into())
}

/// A number of seconds, as a duration.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    duration(text).map(|duration| duration.as_secs_f64())
}

/// A number of bytes: `64K`, `64KiB`, `1M`, or a plain number.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let kib = 1024.0;
    let units = [
        ("KiB", kib),
        ("kiB", kib),
        ("KB", kib),
        ("kB", kib),
        ("K", kib),
        ("k", kib),
        ("MiB", kib * kib),
        ("MB", kib * kib),
        ("M", kib * kib),
        ("B", 1.0),
        ("", 1.0),
    ];
    let bytes = with_unit(text, &units).filter(|bytes| (1.0..=1e12).contains(bytes));
    bytes.map(|bytes| bytes as u64).ok_or_else(|| "give a size such as 64K, 1M or 4096".into())
}

/// A frequency in hertz: `200Hz`, `1kHz`, `64MHz`, or a plain number.
pub(super) fn hertz(text: &str) -> Result<f64, String> {
    let units = [("MHz", 1e6), ("kHz", 1e3), ("Hz", 1.0), ("hz", 1.0), ("", 1.0)];
    let hertz = with_unit(text, &units).filter(|hertz| (1e-6..=1e12).contains(hertz));
    hertz.ok_or_else(|| "give a rate such as 200Hz or 1kHz".into())
}

/// A share: `50%` or `0.5`.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let share = with_unit(text, &[("%", 0.01), ("", 1.0)]).filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| "give a share such as 50% or 0.5, above 0 and below 1".into())
}

/// The number before the first of the units that the text ends in, times its factor.
fn with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    let (number, factor) =
        units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    number.trim().parse::<f64>().ok().map(|number| number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_units() {
        let seconds = |text: &str| duration(text).unwrap().as_secs_f64();
        assert_eq!(
            ["10min", "90s", "1h", "45", "1.5 min", "2m"].map(seconds),
            [600.0, 90.0, 3600.0, 45.0, 90.0, 120.0]
        );
        assert_eq!(
            ["64K", "64 KiB", "1M", "4096"].map(|text| bytes(text).unwrap()),
            [65_536, 65_536, 1_048_576, 4096]
        );
        assert_eq!(["200Hz", "1kHz", "50"].map(|text| hertz(text).unwrap()), [200.0, 1000.0, 50.0]);
        assert_eq!(["50%", "0.5"].map(|text| share(text).unwrap()), [0.5, 0.5]);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "ten", "-5s", "0", "inf", "NaN"] {
            assert!(duration(text).is_err() && bytes(text).is_err() && hertz(text).is_err(), "{text}");
        }
        for text in ["0", "1", "150%", "x"] {
            assert!(share(text).is_err(), "{text}");
        }
    }
}
