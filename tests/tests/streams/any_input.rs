//! Any bit pattern may arrive from a broken sensor.

use proptest::prelude::*;
use quaver::Prediction;

/// Sixty values of any bits, among them those at the edges of f32.
pub(crate) fn any_values() -> impl Strategy<Value = Vec<f32>> {
    let edges = [0.0, -0.0, 1.0, f32::MAX, f32::MIN, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-45, 1e30];
    let edges = prop::sample::select(edges.map(f32::to_bits).to_vec());
    prop::collection::vec(prop_oneof![any::<u32>(), edges].prop_map(f32::from_bits), 60)
}

/// Asserts that means and variances are finite, and variances not negative.
pub(crate) fn assert_sane(prediction: &Prediction<'_>, name: &str) {
    for output in prediction.iter() {
        assert!(output.mean.is_finite(), "{name}: {output:?}");
        for variance in [output.variance, output.epistemic, output.aleatoric] {
            assert!(variance.is_finite() && variance >= 0.0, "{name}: {output:?}");
        }
    }
    if let Some(surprise) = prediction.surprise() {
        assert!(surprise.nll.is_finite(), "{name}: {surprise:?}");
    }
}
