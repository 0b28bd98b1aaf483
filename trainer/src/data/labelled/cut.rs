//! Cuts recordings into sequences of one class.

use std::ops::Range;

use anyhow::{Result, bail};

use super::recording::{Label, Recording};
use crate::config::{LabelCut, LabelsConfig};
use crate::data::rows::Rows;

/// Rows of one label.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Piece {
    /// The inputs.
    pub(super) rows: Rows,
    /// First rows that are not part of it, but that the network reads before it.
    pub(super) warm_up: usize,
    /// Its label.
    pub(super) label: Label,
}

/// Sequences of one label each, in the order of the recordings.
pub(super) fn cut(recordings: Vec<Recording>, labels: &LabelsConfig) -> Result<Vec<Piece>> {
    let mut sequences = Vec::new();
    for recording in recordings {
        let whole = 0..recording.rows.len();
        let pieces: Vec<Range<usize>> = match labels.cut {
            LabelCut::Sequences => {
                check_one_label(&recording)?;
                let label = recording.labels[0].clone();
                sequences.push(Piece { rows: recording.rows, warm_up: 0, label });
                continue;
            }
            LabelCut::Windows => {
                let window = labels.window.unwrap_or(1).max(1);
                windows(whole, window, labels.stride.unwrap_or(window).max(1))
            }
            LabelCut::Runs => runs(&recording),
        };
        for piece in pieces {
            let label = recording.label(piece.end - 1).clone();
            if label.is_some() {
                let warm_up = labels.warm_up.min(piece.start);
                let rows = recording.rows.slice(piece.start - warm_up..piece.end);
                sequences.push(Piece { rows, warm_up, label });
            }
        }
    }
    Ok(sequences)
}

fn check_one_label(recording: &Recording) -> Result<()> {
    let first = &recording.labels[0];
    let Some(row) = recording.labels.iter().position(|label| label != first) else { return Ok(()) };
    let shown = |label: &Label| label.as_deref().map_or("no label".to_string(), |label| format!("`{label}`"));
    bail!(
        "{}: row {row} is of class {}, but row 0 of {}; a sequence has one class: \
         set data.labels.cut = \"runs\" or \"windows\" for streams with a class per row",
        recording.place,
        shown(&recording.labels[row]),
        shown(first)
    )
}

/// Ranges of `window` rows, `stride` rows apart.
fn windows(rows: Range<usize>, window: usize, stride: usize) -> Vec<Range<usize>> {
    rows.clone()
        .step_by(stride)
        .map(|start| start..start + window)
        .take_while(|range| range.end <= rows.end)
        .collect()
}

/// Ranges of rows with the same label.
fn runs(recording: &Recording) -> Vec<Range<usize>> {
    let count = recording.rows.len();
    let mut runs = Vec::new();
    let mut start = 0;
    for end in 1..=count {
        if end == count || recording.label(end) != recording.label(start) {
            runs.push(start..end);
            start = end;
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(labels: &str) -> Recording {
        let labels: Vec<Label> = labels.chars().map(|c| (c != '.').then(|| c.to_string())).collect();
        let values = (0..labels.len()).map(|value| value as f32).collect();
        Recording { rows: Rows { channels: 1, values }, labels, place: "a.csv: sequence 0".into() }
    }

    fn found(text: &str, labels: &LabelsConfig) -> Vec<(Vec<f32>, String)> {
        let pieces = cut(vec![recording(text)], labels).unwrap();
        pieces.into_iter().map(|piece| (piece.rows.values, piece.label.unwrap_or_default())).collect()
    }

    #[test]
    fn a_window_has_the_label_of_its_last_row() {
        let labels = LabelsConfig {
            cut: LabelCut::Windows,
            window: Some(3),
            stride: Some(2),
            ..LabelsConfig::default()
        };
        assert_eq!(
            found("aaabbb.", &labels),
            [(vec![0.0, 1.0, 2.0], "a".to_string()), (vec![2.0, 3.0, 4.0], "b".to_string())]
        );
        assert_eq!(found("ab", &labels), []);
        let labels = LabelsConfig { warm_up: 1, ..labels };
        let pieces = cut(vec![recording("aaabbb")], &labels).unwrap();
        let rows = |piece: &Piece| (piece.warm_up, piece.rows.values.clone());
        assert_eq!(
            pieces.iter().map(rows).collect::<Vec<_>>(),
            [(0, vec![0.0, 1.0, 2.0]), (1, vec![1.0, 2.0, 3.0, 4.0])]
        );
    }

    #[test]
    fn runs_end_where_the_label_changes() {
        let labels = LabelsConfig { cut: LabelCut::Runs, ..LabelsConfig::default() };
        let expected = [(vec![0.0, 1.0], "a"), (vec![3.0], "b"), (vec![4.0], "a")];
        assert_eq!(found("aa.ba", &labels), expected.map(|(rows, label)| (rows, label.to_string())));
    }

    #[test]
    fn a_whole_sequence_has_one_label() {
        let labels = LabelsConfig::default();
        assert_eq!(found("aa", &labels), [(vec![0.0, 1.0], "a".to_string())]);
        let error = cut(vec![recording("aab")], &labels).unwrap_err().to_string();
        assert!(error.starts_with("a.csv: sequence 0: row 2 is of class `b`, but row 0 of `a`"), "{error}");
    }
}
