//! Targets some rows ahead.
//!
//! Targets are shifted after recordings have been cut into splits: the last rows of a part have no target, so
//! that none comes from the rows of another split.

use std::sync::Arc;

use anyhow::{Result, ensure};

use super::rows::{Rows, Sequence};
use super::select_columns::SelectedColumns;
use crate::config::AheadTargets;

/// Where the target of an output is found: a column, some rows ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookAhead {
    /// Index of the column among the inputs, if it is one.
    pub input: Option<usize>,
    /// Rows ahead; at least 1.
    pub rows: usize,
}

/// Shifts the targets of all splits, an output per column and horizon; returns the outputs with their names,
/// such as `y+5`.
///
/// # Errors
/// When no recording of a split is longer than the horizon.
pub(super) fn shift_targets(
    ahead: &AheadTargets,
    choice: &SelectedColumns,
    splits: [(&str, &mut Vec<Sequence>); 3],
) -> Result<(Vec<String>, Vec<LookAhead>)> {
    let horizons = ahead.horizon.rows();
    for (key, sequences) in splits {
        let longest = sequences.iter().map(Sequence::len).max();
        let farthest = horizons.last().copied().unwrap_or(0);
        ensure!(
            longest.is_none_or(|longest| longest > farthest),
            "data.targets: no row of data.{key} has a target {farthest} rows ahead: its longest recording has {} rows; \
             choose a smaller horizon or longer recordings",
            longest.unwrap_or(0)
        );
        sequences.iter_mut().for_each(|sequence| *sequence = shifted(sequence, horizons));
    }
    let place = |name: &String| choice.inputs.iter().position(|input| input == name);
    let outputs = choice.targets.iter().flat_map(|name| {
        let input = place(name);
        horizons.iter().map(move |&rows| (format!("{name}+{rows}"), LookAhead { input, rows }))
    });
    Ok(outputs.unzip())
}

/// The sequence with targets `horizons` rows ahead: all of the first column, then all of the second.
fn shifted(sequence: &Sequence, horizons: &[usize]) -> Sequence {
    let (targets, steps) = (&sequence.targets, sequence.len());
    let value = |step: usize, column: usize| {
        if step < steps { targets.row(step)[column] } else { f32::NAN }
    };
    let row = |step: usize| {
        (0..targets.channels)
            .flat_map(move |column| horizons.iter().map(move |rows| value(step + rows, column)))
    };
    let channels = targets.channels * horizons.len();
    let values = (0..steps).flat_map(row).collect();
    Sequence { targets: Arc::new(Rows { channels, values }), ..sequence.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Targets;

    fn ahead(text: &str) -> AheadTargets {
        match toml::from_str::<toml::Table>(&format!("t = {text}")).unwrap().remove("t").unwrap().try_into() {
            Ok(Targets::Ahead(ahead)) => ahead,
            other => panic!("{other:?}"),
        }
    }

    fn sequence(rows: usize) -> Sequence {
        let values = (0..rows).flat_map(|t| [t as f32, 10.0 * t as f32]).collect();
        let both = Rows { channels: 2, values };
        Sequence::columns(both.columns(&[0, 1]), both.columns(&[1, 0]))
    }

    fn choice() -> SelectedColumns {
        SelectedColumns { inputs: vec!["u".into(), "y".into()], targets: vec!["y".into(), "v".into()] }
    }

    #[test]
    fn outputs_are_columns_by_horizons_and_the_end_has_none() {
        let mut train = vec![sequence(4)];
        let splits = [("train", &mut train), ("valid", &mut Vec::new()), ("test", &mut Vec::new())];
        let ahead = ahead("{ next = ['y', 'v'], horizon = [1, 3] }");
        let (names, places) = shift_targets(&ahead, &choice(), splits).unwrap();
        assert_eq!(names, ["y+1", "y+3", "v+1", "v+3"]);
        assert_eq!(places[1], LookAhead { input: Some(1), rows: 3 });
        assert_eq!(places[2], LookAhead { input: None, rows: 1 });
        assert_eq!(train[0].targets.row(0), [10.0, 30.0, 1.0, 3.0]);
        assert_eq!(train[0].targets.row(2)[0], 30.0);
        let missing = |t: usize| train[0].targets.row(t).iter().map(|v| v.is_nan()).collect::<Vec<_>>();
        assert_eq!(missing(1), [false, true, false, true]);
        assert_eq!(missing(3), [true; 4]);
        assert_eq!(train[0].inputs, sequence(4).inputs);
    }

    #[test]
    fn recordings_that_are_too_short_are_refused() {
        let (mut train, mut valid) = (vec![sequence(9), sequence(2)], vec![sequence(5)]);
        let splits = [("train", &mut train), ("valid", &mut valid), ("test", &mut Vec::new())];
        let error = shift_targets(&ahead("{ horizon = 5 }"), &choice(), splits).unwrap_err().to_string();
        assert!(error.starts_with("data.targets: no row of data.valid has a target 5 rows ahead"), "{error}");
    }
}
