//! Networks with drawn weights: their limits, and a posterior that is known exactly.

use quaver::checkpoint::{Activation, CellKind, ModelSpec, Target};

use super::{config, dataset, delayed_sum, ragged_batch};
use crate::config::{InitConfig, WeightsConfig};
use crate::data::Scaling;
use crate::data::batch::Batch;
use crate::fit::bayes_by_backprop::{WeightDraw, draw_weights};
use crate::fit::optimiser::{Adam, Optimiser};
use crate::fit::{
    Architecture, BatchContext, RunState, evaluate, loss_and_gradient, loss_and_gradient_of_draws,
    sharpened_bound,
};
use crate::nn::{
    BayesByBackprop, Parameters, ScaleMixture, TrainingMethod, WeightPosterior, WeightPrior, test_cells,
    test_spec,
};
use crate::random::{Purpose, stream};

fn method(std_dev: f32, sharpening: Option<f32>) -> TrainingMethod {
    let prior = WeightPrior::Mixture(ScaleMixture { weight: 0.5, std_devs: [std_dev; 2] });
    let posterior = WeightPosterior::Bbb(BayesByBackprop { prior, sharpening });
    TrainingMethod { posterior, ..TrainingMethod::default() }
}

/// Gives every weight the same ρ.
fn set_rho(parameters: &mut Parameters, rho: f32) {
    let lists = parameters.tensors.iter_mut().filter(|list| list.name.ends_with("_rho"));
    lists.for_each(|list| list.values.fill(rho));
}

#[test]
fn without_variance_it_is_the_network_of_point_weights() {
    for cell in test_cells() {
        let spec = test_spec(3, 2, &[(cell, 4)]);
        let batch = ragged_batch(3, 2, false);
        let point = InitConfig::default().parameters(&spec, 5);
        let mut parameters = InitConfig::default().parameters_for(&spec, method(1.0, None), 5);
        // σ = softplus(−60) = 9e-27.
        set_rho(&mut parameters, -60.0);
        let draw = WeightDraw::new(&parameters, &mut stream(1, Purpose::Initialisation));
        let drawn = [draw];
        let found =
            loss_and_gradient_of_draws(&spec, &parameters, &batch, BatchContext::default(), &drawn).unwrap();
        let expected = loss_and_gradient(&spec, &point, &batch).unwrap();
        assert_eq!(found.nll, expected.nll, "{cell:?}");
        // The lists of a network of points are the first ones of any method.
        assert_eq!(found.gradients[..expected.gradients.len()], expected.gradients, "{cell:?}");
        assert!(found.gradients[expected.gradients.len()..].iter().flatten().all(|g| g.abs() < 1e-20));
    }
}

#[test]
fn draws_come_in_pairs_if_they_are_antithetic() {
    let spec = test_spec(2, 1, &[(CellKind::Gru, 3)]);
    let parameters = InitConfig::default().parameters_for(&spec, method(1.0, Some(0.1)), 5);
    let draws = |draws: u16, antithetic: bool| {
        let weights = WeightsConfig { draws, antithetic, ..WeightsConfig::default() };
        draw_weights(&parameters, &weights, &mut stream(1, Purpose::Draws { epoch: 1, batch: 2 }))
    };
    let (one, pairs) = (draws(1, false), draws(4, true));
    assert_eq!((one.len(), pairs.len()), (1, 4));
    assert_eq!(one[0], pairs[0]);
    let first = |draw: &WeightDraw| (draw.first[0][0], draw.second.as_ref().unwrap()[3][0]);
    for pair in pairs.chunks(2) {
        let [(a, b), (c, d)] = [first(&pair[0]), first(&pair[1])];
        assert!(a == -c && b == -d && a != 0.0);
    }
    assert_ne!(pairs[0], pairs[2]);
    assert_eq!(draws(3, false).len(), 3);
}

