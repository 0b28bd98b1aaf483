use super::*;
use crate::data::Scaler;
use crate::data::{InputDensity, Rows};

const NAN: f32 = f32::NAN;

fn rows(channels: usize, values: &[f32]) -> Rows {
    Rows { channels, values: values.to_vec() }
}

fn chunk(sequence: usize, start: usize, len: usize) -> Chunk {
    Chunk { sequence, start, len }
}

fn scaler(mean: f32, std_dev: f32) -> Scaler {
    Scaler { mean: vec![mean], std_dev: vec![std_dev] }
}

#[test]
fn columns_are_standardised_padded_and_masked() {
    let sequences = [
        Sequence::columns(rows(1, &[12.0, NAN, 8.0]), rows(1, &[3.0, 5.0, NAN])),
        Sequence::columns(rows(1, &[14.0]), rows(1, &[7.0])),
    ];
    let scaling =
        Scaling { inputs: scaler(10.0, 2.0), targets: scaler(1.0, 4.0), density: None, linear: None };
    let batch = Batch::new(&sequences, &scaling, &[chunk(0, 0, 3), chunk(1, 0, 1)]);
    assert_eq!((batch.steps, batch.rows), (3, 2));
    // Time-major: both rows of step 0, then of step 1, then of step 2.
    assert_eq!(batch.inputs_mean, [1.0, 2.0, 0.0, 0.0, -1.0, 0.0]);
    assert_eq!(batch.inputs_var, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(batch.targets, [0.5, 1.5, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(batch.mask, [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn a_start_row_stands_before_the_first_sample_only() {
    let sequences = [Sequence::next(rows(1, &[12.0, 14.0, NAN, 8.0]))];
    let scaling =
        Scaling { inputs: scaler(10.0, 2.0), targets: scaler(10.0, 2.0), density: None, linear: None };
    let whole = Batch::new(&sequences, &scaling, &[chunk(0, 0, 4)]);
    assert_eq!(whole.inputs_mean, [0.0, 1.0, 2.0, 0.0]);
    assert_eq!(whole.inputs_var, [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(whole.targets, [1.0, 2.0, 0.0, -1.0]);
    assert_eq!(whole.mask, [1.0, 1.0, 0.0, 1.0]);

    let middle = Batch::new(&sequences, &scaling, &[chunk(0, 2, 2)]);
    assert_eq!(middle.inputs_mean, [2.0, 0.0]);
    assert_eq!(middle.inputs_var, [0.0, 1.0]);
}

#[test]
fn the_row_that_comes_in_is_the_same_whatever_is_said_of_it() {
    let noisy = [rows(1, &[12.0, NAN, 8.0]), rows(1, &[14.0])];
    let same = Scaling { inputs: scaler(10.0, 2.0), targets: scaler(10.0, 2.0), density: None, linear: None };
    let observed = |sequences: &[Sequence]| {
        let batch = Batch::new(sequences, &same, &[chunk(0, 0, 3), chunk(1, 0, 1)]);
        let (mean, var) = batch.observed();
        (mean.into_owned(), var.into_owned())
    };
    let expected = (vec![1.0, 2.0, 0.0, 0.0, -1.0, 0.0], vec![0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(observed(&noisy.clone().map(Sequence::next)), expected);
    let clean =
        |noisy: Rows| Sequence::columns(noisy.clone(), Rows { values: vec![7.0; noisy.len()], ..noisy });
    assert_eq!(observed(&noisy.map(clean)), expected);
}

#[test]
fn every_step_can_be_found_again() {
    let sequences =
        [Sequence::next(rows(1, &[0.0, 10.0, 20.0, 30.0])), Sequence::next(rows(1, &[40.0, 50.0]))];
    let scaling =
        Scaling { inputs: scaler(0.0, 10.0), targets: scaler(0.0, 10.0), density: None, linear: None };
    let batch = Batch::new(&sequences, &scaling, &[chunk(1, 0, 2), chunk(0, 1, 3)]);
    for (b, chunk) in batch.chunks.iter().enumerate() {
        for t in 0..chunk.len {
            let raw = sequences[chunk.sequence].targets.row(chunk.start + t)[0];
            assert_eq!(batch.targets[t * batch.rows + b] * 10.0, raw);
        }
    }
}

#[test]
fn several_channels_stay_together() {
    let sequences = [Sequence::columns(rows(2, &[1.0, 2.0, 3.0, NAN]), rows(1, &[1.0, 0.0]))];
    let scaling =
        Scaling { inputs: Scaler::identity(2), targets: Scaler::identity(1), density: None, linear: None };
    let batch = Batch::new(&sequences, &scaling, &[chunk(0, 0, 2), chunk(0, 1, 1)]);
    assert_eq!(batch.inputs_mean, [1.0, 2.0, 3.0, 0.0, 3.0, 0.0, 0.0, 0.0]);
    assert_eq!(batch.inputs_var, [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn padding_before_puts_zeros_first() {
    let sequences = [
        Sequence::columns(rows(1, &[1.0, 2.0, 3.0]), rows(1, &[4.0, 5.0, 6.0])),
        Sequence::columns(rows(1, &[7.0]), rows(1, &[8.0])),
    ];
    let scaling =
        Scaling { inputs: Scaler::identity(1), targets: Scaler::identity(1), density: None, linear: None };
    let chunks = [chunk(0, 0, 3), chunk(1, 0, 1)];
    let batch = Batch::padded(&sequences, &scaling, &chunks, Padding::Before);
    assert_eq!(batch.inputs_mean, [1.0, 0.0, 2.0, 0.0, 3.0, 7.0]);
    assert_eq!(batch.targets, [4.0, 0.0, 5.0, 0.0, 6.0, 8.0]);
    assert_eq!(batch.mask, [1.0, 0.0, 1.0, 0.0, 1.0, 1.0]);
}

#[test]
fn a_missing_input_is_imputed_from_the_others_of_its_row() {
    // Two channels with a correlation of 0.8: Λ = [[1, −0.8], [−0.8, 1]] / 0.36.
    let precision = [1.0, -0.8, 1.0].map(|element| element / 0.36).to_vec();
    let density = Some(InputDensity { precision, low: vec![-3.0; 2], high: vec![3.0; 2] });
    let scaling =
        Scaling { inputs: Scaler::identity(2), targets: Scaler::identity(2), density, linear: None };
    let values = [1.5, NAN, NAN, NAN, 0.5, 0.25, NAN, -2.0];
    let close = |found: &[f32], expected: &[f32]| {
        assert_eq!(found.len(), expected.len());
        let pairs = found.iter().zip(expected);
        assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 1e-6), "{found:?} against {expected:?}");
    };
    let columns = [Sequence::columns(rows(2, &values), rows(2, &values))];
    let batch = Batch::new(&columns, &scaling, &[chunk(0, 0, 4)]);
    close(&batch.inputs_mean, &[1.5, 1.2, 0.0, 0.0, 0.5, 0.25, -1.6, -2.0]);
    close(&batch.inputs_var, &[0.0, 0.36, 1.0, 1.0, 0.0, 0.0, 0.36, 0.0]);
    assert_eq!(batch.mask, [1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0], "a target is missing or it is not");
    // A model of its own next row: the start row stays deterministic.
    let next = Batch::new(&[Sequence::next(rows(2, &values))], &scaling, &[chunk(0, 0, 4)]);
    close(&next.inputs_mean, &[0.0, 0.0, 1.5, 1.2, 0.0, 0.0, 0.5, 0.25]);
    close(&next.inputs_var, &[0.0, 0.0, 0.0, 0.36, 1.0, 1.0, 0.0, 0.0]);
}

#[test]
fn a_residual_of_a_start_row_is_as_wide_as_the_training_rows() {
    let values = [1.0, 2.0, NAN, 4.0, 5.0, 6.0];
    let sequences = [Sequence::next(rows(1, &values)), Sequence::next(rows(1, &values[..2]))];
    let scaling =
        Scaling { inputs: Scaler::identity(1), targets: Scaler::identity(1), density: None, linear: None };
    let chunks = [chunk(0, 0, 3), chunk(0, 3, 3), chunk(1, 0, 2)];
    let batch = Batch::new(&sequences, &scaling, &chunks);
    // Steps of three lanes; the second lane begins within its sequence, behind the missing value.
    assert_eq!(batch.inputs_var, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(*batch.residual_var(), [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let before = Batch::padded(&sequences, &scaling, &chunks, Padding::Before);
    assert_eq!(*before.residual_var(), [1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    let columns = [Sequence::columns(rows(1, &values), rows(1, &values))];
    assert!(Batch::new(&columns, &scaling, &[chunk(0, 0, 3)]).starts.is_empty());
}
