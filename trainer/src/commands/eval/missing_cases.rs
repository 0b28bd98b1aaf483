//! The cases of `--missing` and `--missing-lengths`.

use std::ops::Range;

use anyhow::{Context, Result, bail, ensure};

use crate::evaluate::{BurstChannels, MissingCase};

/// What bursts look like on the command line.
const BURSTS: &str = "bursts:";

/// The cases of the values of `--missing`: numbers of channels, names joined by `+`, and bursts, of all or of
/// these channels.
pub(super) fn parse(values: &[String], names: &[String], rate_hz: Option<f64>) -> Result<Vec<MissingCase>> {
    values.iter().map(|value| parse_one(value.trim(), names, rate_hz)).collect()
}

fn parse_one(value: &str, names: &[String], rate_hz: Option<f64>) -> Result<MissingCase> {
    let bursts = |channels: BurstChannels, bursts: &str| {
        parse_bursts(channels, bursts, rate_hz).with_context(|| format!("--missing {value}"))
    };
    if let Some(all) = value.strip_prefix(BURSTS) {
        return bursts(BurstChannels::All, all);
    }
    let (which, some) = match value.split_once(&format!(":{BURSTS}")) {
        Some((which, some)) => (which, Some(some)),
        None => (value, None),
    };
    match (parse_count(which, names)?, some) {
        (Some(count), None) => Ok(MissingCase::Count(count)),
        (Some(count), Some(some)) => bursts(BurstChannels::Count(count), some),
        (None, None) => Ok(MissingCase::Channels(channels(which, names)?)),
        (None, Some(some)) => bursts(BurstChannels::These(channels(which, names)?), some),
    }
}

/// A number of channels, or nothing if it is no number.
fn parse_count(value: &str, names: &[String]) -> Result<Option<usize>> {
    let Ok(count) = value.parse::<usize>() else { return Ok(None) };
    ensure!(
        (1..=names.len()).contains(&count),
        "--missing {count}: the model has {} inputs; give a number from 1 to {0}",
        names.len()
    );
    Ok(Some(count))
}

