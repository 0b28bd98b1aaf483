//! The objective by hand and by finite differences; runs that learn, repeat, resume and fail as they should.

use std::fs;
use std::path::Path;

use quaver::checkpoint::{CellKind, Likelihood, ModelSpec, OutputMode, Target, Transfer, UnitNoise};

use super::{Context, RunFolder, RunState, Silent, Slope, Stop, Summary, evaluate, slope, slope_in, train};
use crate::config::{Config, Init};
use crate::data::batch::Batch;
use crate::data::{Dataset, Rows, Sequence};
use crate::nn::random::{Purpose, normal, stream};
use crate::nn::{Method, Parameters, Posterior, WeightNoise, test_spec};

/// Normal numbers from a seed.
fn numbers(seed: u64, count: usize) -> Vec<f32> {
    let mut rng = stream(seed, Purpose::Initialisation);
    (0..count).map(|_| normal(&mut rng) as f32).collect()
}

/// A batch of 4 steps and 3 rows with some input variance; the last row ends after 2 steps, one target is missing.
fn ragged_batch(inputs: usize, outputs: usize, binary: bool) -> Batch {
    let (steps, rows) = (4, 3);
    let mut targets = numbers(2, steps * rows * outputs);
    if binary {
        targets.iter_mut().for_each(|target| *target = if *target > 0.0 { 1.0 } else { 0.0 });
    }
    let mut mask = vec![1.0; targets.len()];
    for step in 2..steps {
        mask[(step * rows + 2) * outputs..][..outputs].fill(0.0);
    }
    mask[0] = 0.0;
    let inputs_var = numbers(3, steps * rows * inputs).iter().map(|draw| 0.3 * draw * draw).collect();
    Batch {
        steps,
        rows,
        inputs_mean: numbers(1, steps * rows * inputs),
        inputs_var,
        targets,
        mask,
        chunks: Vec::new(),
    }
}

/// An LSTM below a tanh layer, dropout in all places.
fn noisy_spec(likelihood: Likelihood, mode: OutputMode) -> ModelSpec {
    let mut spec = test_spec(3, 2, &[(CellKind::Lstm, 3), (CellKind::Elman(Transfer::Tanh), 4)]);
    let noise = UnitNoise::Dropout { keep: 0.8 };
    for layer in &mut spec.layers {
        (layer.input_noise, layer.recurrent_noise) = (noise, noise);
    }
    (spec.output.noise, spec.output.mode, spec.likelihood) = (noise, mode, likelihood);
    spec
}

fn loss_of(spec: &ModelSpec, parameters: &Parameters, batch: &Batch) -> f64 {
    evaluate(spec, parameters, [batch.clone()].into_iter()).unwrap()
}

#[test]
fn an_untouched_gaussian_net_has_the_loss_of_a_standard_normal() {
    let spec = test_spec(3, 2, &[(CellKind::Lstm, 3)]);
    let batch = ragged_batch(3, 2, false);
    // All weights are zero, so every output is N(0, 1). Ten of twelve steps count, the first with one output.
    let observed: Vec<f64> = batch
        .targets
        .iter()
        .zip(&batch.mask)
        .filter(|(_, mask)| **mask == 1.0)
        .map(|(z, _)| f64::from(*z))
        .collect();
    assert_eq!(observed.len(), 19);
    let expected =
        observed.iter().map(|z| 0.5 * ((2.0 * std::f64::consts::PI).ln() + z * z)).sum::<f64>() / 10.0;
    let found = loss_of(&spec, &Parameters::zeros(&spec), &batch);
    assert!((found - expected).abs() < 1e-6, "{found} against {expected}");
}

#[test]
fn an_untouched_bernoulli_net_loses_ln_2_per_output() {
    let spec = ModelSpec { likelihood: Likelihood::Bernoulli, ..test_spec(3, 2, &[(CellKind::Lstm, 3)]) };
    let found = loss_of(&spec, &Parameters::zeros(&spec), &ragged_batch(3, 2, true));
    assert!((found - 1.9 * 2.0_f64.ln()).abs() < 1e-4, "{found}");
}

const LIKELIHOODS: [Likelihood; 4] =
    [Likelihood::Gaussian, Likelihood::Bernoulli, Likelihood::Heteroscedastic, Likelihood::Categorical];

