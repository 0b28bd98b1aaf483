//! Missing channels of models with an input density: bounded for ever, conditioned on the other channels.

use quaver::checkpoint::{
    Activation, CellKind, Contents, DensitySpec, Extensions, Imputation, Target, UnitNoise, WeightFormat,
    write,
};
use quaver::{Arena, Predictor};
use quaver_tests::golden::Architecture;

const TANH: CellKind = CellKind::Elman(Activation::Tanh);

/// Two channels with this correlation and a range of ±3.
fn contents(target: Target, imputation: Imputation, correlation: f32) -> Contents {
    let own_inputs = target.is_next() || matches!(imputation, Imputation::LastEstimate { .. });
    let outputs = if own_inputs { 2 } else { 1 };
    let density = Some(DensitySpec { imputation, familiar: 9.0, widening: 1.0 });
    let architecture = Architecture {
        inputs: 2,
        outputs,
        target,
        noise: [UnitNoise::None; 3],
        extensions: Extensions { density, ..Extensions::default() },
        ..Architecture::default()
    };
    let mut contents = Contents::zeros(architecture.spec(&[(TANH, 2)], WeightFormat::F32));
    let variance = 1.0 - correlation * correlation;
    contents.input_precision = vec![1.0 / variance, -correlation / variance, 1.0 / variance];
    (contents.input_low, contents.input_high) = (vec![-3.0; 2], vec![3.0; 2]);
    contents
}

/// A network whose first unit passes on its first input: the output shows what the input was.
fn input_on_output(correlation: f32) -> Vec<u8> {
    let mut contents = contents(Target::Columns, Imputation::Conditional, correlation);
    // tanh(0.01 x) / 0.01 is x up to 10⁻⁴ x³/3.
    contents.layers[0].weight[0] = 0.01;
    contents.output.weight[0] = 100.0;
    contents.noise_var = vec![1e-6];
    write(&contents).expect("a valid model")
}

#[test]
fn a_missing_channel_has_its_conditional_mean_and_variance() {
    let bytes = input_on_output(0.8);
    let mut arena = Arena::<64>::new();
    let mut predictor = Predictor::load(&bytes, &mut arena).expect("a valid model");
    let output = predictor.step(&[f32::NAN, 1.5]).get(0).expect("one output");
    // 0.8 · 1.5 and 1 − 0.8², within the accuracy of the moments of tanh at this scale.
    assert!((output.mean - 1.2).abs() < 1e-3, "{output:?}");
    assert!((output.variance - 0.36).abs() < 2e-2, "{output:?}");
    let novelty = predictor.prediction().novelty().expect("there is a density");
    assert!((novelty.distance - 1.5 * 1.5).abs() < 1e-5, "only the present channel counts: {novelty:?}");
}

#[test]
fn an_unfamiliar_row_widens_the_error_bar() {
    let bytes = input_on_output(0.8);
    let mut arena = Arena::<64>::new();
    let mut predictor = Predictor::load(&bytes, &mut arena).expect("a valid model");
    let mut variance = |row: [f32; 2]| {
        let prediction = predictor.step(&row);
        (prediction.get(0).expect("one output").variance, prediction.novelty().expect("a density"))
    };
    let (ordinary, novelty) = variance([1.0, 1.0]);
    assert!(!novelty.is_novel());
    // Both channels are ordinary, but not together: (1 + 1 + 2 · 0.8)/(1 − 0.64) · 9 / 2 = 45.
    let (wide, novelty) = variance([3.0, -3.0]);
    assert!(novelty.is_novel() && (novelty.distance - 45.0).abs() < 1e-3, "{novelty:?}");
    assert!((wide / ordinary - 37.0).abs() < 0.1, "1 + (45 − 9) times: {wide} {ordinary}");
}

/// A residual of 0.05 per row, and next to no noise: without a density it drifts by 0.05 per row, for ever.
fn drifting(imputation: Imputation) -> Vec<u8> {
    let mut contents = contents(Target::ResidualNext, imputation, 0.0);
    contents.output.bias = vec![0.05, 0.0];
    contents.noise_var = vec![1e-4; 2];
    write(&contents).expect("a valid model")
}

#[test]
fn a_residual_model_does_not_run_away_when_a_channel_stays_missing() {
    let decays = [(0.0, 1.0), (0.01, 1.0), (0.0, 1.1)];
    for (decay, inflation) in decays {
        let bytes = drifting(Imputation::Combined { decay, inflation });
        let mut arena = Arena::<64>::new();
        let mut predictor = Predictor::load(&bytes, &mut arena).expect("a valid model");
        predictor.step(&[0.0, 0.0]);
        for row in 0..10_000 {
            let output = predictor.step(&[f32::NAN, 0.0]).get(0).expect("two outputs");
            assert!(output.mean.abs() <= 3.0, "row {row}: {output:?}");
        }
        let end = predictor.prediction().get(0).expect("two outputs");
        if decay > 0.0 || inflation > 1.0 {
            assert!(end.variance > 0.9, "nothing is known any more: {end:?}");
            assert!(end.mean < 0.1, "the conditional remains: {end:?}");
        }
    }
}

/// A denoiser that says 0 ± 0.01 whatever it reads: in a gap its own estimate grows old as the recursion
/// says, up to the variance of the training rows, and a reading ends that.
#[test]
fn the_last_estimate_of_a_denoiser_grows_old_in_a_gap() {
    let (decay, inflation) = (0.001, 1.1);
    for (share, lasts) in [(1.0, true), (0.0, false)] {
        let imputation = Imputation::LastEstimate { decay, inflation, share };
        let mut contents = contents(Target::Columns, imputation, 0.0);
        contents.noise_var = vec![1e-4; 2];
        let bytes = write(&contents).expect("a valid model");
        let mut arena = Arena::<64>::new();
        let mut predictor = Predictor::load(&bytes, &mut arena).expect("a valid model");
        let mut variances = |row: [f32; 2]| {
            let prediction = predictor.step(&row);
            [0, 1].map(|channel| f64::from(prediction.get(channel).expect("two outputs").variance))
        };
        assert!((variances([1.0, 0.0])[0] - 1e-4).abs() < 1e-8);
        let mut expected = 1e-4;
        for row in 0..10_000 {
            let kept = (1.0 - f64::from(decay)).powi(2);
            expected = (kept * f64::from(inflation) * expected + 1.0 - kept).min(1.0);
            let [missing, present] = variances([f32::NAN, 0.0]);
            let grown = if lasts { expected } else { 1e-4 };
            // Rounding adds up over the rows of the recursion; next to 1 it no longer grows.
            assert!((missing / grown - 1.0).abs() < 1e-3, "row {row}: {missing} against {grown}");
            assert!((present - 1e-4).abs() < 1e-8, "{present}");
        }
        assert!((variances([1.0, 0.0])[0] - 1e-4).abs() < 1e-8, "a reading ends the gap");
    }
}

#[test]
fn the_first_row_of_a_residual_model_is_as_uncertain_as_the_training_rows() {
    let bytes = drifting(Imputation::Conditional);
    let mut arena = Arena::<64>::new();
    let mut predictor = Predictor::load(&bytes, &mut arena).expect("a valid model");
    let first = predictor.prediction().get(0).expect("two outputs");
    assert!((first.variance - 1.0001).abs() < 1e-5, "{first:?}");
    let second = predictor.step(&[1.0, 0.0]).get(0).expect("two outputs");
    assert!((second.variance - 1e-4).abs() < 1e-6, "{second:?}");
}
