//! Commands on live streams: `quaver monitor`, `record` and `label`.

pub(super) mod label;
pub(super) mod monitor;
pub(super) mod record;

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use quaver_monitor::Stop;
use quaver_monitor::hub::{Connection, Hub};
use quaver_monitor::reader::{self, CsvRows, Format, Settings};
use quaver_monitor::source::Source;

use super::checkpoint_file;
use crate::data::csv::{RowReader, RowStart};
use crate::printable::escaped;

/// What the bytes of a source mean.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum FormatName {
    /// Binary frames and lines `>name:value`, as boards send them.
    Frames,
    /// Rows of CSV.
    Csv,
}

/// Where rows come from.
#[derive(Debug, clap::Args)]
pub(super) struct SourceOptions {
    /// A serial port, tcp:HOST:PORT, a file to replay, or - for standard input. Without it, the only USB
    /// serial port of this machine.
    #[arg(value_name = "SOURCE")]
    source: Option<String>,
    /// Speed of a serial port; ports that are USB throughout ignore it.
    #[arg(long, value_name = "BAUD", default_value_t = 115_200)]
    baud: u32,
    /// Run this checkpoint here on the rows, with the runtime, instead of showing what the board predicts.
    #[arg(long, value_name = "MODEL.qvr")]
    model: Option<PathBuf>,
    /// What the bytes mean. Default: CSV with --model or for a file named .csv, frames otherwise.
    #[arg(long)]
    format: Option<FormatName>,
    /// CSV has no line with names: columns are c0, c1, …, or the inputs of the model in order.
    #[arg(long)]
    no_header: bool,
    /// Rows per second of a CSV file without a column `time` in seconds.
    #[arg(long, value_name = "HZ", default_value_t = 100.0)]
    rate: f64,
    /// Replay a file this much faster than it was recorded; `max` for as fast as possible.
    #[arg(long, value_name = "FACTOR", default_value = "1")]
    speed: String,
    /// Replay a file again and again.
    #[arg(long = "loop")]
    repeat: bool,
    /// Wait for a port or a connection that is not there yet, instead of an error. One that disappears later
    /// is always waited for.
    #[arg(long)]
    wait: bool,
}

impl SourceOptions {
    fn settings(&self) -> Result<Settings> {
        let source = Source::parse(self.source.as_deref(), self.baud)?;
        let is_csv = self.model.is_some()
            || matches!(&source, Source::File(path) if path.extension().is_some_and(|end| end == "csv"));
        let format = match self.format {
            Some(FormatName::Csv) => Format::Csv,
            Some(FormatName::Frames) => Format::Frames,
            None if is_csv => Format::Csv,
            None => Format::Frames,
        };
        let model = self.model.as_deref().map(|path| checkpoint_file::read(path, "")).transpose()?;
        let speed = match (self.speed.as_str(), self.speed.parse::<f64>()) {
            ("max", _) => None,
            (_, Ok(speed)) if speed > 0.0 && speed.is_finite() => Some(speed),
            _ => bail!("--speed {}: give a number above 0, or max", self.speed),
        };
        let (header, rate_hz, repeat, wait) = (!self.no_header, self.rate, self.repeat, self.wait);
        Ok(Settings { source, format, model, header, rate_hz, speed, repeat, wait, open_csv })
    }

    /// Starts to read, and ends with the user's Ctrl-C. Returns what the source is, too.
    fn start(&self) -> Result<(Arc<Hub>, Stop, String)> {
        let settings = self.settings()?;
        let (hub, stop) = (Arc::new(Hub::default()), Stop::default());
        stop.on_signals()?;
        let description = settings.source.description();
        reader::start(settings, Arc::clone(&hub), stop.clone())?;
        Ok((hub, stop, description))
    }

    fn is_stdin(&self) -> bool {
        self.source.as_deref() == Some("-")
    }
}

/// The reader of CSV that every command has.
fn open_csv(source: Box<dyn BufRead + Send>, name: &str, header: bool) -> Result<Box<dyn CsvRows>> {
    Ok(Box::new(Rows(RowReader::new(source, name, header)?)))
}

struct Rows(RowReader<Box<dyn BufRead + Send>>);

impl CsvRows for Rows {
    fn names(&self) -> Vec<String> {
        self.0.names()
    }

    fn select(&mut self, names: &[String]) -> Result<()> {
        self.0.select(names)
    }

    fn next_row(&mut self, row: &mut [f32]) -> Result<Option<bool>> {
        Ok(self.0.next_row(row)?.map(|start| start == RowStart::NewSequence))
    }
}

/// A line on the terminal that replaces the one before; nothing where there is no terminal.
fn show(line: &str) {
    let mut errors = io::stderr();
    if errors.is_terminal() {
        let _ = write!(errors, "\r\x1b[2K{}", escaped(line));
        let _ = errors.flush();
    }
}

/// Removes that line.
fn clear_line() {
    show("");
}

/// What is wrong with the source, if something is.
fn trouble(hub: &Hub) -> Option<String> {
    match hub.status_of_connection() {
        Connection::Waiting(why) | Connection::Failed(why) => Some(why),
        Connection::Starting | Connection::Connected(_) | Connection::Ended(_) => None,
    }
}

/// Frames that did not arrive, for the last line of a command.
fn losses(hub: &Hub) -> String {
    let status = hub.status();
    let lost = match (status.lost, status.damaged) {
        (0, 0) => "no frame lost or damaged".to_string(),
        (lost, damaged) => format!("{lost} frames lost, {damaged} pieces damaged"),
    };
    match status.implausible {
        0 => lost,
        count => format!("{lost}, {count} implausible values treated as missing"),
    }
}
