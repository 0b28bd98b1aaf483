//! The role of every column, with a reason.

use std::fmt;

use anyhow::{Result, bail, ensure};
use serde::Serialize;

use super::clock::TimeUnit;
use super::column::ColumnStatistics;
use super::file::Survey;
use super::unit::name_and_unit;

/// What a column is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnRole {
    /// Read by the model.
    Input,
    /// Predicted.
    Target,
    /// The class of a row or a sequence.
    Label,
    /// When a row was sampled.
    Time,
    /// Which recording or person a row is of.
    Recording,
    /// A counter of rows.
    Index,
    /// The same in every row.
    Constant,
    /// Missing in every row.
    Empty,
    /// Words.
    Text,
    /// Left out.
    Excluded,
}

impl ColumnRole {
    /// The role in one word.
    pub fn name(self) -> &'static str {
        match self {
            ColumnRole::Input => "input",
            ColumnRole::Target => "target",
            ColumnRole::Label => "label",
            ColumnRole::Time => "time",
            ColumnRole::Recording => "recording",
            ColumnRole::Index => "index",
            ColumnRole::Constant => "constant",
            ColumnRole::Empty => "empty",
            ColumnRole::Text => "text",
            ColumnRole::Excluded => "excluded",
        }
    }
}

/// The role of a column and why it has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ColumnGuess {
    /// Its name.
    pub name: String,
    /// Its unit, if the file has it.
    pub unit: Option<String>,
    /// Its role.
    pub role: ColumnRole,
    /// Why.
    pub reason: String,
}

/// What the model is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskRequest {
    /// Not said.
    Guess,
    /// These columns.
    Columns(Vec<String>),
    /// The next row of the inputs.
    Next,
    /// The inputs without noise.
    Clean,
    /// The class in this column.
    Label(String),
}

/// Guesses that are overruled.
#[derive(Clone, Debug, Default)]
pub struct RoleOptions {
    /// The inputs, if given.
    pub inputs: Vec<String>,
    /// Columns that are not read.
    pub exclude: Vec<String>,
    /// The time column; `none` for none.
    pub time: Option<String>,
    /// The column that names recordings; `none` for none.
    pub recording: Option<String>,
    /// The unit of the time column.
    pub time_unit: Option<TimeUnit>,
}

/// The roles of all columns.
#[derive(Clone, Debug)]
pub struct Roles {
    /// Each column, in the order of the file.
    pub columns: Vec<ColumnGuess>,
    /// What the model is for.
    pub task: TaskRequest,
    /// Why, where it was not said.
    pub task_reason: Option<String>,
    /// The time column and the unit of its numbers.
    pub time: Option<(String, TimeUnit)>,
    /// The column whose changes start recordings.
    pub recording: Option<String>,
}

impl Roles {
    /// Names of the columns with a role.
    pub fn named(&self, role: ColumnRole) -> Vec<String> {
        let with = self.columns.iter().filter(|column| column.role == role);
        with.map(|column| column.name.clone()).collect()
    }
}

/// Names, in lower case, that people give to columns of each kind.
const TIMES: &[&str] = &[
    "time",
    "t",
    "timestamp",
    "ts",
    "date",
    "datetime",
    "date_time",
    "epoch",
    "seconds",
    "millis",
    "clock",
    "time_s",
    "time_ms",
    "time_us",
    "time_ns",
    "timestamp_ms",
    "timestamp_us",
    "timestamp_ns",
    "sample_time",
    "elapsed",
];
const RECORDINGS: &[&str] = &[
    "sequence",
    "recording",
    "session",
    "trial",
    "run",
    "series",
    "episode",
    "take",
    "file",
    "rep",
    "repetition",
    "segment",
    "subject",
    "participant",
    "person",
    "user",
    "patient",
    "id",
    "recording_id",
    "session_id",
    "trial_id",
    "series_id",
    "subject_id",
    "user_id",
    "participant_id",
    "run_id",
    "sequence_id",
];
const LABELS: &[&str] = &[
    "label", "labels", "class", "classes", "gesture", "activity", "category", "state", "movement", "event",
    "fault",
];
const TARGETS: &[&str] = &["target", "targets", "y", "output"];

fn is_named(column: &ColumnStatistics, names: &[&str]) -> bool {
    names.contains(&name_and_unit(&column.name).0.to_lowercase().as_str())
}

