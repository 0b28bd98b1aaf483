//! Models that learn while they run: what they learn is Bayesian regression, and nothing that they read, are
//! told or are restored from breaks them.

use proptest::prelude::*;
use quaver::checkpoint::Part;
use quaver::{AdaptOptions, AdaptivePredictor, Covariance, Error, Model, Prediction};
use quaver_tests::Case;
use quaver_tests::golden::cases;
use quaver_tests::golden_adaptive;
use quaver_tests::numbers::Numbers;

const BOTH: [Covariance; 2] = [Covariance::Full, Covariance::Diagonal];

fn case(name: &str) -> Case {
    cases().into_iter().find(|case| case.name == name).expect("a golden case")
}

/// Independent labels that are never forgotten.
fn exact(covariance: Covariance) -> AdaptOptions {
    AdaptOptions { covariance, prior: 1.0, forgetting: 1.0, correlation: 1.0 }
}

fn with<T>(case: &Case, options: AdaptOptions, each: impl FnOnce(&mut AdaptivePredictor<'_, '_>) -> T) -> T {
    let model = Model::load(&case.model).expect("golden models load");
    let mut words = vec![f32::NAN; AdaptivePredictor::arena_words(&model, &options)];
    each(&mut AdaptivePredictor::load_in(&case.model, &mut words, options).expect("a model that can learn"))
}

/// Everything a prediction says, as bits, so that NaN equals NaN.
fn bits(prediction: &Prediction<'_>) -> Vec<u32> {
    let outputs = prediction.iter().flat_map(|o| [o.mean, o.variance, o.epistemic, o.aleatoric]);
    let surprise = prediction.surprise().into_iter().flat_map(|s| s.z.iter().copied().chain([s.nll]));
    outputs.chain(surprise).map(f32::to_bits).collect()
}

fn rows(case: &Case) -> impl Iterator<Item = &[f32]> {
    case.stream.chunks(case.inputs)
}

/// The units of the last layer and a one, and the exported outputs, for each row.
fn exported(case: &Case) -> Vec<(Vec<f64>, Vec<quaver::Output>)> {
    let model = Model::load(&case.model).expect("golden models load");
    let spec = model.spec();
    let mut words = vec![0.0; spec.arena_words()];
    let mut state = model.start_in(&mut words).expect("the right size");
    let mut saved = vec![0.0; spec.saved_words()];
    let units = usize::from(spec.layers.last().expect("a layer").units);
    let states = spec.layers.iter().map(|layer| 2 * layer.cell.states() * usize::from(layer.units));
    let last: usize = states.rev().skip(1).sum();
    rows(case)
        .map(|row| {
            let outputs = model.step(&mut state, row).iter().collect();
            model.save(&state, &mut saved).expect("the right size");
            let phi = saved[last..last + units].iter().map(|h| f64::from(*h)).chain([1.0]).collect();
            (phi, outputs)
        })
        .collect()
}

/// Solves A x = b for a symmetric positive definite A.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for pivot in 0..n {
        for row in (0..n).filter(|row| *row != pivot) {
            let factor = a[row][pivot] / a[pivot][pivot];
            (0..n).for_each(|column| a[row][column] -= factor * a[pivot][column]);
            b[row] -= factor * b[pivot];
        }
    }
    (0..n).map(|i| b[i] / a[i][i]).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Labels that are another linear function of the units than the exported one, in raw units.
fn truth(phi: &[f64], exported: &quaver::Output, output: usize) -> f32 {
    let change: f64 = phi.iter().enumerate().map(|(i, x)| x * (0.4 - 0.15 * (i + output) as f64)).sum();
    (f64::from(exported.mean) + change) as f32
}

