//! Input and output of rows: files or standard streams.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::data::Table;
use crate::data::csv::{self, RowReader};
use crate::files;

/// Input and output of rows.
#[derive(Debug, clap::Args)]
pub(super) struct RowIo {
    /// CSV file to read; standard input by default.
    #[arg(long, visible_alias = "in", value_name = "F.csv")]
    pub(super) input: Option<PathBuf>,
    /// CSV file to write, atomically; standard output by default.
    #[arg(long, visible_alias = "out", value_name = "F.csv")]
    pub(super) output: Option<PathBuf>,
    /// The input has no header: its columns are the model's inputs in order.
    #[arg(long)]
    pub(super) no_header: bool,
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
        open(self.input.as_deref(), !self.no_header)
    }

    /// Writes the output.
    pub(super) fn write(&self, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
        write(self.output.as_deref(), fill)
    }
}

/// Opens a file, or standard input.
pub(super) fn open(input: Option<&Path>, header: bool) -> Result<RowReader<Box<dyn BufRead>>> {
    let (source, name): (Box<dyn BufRead>, String) = match input {
        None => (Box::new(io::stdin().lock()), "standard input".into()),
        Some(path) => {
            let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
            (Box::new(BufReader::new(file)), path.display().to_string())
        }
    };
    RowReader::new(source, &name, header)
}

/// Reads these columns of a whole file.
pub(super) fn read_whole(path: &Path, header: bool, names: &[String]) -> Result<Table> {
    let mut rows = open(Some(path), header)?;
    select(&mut rows, names, names.len())?;
    csv::read(rows)
}

/// Selects columns by name, or takes all in order if the file or the model has no names.
pub(super) fn select<R: BufRead>(rows: &mut RowReader<R>, wanted: &[String], count: usize) -> Result<()> {
    let found = rows.names();
    let numbered = found.iter().enumerate().all(|(index, name)| *name == format!("c{index}"));
    if wanted.is_empty() || numbered {
        if found.len() != count {
            bail!(
                "{}: {} columns, but the model has {count} inputs ({}); give one column per input, in this order",
                rows.file(),
                found.len(),
                wanted.join(", ")
            );
        }
        return Ok(());
    }
    rows.select(wanted)
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