/// Two inputs of ±1 in all four combinations, repeated: columns of the design are orthogonal, also to the one
/// of the bias, so that the posterior of a linear map is a product over its weights. Two tanh units with
/// weights of 1, held fixed, turn ±1 into ±tanh(1).
fn orthogonal_batch(repeats: usize) -> Batch {
    let rows = 4 * repeats;
    let noise = crate::random::normals(&mut stream(9, Purpose::Initialisation), rows);
    let input = |row: usize, bit: usize| if (row >> bit) & 1 == 1 { 1.0 } else { -1.0 };
    let target = |row: usize| 0.3 + 0.8 * input(row, 0) - 0.1 * input(row, 1) + 0.5 * noise[row];
    Batch {
        steps: 1,
        rows,
        inputs_mean: (0..rows).flat_map(|row| [input(row, 0), input(row, 1)]).collect(),
        inputs_var: vec![0.0; 2 * rows],
        targets: (0..rows).map(target).collect(),
        mask: vec![1.0; rows],
        target: Target::Columns,
        chunks: Vec::new(),
        starts: Vec::new(),
        linear: None,
    }
}

/// Mean and standard deviation of each weight and of the bias, in Bayesian linear regression with noise
/// variance `noise` and prior N(0, `prior`): precision Σ x²/noise + 1/prior, mean (Σ x y/noise)/precision.
fn exact_posterior(batch: &Batch, noise: f64, prior: f64) -> Vec<[f64; 2]> {
    let column = |index: usize, row: usize| {
        if index < 2 { f64::from(batch.inputs_mean[2 * row + index]).tanh() } else { 1.0 }
    };
    let moments = |index: usize| {
        let squares: f64 = (0..batch.rows).map(|row| column(index, row).powi(2)).sum();
        let products: f64 =
            (0..batch.rows).map(|row| column(index, row) * f64::from(batch.targets[row])).sum();
        let precision = squares / noise + 1.0 / prior;
        [products / noise / precision, precision.sqrt().recip()]
    };
    (0..3).map(moments).collect()
}

/// The lists of the layer that is held fixed.
fn hidden(parameters: &mut Parameters) -> impl Iterator<Item = &mut crate::nn::NamedTensor> {
    parameters.tensors.iter_mut().filter(|list| list.name.starts_with("layer0."))
}

/// Bayes by Backprop on a linear map with known noise, for which a product of normal distributions is the
/// exact posterior: averages of μ and σ over the last third of training.
fn learned_posterior(spec: &ModelSpec, batch: &Batch, noise: f32, prior: f32) -> Vec<[f64; 2]> {
    let mut parameters = Parameters::zeros_for(spec, method(prior.sqrt(), None));
    set_rho(&mut parameters, -1.0);
    parameters.get_mut("output.log_noise").unwrap().values.fill(noise.ln());
    // σ = softplus(−60) = 9e-27.
    hidden(&mut parameters)
        .filter(|list| list.name.ends_with("_rho"))
        .for_each(|list| list.values.fill(-60.0));
    parameters.get_mut("layer0.weight").unwrap().values.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    let mut optimiser = Optimiser::Adam(Adam::new(&parameters));
    let context = BatchContext { divergence_share: Some(1.0 / batch.rows as f32), start: None };
    let weights = WeightsConfig { draws: 4, antithetic: true, ..WeightsConfig::default() };
    let steps = 1500;
    let mut sums = vec![[0.0; 2]; 3];
    for step in 0..steps {
        let mut rng = stream(2, Purpose::Draws { epoch: 1, batch: step });
        let draws = draw_weights(&parameters, &weights, &mut rng);
        let mut found = loss_and_gradient_of_draws(spec, &parameters, batch, context, &draws).unwrap();
        for (list, gradient) in parameters.tensors.iter().zip(&mut found.gradients) {
            if list.name == "output.log_noise" || list.name.starts_with("layer0.") {
                gradient.fill(0.0);
            }
        }
        optimiser.step(&mut parameters, &found.gradients, if step < 500 { 0.03 } else { 0.005 });
        if step >= 1000 {
            let list = |name: &str| parameters.get(name).unwrap().values.clone();
            let means = [list("output.weight"), list("output.bias")].concat();
            let rhos = [list("output.weight_rho"), list("output.bias_rho")].concat();
            for (sum, (mean, rho)) in sums.iter_mut().zip(means.iter().zip(rhos)) {
                sum[0] += f64::from(*mean) / 500.0;
                sum[1] += f64::from(rho).exp().ln_1p() / 500.0;
            }
        }
    }
    sums
}