/// After all rows but the last, the prediction of the last is the exported one plus that of Bayesian
/// regression of all labels at once, in f64 (Bishop 2006, eqs. 3.50, 3.51 and 3.59). Labels have no noise, so
/// that the factor on variances stays 1.
#[test]
fn predictions_are_those_of_batch_regression() {
    for name in ["lstm-f32", "lstm-int8", "lstm-fast", "gru-small", "two-layers-f32", "heteroscedastic-f32"] {
        let case = case(name);
        let exported = exported(&case);
        let (last, seen) = exported.split_last().expect("rows");
        let n = last.0.len();
        let mut precision = vec![vec![0.0; n]; n];
        (0..n).for_each(|i| precision[i][i] = 1.0);
        for (phi, _) in seen {
            (0..n).for_each(|i| (0..n).for_each(|j| precision[i][j] += phi[i] * phi[j]));
        }
        let found: Vec<quaver::Output> = with(&case, exact(Covariance::Full), |predictor| {
            for (row, (phi, outputs)) in rows(&case).zip(&exported) {
                predictor.step(row);
                let labels: Vec<f32> =
                    outputs.iter().enumerate().map(|(o, output)| truth(phi, output, o)).collect();
                assert!(predictor.prediction().mean().len() == labels.len());
                if phi.as_ptr() != last.0.as_ptr() {
                    assert!(predictor.learn(&labels));
                }
            }
            predictor.prediction().iter().collect()
        });
        let leverage = dot(&last.0, &solve(precision.clone(), last.0.clone()));
        for (o, (found, exported)) in found.iter().zip(&last.1).enumerate() {
            let mut sums = vec![0.0; n];
            for (phi, outputs) in seen {
                let change = f64::from(truth(phi, &outputs[o], o)) - f64::from(outputs[o].mean);
                (0..n).for_each(|i| sums[i] += phi[i] * change);
            }
            let weights = solve(precision.clone(), sums);
            let mean = f64::from(exported.mean) + dot(&weights, &last.0);
            // Forty updates in f32, and labels of size 1 rounded to f32.
            assert!((f64::from(found.mean) - mean).abs() < 2e-5, "{name} {o}: {} {mean}", found.mean);
            let epistemic = f64::from(exported.epistemic) + f64::from(exported.aleatoric) * leverage;
            let ratio = f64::from(found.epistemic) / epistemic;
            assert!((ratio - 1.0).abs() < 1e-4, "{name} {o}: {} {epistemic}", found.epistemic);
            assert_eq!(found.aleatoric, exported.aleatoric, "{name}");
        }
    }
}

/// Without labels the means are the exported ones, and the prior is all that is added to variances.
#[test]
fn without_labels_means_are_as_exported() {
    for (name, covariance) in [("lstm-fast", Covariance::Full), ("elman-tanh-f32", Covariance::Diagonal)] {
        let case = case(name);
        let expected = exported(&case);
        with(&case, exact(covariance), |predictor| {
            for (row, (phi, exported)) in rows(&case).zip(&expected) {
                for (found, exported) in predictor.step(row).iter().zip(exported) {
                    assert_eq!((found.mean, found.aleatoric), (exported.mean, exported.aleatoric));
                    let added = f64::from(exported.aleatoric) * dot(phi, phi);
                    assert!((f64::from(found.epistemic - exported.epistemic) / added - 1.0).abs() < 1e-4);
                }
            }
        });
    }
}

#[test]
fn an_output_without_label_learns_nothing_and_a_prediction_is_learned_once() {
    for covariance in BOTH {
        let case = case("lstm-fast");
        let (mut untaught, mut taught) = (Vec::new(), Vec::new());
        with(&case, exact(covariance), |predictor| {
            rows(&case).for_each(|row| untaught.push(predictor.step(row).mean().to_vec()));
        });
        with(&case, exact(covariance), |predictor| {
            assert!(!predictor.learn(&[1.0, 1.0]), "nothing was predicted by units yet");
            for row in rows(&case) {
                taught.push(predictor.step(row).mean().to_vec());
                assert!(!predictor.learn(&[f32::NAN, f32::INFINITY]), "no label");
                assert!(!predictor.learn(&[]), "no label");
                assert!(predictor.learn(&[f32::NAN, 3.0]));
                assert!(!predictor.learn(&[f32::NAN, 3.0]), "learned before");
            }
        });
        assert!(untaught.iter().zip(&taught).all(|(a, b)| a[0].to_bits() == b[0].to_bits()));
        let distance = |means: &Vec<Vec<f32>>| (means[39][1] - 3.0).abs();
        assert!(distance(&taught) < 0.2 * distance(&untaught), "{:?} {:?}", taught[39], untaught[39]);
    }
}

