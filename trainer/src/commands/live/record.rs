//! `quaver record`: a live stream as training data.

use std::path::PathBuf;

use anyhow::Result;
use quaver_monitor::hub::{Cursor, Hub};
use quaver_monitor::record::{Progress, Recording};

use super::{SourceOptions, clear_line, losses, show, trouble};
use crate::commands::print::{print_json, print_text};

/// What to write, and until when.
#[derive(Debug, clap::Args)]
pub(super) struct RecordOptions {
    /// The file to write: .csv for `quaver train`, .mcap for Foxglove and PlotJuggler.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Write over a file that is there.
    #[arg(long)]
    overwrite: bool,
    /// Write predictions and surprise to CSV too, in the columns of `quaver run`; MCAP always has them.
    #[arg(long)]
    predictions: bool,
    /// End after this many rows.
    #[arg(long, value_name = "N")]
    rows: Option<u64>,
    /// End after this many seconds.
    #[arg(long, value_name = "S")]
    seconds: Option<f64>,
    /// Print what was recorded as a JSON object.
    #[arg(long)]
    json: bool,
}

impl RecordOptions {
    /// The recording, checked.
    pub(super) fn recording(&self, labels: &[String]) -> Result<Recording> {
        let recording = Recording {
            path: self.out.clone(),
            overwrite: self.overwrite,
            predictions: self.predictions,
            labels: labels.to_vec(),
            max_rows: self.rows,
            max_seconds: self.seconds,
        };
        recording.check()?;
        Ok(recording)
    }

    /// Prints what was recorded.
    pub(super) fn print(&self, progress: &Progress, hub: &Hub) -> Result<()> {
        let file = self.out.display().to_string();
        if self.json {
            let mut object = serde_json::to_value(progress)?;
            let status = hub.status();
            object["file"] = file.into();
            object["lost"] = status.lost.into();
            object["damaged"] = status.damaged.into();
            return print_json(&object);
        }
        let Progress { rows, sequences, skipped, .. } = progress;
        let plural = if *sequences == 1 { "" } else { "s" };
        let slow =
            if *skipped == 0 { String::new() } else { format!(", {skipped} rows skipped by a slow disk") };
        print_text(&format!("{file}: {rows} rows in {sequences} sequence{plural}, {}{slow}\n", losses(hub)))
    }
}

/// Record a live stream as training data
///
/// Writes rows as they arrive: the time in seconds, a column `sequence` that changes where rows are missing,
/// and the inputs by their names; an empty cell is a missing value. `quaver train` reads the file as it is.
/// Every second what has arrived is passed on to the system, so that a power loss costs little. Ctrl-C ends
/// it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver record /dev/ttyACM0 --out session.csv
  quaver record tcp:localhost:4444 --out session.mcap --seconds 60
  quaver record --out session.csv --predictions        the board on the only USB port")]
pub struct Arguments {
    #[command(flatten)]
    source: SourceOptions,
    #[command(flatten)]
    record: RecordOptions,
}

pub(in crate::commands) fn run(arguments: &Arguments) -> Result<()> {
    let recording = arguments.record.recording(&[])?;
    let (hub, stop, source) = arguments.source.start()?;
    let mut shown = u64::MAX;
    let watch = |progress: &Progress| {
        let second = progress.seconds as u64;
        if second != shown {
            shown = second;
            let state = trouble(&hub).unwrap_or_else(|| source.clone());
            show(&format!("{:02}:{:02}  {} rows  {state}", second / 60, second % 60, progress.rows));
        }
    };
    let result = recording.run(&hub, Cursor::default(), &stop, watch);
    clear_line();
    arguments.record.print(&result?, &hub)
}
