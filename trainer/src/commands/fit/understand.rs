//! What `quaver fit` takes files and columns for, and its table.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::arguments::DataArguments;
use super::labels::labelled_task;
use crate::auto::{Experiment, Task, split};
use crate::commands::text_table;
use crate::config::FileFormat;
use crate::data::Dataset;
use crate::survey::{
    ClockSummary, ColumnRole, FileSurvey, Preparation, PreparedFile, Roles, Survey, TaskRequest, guess_roles,
    prepare,
};

/// Files that have been understood.
pub(in crate::commands) struct Understanding {
    pub(super) roles: Roles,
    pub(super) clock: Option<ClockSummary>,
    pub(in crate::commands) experiment: Experiment,
    pub(in crate::commands) data: Dataset,
    /// Whether the files name their columns.
    pub(super) has_header: bool,
    /// Files and rows, for people.
    files: String,
    /// What is unusual about files, for people.
    notes: Vec<String>,
}

impl Understanding {
    /// Reads all files; those that have to be cut or resampled are written to `folder`.
    pub(in crate::commands) fn new(arguments: &DataArguments, folder: &Path) -> Result<Self> {
        let all: Vec<PathBuf> = arguments.files().map(absolute).collect::<Result<_>>()?;
        check_distinct(&all)?;
        let survey = Survey::read(&all)?;
        let roles = guess_roles(&survey, arguments.task(&survey)?, &arguments.roles(&survey)?)?;
        let columns: Vec<String> = [ColumnRole::Input, ColumnRole::Target, ColumnRole::Label]
            .iter()
            .flat_map(|role| roles.named(*role))
            .collect();
        let preparation = Preparation {
            roles: &roles,
            columns: &columns,
            resample: arguments.resample,
            max_gap: arguments.max_gap,
        };
        let clock = clock(&preparation, &survey)?;
        let prepared = prepare_all(&preparation, &survey, folder)?;
        let starts: Vec<Vec<usize>> = survey.files.iter().map(|file| preparation.starts(file)).collect();
        let was_prepared =
            prepared.iter().zip(&survey.files).any(|(prepared, file)| prepared.path != file.path);
        let (train, others) = prepared.split_at(arguments.rows.len());
        let (valid, test) = others.split_at(arguments.valid.len());
        let experiment = experiment(arguments, &survey, &roles, &starts, [train, valid, test], was_prepared)?;
        let (experiment, data) = load(experiment, arguments, clock.as_ref().map(|clock| clock.rate_hz))?;
        // Files that are read several times, for several splits, have their notes once.
        let peculiarities = survey.files.iter().filter_map(|file| file.peculiarities.clone());
        let of_data = data.notes.iter().cloned();
        let all: Vec<String> = if was_prepared { peculiarities.collect() } else { of_data.collect() };
        let mut notes: Vec<String> = Vec::new();
        all.into_iter().for_each(|note| {
            if !notes.contains(&note) {
                notes.push(note)
            }
        });
        if was_prepared {
            notes.push(
                "rows are cut or resampled: what the model reads is a copy in the folder `data`".into(),
            );
        }
        let has_header = survey.files[0].has_header || survey.files[0].format != FileFormat::Csv;
        let files = files_text(&survey, &prepared);
        Ok(Understanding { files, has_header, roles, clock, experiment, data, notes })
    }

    /// The table.
    pub(in crate::commands) fn render(&self) -> String {
        let mut rows = vec![["column", "taken for", "why"].map(String::from).to_vec()];
        rows.extend(
            self.roles.columns.iter().map(|column| {
                vec![column.name.clone(), column.role.name().to_string(), column.reason.clone()]
            }),
        );
        let mut text = format!("{}\n\n{}\n", self.files, left_aligned(&rows));
        text += &self.notes.iter().map(|note| format!("note: {note}\n")).collect::<String>();
        let reason = self.roles.task_reason.as_ref().map_or(String::new(), |reason| format!(" ({reason})"));
        text += &format!("task     {}{reason}\n", self.experiment.task_in_words());
        if let Some(clock) = &self.clock {
            text += &format!("rate     {clock}\n");
        }
        text += &format!("splits   {}\n", self.splits());
        text
    }