/// Errors three times as large as the exported noise widen the error bar to about their size.
#[test]
fn the_error_bar_follows_errors_larger_than_the_noise() {
    let case = case("lstm-fast");
    let exported = exported(&case);
    let mut numbers = Numbers::new("noise of labels");
    let options = AdaptOptions { prior: 1e-3, ..exact(Covariance::Full) };
    with(&case, options, |predictor| {
        let (mut inside, mut count) = (0, 0);
        for (step, (row, (_, outputs))) in (0..50).flat_map(|_| rows(&case).zip(&exported)).enumerate() {
            let found: Vec<quaver::Output> = predictor.step(row).iter().collect();
            let mut labels = Vec::new();
            for (found, exported) in found.iter().zip(outputs) {
                // The sum of twelve uniform draws has variance 1 where each has 1/12.
                let normal: f32 = (0..12).map(|_| numbers.between(-0.5, 0.5)).sum();
                let label = exported.mean + 3.0 * exported.aleatoric.sqrt() * normal;
                if step >= 1000 {
                    inside += u32::from((label - found.mean).abs() < 1.645 * found.std_dev());
                    count += 1;
                }
                labels.push(label);
            }
            assert!(predictor.learn(&labels));
        }
        let coverage = f64::from(inside) / f64::from(count);
        // 2,000 labels: a standard error of 0.7 %; the exported error bar covers 55 %.
        assert!((coverage - 0.9).abs() < 0.03, "{coverage}");
    });
}

/// A person whose gain changes: forgetting follows, a readout that forgets nothing lags behind.
#[test]
fn forgetting_follows_a_change() {
    let case = case("lstm-fast");
    let error = |forgetting: f32| {
        with(&case, AdaptOptions { prior: 100.0, forgetting, ..exact(Covariance::Full) }, |predictor| {
            let mut error = 0.0;
            for turn in 0..60 {
                for row in rows(&case) {
                    let label = if turn < 50 { 1.0 } else { -1.0 };
                    error = (predictor.step(row).mean()[0] - label).abs();
                    predictor.learn(&[label, label]);
                }
            }
            error
        })
    };
    let (remembering, forgetting) = (error(1.0), error(0.98));
    assert!(forgetting < 0.1 && remembering > 1.0, "{forgetting} {remembering}");
}

#[test]
fn a_reset_keeps_what_was_learned_and_forgetting_does_not() {
    for covariance in BOTH {
        let case = case("next-with-gaps-lstm-fast");
        with(&case, exact(covariance), |predictor| {
            let run = |predictor: &mut AdaptivePredictor<'_, '_>, label: f32| -> Vec<Vec<u32>> {
                predictor.reset();
                let step = |row| {
                    predictor.learn(&[label; 3]);
                    bits(&predictor.step(row))
                };
                rows(&case).map(step).collect()
            };
            let first = run(predictor, f32::NAN);
            run(predictor, 0.7);
            assert_ne!(run(predictor, f32::NAN), first);
            predictor.forget();
            assert_eq!(run(predictor, f32::NAN), first);
        });
    }
}

#[test]
fn models_and_settings_that_cannot_work_are_refused() {
    let refused = |name: &str, options: AdaptOptions, missing: usize| {
        let case = case(name);
        let model = Model::load(&case.model).expect("golden models load");
        let needed = AdaptivePredictor::arena_words(&model, &options);
        let mut words = vec![0.0; needed - missing];
        let error = AdaptivePredictor::load_in(&case.model, &mut words, options).err();
        (error, needed)
    };
    let options = AdaptOptions::default();
    for name in ["bernoulli-fast", "categorical-f32"] {
        let error = refused(name, options, 0).0;
        assert!(
            matches!(error, Some(Error::Invalid { part: Part::Spec, field: "likelihood", .. })),
            "{name}"
        );
    }
    for covariance in BOTH {
        let (error, needed) = refused("lstm-fast", AdaptOptions { covariance, ..options }, 1);
        assert_eq!(error, Some(Error::Arena { needed, found: needed - 1 }));
    }
    let bad = [f32::NAN, f32::INFINITY, 0.0, -1.0];
    let with_prior = bad.map(|prior| ("prior", AdaptOptions { prior, ..options }));
    let with_forgetting =
        [f32::NAN, 0.9, 1.01].map(|forgetting| ("forgetting", AdaptOptions { forgetting, ..options }));
    let with_correlation = bad.map(|correlation| ("correlation", AdaptOptions { correlation, ..options }));
    for (field, options) in with_prior.into_iter().chain(with_forgetting).chain(with_correlation) {
        let error = refused("lstm-fast", options, 0).0.expect("not allowed");
        assert!(error.to_string().starts_with(&format!("adaptation: {field} must be ")), "{error}");
    }
}

