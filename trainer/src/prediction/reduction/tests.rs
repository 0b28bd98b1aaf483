use quaver::checkpoint::{
    Activation, CellKind, ClassifierSpec, Contents, PoolOver, Pooling, ReducerContents, ReducerSpec,
    write_reducer,
};

use super::*;
use crate::nn::test_spec;

/// A unit that passes on the sign of its input, averaged over time, and three classes by their
/// prototypes: −0.5, 0 and 0.5.
pub(crate) fn sign_reducer() -> Vec<u8> {
    let mut network = Contents::zeros(test_spec(1, 1, &[(CellKind::Dense(Activation::Tanh), 1)]));
    network.layers[0].weight[0] = 1.0;
    let spec = ReducerSpec {
        classes: 3,
        classifier: ClassifierSpec::Nearest { prototypes: 3, beta: 40.0, neighbours: 0 },
        threshold: Some(0.1),
        ..ReducerSpec::new(Pooling::Mean, PoolOver::Units)
    };
    let contents = ReducerContents {
        class_names: ["down", "rest", "up"].map(String::from).to_vec(),
        labels: vec![0, 1, 2],
        prototypes: vec![-0.5, 0.0, 0.5],
        ..ReducerContents::new(spec, network)
    };
    write_reducer(&contents).unwrap()
}

fn column(values: &[f32]) -> Rows {
    Rows { channels: 1, values: values.to_vec() }
}

#[test]
fn sequences_are_reduced_in_order_and_from_a_fresh_start() {
    let bytes = sign_reducer();
    let sequences = [column(&[9.0, 9.0]), column(&[0.0]), column(&[-9.0, 0.0]), column(&[9.0, 0.0])];
    let rows: Vec<&Rows> = sequences.iter().collect();
    let found = reduce_by_runtime(&bytes, &rows, None).unwrap();
    let expected = [1.0, 0.0, -0.5, 0.5];
    // Moments of tanh are within 5·10⁻⁴ of their integrals.
    assert!(found.mean.values.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3), "{:?}", found.mean);
    let classes = found.classes.unwrap();
    assert_eq!(classes.classes, [2, 1, 0, 2]);
    assert_eq!(classes.known, [false, true, true, true], "one half beyond the last prototype");
    assert!(classes.probabilities.iter().all(|row| (row.iter().sum::<f32>() - 1.0).abs() < 1e-5));
    assert!((classes.distances[0] - 0.25).abs() < 2e-3);
}

#[test]
fn what_is_taught_becomes_a_class() {
    let bytes = sign_reducer();
    let (example, other) = (column(&[9.0, 9.0, 9.0]), column(&[9.0]));
    let taught = TaughtPrototypes::new(&bytes, &[(3, &example)]).unwrap();
    let found = reduce_by_runtime(&bytes, &[&other, &column(&[0.0])], Some(&taught)).unwrap();
    let classes = found.classes.unwrap();
    assert_eq!((classes.classes, classes.known), (vec![3, 1], vec![true, true]));
    assert_eq!(classes.probabilities.channels, 4);
}

#[test]
fn no_sequences_and_empty_ones_are_harmless() {
    let bytes = sign_reducer();
    assert!(reduce_by_runtime(&bytes, &[], None).unwrap().mean.is_empty());
    let found = reduce_by_runtime(&bytes, &[&Rows::new(1)], None).unwrap();
    assert!(found.mean.values[0].is_nan() && found.classes.is_none());
    assert!(reduce_by_runtime(&bytes[..40], &[], None).is_err());
}