fn is_binary(likelihood: Likelihood) -> bool {
    matches!(likelihood, Likelihood::Bernoulli | Likelihood::Categorical)
}

/// Loss and penalty of a batch that is one of many.
fn objective(spec: &ModelSpec, parameters: &Parameters, batch: &Batch) -> Slope {
    let context = Context { divergence_share: Some(1.0 / 50.0), start: None };
    slope_in(spec, parameters, batch, context).unwrap()
}

fn assert_gradients(spec: &ModelSpec, parameters: &mut Parameters, batch: &Batch) {
    let found = objective(spec, parameters, batch);
    for (index, gradient) in found.gradients.iter().enumerate() {
        assert_slope(spec, parameters, batch, index, gradient);
    }
}

#[test]
fn gradients_of_the_whole_net_agree_with_finite_differences() {
    for likelihood in LIKELIHOODS {
        for mode in [OutputMode::Propagating, OutputMode::Plain] {
            let spec = noisy_spec(likelihood, mode);
            let batch = ragged_batch(3, 2, is_binary(likelihood));
            let mut parameters = Init::default().draw(&spec, 5);
            let found = slope(&spec, &parameters, &batch).unwrap();
            assert!((found.nll - loss_of(&spec, &parameters, &batch)).abs() < 1e-6);
            assert_gradients(&spec, &mut parameters, &batch);
        }
    }
}

#[test]
fn gradients_of_every_method_agree_with_finite_differences() {
    let none = Method::default();
    let methods = [
        Method { posterior: Posterior::Ropd, ..none },
        Method { posterior: Posterior::Vb, ..none },
        Method { scale_min: Some(0.3), learned_keep: true, implicit_variance: true, ..none },
        Method { weight_noise: WeightNoise::Gaussian { var: 0.05 }, learned_keep: true, ..none },
        Method { weight_noise: WeightNoise::DropConnect { keep: 0.8 }, posterior: Posterior::Ropd, ..none },
    ];
    for method in methods {
        for dense in [false, true] {
            let mut spec = noisy_spec(Likelihood::Gaussian, OutputMode::Propagating);
            if dense {
                spec.layers[0].cell = CellKind::Dense(Transfer::Rectifier);
                spec.layers[0].recurrent_noise = UnitNoise::None;
            }
            let init = Init { weight_deviation: 0.5, ..Init::default() };
            let mut parameters = init.draw_for(&spec, method, 5);
            assert_gradients(&spec, &mut parameters, &ragged_batch(3, 2, false));
        }
    }
}

#[test]
fn variational_bayes_expects_the_loss_of_every_draw() {
    // Both losses by hand, for one output N(0, V) that was observed at 0 with noise 1: the predictive density counts V as
    // doubt, ½ ln 2π(V + 1); the expected loss as error, ½ (ln 2π + V).
    let spec = test_spec(1, 1, &[(CellKind::Elman(Transfer::Tanh), 1)]);
    let batch = Batch { targets: vec![0.0], mask: vec![1.0], ..one_step() };
    let nll = |posterior: Posterior| {
        let method = Method { posterior, ..Method::default() };
        let mut parameters = Parameters::shaped(&spec, method);
        parameters.get_mut("output.bias_log_var").unwrap().values[0] = 0.5_f32.ln();
        for name in ["layer0.weight_log_var", "layer0.bias_log_var", "output.weight_log_var"] {
            parameters.get_mut(name).unwrap().values.fill(-60.0);
        }
        (slope(&spec, &parameters, &batch).unwrap().nll, loss_of(&spec, &parameters, &batch))
    };
    let ln_two_pi = std::f64::consts::TAU.ln();
    let (doubt, error) = (0.5 * (ln_two_pi + 1.5_f64.ln()), 0.5 * (ln_two_pi + 0.5));
    for (posterior, learned) in [(Posterior::Ropd, doubt), (Posterior::Vb, error)] {
        let (found, judged) = nll(posterior);
        assert!((found - learned).abs() < 1e-5, "{posterior:?}: {found} against {learned}");
        assert!((judged - doubt).abs() < 1e-5, "{posterior:?} is judged by its predictions: {judged}");
    }
}

