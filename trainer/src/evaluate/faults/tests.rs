//! Faults in front of a model that is known exactly.

use std::convert::Infallible;

use super::*;
use crate::data::{Rows, Scaler, Scaling};
use crate::evaluate::row_scores::ROW_SCORES;
use crate::prediction::SequencePrediction;

/// Two sines of different speed; the target is the first.
fn sequence(steps: u16) -> Sequence {
    let value = |step: u16| [(f32::from(step) * 0.1).sin(), (f32::from(step) * 0.07).cos()];
    let inputs = Rows { channels: 2, values: (0..steps).flat_map(value).collect() };
    let targets = inputs.columns(&[0]);
    Sequence::columns(inputs, targets)
}

/// Repeats the first channel with a standard deviation of 0.1; its score is the size of the row's change.
fn repeat(sequences: &[Sequence]) -> Result<ScoredRun, Infallible> {
    let mut run = ScoredRun { predictions: Vec::new(), scores: vec![Vec::new()] };
    for sequence in sequences {
        let mut prediction = SequencePrediction::zeros(sequence.len(), 1);
        let mut last = [0.0; 2];
        let mut scores = Vec::new();
        for (step, row) in sequence.inputs.iter().enumerate() {
            prediction.set(step, 0, row[0], 0.0, 0.01);
            scores.push((row[0] - last[0]).abs() + (row[1] - last[1]).abs());
            last = [row[0], row[1]];
        }
        run.predictions.push(prediction);
        run.scores[0].push(scores);
    }
    Ok(run)
}

#[test]
fn faults_cost_what_they_change_and_are_found_where_they_show() {
    let sequences = [sequence(4000)];
    let names = |names: &[&str]| -> Vec<String> { names.iter().map(ToString::to_string).collect() };
    let (input_names, target_names) = (names(&["sine", "cosine"]), names(&["y"]));
    let scaling = Scaling {
        inputs: Scaler { mean: vec![0.0; 2], std_dev: vec![0.7; 2] },
        targets: Scaler { mean: vec![0.0], std_dev: vec![0.7] },
        density: None,
        linear: None,
    };
    let recordings = PerturbedRecordings::gaussian([&input_names, &target_names], &scaling, &sequences);
    let evaluation = FaultEvaluation {
        recordings,
        scores: &ROW_SCORES[..1],
        stretch: 100,
        settling: 10,
        rows_per_alarm: Some(2000.0),
    };
    let mut calls = 0;
    let found = evaluation
        .score(|read| {
            calls += 1;
            repeat(read)
        })
        .unwrap();
    assert_eq!((calls, evaluation.runs()), (37, 37));
    assert_eq!((found.channels.len(), found.stretches, found.stretch_rows), (2, 10, 100));
    assert_eq!(found.sound[0].mean.rmse, 0.0);
    let outcome = |fault: &str, strength: &str| {
        found.faults.iter().find(|outcome| outcome.fault == fault && outcome.strength == strength).unwrap()
    };
    let offset = outcome("offset", "±2 σ");
    let runs: Vec<_> =
        offset.groups[0].runs.iter().map(|run| (&run.name[..], run.scores.rmse as f32)).collect();
    assert_eq!(runs, [("sine", 1.4), ("cosine", 0.0)], "only the first channel reaches the output");
    assert_eq!(offset.groups[0].mean.coverage, Some(0.5));
    let detection = &offset.detection[0];
    // The score sees the step alone, in its first row, and 99 of 100 rows look as sound as ever.
    assert_eq!((detection.delay, detection.detected), (Some(0.0), Some(1.0)));
    assert!((detection.auroc.unwrap() - 0.5).abs() < 0.1, "{detection:?}");
    let spikes = &outcome("spikes", "±10 σ").detection[0];
    // Only the second of two equal spikes in a row changes nothing.
    assert!(spikes.auroc.unwrap() > 0.98, "{spikes:?}");
    assert!(spikes.auroc_stretch.unwrap() < 0.65, "nineteen rows of twenty have none");
    let stuck = &outcome("stuck", "at the last value").detection[0];
    assert!(stuck.auroc.unwrap() < 0.3, "half of a stuck row's change is gone: {stuck:?}");
    assert_eq!(outcome("swapped", "with the next").groups[0].runs[0].name, "sine");
}
