//! Recordings with labels as they are written in files.

use crate::data::rows::Rows;

/// A label as it is written: text, or an integer. `None` is a row or a sequence without a label.
pub(in crate::data) type Label = Option<String>;

/// A sequence of a file with its labels.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Recording {
    /// The inputs.
    pub(super) rows: Rows,
    /// One label for all rows, or one for each row.
    pub(super) labels: Vec<Label>,
    /// File and index of the sequence in it, for errors.
    pub(super) place: String,
}

impl Recording {
    /// The label of row `t`.
    pub(super) fn label(&self, t: usize) -> &Label {
        &self.labels[t.min(self.labels.len() - 1)]
    }
}

/// A label in a NumPy file: an integer, or NaN for none.
pub(in crate::data) fn numeric_label(value: f32) -> Result<Label, String> {
    match value {
        value if value.is_nan() => Ok(None),
        value if value.fract() == 0.0 && value.abs() < 1e9 => Ok(Some(format!("{}", value as i64))),
        value => Err(format!("the label {value} is not an integer; number the classes 0, 1, 2, …")),
    }
}