/// The role of every column.
///
/// # Errors
/// When an option names a column that does not exist, or columns do not suit the task.
pub fn guess_roles(survey: &Survey, task: TaskRequest, options: &RoleOptions) -> Result<Roles> {
    check_names(survey, &task, options)?;
    let recording = recording_column(survey, options, &task);
    let time = time_column(survey, options, recording.as_deref(), &task);
    let (task, task_reason) = settle_task(survey, task, options, [time.as_deref(), recording.as_deref()]);
    let guesser =
        Guesser { survey, options, task: &task, time: time.as_deref(), recording: recording.as_deref() };
    let columns: Vec<ColumnGuess> = survey.columns.iter().map(|column| guesser.guess(column)).collect();
    let unit = |name: &String| {
        let column = survey.column(name)?;
        Some((name.clone(), options.time_unit.unwrap_or_else(|| TimeUnit::of(column).0)))
    };
    let time = time.as_ref().and_then(unit);
    let roles = Roles { columns, task, task_reason, time, recording };
    check_roles(&roles)?;
    Ok(roles)
}

fn check_names(survey: &Survey, task: &TaskRequest, options: &RoleOptions) -> Result<()> {
    let targets: &[String] = match task {
        TaskRequest::Columns(names) => names,
        TaskRequest::Label(name) => std::slice::from_ref(name),
        _ => &[],
    };
    let one = |name: &Option<String>| name.iter().filter(|name| *name != "none").cloned().collect::<Vec<_>>();
    for (option, names) in [
        ("--target or --label", targets.to_vec()),
        ("--inputs", options.inputs.clone()),
        ("--exclude", options.exclude.clone()),
        ("--time-column", one(&options.time)),
        ("--recording", one(&options.recording)),
    ] {
        if let Some(absent) = names.iter().find(|name| survey.column(name).is_none()) {
            let all: Vec<&str> = survey.columns.iter().map(|column| column.name.as_str()).collect();
            bail!("{option}: no column `{absent}`; the columns are {}", all.join(", "));
        }
    }
    if let Some(both) = options.inputs.iter().find(|name| targets.contains(name)) {
        bail!("`{both}` is in --inputs and a target; take it out of one of them");
    }
    Ok(())
}

/// Whether the user has said what a column is for.
fn is_claimed(name: &str, options: &RoleOptions, task: &TaskRequest) -> bool {
    let name = name.to_string();
    let is_target = match task {
        TaskRequest::Columns(names) => names.contains(&name),
        TaskRequest::Label(label) => *label == name,
        _ => false,
    };
    is_target || options.inputs.contains(&name) || options.exclude.contains(&name)
}

fn recording_column(survey: &Survey, options: &RoleOptions, task: &TaskRequest) -> Option<String> {
    match options.recording.as_deref() {
        Some("none") => return None,
        Some(name) => return Some(name.to_string()),
        None => {}
    }
    let names_rows = |column: &&ColumnStatistics| {
        is_named(column, RECORDINGS)
            && column.is_piecewise_constant()
            && !is_claimed(&column.name, options, task)
    };
    let found = survey.columns.iter().filter(names_rows);
    // The finest one: a session of a subject is a recording, not the subject.
    found.max_by_key(|column| column.changes.as_ref().map_or(0, Vec::len)).map(|column| column.name.clone())
}

fn time_column(
    survey: &Survey,
    options: &RoleOptions,
    recording: Option<&str>,
    task: &TaskRequest,
) -> Option<String> {
    match options.time.as_deref() {
        Some("none") => return None,
        Some(name) => return Some(name.to_string()),
        None => {}
    }
    let free = |column: &&ColumnStatistics| {
        !is_claimed(&column.name, options, task)
            && Some(column.name.as_str()) != recording
            && !column.is_constant()
    };
    let candidates: Vec<&ColumnStatistics> = survey.columns.iter().filter(free).collect();
    let stamped = |column: &&&ColumnStatistics| column.stamps > 0 && 10 * column.stamps >= 9 * column.rows;
    let epoch = |column: &&&ColumnStatistics| {
        column.times.is_some() && column.is_numeric() && column.range.is_some_and(|[low, _]| low >= 1e9)
    };
    let named = |column: &&&ColumnStatistics| {
        column.times.is_some() && column.is_numeric() && is_named(column, TIMES) && !column.counts_rows
    };
    let found = candidates.iter().find(stamped).or_else(|| candidates.iter().find(named));
    found.or_else(|| candidates.iter().find(epoch)).map(|column| column.name.clone())
}

