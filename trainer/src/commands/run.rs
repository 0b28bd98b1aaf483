//! `quaver run`: the runtime itself, row by row.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use quaver::{Model, Prediction};
use tempfile::NamedTempFile;

use crate::data::csv::{RowReader, RowStart};

/// Run a checkpoint through the runtime, row by row.
///
/// Reads CSV with a header and picks the model's inputs by name; an empty cell is a missing channel. Writes one row per
/// row read, at once, so that it works on a live pipe. For each output: mean, standard deviation, and the epistemic and
/// aleatoric parts of the variance. For a model of its own next input the prediction is for the row to come, and the
/// surprise of the row just read is added. A blank line in the input resets the stream.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver run model.qvr --input rows.csv --output predictions.csv
  tail -f live.csv | quaver run model.qvr
  quaver run model.qvr --no-header < numbers.csv")]
pub struct Arguments {
    /// The checkpoint.
    #[arg(value_name = "MODEL.qvr")]
    model: PathBuf,
    /// Rows to read; standard input by default.
    #[arg(long, value_name = "F.csv")]
    input: Option<PathBuf>,
    /// Predictions to write, whole or not at all; standard output by default.
    #[arg(long, value_name = "F.csv")]
    output: Option<PathBuf>,
    /// The input has no header: its columns are the model's inputs in order.
    #[arg(long)]
    no_header: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let path = arguments.model.display();
    let bytes = fs::read(&arguments.model).with_context(|| format!("cannot read {path}"))?;
    let model = Model::load(&bytes).with_context(|| format!("{path} is not a usable checkpoint"))?;
    let rows = open(arguments.input.as_deref(), !arguments.no_header)?;
    match &arguments.output {
        None => match stream(&model, rows, &mut io::stdout().lock()) {
            // Whoever read the output has seen enough.
            Err(error) if is_broken_pipe(&error) => Ok(()),
            result => result,
        },
        Some(output) => write_whole(output, |file| stream(&model, rows, file)),
    }
}

fn open(input: Option<&Path>, header: bool) -> Result<RowReader<Box<dyn BufRead>>> {
    let (source, name): (Box<dyn BufRead>, String) = match input {
        None => (Box::new(io::stdin().lock()), "standard input".into()),
        Some(path) => {
            let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
            (Box::new(BufReader::new(file)), path.display().to_string())
        }
    };
    RowReader::new(source, &name, header)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

fn write_whole(path: &Path, fill: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let complain = || format!("cannot write {}", path.display());
    let mut file = NamedTempFile::new_in(folder).with_context(complain)?;
    fill(file.as_file_mut())?;
    file.persist(path).with_context(complain)?;
    Ok(())
}

fn stream<R: BufRead>(model: &Model<'_>, mut rows: RowReader<R>, out: &mut impl Write) -> Result<()> {
    select(model, &mut rows)?;
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut state = model.start_in(&mut words)?;
    let mut row = vec![0.0; model.spec().inputs.into()];
    writeln!(out, "{}", header(model))?;
    out.flush()?;
    while let Some(start) = rows.next_row(&mut row)? {
        if start == RowStart::NewSequence {
            model.reset(&mut state);
        }
        let line = line(model, &model.step(&mut state, &row));
        out.write_all(line.as_bytes())?;
        out.flush()?;
    }
    Ok(())
}

/// Picks the model's inputs by name, or takes all columns in order when either side has no names.
fn select<R: BufRead>(model: &Model<'_>, rows: &mut RowReader<R>) -> Result<()> {
    let wanted: Vec<String> = model.checkpoint().input_names().map(String::from).collect();
    let found = rows.names();
    let numbered = found.iter().enumerate().all(|(index, name)| *name == format!("c{index}"));
    if wanted.is_empty() || numbered {
        if found.len() != usize::from(model.spec().inputs) {
            bail!(
                "{}: {} columns, but the model has {} inputs ({}); give one column per input, in this order",
                rows.file(),
                found.len(),
                model.spec().inputs,
                wanted.join(", ")
            );
        }
        return Ok(());
    }
    rows.select(&wanted)
}

fn output_names(model: &Model<'_>) -> Vec<String> {
    let names: Vec<String> = model.checkpoint().output_names().map(String::from).collect();
    let numbered = || (0..model.spec().outputs).map(|index| format!("y{index}")).collect();
    if names.is_empty() { numbered() } else { names }
}

fn header(model: &Model<'_>) -> String {
    let names = output_names(model);
    let mut columns: Vec<String> = names
        .iter()
        .flat_map(|name| {
            ["mean", "sd", "epistemic", "aleatoric"].map(|part| quoted(&format!("{name}.{part}")))
        })
        .collect();
    if model.spec().target.is_next() {
        columns.push("surprise".into());
        columns.extend(names.iter().map(|name| quoted(&format!("{name}.z"))));
    }
    columns.join(",")
}

/// A CSV cell, quoted where its text needs it.
fn quoted(text: &str) -> String {
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_string() }
}

fn line(model: &Model<'_>, prediction: &Prediction<'_>) -> String {
    let outputs = prediction.iter().flat_map(|o| [o.mean, o.deviation(), o.epistemic, o.aleatoric]);
    let mut cells: Vec<String> = outputs.map(|value| value.to_string()).collect();
    if model.spec().target.is_next() {
        let surprise = prediction.surprise();
        cells.push(surprise.map_or(String::new(), |surprise| surprise.nll.to_string()));
        let z = surprise.map(|surprise| surprise.z).unwrap_or_default();
        let cell = |index: usize| z.get(index).filter(|z| !z.is_nan()).map_or(String::new(), f32::to_string);
        cells.extend((0..model.spec().outputs.into()).map(cell));
    }
    cells.join(",") + "\n"
}
