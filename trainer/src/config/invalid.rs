//! Range checks on the numbers of a config.

use std::fmt::Display;
use std::ops::RangeInclusive;

/// A value out of its range: which key, and what is wrong with it.
#[derive(Debug, PartialEq)]
pub(super) struct InvalidValue {
    pub(super) key: String,
    pub(super) problem: String,
}

/// A fault at a dotted key.
pub(super) fn invalid(key: &str, problem: impl Into<String>) -> InvalidValue {
    InvalidValue { key: key.to_string(), problem: problem.into() }
}

/// Refuses a value outside a range that includes its ends.
pub(super) fn within<T: PartialOrd + Display>(
    key: &str,
    value: T,
    range: RangeInclusive<T>,
) -> Result<(), InvalidValue> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(invalid(key, format!("must be from {} to {}, found {value}", range.start(), range.end())))
}

/// Refuses a number that is not finite and above 0.
pub(super) fn positive(key: &str, value: f64) -> Result<(), InvalidValue> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(invalid(key, format!("must be above 0, found {value}")))
}

/// Refuses a number that is not finite and 0 or above.
pub(super) fn not_negative(key: &str, value: f64) -> Result<(), InvalidValue> {
    if value >= 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(invalid(key, format!("must be 0 or above, found {value}")))
}

/// Refuses a number outside [0, 1).
pub(super) fn share(key: &str, value: f64) -> Result<(), InvalidValue> {
    if (0.0..1.0).contains(&value) {
        return Ok(());
    }
    Err(invalid(key, format!("must be 0 or above and below 1, found {value}")))
}

/// Refuses a keep probability outside (0, 1].
pub(super) fn probability(key: &str, value: f64) -> Result<(), InvalidValue> {
    if value > 0.0 && value <= 1.0 {
        return Ok(());
    }
    Err(invalid(
        key,
        format!("is the probability to keep a unit: it must be above 0 and at most 1, found {value}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_ranges() {
        assert!(within("k", 1, 1..=8).is_ok() && within("k", 8, 1..=8).is_ok());
        assert_eq!(within("a.b", 9, 1..=8), Err(invalid("a.b", "must be from 1 to 8, found 9")));
        assert!(
            positive("k", 1e-30).is_ok() && not_negative("k", 0.0).is_ok() && probability("k", 1.0).is_ok()
        );
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(positive("k", value).is_err(), "{value}");
        }
        for value in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(not_negative("k", value).is_err(), "{value}");
        }
        assert!(share("k", 0.0).is_ok());
        for value in [1.0, -0.1, f64::NAN] {
            assert!(share("k", value).is_err(), "{value}");
        }
        for value in [0.0, 1.1, f64::NAN] {
            assert!(probability("k", value).is_err(), "{value}");
        }
    }
}