/// The task, and why, where it was not said.
fn settle_task(
    survey: &Survey,
    task: TaskRequest,
    options: &RoleOptions,
    taken: [Option<&str>; 2],
) -> (TaskRequest, Option<String>) {
    if task != TaskRequest::Guess {
        return (task, None);
    }
    let is_free = |column: &&ColumnStatistics| {
        !taken.contains(&Some(column.name.as_str()))
            && !is_claimed(&column.name, options, &TaskRequest::Guess)
            && !column.is_constant()
            && !column.is_empty()
    };
    let free: Vec<&ColumnStatistics> = survey.columns.iter().filter(is_free).collect();
    let is_label = |column: &&&ColumnStatistics| {
        let discrete = column.distinct.as_ref().is_some_and(|distinct| distinct.len() <= 64);
        is_named(column, LABELS) && discrete && (column.texts > 0 || column.is_integer)
    };
    if let Some(label) = free.iter().find(is_label) {
        let reason =
            format!("`{}` names classes; --target, --next or --clean for something else", label.name);
        return (TaskRequest::Label(label.name.clone()), Some(reason));
    }
    let targets: Vec<String> =
        free.iter().filter(|column| is_named(column, TARGETS)).map(|column| column.name.clone()).collect();
    if !targets.is_empty() && targets.len() < free.len() {
        let reason = format!("by the name of {}; --target COLUMNS for others", targets.join(", "));
        return (TaskRequest::Columns(targets), Some(reason));
    }
    let reason =
        "no column is named as a target or a label; --target COLUMNS to predict some from the others";
    (TaskRequest::Next, Some(reason.into()))
}

struct Guesser<'a> {
    survey: &'a Survey,
    options: &'a RoleOptions,
    task: &'a TaskRequest,
    time: Option<&'a str>,
    recording: Option<&'a str>,
}

