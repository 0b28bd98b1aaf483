//! Common parts of the demos of latent models: clean recordings, a run, and its checkpoint.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};

use super::super::export;
use super::super::print::print_text;
use super::super::progress::TrainingConsole;
use super::training::train_anew;
use crate::data::Dataset;
use crate::demo::signal::{MUSCLES, Recording, SignalForm, generate};
use crate::files;
use crate::report::{self, Body, Report, Section, plot};

/// Length of each part of the data, in seconds.
const SECONDS: [(&str, f32); 3] = [("train", 300.0), ("valid", 60.0), ("test", 60.0)];

/// A finished run with its data, and its model in int8.
pub(super) struct FinishedRun {
    pub(super) data: Dataset,
    pub(super) model: PathBuf,
    training_seconds: f64,
    begun: Instant,
}

/// Writes recordings of muscle activations and force, trains with the config, and stores the model in int8.
/// The last step is left to the caller.
pub(super) fn record_and_train(out: &Path, seed: u64, config: &str, notice: &str) -> Result<FinishedRun> {
    let begun = Instant::now();
    eprintln!("1/4  recording: activations of three muscles and their force{notice}");
    record(out, seed, config)?;
    eprintln!("2/4  training on {:.0} s of it", SECONDS[0].1);
    let (folder, data, summary) = train_anew(out, &mut TrainingConsole::new())?;
    eprintln!("3/4  exporting to int8 and evaluating with the runtime");
    let model = out.join("model.qvr");
    export::run(&export::Arguments::int8(folder.path().to_path_buf(), model.clone()))?;
    Ok(FinishedRun { data, model, training_seconds: summary.seconds, begun })
}

/// Writes recordings of muscle activations and force, and the config.
fn record(out: &Path, seed: u64, config: &str) -> Result<()> {
    let data = out.join("data");
    fs::create_dir_all(&data).with_context(|| format!("cannot create the folder {}", data.display()))?;
    for (index, (name, seconds)) in SECONDS.into_iter().enumerate() {
        let recording = generate(3 * seed + index as u64, seconds, SignalForm::default());
        files::replace(&data.join(format!("{name}.csv")), to_csv(&recording).as_bytes())?;
    }
    files::replace(&out.join("config.toml"), config.replace("SEED", &seed.to_string()).as_bytes())
}

/// True activations and force, which only a synthetic signal has.
fn to_csv(recording: &Recording) -> String {
    let header = (1..=MUSCLES).map(|muscle| format!("muscle{muscle},")).collect::<String>() + "force_n\n";
    let rows = recording.activations.iter().zip(&recording.force_true).map(|(activations, force)| {
        activations.iter().map(|activation| format!("{activation},")).collect::<String>()
            + &format!("{force}\n")
    });
    header + &rows.collect::<String>()
}

/// Writes the last plot of a page, that of the force, as a file of its own.
pub(super) fn write_picture(path: &Path, page: &Report) -> Result<()> {
    let figure = |section: &Section| match &section.body {
        Body::Svg(figure) => Some(figure.clone()),
        _ => None,
    };
    let last = page.sections.iter().rev().find_map(figure).context("the page has no plot")?;
    plot::standalone(path, &last)
}

/// Writes rows as CSV with a header.
pub(super) fn write_csv<'r>(
    path: &Path,
    names: &[String],
    rows: impl Iterator<Item = &'r [f32]>,
) -> Result<()> {
    let row = |row: &[f32]| row.iter().map(f32::to_string).collect::<Vec<_>>().join(",") + "\n";
    let text = names.join(",") + "\n" + &rows.map(row).collect::<String>();
    files::replace(path, text.as_bytes())
}

/// Writes the report with a last section of commands to try, and prints where it is and how long the demo
/// took.
pub(super) fn finish(out: &Path, mut page: Report, commands: String, run: &FinishedRun) -> Result<()> {
    page.sections.push(Section {
        heading: "Next steps".into(),
        text: "All results are in files.".into(),
        body: Body::Pre(commands),
    });
    let path = out.join("report.html");
    report::write(&path, &page)?;
    print_text(&format!(
        "report: {}\ntook {:.0} s, {:.0} s of it training\n",
        path.display(),
        run.begun.elapsed().as_secs_f64(),
        run.training_seconds
    ))
}
