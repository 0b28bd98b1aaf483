//! The task, the columns of time and recordings, and with them the role of every column.

use anyhow::{Result, bail, ensure};

use super::clock::TimeUnit;
use super::column::ColumnStatistics;
use super::column_names::{LABELS, RECORDINGS, TARGETS, TIMES, is_named};
use super::column_role::ColumnContext;
use super::file::Survey;
use super::roles::{ColumnGuess, ColumnRole, RoleOptions, Roles, TaskRequest};

/// The role of every column.
///
/// # Errors
/// When an option names a column that does not exist, or columns do not suit the task.
pub fn guess_roles(survey: &Survey, task: TaskRequest, options: &RoleOptions) -> Result<Roles> {
    check_names(survey, &task, options)?;
    let recording = recording_column(survey, options, &task);
    let time = time_column(survey, options, recording.as_deref(), &task);
    let (task, task_reason) = settle_task(survey, task, options, [time.as_deref(), recording.as_deref()]);
    let context = ColumnContext {
        survey,
        options,
        task: &task,
        time: time.as_deref(),
        recording: recording.as_deref(),
    };
    let columns: Vec<ColumnGuess> = survey.columns.iter().map(|column| context.guess(column)).collect();
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