#[test]
fn of_a_linear_map_it_learns_the_exact_posterior() {
    let spec = test_spec(2, 1, &[(CellKind::Dense(Activation::Tanh), 2)]);
    let batch = orthogonal_batch(5);
    let (noise, prior) = (0.25, 0.3);
    let exact = exact_posterior(&batch, noise.into(), prior.into());
    let learned = learned_posterior(&spec, &batch, noise, prior);
    for ([mean, std_dev], [exact_mean, exact_std_dev]) in learned.iter().zip(&exact) {
        // Pairs ±ε give the gradient by μ without error; that by σ has one of about σ/√(4 · 500) in the
        // average.
        assert!((mean - exact_mean).abs() < 0.02 * exact_std_dev, "{learned:?} against {exact:?}");
        assert!((std_dev / exact_std_dev - 1.0).abs() < 0.05, "{learned:?} against {exact:?}");
    }
}

/// A state of an LSTM with weights of next to no variance, sharpened with this rate and σ₀, on the data of
/// these tests.
fn sharpened_state(rate: f32, std_dev: f32, training: &crate::config::TrainingConfig) -> RunState {
    let data = dataset(delayed_sum);
    let scaling = Scaling::fit(&data.train);
    let spec = test_spec(2, 1, &[(CellKind::Lstm, 5)]);
    let mut parameters = InitConfig { sharpen_rate: rate, ..InitConfig::default() }.parameters_for(
        &spec,
        method(1.0, Some(std_dev)),
        3,
    );
    set_rho(&mut parameters, -60.0);
    let names = [data.input_names.clone(), data.target_names.clone()];
    RunState::first(spec, parameters, training, scaling, names)
}

#[test]
fn the_bound_of_a_posterior_that_is_not_sharpened_is_the_loss_itself() {
    let (data, training) = (dataset(delayed_sum), config("lstm", &[]).training);
    let state = sharpened_state(0.0, 1e-4, &training);
    let found = sharpened_bound(&state, &training, &data.valid, (1, 1), || {}).unwrap();
    let batches = crate::data::batch::evaluation(&data.valid, &state.scaling, 8);
    let mut point = state.parameters.clone();
    point.method = TrainingMethod::default();
    point.tensors.truncate(Parameters::zeros(&state.spec).tensors.len());
    assert!(state.spec.fits(&point));
    let expected = evaluate(&state.spec, &point, batches).unwrap();
    assert_eq!((found.divergence, found.steps), (0.0, 210));
    // Weights that are off by σ₀ = 1e-4 each.
    assert!((found.nll - expected).abs() < 2e-3, "{} against {expected}", found.nll);
}

#[test]
fn sharpening_explains_its_window_better_and_pays_for_it() {
    let (data, training) = (dataset(delayed_sum), config("lstm", &[]).training);
    let bound = |rate: f32| {
        let state = sharpened_state(rate, 1e-3, &training);
        sharpened_bound(&state, &training, &data.valid, (1, 2), || {}).unwrap()
    };
    let (plain, half, whole, double) = (bound(0.0), bound(0.5), bound(1.0), bound(2.0));
    assert!(whole.nll < plain.nll && whole.divergence > 0.0, "{plain:?}, {whole:?}");
    // A likelihood that is linear within σ₀ gains r‖g‖²σ₀² and pays ½r²‖g‖²σ₀²: of what a rate of 1 gains, a
    // half keeps three quarters, and twice as much nothing. Curvature and rounding of f32 take some of it.
    let gain = |found: crate::fit::SharpenedBound| plain.nll - found.nll - found.divergence;
    let shares = [half, double].map(|found| gain(found) / gain(whole));
    assert!(gain(whole) > 0.0, "{plain:?}, {whole:?}");
    assert!((shares[0] - 0.75).abs() < 0.1 && shares[1].abs() < 0.2, "{shares:?}");
}