    /// How the data are split, with the rows or sequences of each part.
    pub(super) fn splits(&self) -> String {
        let count = |sequences: &[crate::data::Sequence]| match self.experiment.is_reducer() {
            true => sequences.len(),
            false => sequences.iter().map(crate::data::Sequence::len).sum(),
        };
        let what = if self.experiment.is_reducer() { "sequences" } else { "rows" };
        let [train, valid, test] =
            [&self.data.train, &self.data.valid, &self.data.test].map(|part| count(part));
        format!("{} ({train}, {valid} and {test} {what})", self.experiment.splits.how)
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "columns": self.roles.columns,
            "notes": self.notes,
            "task": self.experiment.task_in_words(),
            "task_reason": self.roles.task_reason,
            "clock": self.clock,
            "splits": self.splits(),
        })
    }

    /// The unit of a column, if the file has it.
    pub(super) fn unit(&self, name: &str) -> Option<&str> {
        self.roles.columns.iter().find(|column| column.name == name)?.unit.as_deref()
    }
}

fn absolute(path: &PathBuf) -> Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("{}: cannot resolve this path", path.display()))
}

fn check_distinct(paths: &[PathBuf]) -> Result<()> {
    for (index, path) in paths.iter().enumerate() {
        ensure!(!paths[..index].contains(path), "{} is given twice; give every file once", path.display());
    }
    Ok(())
}

/// Rate, jitter, gaps and order over all files; refuses rows that are not in order.
fn clock(preparation: &Preparation<'_>, survey: &Survey) -> Result<Option<ClockSummary>> {
    let Some((name, _)) = &preparation.roles.time else { return Ok(None) };
    let clocks: Vec<_> =
        survey.files.iter().filter_map(|file| Some((preparation.clock(file)?, file))).collect();
    ensure!(
        clocks.len() == survey.files.len(),
        "the time column `{name}` does not grow in every file: sort the rows, name another with --time-column, or \
         --time-column none"
    );
    let starts = |file: &FileSurvey| {
        let recording =
            preparation.roles.recording.as_ref().and_then(|name| file.column(name)?.changes.clone());
        let mut starts = file.starts.clone();
        starts.extend(recording.unwrap_or_default());
        starts.sort_unstable();
        starts.dedup();
        starts
    };
    let all_starts: Vec<Vec<usize>> = clocks.iter().map(|(_, file)| starts(file)).collect();
    let pairs = clocks.iter().zip(&all_starts).map(|((clock, _), starts)| (clock, starts.as_slice()));
    let summary = ClockSummary::new(pairs, preparation.max_gap);
    if let Some(summary) = &summary {
        ensure!(
            summary.backwards * 100 <= summary.steps,
            "`{name}` goes backwards in {} of {} rows: the rows are not in order. Sort them, or --time-column none",
            summary.backwards,
            summary.steps
        );
    }
    Ok(summary.map(|summary| match preparation.resample {
        Some(rate_hz) => ClockSummary { rate_hz, jitter: 0.0, is_regular: true, ..summary },
        None => summary,
    }))
}

