//! The values that numbers of a config may take: one table per section, which both the checks and the
//! reference (`docs/reference/config.md`) read.

use std::fmt;
use std::path::Path;

use crate::printable::unprintable_in;

/// A value that is not allowed: its dotted key, and what is wrong with it.
#[derive(Debug, PartialEq)]
pub(super) struct InvalidValue {
    pub(super) key: String,
    pub(super) problem: String,
}

/// An invalid value at a dotted key.
pub(super) fn invalid(key: &str, problem: impl Into<String>) -> InvalidValue {
    InvalidValue { key: key.to_string(), problem: problem.into() }
}

/// Refuses a path that would act on a terminal wherever it is printed.
pub(super) fn check_path(key: &str, path: &Path) -> Result<(), InvalidValue> {
    match unprintable_in(&path.to_string_lossy()) {
        Some(character) => {
            Err(invalid(key, format!("has the control character {character} in a path: rename the file")))
        }
        None => Ok(()),
    }
}

/// One end of a range.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Unbounded,
    Included(f64),
    Excluded(f64),
}

/// The range of a number. Infinities and NaN are never in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limits {
    low: End,
    high: End,
}

impl Limits {
    /// Any finite number.
    pub(super) const FINITE: Limits = Limits { low: End::Unbounded, high: End::Unbounded };
    /// (0, ∞).
    pub(super) const POSITIVE: Limits = Limits { low: End::Excluded(0.0), high: End::Unbounded };
    /// [0, ∞).
    pub(super) const NOT_NEGATIVE: Limits = Limits { low: End::Included(0.0), high: End::Unbounded };
    /// [0, 1): decay rates and lower bounds of factors.
    pub(super) const BELOW_ONE: Limits = Limits { low: End::Included(0.0), high: End::Excluded(1.0) };
    /// (0, 1]: keep probabilities.
    pub(super) const KEEP: Limits = Limits { low: End::Excluded(0.0), high: End::Included(1.0) };
    /// (0, 1): fractions of which neither part is empty.
    pub(super) const FRACTION: Limits = Limits { low: End::Excluded(0.0), high: End::Excluded(1.0) };

    /// [low, high].
    pub(super) const fn closed(low: f64, high: f64) -> Limits {
        Limits { low: End::Included(low), high: End::Included(high) }
    }

    fn contain(&self, value: f64) -> bool {
        let above = match self.low {
            End::Unbounded => true,
            End::Included(low) => value >= low,
            End::Excluded(low) => value > low,
        };
        let below = match self.high {
            End::Unbounded => true,
            End::Included(high) => value <= high,
            End::Excluded(high) => value < high,
        };
        value.is_finite() && above && below
    }

    /// Refuses a value out of range.
    pub(super) fn check(&self, key: &str, value: f64) -> Result<(), InvalidValue> {
        if self.contain(value) {
            return Ok(());
        }
        Err(invalid(key, format!("must be {self}, found {value}")))
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.low, self.high) {
            (End::Unbounded, End::Unbounded) => f.write_str("finite"),
            (End::Included(low), End::Included(high)) => write!(f, "from {low} to {high}"),
            (End::Included(low), End::Unbounded) => write!(f, "{low} or above"),
            (End::Excluded(low), End::Unbounded) => write!(f, "above {low}"),
            (End::Unbounded, End::Included(high)) => write!(f, "at most {high}"),
            (End::Unbounded, End::Excluded(high)) => write!(f, "below {high}"),
            (End::Included(low), End::Excluded(high)) => write!(f, "{low} or above and below {high}"),
            (End::Excluded(low), End::Included(high)) => write!(f, "above {low} and at most {high}"),
            (End::Excluded(low), End::Excluded(high)) => write!(f, "above {low} and below {high}"),
        }
    }
}

/// The limits of one key of the section `S`.
pub(super) struct Rule<S> {
    /// The key within its section.
    pub(super) key: &'static str,
    /// What its numbers must lie within.
    pub(super) limits: Limits,
    /// Its numbers: none if an optional key is not set, several if it is a list.
    values: fn(&S) -> Vec<f64>,
}

impl<S> Rule<S> {
    pub(super) const fn new(key: &'static str, limits: Limits, values: fn(&S) -> Vec<f64>) -> Self {
        Rule { key, limits, values }
    }
}

/// Checks every number of the section called `name`.
pub(super) fn check_rules<S>(name: &str, section: &S, rules: &[Rule<S>]) -> Result<(), InvalidValue> {
    for rule in rules {
        let key = format!("{name}.{}", rule.key);
        (rule.values)(section).into_iter().try_for_each(|value| rule.limits.check(&key, value))?;
    }
    Ok(())
}

/// The number of an optional key.
pub(super) fn optional(value: Option<impl Into<f64>>) -> Vec<f64> {
    value.map(Into::into).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_ranges() {
        let layers = Limits::closed(1.0, 8.0);
        assert!(layers.check("k", 1.0).is_ok() && layers.check("k", 8.0).is_ok());
        assert_eq!(layers.check("a.b", 9.0), Err(invalid("a.b", "must be from 1 to 8, found 9")));
        for (limits, inside, outside) in [
            (Limits::POSITIVE, &[1e-30][..], &[0.0, -1.0][..]),
            (Limits::NOT_NEGATIVE, &[0.0], &[-1.0]),
            (Limits::BELOW_ONE, &[0.0], &[1.0, -0.1]),
            (Limits::KEEP, &[1.0], &[0.0, 1.1]),
            (Limits::FRACTION, &[0.5], &[0.0, 1.0]),
            (Limits::FINITE, &[-1e30], &[]),
        ] {
            assert!(inside.iter().all(|value| limits.contain(*value)), "{limits}");
            assert!(outside.iter().all(|value| !limits.contain(*value)), "{limits}");
            assert!([f64::NAN, f64::INFINITY, f64::NEG_INFINITY].iter().all(|value| !limits.contain(*value)));
        }
    }
}