#[test]
fn saved_words_are_checked() {
    for covariance in BOTH {
        let case = case("lstm-fast");
        with(&case, exact(covariance), |predictor| {
            for row in rows(&case) {
                predictor.step(row);
                predictor.learn(&[0.5, -0.5]);
            }
            let mut saved = vec![0.0; predictor.saved_words()];
            predictor.save(&mut saved).expect("the right length");
            let needed = saved.len();
            let short = &saved[..needed - 1];
            assert_eq!(predictor.restore(short), Err(Error::State { needed, found: needed - 1 }));
            assert_eq!(
                predictor.save(&mut vec![0.0; needed + 1]),
                Err(Error::State { needed, found: needed + 1 })
            );
            let before = bits(&predictor.prediction());
            for word in 0..needed {
                for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                    let mut damaged = saved.clone();
                    damaged[word] = value;
                    assert_eq!(predictor.restore(&damaged), Err(Error::StateValue { word }));
                }
            }
            assert_eq!(bits(&predictor.prediction()), before, "a refused state changes nothing");
            predictor.restore(&saved).expect("its own state");
        });
    }
}

/// Values that a label or a reading can have.
fn any_value() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => -3.0_f32..3.0,
        1 => prop::num::f32::ANY,
        1 => prop::sample::select(vec![f32::NAN, f32::INFINITY, f32::MAX, f32::MIN, 1e38, -1e38, 0.0, 1e-45]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever is read and told, what comes out is finite, and no variance is negative.
    #[test]
    fn any_row_and_any_label_leave_predictions_finite(
        values in prop::collection::vec(any_value(), 300),
        prior in prop::sample::select(vec![1e-6_f32, 1.0, 1e6]),
        forgetting in prop::sample::select(vec![0.91_f32, 0.999, 1.0]),
        correlation in prop::sample::select(vec![1.0_f32, 1e6]),
    ) {
        for case in golden_adaptive::cases() {
            let covariance = case.task.adaptation().expect("it learns").covariance;
            let options = AdaptOptions { covariance, prior, forgetting, correlation };
            with(&case, options, |predictor| {
                for row in values.chunks(case.inputs) {
                    predictor.learn(row);
                    for output in predictor.step(row).iter() {
                        prop_assert!(output.mean.is_finite(), "{}: {output:?}", case.name);
                        for variance in [output.variance, output.epistemic, output.aleatoric] {
                            prop_assert!(variance.is_finite() && variance >= 0.0, "{}: {output:?}", case.name);
                        }
                    }
                }
                let mut saved = vec![0.0; predictor.saved_words()];
                predictor.save(&mut saved).expect("the right length");
                prop_assert_eq!(predictor.restore(&saved), Ok(()), "{}", case.name);
                Ok(())
            })?;
        }
    }

    /// Saved after any number of steps, with the last label before or after saving, it goes on with the same
    /// bits.
    #[test]
    fn a_restored_predictor_goes_on_as_if_nothing_had_happened(at in 0_usize..40, detour in 1_usize..40) {
        for case in golden_adaptive::cases() {
            let options = case.task.adaptation().expect("it learns");
            let step = |predictor: &mut AdaptivePredictor<'_, '_>, row: &[f32]| {
                predictor.learn(row);
                bits(&predictor.step(row))
            };
            let expected: Vec<_> =
                with(&case, options, |predictor| rows(&case).map(|row| step(predictor, row)).collect());
            let found: Vec<_> = with(&case, options, |predictor| {
                let rows: Vec<&[f32]> = rows(&case).collect();
                let mut found: Vec<_> = rows[..at].iter().map(|row| step(predictor, row)).collect();
                let mut saved = vec![0.0; predictor.saved_words()];
                predictor.save(&mut saved).expect("the right length");
                rows.iter().rev().take(detour).for_each(|row| _ = step(predictor, row));
                predictor.restore(&saved).expect("its own state");
                found.extend(rows[at..].iter().map(|row| step(predictor, row)));
                found
            });
            prop_assert_eq!(&found, &expected, "{}", case.name);
        }
    }
}