impl Guesser<'_> {
    fn guess(&self, column: &ColumnStatistics) -> ColumnGuess {
        let (role, reason) = self.role(column);
        ColumnGuess { name: column.name.clone(), unit: column.unit.clone(), role, reason }
    }

    fn role(&self, column: &ColumnStatistics) -> (ColumnRole, String) {
        self.said(column).or_else(|| self.not_data(column)).unwrap_or_else(|| self.data(column))
    }

    /// What the user says, and what follows from the choice of the time and the recording column.
    fn said(&self, column: &ColumnStatistics) -> Option<(ColumnRole, String)> {
        let name = &column.name;
        let options = self.options;
        let said = |role, option: &str| Some((role, format!("as {option} says")));
        match self.task {
            TaskRequest::Columns(names) if names.contains(name) => {
                return Some((ColumnRole::Target, format!("to be predicted{}", range(column))));
            }
            TaskRequest::Label(label) if label == name => {
                let classes = column
                    .distinct
                    .as_ref()
                    .map_or(0, |distinct| distinct.keys().filter(|value| !value.is_empty()).count());
                return Some((ColumnRole::Label, format!("{classes} classes")));
            }
            _ => {}
        }
        if options.exclude.contains(name) {
            return said(ColumnRole::Excluded, "--exclude");
        }
        if Some(name.as_str()) == self.time {
            let how = match (&options.time, options.time_unit) {
                (_, Some(_)) => "as --time-unit says",
                (Some(_), None) => "as --time-column says",
                (None, None) => TimeUnit::of(column).1,
            };
            return Some((ColumnRole::Time, format!("{how}: gives the rate, is no input")));
        }
        if Some(name.as_str()) == self.recording {
            let count = column.changes.as_ref().map_or(1, |changes| changes.len() + 1);
            return Some((ColumnRole::Recording, format!("stays for many rows: {count} recordings")));
        }
        if options.inputs.contains(name) {
            return said(ColumnRole::Input, "--inputs");
        }
        (!options.inputs.is_empty()).then(|| (ColumnRole::Excluded, "not among --inputs".to_string()))
    }

    /// What says nothing about the signal.
    fn not_data(&self, column: &ColumnStatistics) -> Option<(ColumnRole, String)> {
        let overrule = "(--inputs overrules)";
        if column.is_empty() {
            return Some((ColumnRole::Empty, "every value is missing".into()));
        }
        if column.is_constant() {
            let value =
                column.range.map_or(format!("`{}`", column.example), |[value, _]| super::clock::short(value));
            return Some((ColumnRole::Constant, format!("{value} in every row")));
        }
        if column.stamps > 0 && column.stamps == column.texts && self.time.is_some() {
            return Some((ColumnRole::Time, "a second column of time stamps, not used".into()));
        }
        if column.texts > 0 {
            let words =
                column.distinct.as_ref().map_or("many".to_string(), |distinct| distinct.len().to_string());
            let reason =
                format!("{words} different values such as `{}`; --label makes them classes", column.example);
            return Some((ColumnRole::Text, reason));
        }
        if column.counts_rows {
            return Some((ColumnRole::Index, format!("grows by one in every row {overrule}")));
        }
        if self.is_constant_in_files(column)
            || (is_named(column, RECORDINGS) && column.is_piecewise_constant())
        {
            return Some((
                ColumnRole::Recording,
                format!("numbers recordings or people, not used {overrule}"),
            ));
        }
        if self.is_clock(column) {
            return Some((ColumnRole::Time, format!("grows steadily, as a clock does, not used {overrule}")));
        }
        if is_named(column, LABELS) && column.is_integer && column.is_piecewise_constant() {
            return Some((ColumnRole::Excluded, "named as a label; --label or --inputs to use it".into()));
        }
        None
    }

    fn data(&self, column: &ColumnStatistics) -> (ColumnRole, String) {
        if let TaskRequest::Columns(targets) = self.task
            && let Some(copied) = targets
                .iter()
                .filter_map(|name| self.survey.column(name))
                .find(|target| target.checksum == column.checksum)
        {
            return (
                ColumnRole::Excluded,
                format!("a copy of the target `{}` (--inputs overrules)", copied.name),
            );
        }
        if let Some(label) = self.label_repeated_by(column) {
            let reason = format!("changes only where the label `{label}` does (--inputs overrules)");
            return (ColumnRole::Excluded, reason);
        }
        let missing = match 100.0 * column.missing as f64 / column.rows.max(1) as f64 {
            0.0 => String::new(),
            share => format!(", {} % missing", super::clock::short(share)),
        };
        (ColumnRole::Input, format!("numbers{}{missing}", range(column)))
    }

    /// The label, if a column says the same in another form, as a column of zeros and ones per class does.
    fn label_repeated_by(&self, column: &ColumnStatistics) -> Option<&str> {
        let TaskRequest::Label(label) = self.task else { return None };
        let of_label = self.survey.column(label)?.changes.as_ref()?;
        let is_shared = |row: &usize| of_label.binary_search(row).is_ok();
        let own = column.changes.as_ref()?;
        (!own.is_empty() && own.iter().all(is_shared)).then_some(label)
    }

    /// Whether a column has one value per file, and not the same in all.
    fn is_constant_in_files(&self, column: &ColumnStatistics) -> bool {
        let files = &self.survey.files;
        files.len() > 1
            && files.iter().all(|file| file.column(&column.name).is_some_and(ColumnStatistics::is_constant))
    }

    /// Whether a column grows by nearly equal steps in every file.
    fn is_clock(&self, column: &ColumnStatistics) -> bool {
        let steady = |file: &super::file::FileSurvey| {
            let times = file.column(&column.name).and_then(|column| column.times.as_ref());
            let clock = times.and_then(|times| super::Clock::new(times, TimeUnit::Seconds, &file.starts));
            let summary = clock.and_then(|clock| {
                super::ClockSummary::new([(&clock, file.starts.as_slice())].into_iter(), Some(f64::INFINITY))
            });
            summary.is_some_and(|summary| {
                summary.is_regular && summary.backwards == 0 && summary.repeated == 0 && summary.steps >= 20
            })
        };
        self.survey.files.iter().all(steady)
    }
}

fn range(column: &ColumnStatistics) -> String {
    let unit = column.unit.as_deref().map_or(String::new(), |unit| format!(" {unit}"));
    column.range.map_or(String::new(), |ends| {
        let [low, high] = ends.map(super::clock::short);
        format!(", {low} to {high}{unit}")
    })
}

/// Refuses roles that leave nothing to learn.
fn check_roles(roles: &Roles) -> Result<()> {
    let inputs = roles.named(ColumnRole::Input);
    ensure!(
        !inputs.is_empty(),
        "no column is left as an input; name some with --inputs:\n{}",
        roles.columns.iter().map(|column| format!("  {column}\n")).collect::<String>()
    );
    Ok(())
}

