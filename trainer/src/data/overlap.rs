//! Rows that are in two splits: a score on rows that a model was trained on says nothing about others.

use std::ops::Range;
use std::path::PathBuf;

use anyhow::{Result, bail};

/// Rows of a file that a split reads and is scored on, counted through the whole file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UsedRows {
    pub(super) file: PathBuf,
    pub(super) rows: Range<usize>,
}

/// The rows that each split uses.
#[derive(Debug, Default)]
pub(super) struct SplitRows(Vec<(&'static str, Vec<UsedRows>)>);

impl SplitRows {
    /// Adds the rows of a split, and checks that no split before has any of them.
    ///
    /// # Errors
    /// Names the file, the first common row and both splits.
    pub(super) fn add(&mut self, split: &'static str, used: Vec<UsedRows>) -> Result<()> {
        for (other, before) in &self.0 {
            // Validation and test data may be the same: then the test figures are those of validation.
            if (*other, split) == ("valid", "test") {
                continue;
            }
            if let Some((file, row)) = common_row(before, &used) {
                bail!(
                    "row {row} of {} (counted from 0) is in data.{other} and in data.{split}; a model must not be \
                     scored on rows that it has learned: select other rows, such as rows = \"80%..\"{}",
                    file.display(),
                    if split == "valid" {
                        "; data.valid_in_train = true allows it for a final model"
                    } else {
                        ""
                    }
                );
            }
        }
        self.0.push((split, used));
        Ok(())
    }
}

/// The first row that both have. Ranges are sorted, so that long lists of single rows take no quadratic time.
fn common_row(left: &[UsedRows], right: &[UsedRows]) -> Option<(PathBuf, usize)> {
    let sorted = |used: &[UsedRows]| {
        let mut used = used.to_vec();
        used.sort_by(|a, b| (&a.file, a.rows.start).cmp(&(&b.file, b.rows.start)));
        used
    };
    let (left, right) = (sorted(left), sorted(right));
    let (mut i, mut j) = (0, 0);
    while let (Some(a), Some(b)) = (left.get(i), right.get(j)) {
        let start = a.rows.start.max(b.rows.start);
        if a.file == b.file && start < a.rows.end.min(b.rows.end) {
            return Some((a.file.clone(), start));
        }
        match (&a.file, a.rows.end) <= (&b.file, b.rows.end) {
            true => i += 1,
            false => j += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranges of rows by start and end.
    fn used(file: &str, ranges: &[[usize; 2]]) -> Vec<UsedRows> {
        ranges.iter().map(|&[start, end]| UsedRows { file: file.into(), rows: start..end }).collect()
    }

    #[test]
    fn a_row_in_two_splits_is_named() {
        let mut splits = SplitRows::default();
        splits.add("train", used("a", &[[0, 80], [200, 300]])).unwrap();
        splits.add("valid", used("a", &[[80, 100]])).unwrap();
        assert!(splits.add("test", used("b", &[[0, 80]])).is_ok());
        let error = splits.add("test", used("a", &[[90, 95], [100, 201]])).unwrap_err().to_string();
        assert!(
            error.starts_with("row 200 of a (counted from 0) is in data.train and in data.test"),
            "{error}"
        );
    }

    #[test]
    fn validation_rows_may_be_test_rows() {
        let mut splits = SplitRows::default();
        splits.add("valid", used("a", &[[0, 10]])).unwrap();
        assert!(splits.add("test", used("a", &[[0, 10]])).is_ok());
    }

    #[test]
    fn single_rows_are_compared_as_well() {
        let odd: Vec<_> = (0..1000).map(|row| [2 * row + 1, 2 * row + 2]).collect();
        let even: Vec<_> = (0..1000).rev().map(|row| [2 * row, 2 * row + 1]).collect();
        assert_eq!(common_row(&used("a", &odd), &used("a", &even)), None);
        let both: Vec<_> = even.iter().copied().chain([[1801, 1802]]).collect();
        assert_eq!(common_row(&used("a", &odd), &used("a", &both)), Some(("a".into(), 1801)));
    }
}
