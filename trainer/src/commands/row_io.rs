//! Input and output of rows: files or standard streams.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::print::print_note;
use crate::config::{BagConfig, DecimalMark, FileFormat};
use crate::data::bag::{Bag, BagRows};
use crate::data::csv::{self, RowReader, spreadsheet};
use crate::data::{Rows, Table, npy, open_rows};
use crate::files;

/// Input and output of rows.
#[derive(Debug, clap::Args)]
pub(super) struct RowIo {
    /// CSV, NumPy or Parquet file or ROS 2 bag (.mcap) to read; standard input, as CSV, by default.
    #[arg(long, visible_alias = "in", value_name = "FILE")]
    pub(super) input: Option<PathBuf>,
    /// CSV file to write, atomically; standard output by default.
    #[arg(long, visible_alias = "out", value_name = "F.csv")]
    pub(super) output: Option<PathBuf>,
    /// The input has no header: its columns are the model's inputs in order.
    #[arg(long)]
    pub(super) no_header: bool,
    /// Numbers have a decimal comma; if not given, the first number with a decimal mark decides.
    #[arg(long)]
    pub(super) decimal_comma: bool,
    #[command(flatten)]
    pub(super) bag: BagOptions,
}

/// How a bag becomes rows.
#[derive(Debug, Default, clap::Args)]
pub(super) struct BagOptions {
    /// Bags: topic whose messages are the rows; not needed where only one has numbers.
    #[arg(long, value_name = "TOPIC")]
    clock: Option<String>,
    /// Bags: age in seconds from which on the last message of another topic counts as missing; 0.5 by
    /// default.
    #[arg(long, value_name = "SECONDS", value_parser = parse_age)]
    max_age: Option<f64>,
}

fn parse_age(text: &str) -> Result<f64, String> {
    let age = text.parse().ok().filter(|age: &f64| *age > 0.0 && age.is_finite());
    age.ok_or_else(|| "give an age in seconds above 0, such as 0.1".into())
}

/// Columns that a command which writes a row for every row passes on.
#[derive(Debug, clap::Args)]
pub(super) struct KeptColumns {
    /// Columns to copy to the output as they are, such as time stamps; separated by commas.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(super) keep: Vec<String>,
}

/// Comparison of the rows that a command writes with true ones.
#[derive(Debug, clap::Args)]
pub(super) struct TruthOptions {
    /// The same rows without noise or gaps, to score the result.
    #[arg(long, value_name = "F.csv")]
    pub(super) truth: Option<PathBuf>,
    /// Write an HTML page with the rows before and after, and the truth if given.
    #[arg(long, value_name = "F.html")]
    pub(super) plot: Option<PathBuf>,
    /// Print the scores as one JSON object instead of rows; rows are still written to --output.
    #[arg(long, requires = "truth")]
    pub(super) json: bool,
}

impl RowIo {
    /// Opens the input.
    pub(super) fn open(&self) -> Result<RowReader<Box<dyn BufRead>>> {
        let mark = self.decimal_comma.then_some(DecimalMark::Comma);
        Ok(open_with(self.input.as_deref(), !self.no_header, &self.bag)?.with_decimal_mark(mark))
    }

    /// Writes the output.
    pub(super) fn write(&self, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
        write(self.output.as_deref(), fill)
    }
}

/// Opens a CSV, NumPy or Parquet file, a bag with one topic of numbers, or standard input.
pub(super) fn open(input: Option<&Path>, header: bool) -> Result<RowReader<Box<dyn BufRead>>> {
    open_with(input, header, &BagOptions::default())
}