/// A name, or several joined by `+`.
fn channels(value: &str, names: &[String]) -> Result<Vec<usize>> {
    let find = |name: &str| names.iter().position(|other| other == name);
    if let Some(channel) = find(value) {
        return Ok(vec![channel]);
    }
    let unknown = |name: &str| {
        format!(
            "--missing {name}: no such input; the inputs are {}. Give a name, several joined by +, a number of channels, or \
             bursts:2s@10%",
            names.join(", ")
        )
    };
    let mut found = Vec::new();
    for name in value.split('+') {
        found.push(find(name).with_context(|| unknown(name))?);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// `LENGTH@SHARE`, with a length such as `2s` or `100` (rows) and a share such as `10%` or `0.1`.
fn parse_bursts(channels: BurstChannels, text: &str, rate_hz: Option<f64>) -> Result<MissingCase> {
    let usage = "give length and share of the time, such as bursts:2s@10% or bursts:100@0.1 (rows)";
    let (length, share) = text.split_once('@').context(usage)?;
    let rows = match length.strip_suffix('s') {
        Some(seconds) => {
            let seconds: f64 = seconds.parse().context(usage)?;
            let rate_hz = rate_hz
                .context("a length in seconds needs the sampling rate; add --rate-hz, or give rows")?;
            (seconds * rate_hz).round()
        }
        None => length.parse::<u32>().map(f64::from).context(usage)?,
    };
    ensure!((1.0..=1e9).contains(&rows), "a burst has at least one row");
    let share: f64 = match share.strip_suffix('%') {
        Some(per_cent) => per_cent.parse::<f64>().context(usage)? / 100.0,
        None => share.parse().context(usage)?,
    };
    ensure!(share > 0.0 && share < 1.0, "the share of the time must be between 0 and 1, or 0% and 100%");
    Ok(MissingCase::Bursts { channels, rows: rows as usize, share })
}

/// One case for each of the ascending lengths of `--missing-lengths`: the rows between the length before it
/// and itself. The channels are those named by `--missing` or, without a name there, all.
pub(super) fn parse_lengths(
    lengths: &[usize],
    cases: &[MissingCase],
    longest_sequence: usize,
    inputs: usize,
) -> Result<Vec<MissingCase>> {
    let named = cases.iter().filter_map(|case| match case {
        MissingCase::Channels(channels) => Some(channels.clone()),
        _ => None,
    });
    let mut channels: Vec<usize> = named.flatten().collect();
    channels.sort_unstable();
    channels.dedup();
    if channels.is_empty() {
        channels = (0..inputs).collect();
    }
    let mut before = 0;
    let mut found = Vec::new();
    for &length in lengths {
        if length <= before {
            bail!("--missing-lengths: give ascending numbers of rows, such as 10,100,1000");
        }
        ensure!(
            length < longest_sequence,
            "--missing-lengths {length}: the longest recording has {longest_sequence} rows; give shorter lengths"
        );
        let rows_away: Range<usize> = before..length;
        found.push(MissingCase::GapRows { channels: channels.clone(), rows_away });
        before = length;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["emg1", "emg2", "a+b"].map(String::from).to_vec()
    }

    fn one(value: &str, rate_hz: Option<f64>) -> Result<MissingCase> {
        Ok(parse(&[value.to_string()], &names(), rate_hz)?.remove(0))
    }

    #[test]
    fn numbers_names_and_bursts_are_understood() {
        assert_eq!(one("2", None).unwrap(), MissingCase::Count(2));
        assert_eq!(one("emg2", None).unwrap(), MissingCase::Channels(vec![1]));
        assert_eq!(one("emg2+emg1", None).unwrap(), MissingCase::Channels(vec![0, 1]));
        assert_eq!(
            one("a+b", None).unwrap(),
            MissingCase::Channels(vec![2]),
            "a name as a whole comes first"
        );
        let bursts = |channels| MissingCase::Bursts { channels, rows: 100, share: 0.1 };
        for same in ["bursts:2s@10%", "bursts:100@0.1", "bursts:2.0s@0.1"] {
            assert_eq!(one(same, Some(50.0)).unwrap(), bursts(BurstChannels::All), "{same}");
        }
        assert_eq!(one("1:bursts:2s@10%", Some(50.0)).unwrap(), bursts(BurstChannels::Count(1)));
        let these = BurstChannels::These(vec![0, 1]);
        assert_eq!(one("emg1+emg2:bursts:100@10%", None).unwrap(), bursts(these));
    }

    #[test]
    fn errors_say_what_to_give() {
        for (value, says) in [
            ("0", "from 1 to 3"),
            ("4", "from 1 to 3"),
            ("emg9", "the inputs are emg1, emg2, a+b"),
            ("emg1+emg9", "emg9: no such input"),
            ("4:bursts:9@0.1", "from 1 to 3"),
            ("emg9:bursts:9@0.1", "emg9: no such input"),
            ("bursts:2s@10%", "--rate-hz"),
            ("bursts:100", "bursts:2s@10%"),
            ("bursts:0@0.1", "at least one row"),
            ("bursts:9@1.5", "between 0 and 1"),
        ] {
            let error = format!("{:#}", one(value, None).unwrap_err());
            assert!(error.contains(says), "{value}: {error}");
        }
    }

    #[test]
    fn lengths_divide_a_gap() {
        let lengths = |lengths: &[usize], cases: &[MissingCase]| parse_lengths(lengths, cases, 500, 3);
        let found = lengths(&[10, 100], &[MissingCase::Count(1)]).unwrap();
        assert_eq!(found[0], MissingCase::GapRows { channels: vec![0, 1, 2], rows_away: 0..10 });
        assert_eq!(found[1], MissingCase::GapRows { channels: vec![0, 1, 2], rows_away: 10..100 });
        let named = lengths(&[10], &[MissingCase::Channels(vec![1])]).unwrap();
        assert_eq!(named[0], MissingCase::GapRows { channels: vec![1], rows_away: 0..10 });
        assert!(lengths(&[10, 10], &[]).unwrap_err().to_string().contains("ascending"));
        assert!(lengths(&[500], &[]).unwrap_err().to_string().contains("500 rows"));
    }
}
