//! Rows in a CSV file, for training.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// How often rows are given to the system, so that little is lost with the power.
const FLUSH: Duration = Duration::from_secs(1);

/// An open recording: time stamps in seconds, then the channels.
pub(crate) struct Record {
    file: BufWriter<File>,
    path: PathBuf,
    flushed: Instant,
    pub(crate) rows: u64,
}

/// Checks that a recording can be made.
///
/// # Errors
/// If the file exists.
pub(crate) fn check(path: &Path) -> Result<()> {
    ensure!(!path.exists(), "{} exists; recordings never overwrite a file", path.display());
    Ok(())
}

impl Record {
    /// Creates the file, which must not exist, and writes its header.
    ///
    /// # Errors
    /// If it exists or cannot be written.
    pub(crate) fn create(path: &Path, labels: &[String]) -> Result<Self> {
        check(path)?;
        let file = File::create_new(path).with_context(|| format!("cannot create {}", path.display()))?;
        let mut record =
            Record { file: BufWriter::new(file), path: path.into(), flushed: Instant::now(), rows: 0 };
        let names: Vec<String> =
            ["time"].into_iter().chain(labels.iter().map(String::as_str)).map(quoted).collect();
        record.line(&names.join(","))?;
        record.flush()?;
        Ok(record)
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn write(&mut self, time: f64, row: &[f64]) -> Result<()> {
        let values: Vec<String> = row.iter().map(ToString::to_string).collect();
        self.line(&format!("{time:.6},{}", values.join(",")))?;
        self.rows += 1;
        if self.flushed.elapsed() >= FLUSH {
            self.flush()?;
        }
        Ok(())
    }

    /// Gives all rows to the system.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.flushed = Instant::now();
        self.file.flush().with_context(|| format!("cannot write {}", self.path.display()))
    }

    fn line(&mut self, line: &str) -> Result<()> {
        writeln!(self.file, "{line}").with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// A name as CSV has it.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_written_and_files_never_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("session.csv");
        let mut record = Record::create(&path, &["emg1".into(), "a,\"b\"".into()]).expect("a file");
        record.write(1.25, &[0.1, f64::NAN]).expect("a row");
        record.flush().expect("a row");
        let text = std::fs::read_to_string(&path).expect("a file");
        assert_eq!(text, "time,emg1,\"a,\"\"b\"\"\"\n1.250000,0.1,NaN\n");
        let error = Record::create(&path, &[]).err().expect("it exists");
        assert!(format!("{error:#}").contains("never overwrite"));
    }
}