impl fmt::Display for ColumnGuess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.name, self.role.name(), self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey(text: &str) -> Survey {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, text).unwrap();
        Survey::read(&[path]).unwrap()
    }

    /// 60 rows of columns that are functions of the row.
    fn rows(header: &str, row: impl Fn(usize) -> String) -> Survey {
        survey(&format!("{header}\n{}", (0..60).map(|t| row(t) + "\n").collect::<String>()))
    }

    fn roles(survey: &Survey, task: TaskRequest) -> Vec<(String, ColumnRole)> {
        let found = guess_roles(survey, task, &RoleOptions::default()).unwrap();
        found.columns.into_iter().map(|column| (column.name, column.role)).collect()
    }

    fn everything() -> Survey {
        rows("n,time,subject,a,b [mV],gain,spare,note,force,copy", |t| {
            let wave = (t as f64 * 0.7).sin();
            format!(
                "{t},{},{},{wave},{},3,,ok{},{},{}",
                0.01 * t as f64,
                t / 20,
                2.0 * wave,
                t % 3,
                wave * wave,
                wave * wave
            )
        })
    }

    #[test]
    fn every_kind_of_column_is_recognised() {
        use ColumnRole::{Constant, Empty, Excluded, Index, Input, Recording, Target, Text, Time};
        let found = roles(&everything(), TaskRequest::Columns(vec!["force".into()]));
        let expected = [
            ("n", Index),
            ("time", Time),
            ("subject", Recording),
            ("a", Input),
            ("b [mV]", Input),
            ("gain", Constant),
            ("spare", Empty),
            ("note", Text),
            ("force", Target),
            ("copy", Excluded),
        ];
        assert_eq!(found, expected.map(|(name, role)| (name.to_string(), role)));
    }

    #[test]
    fn every_guess_can_be_overruled() {
        let survey = everything();
        let options = RoleOptions {
            inputs: vec!["n".into(), "gain".into(), "copy".into()],
            time: Some("none".into()),
            recording: Some("none".into()),
            ..RoleOptions::default()
        };
        let found = guess_roles(&survey, TaskRequest::Columns(vec!["force".into()]), &options).unwrap();
        assert_eq!(found.named(ColumnRole::Input), ["n", "gain", "copy"]);
        assert!(found.time.is_none() && found.recording.is_none());
        let options = RoleOptions { exclude: vec!["a".into()], ..RoleOptions::default() };
        let found = guess_roles(&survey, TaskRequest::Next, &options).unwrap();
        assert_eq!(found.named(ColumnRole::Input), ["b [mV]", "force", "copy"]);
    }

    #[test]
    fn tasks_are_guessed_from_names() {
        let guess = |header: &str| {
            let survey = rows(header, |t| format!("{},{}", (t as f64).sin(), t / 30));
            guess_roles(&survey, TaskRequest::Guess, &RoleOptions::default()).unwrap().task
        };
        assert_eq!(guess("a,gesture"), TaskRequest::Label("gesture".into()));
        assert_eq!(guess("a,y"), TaskRequest::Columns(vec!["y".into()]));
        assert_eq!(guess("a,b"), TaskRequest::Next);
    }

    #[test]
    fn columns_that_repeat_the_label_are_no_inputs() {
        let survey = rows("a,level,gesture,gesture.fist", |t| {
            let class = ["rest", "fist", "open"][t / 8 % 3];
            format!("{},{},{class},{}", (t as f64).sin(), t / 5 % 2, u8::from(class == "fist"))
        });
        let found =
            guess_roles(&survey, TaskRequest::Label("gesture".into()), &RoleOptions::default()).unwrap();
        // `level` is as slow, but changes in other rows.
        assert_eq!(found.named(ColumnRole::Input), ["a", "level"]);
        assert_eq!(found.named(ColumnRole::Excluded), ["gesture.fist"]);
    }

    #[test]
    fn absent_columns_are_named() {
        let options = RoleOptions { inputs: vec!["q".into()], ..RoleOptions::default() };
        let error = guess_roles(&everything(), TaskRequest::Next, &options).unwrap_err().to_string();
        assert!(error.starts_with("--inputs: no column `q`; the columns are n, time"), "{error}");
    }
}
