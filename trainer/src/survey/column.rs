//! Statistics of one column, gathered row by row.

use std::collections::BTreeMap;

use super::timestamp::parse_timestamp;
use crate::data::csv::CellValue;

/// Most different values that are counted one by one.
const MOST_DISTINCT: usize = 256;

/// What a column of a file holds.
#[derive(Clone, Debug, Default)]
pub struct ColumnStatistics {
    /// Its name in the header, unit included.
    pub name: String,
    /// Its unit, from the header or the line below it.
    pub unit: Option<String>,
    /// Rows.
    pub rows: usize,
    /// Missing values.
    pub missing: usize,
    /// Cells that are no numbers, time stamps among them.
    pub texts: usize,
    /// Cells that are time stamps.
    pub stamps: usize,
    /// Smallest and largest number.
    pub range: Option<[f64; 2]>,
    /// Whether every number is an integer.
    pub is_integer: bool,
    /// How often each value occurs; nothing if there are too many different ones.
    pub distinct: Option<BTreeMap<String, usize>>,
    /// Rows whose value differs from that of the row before; nothing if there are too many.
    pub changes: Option<Vec<usize>>,
    /// Numbers or time stamps of all rows in seconds or their own unit, as long as few of them go backwards.
    pub times: Option<Vec<f64>>,
    /// Whether every number was one more than the number in the row before.
    pub counts_rows: bool,
    /// A value that stands for the text.
    pub example: String,
    /// Checksum of all values, by which copies are found.
    pub checksum: u64,
    backwards: usize,
    last: Option<(String, f64)>,
}

impl ColumnStatistics {
    /// A column without rows.
    pub fn new(name: &str, unit: Option<String>) -> Self {
        ColumnStatistics {
            name: name.to_string(),
            unit,
            is_integer: true,
            distinct: Some(BTreeMap::new()),
            changes: Some(Vec::new()),
            times: Some(Vec::new()),
            counts_rows: true,
            checksum: 0xCBF2_9CE4_8422_2325,
            ..ColumnStatistics::default()
        }
    }

    /// Adds the cell of the next row; `starts` tells whether a sequence starts with it.
    pub fn add(&mut self, cell: &str, starts: bool) {
        let value = CellValue::of(cell);
        let stamp = if value == CellValue::Text { parse_timestamp(cell) } else { None };
        let number = match value {
            CellValue::Number(number) => Some(number),
            _ => stamp,
        };
        self.missing += usize::from(value == CellValue::Missing);
        self.stamps += usize::from(stamp.is_some());
        self.texts += usize::from(value == CellValue::Text);
        self.sum_up(value);
        if let CellValue::Number(number) = value {
            self.is_integer &= number.fract() == 0.0;
            let [low, high] = self.range.unwrap_or([number; 2]);
            self.range = Some([low.min(number), high.max(number)]);
        }
        if self.example.is_empty() && value == CellValue::Text {
            self.example = cell.chars().take(40).collect();
        }
        self.follow(cell, number, starts);
        self.rows += 1;
    }

    /// Adds a number; NaN for a missing one.
    pub fn add_number(&mut self, value: f32, starts: bool) {
        let text = if value.is_nan() { String::new() } else { value.to_string() };
        self.add(&text, starts);
    }

    fn sum_up(&mut self, value: CellValue) {
        let bits = match value {
            CellValue::Number(number) => number.to_bits(),
            CellValue::Missing => 1,
            CellValue::Text => 2,
        };
        self.checksum = (self.checksum ^ bits).wrapping_mul(0x0000_0100_0000_01B3).rotate_left(17);
    }

    /// What depends on the row before.
    fn follow(&mut self, cell: &str, number: Option<f64>, starts: bool) {
        if let Some(distinct) = &mut self.distinct {
            let count = distinct.len();
            if let Some(count) = distinct.get_mut(cell) {
                *count += 1;
            } else if count < MOST_DISTINCT {
                distinct.insert(cell.to_string(), 1);
            } else {
                self.distinct = None;
            }
        }
        let before = self.last.take();
        let changed = before.as_ref().is_some_and(|(text, _)| text != cell);
        if changed && let Some(changes) = &mut self.changes {
            changes.push(self.rows);
            if changes.len() > 1000 + self.rows / 5 {
                self.changes = None;
            }
        }
        let step = match (&before, number) {
            (Some((_, before)), Some(number)) if !starts => Some(number - before),
            _ => None,
        };
        self.counts_rows &= number.is_some() && (step.is_none() || step == Some(1.0));
        self.backwards += usize::from(number.is_none() || step.is_some_and(|step| step < 0.0));
        if let Some(times) = &mut self.times {
            times.push(number.unwrap_or(f64::NAN));
            if self.backwards > 20 + self.rows / 50 {
                self.times = None;
            }
        }
        self.last = Some((cell.to_string(), number.unwrap_or(f64::NAN)));
    }

