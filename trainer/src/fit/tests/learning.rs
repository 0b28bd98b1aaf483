//! Every method on a function that it can learn, against the loss without learning.

use super::{config, dataset, delayed_sum, past, run};
use crate::data::Rows;
use crate::fit::{NoProgress, RunState, TrainOptions};
use crate::prediction::predict_by_network;
use crate::runs::train;

/// NLL of a standard normal variable without any prediction: ½ ln 2πe.
const IGNORANCE: f64 = 1.42;

/// The lowest validation loss of forty epochs.
fn best(cell: &str, function: fn(&Rows, usize) -> Vec<f32>, overrides: &[&str]) -> f64 {
    let place = tempfile::tempdir().unwrap();
    let config = config(cell, &[&["training.epochs=40"], overrides].concat());
    let summary =
        train(&config, &dataset(function), place.path(), TrainOptions::resuming(false), &mut NoProgress)
            .unwrap();
    summary.best.unwrap().valid_nll
}

#[test]
fn small_nets_learn_what_needs_memory() {
    let cells = [
        ("tanh", "noise.recurrent_keep=1.0"),
        ("lstm", "noise.output_keep=0.98"),
        ("gru", "noise.output_keep=0.98"),
    ];
    for (cell, noise) in cells {
        let place = tempfile::tempdir().unwrap();
        let summary = run(&config(cell, &["training.epochs=40", noise]), place.path(), false).unwrap();
        let best = summary.best.unwrap();
        // A third of what ignorance costs leaves a standard deviation of 0.35 at most.
        assert!(best.valid_nll < 0.4, "{cell}: {best:?}");
        let state: RunState = RunState::load(&place.path().join("best.state")).unwrap();
        assert_eq!((state.epoch, state.best), (best.epoch, Some(best)));
        assert_eq!(state.target_names, ["target0"]);
    }
}

#[test]
fn every_method_learns() {
    let methods: [&[&str]; 16] = [
        &["weights.posterior=ropd"],
        &["weights.posterior=vb"],
        &["weights.posterior=bbb", "weights.prior=learned"],
        &["weights.posterior=bbb", "weights.divergence_weight=0.1", "training.carry_state=true"],
        &["weights.posterior=bbb", "weights.divergence_weight=0.1", "weights.sharpen=true"],
        &["model.implicit_variance=true", "model.learn_variance_scale=true", "noise.output_keep=0.95"],
        &["model.likelihood=heteroscedastic"],
        &["noise.recurrent_keep=0.95", "noise.learn_keep=true"],
        &["noise.kind=multiplicative", "noise.recurrent_var=0.01"],
        &["noise.kind=additive", "noise.recurrent_var=0.01"],
        &["weights.noise_std_dev=0.01"],
        &["weights.keep=0.99"],
        &["training.optimiser=rmsprop", "training.learning_rate=0.002"],
        &["training.optimiser=adadelta", "training.learning_rate=1"],
        &["training.carry_state=true"],
        &["training.padding=before", "training.schedule=cosine", "training.schedule_epochs=40"],
    ];
    for method in methods {
        let nll = best("tanh", delayed_sum, method);
        assert!(nll < IGNORANCE / 2.0, "{method:?}: {nll}");
    }
}

#[test]
fn layers_without_recurrence_learn_what_is_there() {
    // Neither input alone predicts their product, and no sum of both does.
    let product = |inputs: &Rows, step: usize| vec![inputs.row(step)[0] * inputs.row(step)[1]];
    for cell in ["dense-tanh", "dense-sigmoid", "dense-relu"] {
        let nll = best(cell, product, &["training.chunk=1", "training.batch=32"]);
        assert!(nll < IGNORANCE / 2.0, "{cell}: {nll}");
    }
}

/// Which third the first input was in a step ago, as one 1 among zeros.
fn class(inputs: &Rows, step: usize) -> Vec<f32> {
    let x = past(inputs, step, 1, 0);
    [x < -0.43, (-0.43..0.43).contains(&x), x >= 0.43].map(|is| f32::from(u8::from(is))).to_vec()
}

#[test]
fn classes_and_switches_are_learned() {
    // Without any prediction the NLL is ln 3 for a class, and for three switches of probability ⅓ three times
    // their entropy of 0.64.
    for (likelihood, ignorance) in [("categorical", 3.0_f64.ln()), ("bernoulli", 1.91)] {
        for cell in ["tanh", "lstm", "gru"] {
            let set = format!("model.likelihood={likelihood}");
            let nll = best(cell, class, &[&set]);
            assert!(nll < ignorance / 3.0, "{likelihood} {cell}: {nll}");
        }
    }
}

/// Fraction of the validation targets within the 90 % intervals of the exported state, after three epochs.
fn coverage(overrides: &[&str]) -> f64 {
    // The second input of 25 steps ago is out of reach in three epochs: normal noise.
    let law = |inputs: &Rows, step: usize| vec![inputs.row(step)[0] + 0.3 * past(inputs, step, 25, 1)];
    let place = tempfile::tempdir().unwrap();
    let data = dataset(law);
    let config = config("tanh", &[&["training.epochs=3", "training.learning_rate=0.03"], overrides].concat());
    train(&config, &data, place.path(), TrainOptions::resuming(false), &mut NoProgress).unwrap();
    let state: RunState = RunState::load(&place.path().join("best.state")).unwrap();
    let predictions = predict_by_network(&state.spec, &state.parameters, &state.scaling, &data.valid);
    let (mut inside, mut all) = (0, 0);
    for (sequence, prediction) in data.valid.iter().zip(&predictions) {
        for step in 0..sequence.len() {
            let error = sequence.targets.row(step)[0] - prediction.mean.row(step)[0];
            inside += u32::from(error.abs() < 1.645 * prediction.variance(step, 0).sqrt());
            all += 1;
        }
    }
    f64::from(inside) / f64::from(all)
}

#[test]
fn intervals_of_a_short_training_cover_what_they_claim() {
    for likelihood in ["model.likelihood=gaussian", "model.likelihood=heteroscedastic"] {
        let before = coverage(&[likelihood, "init.noise=one", "training.refit_noise=false"]);
        assert!(before > 0.97, "{likelihood}: {before}");
        let refitted = coverage(&[likelihood, "init.noise=one"]);
        assert!((0.85..0.95).contains(&refitted), "{likelihood}: {refitted}");
        let found = coverage(&[likelihood]);
        assert!((0.85..0.95).contains(&found), "{likelihood}: {found}");
    }
}
