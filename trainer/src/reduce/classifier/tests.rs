//! Classifiers against exact cases.

use nalgebra::DVector;

use super::lbfgs::minimise;
use super::linear::logistic_regression;
use super::thinning::thinned;
use super::{Calibration, Classifier, LinearClassifier, NearestClassifier, threshold};
use crate::config::{ReduceConfig, ThinningName};
use crate::random::{Purpose, normal, stream, uniform};
use crate::reduce::embed::Embeddings;

fn points(values: &[(&[f32], usize)]) -> Embeddings {
    Embeddings {
        dimensions: values[0].0.len(),
        mean: values.iter().flat_map(|(point, _)| point.iter().copied()).collect(),
        var: vec![0.0; values.len() * values[0].0.len()],
        labels: values.iter().map(|(_, class)| Some(*class)).collect(),
    }
}

/// Normal clusters around (0, 0), (4, 0) and (0, 4), the second with three times as many points.
fn clusters(count: usize, seed: u64) -> Embeddings {
    let mut rng = stream(seed, Purpose::Initialisation);
    let mut found = Embeddings { dimensions: 2, ..Embeddings::default() };
    for index in 0..count {
        let class = [0, 1, 1, 1, 2][index % 5];
        let centre: [f64; 2] = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]][class];
        found.mean.extend(centre.map(|centre| (centre + normal(&mut rng)) as f32));
        found.var.extend([0.0; 2]);
        found.labels.push(Some(class));
    }
    found
}

#[test]
fn a_quadratic_function_is_minimised() {
    let scales = [1.0, 30.0, 500.0];
    let found = minimise(DVector::zeros(3), |x| {
        let gradient = DVector::from_fn(3, |i, _| scales[i] * (x[i] - i as f64));
        (0.5 * (0..3).map(|i| scales[i] * (x[i] - i as f64).powi(2)).sum::<f64>(), gradient)
    });
    assert!((found - DVector::from_vec(vec![0.0, 1.0, 2.0])).norm() < 1e-6);
}

/// One binary component: the log odds of the two classes given it are the logs of the ratios of counts.
#[test]
fn logistic_regression_finds_the_log_odds() {
    let mut values: Vec<(&[f32], usize)> = Vec::new();
    for (point, class, count) in [(&[0.0][..], 0, 30), (&[0.0], 1, 10), (&[1.0], 0, 5), (&[1.0], 1, 20)] {
        values.extend(std::iter::repeat_n((point, class), count));
    }
    let (weight, bias) = logistic_regression(&points(&values), 2, 0.0);
    let log_odds = |x: f32| (weight[1] - weight[0]) * x + bias[1] - bias[0];
    assert!((log_odds(0.0) - (10.0f32 / 30.0).ln()).abs() < 1e-3, "{}", log_odds(0.0));
    assert!((log_odds(1.0) - (20.0f32 / 5.0).ln()).abs() < 1e-3, "{}", log_odds(1.0));
}

#[test]
fn a_budget_of_prototypes_is_kept() {
    let train = clusters(200, 1);
    for thinning in [ThinningName::KMeans, ThinningName::Condense] {
        let reduce = ReduceConfig { prototypes: 10, thinning, ..ReduceConfig::default() };
        let nearest = NearestClassifier::fit(&train, 3, &reduce);
        assert!(nearest.labels.len() <= 10 && nearest.prototypes.len() == 2 * nearest.labels.len());
        assert!((0..3).all(|class| nearest.labels.contains(&class)), "{thinning:?}");
        let classifier = Classifier::Nearest(nearest);
        let found = Calibration::evaluate(&classifier, &reduce, &clusters(500, 2)).unwrap();
        // The best possible classifier is wrong in 2.3 % of the cases for two clusters at a distance of 4.
        assert!(found.error < 0.1, "{thinning:?}: {}", found.error);
    }
    let (all, labels) = thinned(&train, 3, 0, ThinningName::KMeans);
    assert_eq!((all, labels.len()), (train.mean.clone(), 200));
    // Larger classes have more prototypes.
    let (_, labels) = thinned(&train, 3, 10, ThinningName::KMeans);
    let count = |class: usize| labels.iter().filter(|label| **label == class).count();
    assert_eq!([count(0), count(1), count(2)], [2, 6, 2]);
}

/// Condensing keeps what classifies the other training points correctly, if the budget allows.
#[test]
fn a_condensed_set_is_consistent() {
    let train = clusters(100, 3);
    let (prototypes, labels) = thinned(&train, 3, 99, ThinningName::Condense);
    assert!(labels.len() < 40, "{}", labels.len());
    for index in 0..train.len() {
        let [mean, _] = train.point(index);
        let distance = |place: usize| super::nearest::distance(mean, &prototypes[2 * place..][..2]);
        let nearest = (0..labels.len()).min_by(|a, b| distance(*a).total_cmp(&distance(*b))).unwrap();
        assert_eq!(Some(labels[nearest]), train.labels[index]);
    }
}

