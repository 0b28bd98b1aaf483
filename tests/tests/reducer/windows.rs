//! Embeddings against the definition of each pooling operator over whole lists, in double precision.

use quaver::checkpoint::{Pooling, ReducerSpec, Window};
use quaver::pooling::larger;

use crate::support::{
    POOLINGS, assert_near, contents, embedder, embedding, model, outputs, rows, with_reducer,
};

/// What f32 leaves of sums of some dozen terms.
const TOLERANCE: f64 = 3e-5;

/// Mean and variance of one component over weighted values, from the definition.
fn pooled(pooling: Pooling, values: &[[f64; 2]], weights: &[f64], correlation: f64) -> [f64; 2] {
    let total: f64 = weights.iter().sum();
    let shares: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
    let sum = |term: &dyn Fn(usize) -> f64| (0..values.len()).map(term).sum::<f64>();
    let (mean, var) = (|t: usize| values[t][0], |t: usize| values[t][1]);
    match pooling {
        Pooling::Mean | Pooling::Sum => {
            let factor = if pooling == Pooling::Sum { total } else { 1.0 };
            let std_dev = sum(&|t| shares[t] * var(t).sqrt());
            let independent = sum(&|t| shares[t] * shares[t] * var(t));
            let variance = (1.0 - correlation) * independent + correlation * std_dev * std_dev;
            [factor * sum(&|t| shares[t] * mean(t)), factor * factor * variance]
        }
        Pooling::Max => values[1..].iter().fold(values[0], |most, next| larger(most, *next, correlation)),
        Pooling::Stochastic => {
            let norm = sum(&|t| weights[t] * mean(t).exp());
            let p: Vec<f64> = (0..values.len()).map(|t| weights[t] * mean(t).exp() / norm).collect();
            let e = sum(&|t| p[t] * mean(t));
            let d = |t: usize| 1.0 + mean(t) - e;
            let bend = sum(&|t| var(t) * p[t] * (1.0 + (1.0 - 2.0 * p[t]) * d(t)));
            let independent = sum(&|t| p[t] * p[t] * d(t) * d(t) * var(t));
            let lasting = sum(&|t| p[t] * d(t) * var(t).sqrt()).powi(2);
            [e + 0.5 * bend, (1.0 - correlation) * independent + correlation * lasting]
        }
    }
}

/// Asserts that after each row the embedding is that of the window, whose weights `weigh` gives by the number
/// of rows so far, oldest first.
fn assert_window(spec: ReducerSpec, weigh: impl Fn(usize) -> Vec<f64>) {
    let (contents, rows) = (contents(spec), rows(40));
    let outputs = outputs(&contents, &rows);
    with_reducer(&model(spec), |reducer| {
        for (index, row) in rows.iter().enumerate() {
            reducer.step(row);
            let weights = weigh(index + 1);
            let start = index + 1 - weights.len();
            let component = |c: usize| {
                let values: Vec<[f64; 2]> = outputs[start..=index].iter().map(|row| row[c]).collect();
                pooled(spec.pooling, &values, &weights, spec.correlation.into())
            };
            let expected: Vec<[f64; 2]> = (0..4).map(component).collect();
            let what = format!("{spec:?} after row {index}");
            let [mean, var] = embedding(reducer);
            // Within a ring, maxima are merged in another order, and each merger takes them as normal.
            let ring = matches!(spec.window, Window::Ring { .. }) && spec.pooling == Pooling::Max;
            let tolerance = if ring { 0.1 } else { TOLERANCE };
            assert_near(&mean, &expected.iter().map(|[mean, _]| *mean).collect::<Vec<_>>(), tolerance, &what);
            assert_near(&var, &expected.iter().map(|[_, var]| *var).collect::<Vec<_>>(), tolerance, &what);
        }
    });
}

fn specs() -> impl Iterator<Item = ReducerSpec> {
    POOLINGS.into_iter().flat_map(|pooling| {
        [0.0, 0.4, 1.0].map(|correlation| ReducerSpec { correlation, ..embedder(pooling) })
    })
}

