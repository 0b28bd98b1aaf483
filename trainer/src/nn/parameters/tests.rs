use quaver::checkpoint::CellKind;

use super::*;
use crate::nn::WeightPosterior;
use crate::nn::test_spec;

#[test]
fn shapes_follow_the_specification() {
    let elman = CellKind::Elman(quaver::checkpoint::Activation::Tanh);
    let spec = test_spec(3, 2, &[(CellKind::Lstm, 5), (elman, 4), (CellKind::Gru, 6)]);
    let parameters = Parameters::zeros(&spec);
    let shapes: Vec<(&str, &[usize])> =
        parameters.tensors.iter().map(|tensor| (tensor.name.as_str(), tensor.shape.as_slice())).collect();
    let expected: [(&str, &[usize]); 9] = [
        ("layer0.weight", &[20, 8]),
        ("layer0.bias", &[20]),
        ("layer1.weight", &[4, 9]),
        ("layer1.bias", &[4]),
        ("layer2.weight", &[18, 10]),
        ("layer2.bias", &[24]),
        ("output.weight", &[2, 6]),
        ("output.bias", &[2]),
        ("output.log_noise", &[2]),
    ];
    assert_eq!(shapes, expected);
    assert!(parameters.fits(&spec));
}

#[test]
fn a_bernoulli_net_has_no_noise_and_fits_no_gaussian_specification() {
    let gaussian = test_spec(1, 1, &[(CellKind::Lstm, 1)]);
    let bernoulli = ModelSpec { likelihood: Likelihood::Bernoulli, ..gaussian.clone() };
    let parameters = Parameters::zeros(&bernoulli);
    assert!(parameters.noise_var(&bernoulli).is_empty());
    assert!(!parameters.fits(&gaussian));
    assert_eq!(Parameters::zeros(&gaussian).noise_var(&gaussian), [1.0]);
}

#[test]
fn a_method_adds_its_numbers_at_the_end() {
    let mut spec = test_spec(2, 1, &[(CellKind::Lstm, 3)]);
    spec.layers[0].input_noise = UnitNoise::Dropout { keep: 0.5 };
    let method = TrainingMethod {
        posterior: WeightPosterior::Ropd,
        scale_min: Some(0.25),
        learned_keep: true,
        implicit_variance: true,
        ..TrainingMethod::default()
    };
    let mut parameters = Parameters::zeros_for(&spec, method);
    let names: Vec<&str> = parameters.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    let expected = [
        "layer0.weight",
        "layer0.bias",
        "output.weight",
        "output.bias",
        "layer0.weight_log_var",
        "layer0.bias_log_var",
        "output.weight_log_var",
        "output.bias_log_var",
        "prior.mean",
        "prior.log_var",
        "layer0.log_scale",
        "output.log_scale",
        "layer0.input_logit",
    ];
    assert_eq!(names, expected);
    assert!(parameters.fits(&spec) && !Parameters::zeros(&spec).eq(&parameters));
    parameters.get_mut("layer0.input_logit").unwrap().values[0] = 3.0_f32.ln();
    let resolved = parameters.resolved(&spec);
    assert_eq!(resolved.layers[0].variance_scale, 1.25);
    let UnitNoise::Dropout { keep } = resolved.layers[0].input_noise else { panic!("{resolved:?}") };
    assert!((keep - 0.75).abs() < 1e-6);
    assert_eq!(parameters.noise_var(&spec), [IMPLICIT_NOISE]);
}

#[test]
fn networks_are_joined_and_parted() {
    let spec = test_spec(2, 1, &[(CellKind::Lstm, 3)]);
    let (one, other) = (Parameters::zeros(&spec), Parameters::zeros(&spec).without_output());
    let both = Parameters::joined([("a.", one.clone()), ("a.backward.", other.clone())]);
    assert_eq!(both.tensors.len(), one.tensors.len() + 2);
    assert_eq!(both.part("a.", TrainingMethod::default()), one);
    assert_eq!(both.part("a.backward.", TrainingMethod::default()), other);
    let mut changed = one.clone();
    changed.tensors[0].values.fill(3.0);
    let mut with = both.clone();
    with.put_part("a.", changed.clone());
    assert_eq!(with.part("a.", TrainingMethod::default()), changed);
    assert_eq!(with.part("a.backward.", TrainingMethod::default()), other);
    assert!(other.fits_layers(&spec) && !other.fits(&spec) && !one.fits_layers(&spec));
}

#[test]
fn the_largest_parameter_is_found_unless_one_is_no_number() {
    let mut parameters = Parameters::zeros(&test_spec(1, 1, &[(CellKind::Lstm, 1)]));
    parameters.tensors[0].values[..2].copy_from_slice(&[2.0, -3.0]);
    assert_eq!(parameters.largest(), 3.0);
    parameters.tensors[1].values[0] = f32::NAN;
    assert!(parameters.largest().is_nan());
}

#[test]
fn noise_is_kept_within_its_bounds() {
    let mut parameters = Parameters::zeros(&test_spec(1, 1, &[(CellKind::Lstm, 1)]));
    parameters.get_mut("output.log_noise").unwrap().values[0] = -100.0;
    parameters.clamp_to_limits();
    assert_eq!(parameters.get("output.log_noise").unwrap().values, [-LOG_NOISE_LIMIT]);
}