/// Classes drawn with the probabilities of logits at temperature 2.5: that is the temperature found, up to
/// the error of 4000 draws.
#[test]
fn the_temperature_is_found() {
    let mut rng = stream(1, Purpose::Initialisation);
    let mut valid = Embeddings { dimensions: 1, ..Embeddings::default() };
    for _ in 0..4000 {
        let x = 4.0 * normal(&mut rng);
        let p = 1.0 / (1.0 + (-2.0 * x / 2.5).exp());
        valid.mean.push(x as f32);
        valid.var.push(0.0);
        valid.labels.push(Some(usize::from(uniform(&mut rng) < p)));
    }
    let linear = LinearClassifier::new(vec![0.0, 2.0], vec![0.0, 0.0], &valid, 2);
    let mut classifier = Classifier::Linear(linear);
    Calibration::fit(&mut classifier, &ReduceConfig::default(), &valid).unwrap();
    let Classifier::Linear(linear) = classifier else { panic!("another classifier") };
    assert!((linear.temperature - 2.5).abs() < 0.25, "{}", linear.temperature);
}

/// Validation points that are all classified correctly: the best temperature of the likelihood is zero, that
/// of the smoothed targets makes each as probable as its target, (N + 1)/(N + 2), because all are alike.
#[test]
fn without_errors_confidence_is_that_of_the_rule_of_succession() {
    let count = 20;
    let sides: Vec<(&[f32], usize)> =
        (0..count).map(|index| if index % 2 == 0 { (&[-1.0][..], 0) } else { (&[1.0][..], 1) }).collect();
    let valid = points(&sides);
    let linear = LinearClassifier::new(vec![0.0, 2.0], vec![0.0, 0.0], &valid, 2);
    let nearest = NearestClassifier::fit(&points(&[(&[-2.0], 0), (&[2.0], 1)]), 2, &ReduceConfig::default());
    for mut classifier in [Classifier::Linear(linear), Classifier::Nearest(nearest)] {
        let found = Calibration::fit(&mut classifier, &ReduceConfig::default(), &valid).unwrap();
        assert_eq!(found.error, 0.0);
        let mean: f64 = (0..count)
            .map(|index| classifier.classify(valid.point(index), true).probabilities[index % 2])
            .sum::<f64>()
            / count as f64;
        let expected = (count as f64 + 1.0) / (count as f64 + 2.0);
        // The search for the logarithm of the temperature ends within 2 %.
        assert!((mean - expected).abs() < 5e-3, "{mean} instead of {expected}");
    }
}

/// No errors, some points close to the border and others very far: the temperature is that of a grid.
#[test]
fn distant_points_do_not_hide_the_minimum() {
    let places: Vec<f32> = (0..40).map(|index| 0.02 * 1.25f32.powi(index)).collect();
    let values: Vec<[f32; 1]> = places.iter().flat_map(|place| [[-place], [*place]]).collect();
    let sides: Vec<(&[f32], usize)> =
        values.iter().enumerate().map(|(index, value)| (&value[..], index % 2)).collect();
    let valid = points(&sides);
    let linear = LinearClassifier::new(vec![0.0, 2.0], vec![0.0, 0.0], &valid, 2);
    let mut classifier = Classifier::Linear(linear);
    Calibration::fit(&mut classifier, &ReduceConfig::default(), &valid).unwrap();
    let Classifier::Linear(linear) = classifier else { panic!("another classifier") };
    // With logit z of the true class against the other: t ln(1 + e^−z) + (1 − t) ln(1 + e^z).
    let doubt = 1.0 / 82.0;
    let loss = |temperature: f64| -> f64 {
        let of_one = |place: &f32| {
            let z = 2.0 * f64::from(*place) / temperature;
            (-z).exp().ln_1p() + doubt * z
        };
        places.iter().map(of_one).sum()
    };
    let grid = (-600..=600).map(|step| (f64::from(step) * 0.01).exp());
    let best = grid.min_by(|a, b| loss(*a).total_cmp(&loss(*b))).unwrap();
    assert!((linear.temperature / best).ln().abs() < 0.05, "{} instead of {best}", linear.temperature);
}

#[test]
fn an_uncertain_point_is_less_sure() {
    let train = points(&[(&[0.0, 0.0], 0), (&[1.0, 0.0], 1)]);
    let classifier = Classifier::Nearest(NearestClassifier::fit(&train, 2, &ReduceConfig::default()));
    let certain = classifier.classify([&[0.1, 0.0], &[0.0, 0.0]], false);
    let uncertain = classifier.classify([&[0.1, 0.0], &[5.0, 0.0]], false);
    assert!(certain.class == 0 && certain.probabilities[0] > uncertain.probabilities[0]);
    assert!(uncertain.distance > certain.distance);
    // Left out, the nearest point is not the point itself.
    let apart = classifier.classify([&[0.0, 0.0], &[0.0, 0.0]], true);
    assert_eq!(apart.class, 1);
}

#[test]
fn the_threshold_refuses_a_fraction() {
    let scores: Vec<f64> = (1..=100).map(f64::from).collect();
    assert_eq!(threshold(scores.clone(), 0.05), Some(95.0));
    assert_eq!(threshold(scores, 0.0), None);
}
