//! How labelled recordings become sequences of one class.

use anyhow::{Context, Result, ensure};

use crate::auto::{Experiment, LabelledTask, Task};
use crate::data::labelled::LabelledSequences;
use crate::data::{Dataset, Sequence};
use crate::survey::{FileSurvey, Survey};

/// Length of a window in seconds, where the rate is known, and in rows where it is not.
const WINDOW_SECONDS: f64 = 0.4;
const WINDOW_ROWS: usize = 40;

/// Most windows of a data set, about: more take longer and say nothing new.
const MOST_WINDOWS: usize = 20_000;

/// The task of telling the classes in a column: of whole recordings where each has one class, else of
/// windows. `starts` are the rows of each file in which recordings start.
pub(super) fn labelled_task(
    survey: &Survey,
    starts: &[Vec<usize>],
    column: &str,
    test_share: f64,
) -> Result<LabelledTask> {
    let statistics = survey.column(column).context("a label column was checked before")?;
    let classes =
        statistics.distinct.as_ref().map(|distinct| distinct.keys().filter(|name| !name.is_empty()).count());
    ensure!(
        classes.is_some_and(|classes| (2..=64).contains(&classes)),
        "--label: `{column}` has {}; a label names one of 2 to 64 classes",
        classes.map_or("more than 256 different values".to_string(), |classes| format!(
            "{classes} different values"
        ))
    );
    let changes = |file: &FileSurvey| file.column(column).and_then(|column| column.changes.clone());
    let changes_inside = |(file, starts): (&FileSurvey, &Vec<usize>)| {
        changes(file).is_none_or(|rows| rows.iter().any(|row| starts.binary_search(row).is_err()))
    };
    let is_stream = survey.files.iter().zip(starts).any(changes_inside);
    let runs: usize = survey.files.iter().map(|file| changes(file).map_or(1, |rows| rows.len() + 1)).sum();
    Ok(LabelledTask {
        column: column.to_string(),
        cut: if is_stream { "windows" } else { "sequences" },
        // Half of a stretch of one class, at most, and later what the rate says.
        window: (survey.rows() / (2 * runs.max(1))).max(2),
        stride: survey.rows().div_ceil(MOST_WINDOWS),
        is_stratified: false,
        test_share,
    })
}

impl LabelledTask {
    /// Sets the length of windows, once the rate is known.
    pub(super) fn settle_window(&mut self, rate_hz: Option<f64>) {
        let wanted = rate_hz.map_or(WINDOW_ROWS, |rate| (rate * WINDOW_SECONDS) as usize).clamp(10, 200);
        let window = wanted.min(self.window).max(2);
        // Five parts of a window are pooled one by one in a stream.
        self.window = if window >= 10 { window / 5 * 5 } else { window };
        self.stride = self.stride.max(self.window / 5).max(1);
    }

    /// Windows of a length that the user has chosen.
    pub(super) fn take_window(&mut self, rows: usize) -> Result<()> {
        ensure!(
            self.cut == "windows",
            "--window: every recording has one class, and is classified as a whole; leave --window out"
        );
        self.window = rows;
        self.stride = self.stride.max(rows / 5).max(1);
        Ok(())
    }
}

/// Whether every part has sequences of every class.
pub(super) fn has_every_class(data: &Dataset) -> bool {
    let all = |sequences: &[Sequence]| {
        LabelledSequences::of(sequences, &data.target_names).counts().iter().all(|count| *count > 0)
    };
    all(&data.train) && all(&data.valid) && all(&data.test)
}

/// Draws sequences of every class for validation and testing: whole recordings, or whole stretches of one
/// class, so that neighbouring rows stay together.
pub(super) fn draw_by_class(experiment: &mut Experiment) {
    let Task::Label(labels) = &mut experiment.task else { return };
    let what = if labels.cut == "sequences" { "recordings" } else { "stretches of one class" };
    if labels.cut == "windows" {
        labels.cut = "runs";
    }
    labels.is_stratified = true;
    let splits = &mut experiment.splits;
    let mut paths: Vec<_> =
        splits.train.iter().chain(&splits.valid).map(|source| source.file.clone()).collect();
    let keeps_test = splits.how.contains("as given");
    if !keeps_test {
        paths.extend(splits.test.drain(..).map(|source| source.file));
    } else {
        labels.test_share = 0.0;
    }
    paths.dedup();
    let mut distinct = Vec::new();
    for path in paths {
        if !distinct.contains(&path) {
            distinct.push(path);
        }
    }
    splits.train = distinct.into_iter().map(crate::config::DataSource::whole).collect();
    splits.valid.clear();
    let test = if keeps_test {
        "; test files as given".into()
    } else {
        format!(", {:.0} % for testing", 100.0 * labels.test_share)
    };
    splits.how =
        format!("by class: of every class 20 % of the {what} are drawn for validation{test}; none is cut");
}