fn open_with(
    input: Option<&Path>,
    header: bool,
    options: &BagOptions,
) -> Result<RowReader<Box<dyn BufRead>>> {
    let Some(path) = input else {
        return RowReader::new(Box::new(io::stdin().lock()), "standard input", header);
    };
    let name = path.display().to_string();
    let file = File::open(path).with_context(|| format!("cannot read {name}"))?;
    let mut file = BufReader::new(file);
    let head = file.fill_buf().with_context(|| format!("cannot read {name}"))?;
    match FileFormat::infer(path, &head[..head.len().min(FileFormat::HEAD)]) {
        FileFormat::Npy => {
            let text = npy_as_csv(path)?;
            return RowReader::new(Box::new(Cursor::new(text)), &name, false);
        }
        FileFormat::Mcap => {
            let text = bag_as_csv(path, options).with_context(|| name.clone())?;
            return RowReader::new(Box::new(Cursor::new(text)), &name, true);
        }
        FileFormat::Parquet => return RowReader::new(open_rows(path, FileFormat::Parquet)?, &name, true),
        _ => {}
    }
    RowReader::new(Box::new(file), &name, header)
}

/// The rows of a NumPy array as CSV without a header, with a blank line between sequences. Numbers are
/// written so that reading gives the same bits.
fn npy_as_csv(path: &Path) -> Result<String> {
    let table = npy::read_path(path)?;
    let mut text = String::new();
    for rows in &table.sequences {
        for row in rows.iter() {
            let cells: Vec<String> = row.iter().map(|&value| npy_cell(value)).collect();
            text += &cells.join(",");
            text.push('\n');
        }
        text.push('\n');
    }
    Ok(text)
}

/// All columns of a bag as CSV, behind the column `time` in seconds.
fn bag_as_csv(path: &Path, options: &BagOptions) -> Result<String> {
    let bag = Bag::parse(fs::read(path)?)?;
    let names = bag.names();
    let clock =
        options.clock.clone().map_or_else(|| bag.only_topic().context("--clock TOPIC chooses"), Ok)?;
    let mut config = BagConfig { clock: Some(clock), ..BagConfig::default() };
    config.max_age = options.max_age.unwrap_or(config.max_age);
    let BagRows { table, times, notes } = bag.rows(&names, &config)?;
    bag.notes().iter().chain(&notes).for_each(|note| print_note(&format!("note: {note}")));
    let mut text = String::from("time");
    names.iter().for_each(|name| text += &format!(",{}", spreadsheet::cell(name)));
    for (time, row) in times.iter().zip(table.sequences.iter().flat_map(Rows::iter)) {
        write!(text, "\n{}.{:09}", time.div_euclid(1_000_000_000), time.rem_euclid(1_000_000_000))?;
        row.iter().try_for_each(|value| write!(text, ",{}", cell(*value)))?;
    }
    Ok(text + "\n")
}

/// A missing value is spelled out: a line without any character would end a sequence.
fn npy_cell(value: f32) -> String {
    if value.is_nan() { "NaN".into() } else { value.to_string() }
}

/// Reads these columns of a whole file.
pub(super) fn read_whole(path: &Path, header: bool, names: &[String]) -> Result<Table> {
    let mut rows = open(Some(path), header)?;
    select(&mut rows, names, names.len())?;
    csv::read(&mut rows)
}

/// Selects columns by name, or takes all in order if the file or the model has no names.
pub(super) fn select<R: BufRead>(rows: &mut RowReader<R>, wanted: &[String], count: usize) -> Result<()> {
    let names = rows.names();
    let is_named = rows.has_header() || wanted.iter().all(|name| names.contains(name));
    if is_named && !wanted.is_empty() {
        return rows.select(wanted);
    }
    let found = names.len();
    if found != count {
        bail!(
            "{}: {found} columns, but the model has {count} inputs ({}); give one column per input, in this order",
            rows.file(),
            wanted.join(", ")
        );
    }
    Ok(())
}

/// Writes a file atomically, or to standard output until its reader closes it.
pub(super) fn write(output: Option<&Path>, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    match output {
        None => match fill(&mut io::stdout().lock()) {
            Err(error) if is_broken_pipe(&error) => Ok(()),
            result => result,
        },
        Some(path) => files::replace_with(path, fill),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// The shortest text that parses to the same number, or an empty cell for NaN.
pub(super) fn cell(value: f32) -> String {
    if value.is_nan() { String::new() } else { value.to_string() }
}
