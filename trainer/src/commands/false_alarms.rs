//! Rates of false alarms on the command line: "1/h", "2/min", "1/1000rows".

use std::str::FromStr;

use anyhow::{Context, Result};

/// A rate of false alarms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FalseAlarmRate {
    /// Alarms per second.
    PerSecond(f64),
    /// Alarms per row.
    PerRow(f64),
}

impl FalseAlarmRate {
    /// Rows in which one false alarm is allowed.
    ///
    /// # Errors
    /// If it is a rate in time and the sampling rate is not known.
    pub(super) fn rows_per_alarm(self, rate_hz: Option<f64>) -> Result<f64> {
        match self {
            FalseAlarmRate::PerRow(rate) => Ok(1.0 / rate),
            FalseAlarmRate::PerSecond(rate) => {
                let rate_hz = rate_hz.context(
                    "--false-alarms in time needs the sampling rate: add --rate-hz, or say how many per rows, as in 1/100000rows",
                )?;
                Ok(rate_hz / rate)
            }
        }
    }
}

impl FromStr for FalseAlarmRate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("expected a rate such as 1/h, 2/min or 1/1000rows, found {text:?}");
        let (count, per) = text.split_once('/').ok_or_else(expected)?;
        let positive = |number: &str| {
            number.trim().parse::<f64>().ok().filter(|value| *value > 0.0 && value.is_finite())
        };
        let count = positive(count).ok_or_else(expected)?;
        match per.trim() {
            "h" => Ok(FalseAlarmRate::PerSecond(count / 3600.0)),
            "min" => Ok(FalseAlarmRate::PerSecond(count / 60.0)),
            rows => {
                let rows = rows.strip_suffix("rows").and_then(positive).ok_or_else(expected)?;
                Ok(FalseAlarmRate::PerRow(count / rows))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_in_time_and_in_rows_are_understood() {
        let rows = |text: &str, rate_hz| text.parse::<FalseAlarmRate>().unwrap().rows_per_alarm(rate_hz);
        assert_eq!(rows("1/h", Some(100.0)).unwrap(), 360_000.0);
        assert_eq!(rows("2/min", Some(10.0)).unwrap(), 300.0);
        assert_eq!(rows("1/1000rows", None).unwrap(), 1000.0);
        assert_eq!(rows(" 4 / 1000 rows", None).unwrap(), 250.0);
        let error = rows("1/h", None).unwrap_err().to_string();
        assert!(error.contains("--rate-hz"), "{error}");
        for wrong in ["1", "0/h", "-1/h", "1/day", "x/h", "1/rows", "1/0rows", "inf/h"] {
            let error = wrong.parse::<FalseAlarmRate>().unwrap_err();
            assert!(error.contains("1/1000rows"), "{wrong}: {error}");
        }
    }
}
