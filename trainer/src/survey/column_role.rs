//! The role of one column, with a reason: what the user says, what says nothing about the signal, and data.

use super::clock::{Clock, ClockSummary, TimeUnit, short};
use super::column::ColumnStatistics;
use super::column_names::{LABELS, RECORDINGS, is_named};
use super::file::{FileSurvey, Survey};
use super::roles::{ColumnGuess, ColumnRole, RoleOptions, TaskRequest};

/// What the role of a column depends on besides the column itself.
pub(super) struct ColumnContext<'a> {
    pub(super) survey: &'a Survey,
    pub(super) options: &'a RoleOptions,
    pub(super) task: &'a TaskRequest,
    pub(super) time: Option<&'a str>,
    pub(super) recording: Option<&'a str>,
}

impl ColumnContext<'_> {
    /// The role of a column, and why.
    pub(super) fn guess(&self, column: &ColumnStatistics) -> ColumnGuess {
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
            let value = column.range.map_or(format!("`{}`", column.example), |[value, _]| short(value));
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
            share => format!(", {} % missing", short(share)),
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
        let steady = |file: &FileSurvey| {
            let times = file.column(&column.name).and_then(|column| column.times.as_ref());
            let clock = times.and_then(|times| Clock::new(times, TimeUnit::Seconds, &file.starts));
            let summary = clock.and_then(|clock| {
                ClockSummary::new([(&clock, file.starts.as_slice())].into_iter(), Some(f64::INFINITY))
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
        let [low, high] = ends.map(short);
        format!(", {low} to {high}{unit}")
    })
}
