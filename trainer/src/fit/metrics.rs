//! The metrics of every epoch, as CSV and as JSON lines.
//!
//! Both files contain only what another run with the same seed would write, hence no wall-clock times.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::files;

/// The metrics of one epoch. Losses are in nats per time step, summed over outputs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpochMetrics {
    /// The epoch, counted from 1.
    pub epoch: usize,
    /// Mean training loss during the epoch.
    pub train_nll: f64,
    /// Validation loss after the epoch, on whole sequences.
    pub valid_nll: f64,
    /// Mean norm of the gradient before clipping.
    pub gradient_norm: f64,
    /// Fraction of the steps whose gradient was clipped.
    pub clipped: f64,
    /// Whether this is the lowest validation loss so far.
    pub best: bool,
    /// For latent models, whose losses are bounds: the divergence from the prior in the validation loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_kl: Option<f64>,
    /// Steps that were left out because their loss or gradient was not finite.
    #[serde(default)]
    pub skipped: usize,
}

/// The metric files of a run.
#[derive(Clone, Debug)]
pub struct MetricFiles {
    csv: PathBuf,
    json_lines: PathBuf,
    header: String,
}

impl MetricFiles {
    /// The files of the run in `folder`, with a column for divergences from the prior if `with_kl`.
    pub fn new(folder: &Path, with_kl: bool) -> Self {
        let kl = if with_kl { ",valid_kl" } else { "" };
        let header = format!("{HEADER}{kl}{SKIPPED}");
        MetricFiles { csv: folder.join("metrics.csv"), json_lines: folder.join("metrics.jsonl"), header }
    }

    /// The epochs in the files of the run in `folder`, up to the first line that is not whole.
    ///
    /// # Errors
    /// When the file cannot be read; the message names it.
    pub fn read(folder: &Path) -> Result<Vec<EpochMetrics>> {
        Ok(parse(read_file(&folder.join("metrics.jsonl"))?))
    }

    /// Creates both files without any epoch.
    ///
    /// # Errors
    /// When a file cannot be written; the message names it.
    pub fn create(&self) -> Result<()> {
        files::replace(&self.csv, format!("{}\n", self.header).as_bytes())?;
        files::replace(&self.json_lines, b"")
    }

    /// Appends one epoch to both files.
    ///
    /// # Errors
    /// When a file cannot be written; the message names it.
    pub fn append(&self, metrics: &EpochMetrics) -> Result<()> {
        files::append(&self.csv, &csv_line(metrics))?;
        files::append(&self.json_lines, &json_line(metrics)?)
    }

    /// Removes epochs after `last`: an interrupted run may have written metrics beyond its last state.
    ///
    /// Lines are copied as text, so that no number changes by being parsed and formatted. Lines of earlier
    /// versions get the column that they lack.
    ///
    /// # Errors
    /// When a file cannot be read or written; the message names it.
    pub fn truncate(&self, last: usize) -> Result<()> {
        let columns = self.header.split(',').count();
        let complete = |line: &str| match line.split(',').count() + 1 == columns {
            true if csv_epoch(line).is_none() => format!("{line}{SKIPPED}"),
            true => format!("{line},0"),
            false => line.to_string(),
        };
        let csv = |line: &str| {
            let line = complete(line);
            let wanted = line == self.header || csv_epoch(&line).is_some_and(|epoch| epoch <= last);
            wanted.then_some(line)
        };
        let columns_of = |line: &String| line.split(',').count() == columns;
        let csv = |line: &str| csv(line).filter(columns_of);
        keep_lines(&self.csv, csv)?;
        keep_lines(&self.json_lines, |line| {
            json_epoch(line).is_some_and(|epoch| epoch <= last).then(|| line.to_string())
        })
    }
}

const HEADER: &str = "epoch,train_nll,valid_nll,gradient_norm,clipped,best";

/// The last column, which files of earlier versions do not have.
const SKIPPED: &str = ",skipped";

fn csv_line(metrics: &EpochMetrics) -> String {
    let EpochMetrics { epoch, train_nll, valid_nll, gradient_norm, clipped, best, valid_kl, skipped } =
        metrics;
    let kl = valid_kl.map_or_else(String::new, |kl| format!(",{kl}"));
    format!("{epoch},{train_nll},{valid_nll},{gradient_norm},{clipped},{best}{kl},{skipped}\n")
}

fn json_line(metrics: &EpochMetrics) -> Result<String> {
    Ok(serde_json::to_string(metrics)? + "\n")
}

fn csv_epoch(line: &str) -> Option<usize> {
    line.split(',').next()?.parse().ok()
}

fn json_epoch(line: &str) -> Option<usize> {
    serde_json::from_str::<EpochMetrics>(line).ok().map(|metrics| metrics.epoch)
}

/// Keeps the lines before the first one that is not wanted, each as `wanted` returns it.
fn keep_lines(path: &Path, wanted: impl Fn(&str) -> Option<String>) -> Result<()> {
    let text = whole_lines(read_file(path)?);
    let kept: String = text.lines().map_while(wanted).map(|line| format!("{line}\n")).collect();
    files::replace(path, kept.as_bytes())
}

/// The epochs in the bytes of a `metrics.jsonl`, up to the first line that is not whole.
pub fn parse(bytes: Vec<u8>) -> Vec<EpochMetrics> {
    whole_lines(bytes).lines().map_while(|line| serde_json::from_str(line).ok()).collect()
}

fn read_file(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read the metrics `{}` of a run", path.display()))
}

