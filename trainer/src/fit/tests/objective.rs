//! Losses worked out by hand, and what padding may not change.

use quaver::checkpoint::{Activation, CellKind, Likelihood, ModelSpec, OutputMode, Target, UnitNoise};

use super::{LIKELIHOODS, is_binary, ragged_batch};
use crate::config::InitConfig;
use crate::data::batch::Batch;
use crate::fit::{LossAndGradient, evaluate, loss_and_gradient};
use crate::nn::WeightPosterior;
use crate::nn::{Parameters, TrainingMethod, test_spec};

/// An LSTM below a tanh layer, dropout in all places.
fn noisy_spec(likelihood: Likelihood, mode: OutputMode) -> ModelSpec {
    let mut spec = test_spec(3, 2, &[(CellKind::Lstm, 3), (CellKind::Elman(Activation::Tanh), 4)]);
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

#[test]
fn variational_bayes_expects_the_loss_of_every_draw() {
    // Both losses by hand, for one output N(0, V) that was observed at 0 with noise 1: the predictive density
    // counts V as doubt, ½ ln 2π(V + 1); the expected loss as error, ½ (ln 2π + V).
    let spec = test_spec(1, 1, &[(CellKind::Elman(Activation::Tanh), 1)]);
    let batch = Batch { targets: vec![0.0], mask: vec![1.0], ..one_step() };
    let nll = |posterior: WeightPosterior| {
        let method = TrainingMethod { posterior, ..TrainingMethod::default() };
        let mut parameters = Parameters::zeros_for(&spec, method);
        parameters.get_mut("output.bias_log_var").unwrap().values[0] = 0.5_f32.ln();
        for name in ["layer0.weight_log_var", "layer0.bias_log_var", "output.weight_log_var"] {
            parameters.get_mut(name).unwrap().values.fill(-60.0);
        }
        (loss_and_gradient(&spec, &parameters, &batch).unwrap().nll, loss_of(&spec, &parameters, &batch))
    };
    let ln_two_pi = std::f64::consts::TAU.ln();
    let (doubt, error) = (0.5 * (ln_two_pi + 1.5_f64.ln()), 0.5 * (ln_two_pi + 0.5));
    for (posterior, learned) in [(WeightPosterior::Ropd, doubt), (WeightPosterior::Vb, error)] {
        let (found, validated) = nll(posterior);
        assert!((found - learned).abs() < 1e-5, "{posterior:?}: {found} against {learned}");
        assert!(
            (validated - doubt).abs() < 1e-5,
            "{posterior:?} is validated by its predictions: {validated}"
        );
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
        target: Target::Columns,
        chunks: Vec::new(),
        starts: Vec::new(),
        linear: None,
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
        target: Target::Columns,
        chunks: Vec::new(),
        starts: Vec::new(),
        linear: None,
    }
}

#[test]
fn padding_changes_neither_loss_nor_gradient() {
    for likelihood in LIKELIHOODS {
        let spec = noisy_spec(likelihood, OutputMode::Propagating);
        let parameters = InitConfig::default().parameters(&spec, 5);
        let batch = ragged_batch(3, 2, is_binary(likelihood));
        let plain = loss_and_gradient(&spec, &parameters, &batch).unwrap();
        let wide = loss_and_gradient(&spec, &parameters, &padded(&batch, 3, 2)).unwrap();
        assert_eq!(plain.steps, wide.steps);
        assert!((plain.nll - wide.nll).abs() < 1e-6);
        for (plain, wide) in plain.gradients.iter().flatten().zip(wide.gradients.iter().flatten()) {
            assert!((plain - wide).abs() < 1e-6 * (1.0 + plain.abs()), "{plain} against {wide}");
        }
    }
}

#[test]
fn a_batch_without_targets_has_no_gradient() {
    let spec = noisy_spec(Likelihood::Gaussian, OutputMode::Propagating);
    let mut batch = ragged_batch(3, 2, false);
    batch.mask.fill(0.0);
    assert_eq!(
        loss_and_gradient(&spec, &InitConfig::default().parameters(&spec, 1), &batch),
        None::<LossAndGradient>
    );
}
