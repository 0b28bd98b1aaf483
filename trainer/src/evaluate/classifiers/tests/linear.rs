//! Linear discriminant analysis against closed forms.

use crate::evaluate::classifiers::lda::Lda;
use crate::random::{Purpose, normal, stream};

#[test]
fn posterior_of_two_classes_is_the_logistic_function() {
    // Two samples per class around ±1 with within-class variance 1: log-odds are x·(μ₁ − μ₀)/σ² = 2x.
    let features = [[-2.0], [0.0], [0.0], [2.0]].map(|row| row.to_vec());
    let lda = Lda::fit(2, &features, &[0, 0, 1, 1]).unwrap();
    let queries = [-1.5, 0.0, 0.25, 3.0];
    let found = lda.classify(&queries.map(|x| vec![x]));
    let probabilities = found.probabilities.unwrap();
    for (row, x) in probabilities.iter().zip(queries) {
        let expected = 1.0 / (1.0 + (-2.0 * x).exp());
        // Shrinkage changes the variance by 10⁻⁶ of the total one.
        assert!((f64::from(row[1]) - expected).abs() < 1e-5, "{} instead of {expected}", row[1]);
    }
    assert_eq!(found.classes, [0, 0, 1, 1]);
    assert!((found.distances[3] - 2.0).abs() < 1e-4, "three minus the mean of one");
}

#[test]
fn correlated_features_and_unequal_priors_have_the_exact_posterior() {
    // Two normals with Σ = A Aᵀ, means ±m, priors 1/4 and 3/4, estimated from many samples.
    let a = [[1.0, 0.0], [0.8, 0.6]];
    let m = [0.5, -0.25];
    let mut rng = stream(3, Purpose::Initialisation);
    let mut features = Vec::new();
    let mut labels = Vec::new();
    for index in 0..200_000 {
        let class = usize::from(index % 4 != 0);
        let sign = if class == 1 { 1.0 } else { -1.0 };
        let z = [normal(&mut rng), normal(&mut rng)];
        let x = [sign * m[0] + a[0][0] * z[0], sign * m[1] + a[1][0] * z[0] + a[1][1] * z[1]];
        features.push(x.to_vec());
        labels.push(class);
    }
    let lda = Lda::fit(2, &features, &labels).unwrap();
    // Σ = [1, 0.8; 0.8, 1]; w = 2 Σ⁻¹ m, log-odds wᵀx + ln 3.
    let determinant = 1.0 - 0.64;
    let w = [2.0 * (m[0] - 0.8 * m[1]) / determinant, 2.0 * (m[1] - 0.8 * m[0]) / determinant];
    for x in [[0.0, 0.0], [0.3, 0.4], [-1.0, -0.5]] {
        let expected = 1.0 / (1.0 + (-(w[0] * x[0] + w[1] * x[1] + 3f64.ln())).exp());
        let found = lda.classify(&[x.to_vec()]).probabilities.unwrap().values[1];
        // The standard error of each weight with 50,000 samples of the smaller class is about 0.01.
        assert!((f64::from(found) - expected).abs() < 0.01, "{found} instead of {expected}");
    }
}

#[test]
fn constant_and_repeated_features_and_empty_classes_are_harmless() {
    let features: Vec<Vec<f64>> = (0..12).map(|i| vec![7.0, f64::from(i), f64::from(i)]).collect();
    let labels: Vec<usize> = (0..12).map(|i| i / 6).collect();
    let found = Lda::fit(3, &features, &labels).unwrap().classify(&features);
    assert_eq!(found.classes, labels, "the third class has no samples and is never chosen");
    assert!(found.probabilities.unwrap().values.iter().all(|p| p.is_finite()));
    assert!(Lda::fit(2, &[], &[]).is_none() && Lda::fit(2, &features[..2], &[0, 1]).is_none());
}