/// One step of one sequence with one input of zero.
fn one_step() -> Batch {
    let none = Vec::new;
    Batch {
        steps: 1,
        rows: 1,
        inputs_mean: vec![0.0],
        inputs_var: vec![0.0],
        targets: none(),
        mask: none(),
        chunks: Vec::new(),
    }
}

/// Checks one parameter tensor along three directions; differences of f32 losses over ±0.01 are good to about 1e-4.
fn assert_slope(
    spec: &ModelSpec,
    parameters: &mut Parameters,
    batch: &Batch,
    index: usize,
    gradient: &[f32],
) {
    let original = parameters.tensors[index].values.clone();
    for seed in 10..13 {
        let direction = numbers(seed, original.len());
        let length = direction.iter().map(|d| d * d).sum::<f32>().sqrt();
        let mut at = |step: f32| {
            let moved = original.iter().zip(&direction).map(|(value, d)| value + step * d / length);
            parameters.tensors[index].values = moved.collect();
            let Slope { nll, divergence, .. } = objective(spec, parameters, batch);
            nll + divergence
        };
        let mut central = |step: f32| (at(step) - at(-step)) / (2.0 * f64::from(step));
        // Richardson's combination is free of the term in the squared step.
        let difference = (4.0 * central(0.005) - central(0.01)) / 3.0;
        let expected: f32 = gradient.iter().zip(&direction).map(|(gradient, d)| gradient * d / length).sum();
        // The loss is rounded to f32, and no difference of two losses is better than that.
        let rounding = f64::from(f32::EPSILON) * at(0.0).abs() / 0.01;
        let name = &parameters.tensors[index].name;
        assert!(
            (difference - f64::from(expected)).abs() < 1e-3 * (1.0 + f64::from(expected).abs()) + rounding,
            "{name}: {difference} against {expected}"
        );
        parameters.tensors[index].values.clone_from(&original);
    }
}

/// The same batch with two more steps and two more rows, all of it padding.
fn padded(batch: &Batch, inputs: usize, outputs: usize) -> Batch {
    let (steps, rows) = (batch.steps + 2, batch.rows + 2);
    let widen = |values: &[f32], width: usize, fill: f32| {
        let mut wide = vec![fill; steps * rows * width];
        for (step, values) in values.chunks(batch.rows * width).enumerate() {
            wide[step * rows * width..][..values.len()].copy_from_slice(values);
        }
        wide
    };
    Batch {
        steps,
        rows,
        inputs_mean: widen(&batch.inputs_mean, inputs, 0.7),
        inputs_var: widen(&batch.inputs_var, inputs, 0.2),
        targets: widen(&batch.targets, outputs, 9.0),
        mask: widen(&batch.mask, outputs, 0.0),
        chunks: Vec::new(),
    }
}

#[test]
fn padding_changes_neither_loss_nor_gradient() {
    for likelihood in LIKELIHOODS {
        let spec = noisy_spec(likelihood, OutputMode::Propagating);
        let parameters = Init::default().draw(&spec, 5);
        let batch = ragged_batch(3, 2, is_binary(likelihood));
        let plain = slope(&spec, &parameters, &batch).unwrap();
        let wide = slope(&spec, &parameters, &padded(&batch, 3, 2)).unwrap();
        assert_eq!(plain.steps, wide.steps);
        assert!((plain.nll - wide.nll).abs() < 1e-6);
        for (plain, wide) in plain.gradients.iter().flatten().zip(wide.gradients.iter().flatten()) {
            assert!((plain - wide).abs() < 1e-6 * (1.0 + plain.abs()), "{plain} against {wide}");
        }
    }
}

#[test]
fn a_batch_without_targets_has_no_slope() {
    let spec = noisy_spec(Likelihood::Gaussian, OutputMode::Propagating);
    let mut batch = ragged_batch(3, 2, false);
    batch.mask.fill(0.0);
    assert_eq!(slope(&spec, &Init::default().draw(&spec, 1), &batch), None::<Slope>);
}