/// The text up to its last complete line: an interruption may have left part of one, which looks like a whole
/// line of fewer digits, or bytes that are no text.
fn whole_lines(mut bytes: Vec<u8>) -> String {
    let text = std::str::from_utf8(&bytes).map_or_else(|error| error.valid_up_to(), str::len);
    let end = bytes[..text].iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    bytes.truncate(end);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics(epoch: usize) -> EpochMetrics {
        let train_nll = 0.1 + epoch as f64 / 3.0;
        EpochMetrics {
            epoch,
            train_nll,
            valid_nll: 2.0,
            gradient_norm: 0.5,
            clipped: 0.25,
            best: epoch == 1,
            valid_kl: None,
            skipped: 0,
        }
    }

    fn contents(folder: &Path) -> [String; 2] {
        ["metrics.csv", "metrics.jsonl"].map(|name| fs::read_to_string(folder.join(name)).unwrap())
    }

    /// Files of a run of a predictor, in a temporary folder.
    fn with_epochs(count: usize) -> (tempfile::TempDir, MetricFiles) {
        let folder = tempfile::tempdir().unwrap();
        let files = MetricFiles::new(folder.path(), false);
        files.create().unwrap();
        (1..=count).for_each(|epoch| files.append(&metrics(epoch)).unwrap());
        (folder, files)
    }

    #[test]
    fn epochs_are_written_one_per_line() {
        let (folder, _) = with_epochs(2);
        let [csv, json] = contents(folder.path());
        let expected = format!(
            "{HEADER},skipped\n1,0.43333333333333335,2,0.5,0.25,true,0\n2,0.7666666666666666,2,0.5,0.25,false,0\n"
        );
        assert_eq!(csv, expected);
        let first: EpochMetrics = serde_json::from_str(json.lines().next().unwrap()).unwrap();
        assert_eq!((json.lines().count(), first), (2, metrics(1)));
    }

    #[test]
    fn a_bound_is_written_with_its_divergence() {
        let folder = tempfile::tempdir().unwrap();
        let files = MetricFiles::new(folder.path(), true);
        files.create().unwrap();
        files.append(&EpochMetrics { valid_kl: Some(0.75), ..metrics(2) }).unwrap();
        files.truncate(2).unwrap();
        let [csv, json] = contents(folder.path());
        assert_eq!(csv, format!("{HEADER},valid_kl,skipped\n2,0.7666666666666666,2,0.5,0.25,false,0.75,0\n"));
        assert!(json.ends_with(",\"valid_kl\":0.75,\"skipped\":0}\n"), "{json}");
    }

    #[test]
    fn later_epochs_and_broken_lines_are_dropped() {
        let (folder, files) = with_epochs(2);
        let two_epochs = contents(folder.path());
        files.append(&metrics(3)).unwrap();
        files::append(&folder.path().join("metrics.jsonl"), "{\"epoch\":4,\"tra").unwrap();
        files.truncate(2).unwrap();
        assert_eq!(contents(folder.path()), two_epochs);
        files.truncate(0).unwrap();
        assert_eq!(contents(folder.path()), [format!("{HEADER},skipped\n"), String::new()]);
    }

    /// Of a line of an epoch that was lost, every part is dropped whole, also one that looks like another
    /// epoch.
    #[test]
    fn a_torn_last_line_is_dropped_whole() {
        let (folder, files) = with_epochs(11);
        let whole = contents(folder.path());
        let next = [csv_line(&metrics(12)), json_line(&metrics(12)).unwrap()];
        for part in 1..next[1].len() {
            for ((name, whole), next) in ["metrics.csv", "metrics.jsonl"].iter().zip(&whole).zip(&next) {
                let torn = format!("{whole}{}", &next[..part.min(next.len() - 1)]);
                fs::write(folder.path().join(name), torn).unwrap();
            }
            assert_eq!(MetricFiles::read(folder.path()).unwrap().len(), 11);
            files.truncate(12).unwrap();
            assert_eq!(contents(folder.path()), whole, "{part} bytes of the line");
        }
        for garbage in [&b"\0\0\0"[..], b"\xff\xfe\n", b"12\n"] {
            fs::write(folder.path().join("metrics.csv"), [whole[0].as_bytes(), garbage].concat()).unwrap();
            files.truncate(12).unwrap();
            assert_eq!(contents(folder.path()), whole, "{garbage:?}");
        }
    }

    #[test]
    fn files_of_earlier_versions_get_the_column_they_lack() {
        for kl in ["", ",valid_kl"] {
            let folder = tempfile::tempdir().unwrap();
            let files = MetricFiles::new(folder.path(), !kl.is_empty());
            let value = if kl.is_empty() { "" } else { ",0.75" };
            let line = format!("1,0.43333333333333335,2,0.5,0.25,true{value}");
            fs::write(folder.path().join("metrics.csv"), format!("{HEADER}{kl}\n{line}\n")).unwrap();
            let json = "{\"epoch\":1,\"train_nll\":0.43333333333333335,\"valid_nll\":2.0,\"gradient_norm\":0.5,\
                        \"clipped\":0.25,\"best\":true}\n";
            fs::write(folder.path().join("metrics.jsonl"), json).unwrap();
            files.truncate(1).unwrap();
            let expected = [format!("{HEADER}{kl},skipped\n{line},0\n"), json.to_string()];
            assert_eq!(contents(folder.path()), expected);
            files.truncate(1).unwrap();
            assert_eq!(contents(folder.path()), expected, "once is enough");
        }
        assert_eq!(metrics(1).skipped, 0);
    }
}
