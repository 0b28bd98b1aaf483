use quaver::checkpoint::Target;

use super::*;
use crate::config::InitConfig;
use crate::nn::{PruningOrder, PruningUnit, WeightPosterior, predict, test_cells, test_spec};
use crate::random::{Purpose, normals, stream};

/// A batch of two lanes and five steps; the first input row is uncertain if `uncertain`.
fn batch(uncertain: bool) -> Batch {
    let (steps, rows, inputs) = (5, 2, 3);
    let mut inputs_var = vec![0.0; steps * rows * inputs];
    if uncertain {
        inputs_var[..inputs].fill(0.3);
    }
    Batch {
        steps,
        rows,
        inputs_mean: normals(&mut stream(5, Purpose::Initialisation), steps * rows * inputs),
        inputs_var,
        targets: vec![0.0; steps * rows * 3],
        mask: vec![1.0; steps * rows * 3],
        target: Target::Columns,
        chunks: Vec::new(),
        starts: Vec::new(),
        linear: None,
    }
}

#[test]
fn without_noise_it_is_the_network_itself() {
    for cell in test_cells() {
        let mut spec = test_spec(3, 3, &[(cell, 4), (CellKind::Gru, 3)]);
        spec.target = Target::ResidualSame;
        let parameters =
            InitConfig::default().parameters(&test_spec(3, 3, &[(cell, 4), (CellKind::Gru, 3)]), 2);
        let batch = batch(false);
        let expected = predict(&spec, &parameters, &batch);
        let network = SampledNetwork::draw(&spec, &parameters, &mut stream(1, Purpose::Initialisation));
        for lane in 0..batch.rows {
            let found = network.run(&batch, lane, &mut stream(1, Purpose::Initialisation));
            for (step, found) in found.chunks(3).enumerate() {
                let expected = &expected.mean[(step * batch.rows + lane) * 3..][..3];
                // The moments of sigmoid and tanh are within 5e-4 of exact ones, at every gate.
                let close =
                    found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 2e-3);
                assert!(close, "{cell:?}, step {step}: {found:?} against {expected:?}");
            }
        }
    }
}

/// Mean and variance of the first output at the last step over many draws.
fn sampled_moments(spec: &ModelSpec, parameters: &Parameters, batch: &Batch) -> [f64; 2] {
    let draws = 5_000;
    let mut rng = stream(3, Purpose::Initialisation);
    let values: Vec<f64> = (0..draws)
        .map(|_| {
            let outputs = SampledNetwork::draw(spec, parameters, &mut rng).run(batch, 0, &mut rng);
            f64::from(outputs[outputs.len() - 3])
        })
        .collect();
    let mean = values.iter().sum::<f64>() / f64::from(draws);
    [mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / f64::from(draws)]
}

#[test]
fn every_noise_has_the_moments_of_variance_propagation_where_those_are_exact() {
    // One layer without recurrence and the activation's linear part: a relu far above zero.
    let relu = CellKind::Dense(Activation::Relu);
    let weight_noises =
        [WeightNoise::None, WeightNoise::Gaussian { var: 0.02 }, WeightNoise::DropConnect { keep: 0.8 }];
    let unit_noises = [
        UnitNoise::None,
        UnitNoise::Dropout { keep: 0.7 },
        UnitNoise::Multiplicative { var: 0.2 },
        UnitNoise::Additive { var: 0.1 },
    ];
    for (index, noise) in unit_noises.into_iter().enumerate() {
        let mut spec = test_spec(3, 3, &[(relu, 1)]);
        // One unit, so that nothing correlates units.
        spec.layers[0].input_noise = noise;
        spec.output.noise = noise;
        let weight_noise = weight_noises[index % 3];
        let posterior = WeightPosterior::Ropd;
        let method = TrainingMethod { posterior, weight_noise, ..TrainingMethod::default() };
        let init = InitConfig { weight_std_dev: 0.3, ..InitConfig::default() };
        let mut parameters = init.parameters_for(&spec, method, 4);
        parameters.get_mut("layer0.bias").unwrap().values.fill(20.0);
        let mut batch = batch(false);
        batch.steps = 1;
        let expected = predict(&spec, &parameters, &batch);
        let [mean, var] = sampled_moments(&spec, &parameters, &batch);
        let [expected_mean, expected_var] = [expected.mean[0], expected.var[0]].map(f64::from);
        // The standard error of a mean of 5 000 draws is σ/71, that of a variance about 2 % of it: four of
        // each.
        assert!(
            (mean - expected_mean).abs() < 0.06 * expected_var.sqrt(),
            "{noise:?}: {mean} {expected_mean}"
        );
        assert!((var / expected_var - 1.0).abs() < 0.08, "{noise:?}: {var} against {expected_var}");
    }
}

#[test]
fn uncertain_inputs_are_drawn() {
    let spec = test_spec(3, 3, &[(CellKind::Dense(Activation::Relu), 1)]);
    let mut parameters = InitConfig::default().parameters(&spec, 4);
    parameters.get_mut("layer0.bias").unwrap().values.fill(20.0);
    let batch = Batch { steps: 1, ..batch(true) };
    let expected = predict(&spec, &parameters, &batch);
    let [_, var] = sampled_moments(&spec, &parameters, &batch);
    assert!((var / f64::from(expected.var[0]) - 1.0).abs() < 0.08, "{var} against {}", expected.var[0]);
}

#[test]
fn noise_leaves_pruned_weights_at_zero() {
    let spec = test_spec(3, 3, &[(CellKind::Gru, 5)]);
    let method =
        TrainingMethod { weight_noise: WeightNoise::Gaussian { var: 0.5 }, ..TrainingMethod::default() };
    let mut parameters = InitConfig::default().parameters_for(&spec, method, 2);
    PruningOrder::new(&spec, &parameters, PruningUnit::Weight).prune(&mut parameters, 0.4);
    let network = SampledNetwork::draw(&spec, &parameters, &mut stream(1, Purpose::Initialisation));
    let kept = parameters.get("layer0.weight").unwrap().kept.clone().unwrap();
    let layer = &network.layers[0];
    for (row, kept) in kept.chunks(3 + 5).enumerate() {
        for (column, kept) in kept.iter().enumerate() {
            assert_eq!(layer.weights[column * layer.rows + row] != 0.0, *kept, "row {row}, column {column}");
        }
    }
}
