//! Plausible ranges on the command line: `--range emg1=0:4095`.

use std::str::FromStr;

use anyhow::Result;

use crate::data::Dataset;
use crate::export::{DEFAULT_MARGIN, InputRanges, RangeOptions, RangeOverride};

/// How plausible ranges are chosen.
#[derive(Debug, clap::Args)]
pub(super) struct RangeArguments {
    /// Plausible range of an input in raw units, instead of that of the training rows; either side may be
    /// empty for no limit. The model treats a value outside as missing, and counts it.
    #[arg(long = "range", value_name = "CHANNEL=LOW:HIGH", value_parser = GivenRange::from_str)]
    given: Vec<GivenRange>,
    /// Margin on each side of the range of the training rows, as a multiple of its width; `inf` for no limits
    /// but those of --range.
    #[arg(long = "range-margin", value_name = "M", default_value_t = DEFAULT_MARGIN, value_parser = parse_margin)]
    margin: f32,
    /// Store no plausible ranges.
    #[arg(long = "no-ranges", conflicts_with_all = ["given", "margin"])]
    none: bool,
}

impl RangeArguments {
    /// As without any of the options.
    pub(super) fn by_default() -> Self {
        RangeArguments { given: Vec::new(), margin: DEFAULT_MARGIN, none: false }
    }

    /// The ranges for these data, if any.
    pub(super) fn fit(&self, data: &Dataset) -> Result<Option<InputRanges>> {
        if self.none {
            return Ok(None);
        }
        let given = self.given.iter().map(|given| given.0.clone()).collect();
        RangeOptions { margin: self.margin, given }.fit(data)
    }
}

/// Value of `--range`.
#[derive(Clone, Debug, PartialEq)]
struct GivenRange(RangeOverride);

impl FromStr for GivenRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected =
            || format!("expected CHANNEL=LOW:HIGH, such as emg1=0:4095 or emg1=0:, found {text:?}");
        // A name may contain both signs.
        let (channel, range) =
            text.rsplit_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(expected)?;
        let (low, high) = range.split_once(':').ok_or_else(expected)?;
        let limit = |text: &str, none: f32| match text.trim() {
            "" => Ok(none),
            number => number.parse::<f32>().ok().filter(|limit| !limit.is_nan()).ok_or_else(expected),
        };
        let (low, high) = (limit(low, f32::NEG_INFINITY)?, limit(high, f32::INFINITY)?);
        if low >= high {
            return Err(format!("the lower limit of {channel}, {low}, is not below the upper one, {high}"));
        }
        // −0 is 0: equal models are equal files.
        Ok(GivenRange(RangeOverride { channel: channel.into(), range: [low + 0.0, high + 0.0] }))
    }
}

fn parse_margin(text: &str) -> Result<f32, String> {
    let margin = text.parse().ok().filter(|margin: &f32| *margin >= 0.0);
    margin.ok_or_else(|| "give a multiple of the training range, such as 0.5, or inf for no limits".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_with_either_side_empty() {
        let range = |text: &str| text.parse::<GivenRange>().map(|given| (given.0.channel, given.0.range));
        assert_eq!(range("emg1=0:4095"), Ok(("emg1".into(), [0.0, 4095.0])));
        assert_eq!(range("a=b:c=-1e3:"), Ok(("a=b:c".into(), [-1e3, f32::INFINITY])));
        assert_eq!(range("x=:-2.5"), Ok(("x".into(), [f32::NEG_INFINITY, -2.5])));
        assert_eq!(range("x=:"), Ok(("x".into(), [f32::NEG_INFINITY, f32::INFINITY])));
        for wrong in ["emg1", "emg1=5", "=0:1", "emg1=a:b", "emg1=0:nan", "emg1=0:1:2"] {
            let error = range(wrong).unwrap_err();
            assert!(error.contains("emg1=0:4095") && error.contains(wrong), "{wrong}: {error}");
        }
        for empty in ["x=1:1", "x=2:1", "x=inf:", "x=:-inf"] {
            assert!(range(empty).unwrap_err().contains("not below"), "{empty}");
        }
    }

    #[test]
    fn margins_are_not_negative() {
        assert_eq!(parse_margin("0.25"), Ok(0.25));
        assert_eq!(parse_margin("inf"), Ok(f32::INFINITY));
        for wrong in ["-1", "nan", "wide"] {
            assert!(parse_margin(wrong).is_err(), "{wrong}");
        }
    }
}
