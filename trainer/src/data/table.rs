//! The contents of a file in any format: named columns, split into sequences.

use std::collections::HashMap;

use anyhow::{Result, bail};

use super::rows::Rows;

/// Largest absolute value of a training row: its square, hence a variance, still fits into 32 bits.
const LARGEST: f32 = 1e19;

/// Named columns of numbers, split into sequences.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name of every column.
    pub names: Vec<String>,
    /// The sequences in the order of the file; none of them is empty.
    pub sequences: Vec<Rows>,
}

impl Table {
    /// Keeps the named columns, in this order. `file` names the file in errors.
    pub fn select(self, file: &str, names: &[String]) -> Result<Table> {
        if names == self.names {
            return Ok(self);
        }
        let indices = positions(file, &self.names, names)?;
        let sequences = self.sequences.iter().map(|rows| rows.columns(&indices)).collect();
        Ok(Table { names: names.to_vec(), sequences })
    }

    /// Refuses values whose scale could not be computed in 32 bits, for training rows. A model that is
    /// trained takes such values in other rows for implausible.
    pub(super) fn check_magnitudes(&self) -> Result<()> {
        for (row, values) in self.sequences.iter().flat_map(Rows::iter).enumerate() {
            if let Some(column) = values.iter().position(|value| value.abs() > LARGEST) {
                bail!(
                    "row {row} of those that are read (counted from 0), column `{}`: found {:e}, which is too large for \
                     32-bit floats (beyond ±{LARGEST:e}); leave the cell empty if the value is missing, or choose a \
                     larger unit",
                    self.names[column],
                    values[column]
                );
            }
        }
        Ok(())
    }
}

/// Names of columns without a header: c0, c1, ….
pub(super) fn numbered(columns: usize) -> Vec<String> {
    (0..columns).map(|i| format!("c{i}")).collect()
}

/// Indices of the `wanted` names in `names`.
pub(super) fn positions(file: &str, names: &[String], wanted: &[String]) -> Result<Vec<usize>> {
    let places = places(names);
    let place = |wanted: &String| match places.get(wanted.as_str()) {
        Some(index) => Ok(*index),
        None => bail!("{file}: no column `{wanted}`; the columns are {}", listed(names)),
    };
    wanted.iter().map(place).collect()
}

/// The index of every name, so that many names are found in a time that does not grow with their square.
pub(super) fn places(names: &[String]) -> HashMap<&str, usize> {
    names.iter().enumerate().map(|(index, name)| (name.as_str(), index)).collect()
}

/// Names for an error message, shortened in the middle when there are many.
pub(super) fn listed(names: &[String]) -> String {
    const SHOWN: usize = 12;
    match names {
        [] => "none".to_string(),
        [.., last] if names.len() > SHOWN => format!("{}, … {last}", names[..SHOWN - 1].join(", ")),
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table {
            names: numbered(3),
            sequences: vec![Rows { channels: 3, values: vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0] }],
        }
    }

    #[test]
    fn columns_come_in_the_order_asked_for() {
        let row_selection = table().select("f", &["c2".into(), "c0".into()]).unwrap();
        assert_eq!(row_selection.sequences[0].values, [2.0, 0.0, 5.0, 3.0]);
        assert_eq!(row_selection.names, ["c2", "c0"]);
    }

    #[test]
    fn an_unknown_column_is_named_together_with_those_there_are() {
        let error = table().select("a.npy", &["force".into()]).unwrap_err().to_string();
        assert_eq!(error, "a.npy: no column `force`; the columns are c0, c1, c2");
    }

    #[test]
    fn many_names_are_shortened() {
        assert_eq!(listed(&numbered(88)), "c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, … c87");
    }
}