fn prepare_all(preparation: &Preparation<'_>, survey: &Survey, folder: &Path) -> Result<Vec<PreparedFile>> {
    // If one file has to be written, all are: the others may have no header, or another decimal mark.
    let is_ready = survey.files.iter().all(|file| preparation.is_ready(file));
    if is_ready {
        return Ok(survey.files.iter().map(|file| preparation.as_it_is(file)).collect());
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    let one = |(index, file): (usize, &FileSurvey)| {
        let stem = file.path.file_stem().unwrap_or_default().to_string_lossy();
        prepare(preparation, file, &folder.join(format!("{index:03}-{stem}.csv")))
    };
    survey.files.iter().enumerate().map(one).collect()
}

fn experiment(
    arguments: &DataArguments,
    survey: &Survey,
    roles: &Roles,
    starts: &[Vec<usize>],
    [train, valid, test]: [&[PreparedFile]; 3],
    was_prepared: bool,
) -> Result<Experiment> {
    let splits = split(train, [valid, test], arguments.test_share)?;
    let inputs = roles.named(ColumnRole::Input);
    let ahead = arguments.ahead(survey, &inputs)?;
    let targets = match (&roles.task, &ahead) {
        (TaskRequest::Columns(names), _) => names,
        (_, Some(ahead)) => &ahead.columns,
        _ => &inputs,
    };
    let is_binary = targets.iter().all(|name| survey.column(name).is_some_and(|column| column.is_binary()));
    let task = match &roles.task {
        TaskRequest::Columns(names) => {
            let text = names.iter().find(|name| survey.column(name).is_some_and(|column| column.texts > 0));
            if let Some(name) = text {
                anyhow::bail!(
                    "--target: `{name}` has text such as `{}`; --label {name} makes it classes",
                    survey.column(name).map_or("", |column| &column.example)
                );
            }
            if arguments.has_truth() { Task::Truth(names.clone()) } else { Task::Columns(names.clone()) }
        }
        TaskRequest::Clean => Task::Clean(arguments.snr_db()),
        TaskRequest::Label(column) => {
            Task::Label(labelled_task(survey, starts, column, arguments.test_share)?)
        }
        TaskRequest::Next | TaskRequest::Guess => ahead.map_or(Task::Next, Task::Ahead),
    };
    Ok(Experiment {
        seed: arguments.seed,
        splits,
        has_header: was_prepared || survey.files[0].has_header || survey.files[0].format != FileFormat::Csv,
        decimal_comma: arguments.decimal_comma && !was_prepared,
        inputs: ordered(inputs, arguments, survey, &task)?,
        task,
        is_binary,
    })
}

/// The inputs; where each has a column with its truth, in the order of these.
fn ordered(
    found: Vec<String>,
    arguments: &DataArguments,
    survey: &Survey,
    task: &Task,
) -> Result<Vec<String>> {
    let Task::Truth(truth) = task else { return Ok(found) };
    let mut inputs = arguments.ordered_inputs(survey)?;
    inputs.retain(|name| found.contains(name));
    let inputs = if inputs.is_empty() { found } else { inputs };
    ensure!(
        inputs.len() == truth.len(),
        "--truth names {} columns ({}), but there are {} inputs ({}): name the noisy columns with --inputs, in the same order",
        truth.len(),
        truth.join(", "),
        inputs.len(),
        inputs.join(", ")
    );
    Ok(inputs)
}

/// Reads the data. Where files do not hold every class in every part, sequences of each class are drawn
/// instead.
fn load(
    mut experiment: Experiment,
    arguments: &DataArguments,
    rate_hz: Option<f64>,
) -> Result<(Experiment, Dataset)> {
    let Task::Label(labels) = &mut experiment.task else {
        let data = experiment.load_data()?;
        return Ok((experiment, data));
    };
    match arguments.window {
        Some(rows) => labels.take_window(rows as usize)?,
        None => labels.settle_window(rate_hz),
    }
    if labels.cut != "sequences" || experiment.splits.train.len() > 1 {
        let found = experiment.load_data();
        if let Ok(data) = found
            && super::labels::has_every_class(&data)
        {
            return Ok((experiment, data));
        }
    }
    ensure!(
        arguments.valid.is_empty(),
        "some class is missing in the files for training, validation or testing: choose others, or leave --valid out, \
         and sequences of every class are drawn for validation"
    );
    super::labels::draw_by_class(&mut experiment);
    let data = experiment.load_data()?;
    ensure!(
        super::labels::has_every_class(&data),
        "some class occurs too rarely to train, validate and test on it: record every class at least five times"
    );
    Ok((experiment, data))
}

fn files_text(survey: &Survey, prepared: &[PreparedFile]) -> String {
    let sequences: usize = prepared.iter().map(|file| file.sequences.len()).sum();
    let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    format!(
        "{}, {} in {}",
        counted(survey.files.len(), "file"),
        counted(survey.rows(), "row"),
        counted(sequences, "recording")
    )
}

/// A table whose columns are all aligned to the left.
fn left_aligned(rows: &[Vec<String>]) -> String {
    let mut padded = rows.to_vec();
    for column in 1..rows[0].len() {
        let width = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        padded.iter_mut().for_each(|row| row[column] = format!("{:<width$}", row[column]));
    }
    text_table::render(&padded)
}