/// Targets that a net can only know by remembering: x₁(t−1) + x₂(t−3), a constant factor apart.
fn delayed_sum(seed: u64, sequences: usize, steps: usize) -> Vec<Sequence> {
    (0..sequences as u64)
        .map(|index| {
            let inputs = Rows { channels: 2, values: numbers(1000 * seed + index, 2 * steps) };
            let past = |t: usize, delay: usize, channel: usize| {
                t.checked_sub(delay).map_or(0.0, |earlier| inputs.row(earlier)[channel])
            };
            let targets = (0..steps).map(|t| 3.0 * (past(t, 1, 0) + past(t, 3, 1))).collect();
            Sequence::columns(inputs, Rows { channels: 1, values: targets })
        })
        .collect()
}

fn dataset() -> Dataset {
    Dataset {
        train: delayed_sum(1, 12, 90),
        valid: delayed_sum(2, 3, 70),
        test: Vec::new(),
        input_names: vec!["left".into(), "right".into()],
        target_names: vec!["sum".into()],
        target: Target::Columns,
        validation: String::new(),
    }
}

fn config(cell: &str, overrides: &[&str]) -> Config {
    let text = format!(
        "seed = 3\n[data]\ntrain = \"none.csv\"\ntargets = \"sum\"\n[model]\ncell = \"{cell}\"\nlayers = [12]\n\
         [training]\nbatch = 8\nchunk = 30\nlearning_rate = 0.01\nepochs = 4\n"
    );
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    Config::parse("test.toml", &text, &overrides).unwrap()
}

fn run(config: &Config, out: &Path, resume: bool) -> anyhow::Result<Summary> {
    train(config, &dataset(), out, resume, &mut Silent)
}

fn files(folder: &Path) -> Vec<Vec<u8>> {
    ["last.state", "best.state", "metrics.csv", "metrics.jsonl"]
        .map(|name| fs::read(folder.join(name)).unwrap())
        .to_vec()
}

#[test]
fn small_nets_learn_what_needs_memory() {
    for (cell, noise) in [("tanh", "noise.recurrent_keep=1.0"), ("lstm", "noise.output_keep=0.98")] {
        let place = tempfile::tempdir().unwrap();
        let summary = run(&config(cell, &["training.epochs=40", noise]), place.path(), false).unwrap();
        let best = summary.best.unwrap();
        // Not knowing the inputs at all costs ½ ln 2πe = 1.42 nats; a third of that leaves a deviation of 0.35 at most.
        assert!(best.valid_nll < 0.4, "{cell}: {best:?}");
        let state: RunState = RunState::load(&place.path().join("best.state")).unwrap();
        assert_eq!((state.epoch, state.best), (best.epoch, Some(best)));
        assert_eq!(state.target_names, ["sum"]);
    }
}

#[test]
fn every_method_learns() {
    let methods: [&[&str]; 9] = [
        &["weights.posterior=ropd"],
        &["weights.posterior=vb"],
        &["model.implicit_variance=true", "model.learn_variance_scale=true", "noise.output_keep=0.95"],
        &["model.likelihood=heteroscedastic"],
        &["noise.recurrent_keep=0.95", "noise.learn_keep=true"],
        &["weights.noise_std=0.01"],
        &["training.optimiser=rmsprop", "training.learning_rate=0.002"],
        &["training.carry_state=true"],
        &["training.padding=before", "training.schedule=cosine", "training.schedule_epochs=40"],
    ];
    for method in methods {
        let place = tempfile::tempdir().unwrap();
        let overrides = [method, &["training.epochs=40"]].concat();
        let best = run(&config("tanh", &overrides), place.path(), false).unwrap().best.unwrap();
        // Not knowing the inputs at all costs 1.42 nats.
        assert!(best.valid_nll < 0.7, "{method:?}: {best:?}");
    }
}

#[test]
fn a_run_repeats_bit_for_bit_and_another_seed_does_not() {
    let places: Vec<_> = (0..3).map(|_| tempfile::tempdir().unwrap()).collect();
    for (place, seed) in places.iter().zip(["seed=3", "seed=3", "seed=4"]) {
        run(&config("lstm", &[seed]), place.path(), false).unwrap();
    }
    assert_eq!(files(places[0].path()), files(places[1].path()));
    assert_ne!(files(places[0].path()), files(places[2].path()));
}