    /// Adds the statistics of the same column in another file.
    pub(super) fn merge(&mut self, other: &ColumnStatistics) {
        let start = self.rows;
        self.rows += other.rows;
        self.missing += other.missing;
        self.texts += other.texts;
        self.stamps += other.stamps;
        self.range = match (self.range, other.range) {
            (Some([low, high]), Some([other_low, other_high])) => {
                Some([low.min(other_low), high.max(other_high)])
            }
            (one, other) => one.or(other),
        };
        self.is_integer &= other.is_integer;
        self.counts_rows &= other.counts_rows;
        self.checksum = (self.checksum ^ other.checksum).wrapping_mul(0x0000_0100_0000_01B3);
        self.distinct = self.distinct.take().zip(other.distinct.as_ref()).map(|(mut all, other)| {
            other.iter().for_each(|(value, count)| *all.entry(value.clone()).or_default() += count);
            all
        });
        self.changes = self.changes.take().zip(other.changes.as_ref()).map(|(mut all, other)| {
            all.extend(std::iter::once(start).chain(other.iter().map(|row| start + row)));
            all
        });
        self.times = self.times.take().zip(other.times.as_ref()).map(|(mut all, other)| {
            all.extend(other);
            all
        });
        if self.example.is_empty() {
            self.example.clone_from(&other.example);
        }
    }

    /// Whether every value is missing.
    pub fn is_empty(&self) -> bool {
        self.missing == self.rows
    }

    /// Whether all values that are there are the same.
    pub fn is_constant(&self) -> bool {
        let present = |distinct: &BTreeMap<String, usize>| {
            distinct.keys().filter(|value| CellValue::of(value) != CellValue::Missing).count()
        };
        match self.range {
            Some([low, high]) => low == high && self.texts == 0,
            None => self.distinct.as_ref().is_some_and(|distinct| present(distinct) == 1),
        }
    }

    /// Whether there are numbers and missing values alone.
    pub fn is_numeric(&self) -> bool {
        self.texts == 0 && self.range.is_some()
    }

    /// Whether every value is 0 or 1, and both occur.
    pub fn is_binary(&self) -> bool {
        self.is_numeric() && self.is_integer && self.range == Some([0.0, 1.0])
    }

    /// Whether values stay for many rows, so that they may name recordings or classes.
    pub fn is_piecewise_constant(&self) -> bool {
        let few = |changes: &Vec<usize>| changes.len() * 10 <= self.rows;
        self.changes.as_ref().is_some_and(few) && !self.is_constant()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cells: &[&str]) -> ColumnStatistics {
        let mut column = ColumnStatistics::new("x", None);
        cells.iter().enumerate().for_each(|(row, cell)| column.add(cell, row == 0));
        column
    }

    #[test]
    fn numbers_texts_and_gaps_are_counted() {
        let column = of(&["1", "", "2,5", "rest", "2026-11-17T10:00:00"]);
        assert_eq!((column.rows, column.missing, column.texts, column.stamps), (5, 1, 2, 1));
        assert_eq!(column.range, Some([1.0, 2.5]));
        assert_eq!(column.example, "rest");
        assert!(!column.is_integer && !column.is_numeric());
    }

    #[test]
    fn properties_of_whole_columns() {
        assert!(of(&["", "NaN"]).is_empty());
        assert!(of(&["7", "", "7.0"]).is_constant() && !of(&["7", "8"]).is_constant());
        assert!(of(&["bob", "", "bob"]).is_constant());
        assert!(of(&["0", "1", "0"]).is_binary() && !of(&["0", "0"]).is_binary());
        assert!(of(&["4", "5", "6"]).counts_rows && !of(&["4", "6"]).counts_rows);
        let slow: Vec<&str> = (0..40).map(|row| if row < 20 { "a" } else { "b" }).collect();
        assert!(of(&slow).is_piecewise_constant());
        assert_eq!(of(&slow).changes, Some(vec![20]));
    }

    #[test]
    fn copies_have_the_same_checksum() {
        assert_eq!(of(&["1.0", "2"]).checksum, of(&["1", "2,0"]).checksum);
        assert_ne!(of(&["1", "2"]).checksum, of(&["2", "1"]).checksum);
    }

    #[test]
    fn two_files_are_one_column() {
        let mut both = of(&["1", "2"]);
        both.merge(&of(&["9", "9", "8"]));
        assert_eq!((both.rows, both.range), (5, Some([1.0, 9.0])));
        assert_eq!(both.changes, Some(vec![1, 2, 4]));
        assert_eq!(both.times, Some(vec![1.0, 2.0, 9.0, 9.0, 8.0]));
    }
}