#[test]
fn a_sequence_is_pooled_from_its_beginning() {
    specs().for_each(|spec| assert_window(spec, |rows| vec![1.0; rows]));
}

#[test]
fn a_ring_holds_the_newest_rows() {
    for spec in specs() {
        let window = Window::Ring { pools: 4, rows: 3 };
        assert_window(ReducerSpec { window, ..spec }, |rows| {
            // Full sub-pools, and the newest one.
            let newest = (rows - 1) % 3 + 1;
            vec![1.0; (newest + 9).min(rows)]
        });
    }
}

#[test]
fn a_ring_of_one_pool_begins_again_when_it_is_full() {
    let window = Window::Ring { pools: 1, rows: 5 };
    let spec = ReducerSpec { window, ..embedder(Pooling::Mean) };
    assert_window(spec, |rows| vec![1.0; (rows - 1) % 5 + 1]);
}

#[test]
fn forgetting_multiplies_the_weights_of_older_rows() {
    let weights =
        |rows: usize| (0..rows).map(|t| (1.0_f64 - 1.0 / 7.0).powi((rows - 1 - t) as i32)).collect();
    for spec in specs().filter(|spec| spec.pooling != Pooling::Max) {
        assert_window(ReducerSpec { window: Window::Forgetting { rows: 7.0 }, ..spec }, weights);
    }
}

/// A maximum approaches the newest value, by a seventh of the way, before it is compared with it.
#[test]
fn a_forgetful_maximum_decays_towards_the_newest_value() {
    let spec = ReducerSpec { window: Window::Forgetting { rows: 7.0 }, ..embedder(Pooling::Max) };
    let (contents, rows) = (contents(spec), rows(30));
    let outputs = outputs(&contents, &rows);
    let mut expected = outputs[0].clone();
    with_reducer(&model(spec), |reducer| {
        for (index, row) in rows.iter().enumerate() {
            reducer.step(row);
            if index > 0 {
                for (most, [mean, var]) in expected.iter_mut().zip(&outputs[index]) {
                    let keep = 1.0 - 1.0 / 7.0;
                    let faded = [mean + keep * (most[0] - mean), keep * keep * most[1] + var / 49.0];
                    *most = larger(faded, [*mean, *var], 0.0);
                }
            }
            let [mean, var] = embedding(reducer);
            let list = |place: usize| expected.iter().map(|moments| moments[place]).collect::<Vec<_>>();
            assert_near(&mean, &list(0), TOLERANCE, "mean");
            assert_near(&var, &list(1), TOLERANCE, "variance");
        }
    });
}

/// A million rows: no pool grows, overflows or stalls at once.
#[test]
fn endless_streams_stay_finite_and_follow() {
    for pooling in POOLINGS {
        for window in
            [Window::Sequence, Window::Forgetting { rows: 50.0 }, Window::Ring { pools: 5, rows: 10 }]
        {
            with_reducer(&model(ReducerSpec { window, ..embedder(pooling) }), |reducer| {
                for index in 0..200_000_u32 {
                    let x = if index < 100_000 { 1.5 } else { -1.5 };
                    reducer.step(&[x, 0.3, -x]);
                    if index == 99_999 || index == 199_999 {
                        let [mean, var] = embedding(reducer);
                        assert!(mean.iter().all(|mean| mean.is_finite()), "{pooling:?} {window:?}");
                        assert!(
                            var.iter().all(|var| (0.0..1e12).contains(var)),
                            "{pooling:?} {window:?} {var:?}"
                        );
                    }
                }
                let [after, _] = embedding(reducer);
                reducer.check_state().expect("a state that steps have left");
                if window != Window::Sequence {
                    // Rows of long ago are forgotten.
                    reducer.begin();
                    (0..2000).for_each(|_| reducer.step(&[-1.5, 0.3, 1.5]));
                    let expected: Vec<f64> =
                        embedding(reducer)[0].iter().map(|mean| f64::from(*mean)).collect();
                    assert_near(&after, &expected, 1e-3, "forgotten");
                }
            });
        }
    }
}
