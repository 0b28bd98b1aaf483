//! Roles of columns, and what a user may say about them.

use std::fmt;

use serde::Serialize;

use super::clock::TimeUnit;

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

impl fmt::Display for ColumnGuess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.name, self.role.name(), self.reason)
    }
}
