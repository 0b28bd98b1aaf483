//! Missing channels of models that are known exactly.

use std::convert::Infallible;

use super::*;
use crate::data::{Rows, Scaler, Scaling};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// Two channels, a ramp and a constant.
fn sequence(steps: usize) -> Sequence {
    let values = (0..steps).flat_map(|step| [step as f32, 5.0]).collect();
    Sequence::next(Rows { channels: 2, values })
}

/// A model that reads both channels at once: it predicts their sum with variance 1, and 100 with variance 4
/// where one is missing.
fn sum(sequences: &[Sequence]) -> Result<Vec<SequencePrediction>, Infallible> {
    let of = |sequence: &Sequence| {
        let mut prediction = SequencePrediction::zeros(sequence.len(), 1);
        for (step, row) in sequence.inputs.iter().enumerate() {
            let sum = row[0] + row[1];
            match sum.is_nan() {
                true => prediction.set(step, 0, 100.0, 1.0, 3.0),
                false => prediction.set(step, 0, sum, 0.0, 1.0),
            }
        }
        prediction
    };
    Ok(sequences.iter().map(of).collect())
}

#[test]
fn gaps_and_stand_ins_are_scored_on_known_targets() {
    let inputs = sequence(4);
    let targets = Rows { channels: 1, values: vec![5.0, 6.0, 7.0, 8.0] };
    let sequences = [Sequence::columns(Rows::clone(&inputs.inputs), targets)];
    let scaling = Scaling {
        inputs: Scaler { mean: vec![1.0, 5.0], std_dev: vec![1.0; 2] },
        targets: Scaler { mean: vec![6.0], std_dev: vec![2.0] },
        density: None,
        linear: None,
    };
    let (input_names, target_names) = (names(&["ramp", "constant"]), names(&["sum"]));
    let recordings = PerturbedRecordings::gaussian([&input_names, &target_names], &scaling, &sequences);
    let evaluation = MissingEvaluation { recordings };
    let cases = [MissingCase::Count(1), MissingCase::Channels(vec![0])];
    let mut calls = 0;
    let found = evaluation
        .score(&cases, |read| {
            calls += 1;
            sum(read)
        })
        .unwrap();
    assert_eq!(
        (calls, evaluation.runs(&cases)),
        (7, 7),
        "none, two subsets and one set, each with two readings"
    );
    let [none, gap, mean, named, ..] = &found[..] else { panic!("{found:?}") };
    assert_eq!((none.case.as_str(), none.groups[0].mean.rmse), ("none", 0.0));
    assert_eq!((gap.case.as_str(), gap.reads, gap.groups[0].runs.len()), ("1 of 2", "a gap", 2));
    let missed = [95.0_f64, 94.0, 93.0, 92.0].map(|error| error * error).iter().sum::<f64>() / 4.0;
    assert!((gap.groups[0].mean.rmse - missed.sqrt()).abs() < 1e-9);
    assert_eq!((gap.groups[0].mean.coverage, gap.groups[0].mean.furthest), (Some(0.0), 47.0));
    // The constant is at its training mean; of the ramp 0, 1, 2, 3 three are within 1.645 of 1.
    let runs: Vec<_> =
        mean.groups[0].runs.iter().map(|run| (run.name.as_str(), run.scores.coverage)).collect();
    assert_eq!(runs, [("ramp", Some(0.75)), ("constant", Some(1.0))]);
    assert_eq!(mean.groups[0].worst.as_ref().unwrap().name, "ramp");
    assert_eq!(mean.groups[0].mean.coverage, Some(0.875));
    assert_eq!((named.case.as_str(), &named.groups[0].worst), ("ramp", &None));
}

/// A model that expects the next row to be what it reads, and 0 with a variance of 100 where it reads
/// nothing.
fn persistence(sequences: &[Sequence]) -> Result<Vec<SequencePrediction>, Infallible> {
    let of = |sequence: &Sequence| {
        let mut prediction = SequencePrediction::zeros(sequence.len(), 2);
        for step in 0..sequence.len() {
            for channel in 0..2 {
                let last = sequence.input(step).map_or(f32::NAN, |row| row[channel]);
                match last.is_nan() {
                    true => prediction.set(step, channel, 0.0, 100.0, 0.0),
                    false => prediction.set(step, channel, last, 0.0, 1.0),
                }
            }
        }
        prediction
    };
    Ok(sequences.iter().map(of).collect())
}

#[test]
fn a_model_of_its_own_rows_is_scored_apart_on_what_it_lost() {
    let sequences = [sequence(200)];
    let scaling =
        Scaling { inputs: Scaler::identity(2), targets: Scaler::identity(2), density: None, linear: None };
    let input_names = names(&["ramp", "constant"]);
    let recordings = PerturbedRecordings::gaussian([&input_names, &input_names], &scaling, &sequences);
    let evaluation = MissingEvaluation { recordings };
    let case = MissingCase::GapRows { channels: vec![0], rows_away: 1..20 };
    let found = evaluation.score(&[case], persistence).unwrap();
    let [_, gap, held, _, no_model] = &found[..] else { panic!("{found:?}") };
    let [lost, others] = &gap.groups[..] else { panic!("{gap:?}") };
    assert_eq!([lost.group, others.group], [ValueGroup::AffectedChannels, ValueGroup::OtherChannels]);
    assert_eq!((lost.mean.n, lost.mean.coverage), (19, Some(0.0)), "rows 101 to 119, all missed");
    assert_eq!((others.mean.rmse, others.mean.coverage), (0.0, Some(1.0)));
    // The last value was 99 in row 99; row 101 is 2 away, row 119 is 20 away.
    let squares: f64 = (2..=20).map(|away| f64::from(away * away)).sum();
    assert_eq!(held.reads, "last value");
    assert!((held.groups[0].mean.rmse - (squares / 19.0).sqrt()).abs() < 1e-9);
    let [alone] = &no_model.groups[..] else { panic!("{no_model:?}") };
    assert_eq!((alone.mean.rmse, alone.mean.coverage), (held.groups[0].mean.rmse, None));
}