#[test]
fn a_resumed_run_ends_with_the_same_bits() {
    assert_resumes(&["noise.recurrent_keep=0.9"]);
    assert_resumes(&["weights.posterior=vb", "training.optimiser=rmsprop", "training.carry_state=true"]);
    // A rate that is cut all the time, and with it what a resumed run has to remember.
    let cut = ["training.schedule=plateau", "training.schedule_epochs=1", "training.learning_rate=0.5"];
    assert_resumes(&[&["training.optimiser=adadelta", "training.warm_up=1.5"][..], &cut].concat());
}

fn assert_resumes(overrides: &[&str]) {
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let full = config("lstm", overrides);
    let expected = run(&full, whole.path(), false).unwrap();
    let until = |epochs: &str| config("lstm", &[overrides, &[epochs]].concat());
    run(&until("training.epochs=2"), parts.path(), false).unwrap();
    let interrupted = fs::read(parts.path().join("last.state")).unwrap();
    // One more epoch whose state is lost again: its metrics must not appear twice.
    run(&until("training.epochs=3"), parts.path(), true).unwrap();
    fs::write(parts.path().join("last.state"), interrupted).unwrap();
    let found = run(&full, parts.path(), true).unwrap();
    assert_eq!((found.epochs, found.best, found.stop), (expected.epochs, expected.best, expected.stop));
    assert_eq!(files(whole.path()), files(parts.path()));
}

#[test]
fn resuming_refuses_other_settings_and_other_data() {
    let place = tempfile::tempdir().unwrap();
    run(&config("tanh", &["training.epochs=1"]), place.path(), false).unwrap();
    let error = run(&config("tanh", &["training.batch=4"]), place.path(), true).unwrap_err().to_string();
    assert!(error.starts_with("`training.batch` is 4 but was 8"), "{error}");
    let error = run(&config("tanh", &[]), place.path(), false).unwrap_err().to_string();
    assert!(error.contains("--resume"), "{error}");
    let other = Dataset { train: delayed_sum(7, 12, 90), ..dataset() };
    let error = train(&config("tanh", &[]), &other, place.path(), true, &mut Silent).unwrap_err().to_string();
    assert!(error.starts_with("the data are not those"), "{error}");
}

#[test]
fn training_stops_when_validation_gets_no_better() {
    let place = tempfile::tempdir().unwrap();
    let overrides = ["training.learning_rate=0.000000000001", "training.patience=2", "training.epochs=50"];
    let summary = run(&config("tanh", &overrides), place.path(), false).unwrap();
    assert_eq!(summary.stop, Stop::Patience);
    assert!(summary.epochs < 50, "{summary:?}");
}

#[test]
fn the_last_state_may_be_kept_instead_of_the_best() {
    let folder = tempfile::tempdir().unwrap();
    let overrides =
        ["training.keep=last", "training.epochs=4", "training.patience=1", "training.learning_rate=1"];
    let summary = run(&config("tanh", &overrides), folder.path(), false).unwrap();
    assert_eq!((summary.epochs, summary.best.map(|best| best.epoch)), (4, Some(4)));
    let state = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(state("best.state"), state("last.state"));
}

#[test]
fn the_divergence_can_be_given_less_weight() {
    let folder = tempfile::tempdir().unwrap();
    let doubt = |weight: &str| {
        let out = folder.path().join(weight);
        let weight = format!("weights.divergence_weight={weight}");
        let overrides =
            ["weights.posterior=ropd", "training.epochs=3", "training.learning_rate=0.05", weight.as_str()];
        run(&config("tanh", &overrides), &out, false).unwrap();
        let state = RunState::load(&RunFolder::new(&out).last_state()).unwrap();
        state.parameters.get("layer0.weight_log_var").unwrap().values.iter().sum::<f32>()
    };
    // The divergence is what holds variances up.
    assert!(doubt("0.01") < doubt("1"));
}

#[test]
fn a_loss_that_is_no_number_stops_the_run_and_keeps_the_last_state() {
    let place = tempfile::tempdir().unwrap();
    let overrides = ["training.learning_rate=1e30", "training.clip_norm=0"];
    let error = run(&config("rectifier", &overrides), place.path(), false).unwrap_err().to_string();
    assert!(error.contains("in epoch 1, so training has stopped"), "{error}");
    let state: RunState = RunState::load(&place.path().join("last.state")).unwrap();
    assert_eq!(state.epoch, 0);
    assert!(state.parameters.tensors.iter().flat_map(|tensor| &tensor.values).all(|value| value.is_finite()));
}
