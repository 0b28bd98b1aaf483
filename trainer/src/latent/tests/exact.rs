//! A model whose likelihood can be integrated: linear, with normal noise.

use nalgebra::{DMatrix, DVector};
use quaver::checkpoint::Prior;

use super::{config, nets, seen_through_noise, sequences};
use crate::data::{Rows, Scaler, Scaling, Sequence};
use crate::latent::importance_sampling::importance;
use crate::latent::nets::LatentNets;
use crate::latent::training::mean_bound;
use crate::nn::Parameters;

/// x_t = B z_t + noise of variance S.
const B: f32 = 0.8;
const S: f32 = 0.5;

/// The recognition network, N(K x, Q): near, but not equal to, the posterior under a white prior.
const K: f32 = 0.9 * B / (B * B + S);
const Q: f32 = 1.3 * S / (B * B + S);

/// Pairs of ReLUs are linear: max(0, a) − max(0, −a) = a. The generative network is N(B z, S).
fn linear(prior: &str) -> (LatentNets, Parameters) {
    let lines = format!(
        "latent = {{ family = \"vosp\", latents = 1, prior = \"{prior}\" }}\n\
         [model]\ncell = \"dense-relu\"\nlayers = [2]\n[recognition]\ncell = \"relu\"\nlayers = [2]\n"
    );
    let (nets, mut parameters) = nets(&config(&lines, &[]), 1);
    for tensor in &mut parameters.tensors {
        tensor.values.fill(0.0);
    }
    let mut set = |name: &str, values: &[f32]| {
        let list = &mut parameters.get_mut(name).unwrap().values;
        assert_eq!(list.len(), values.len(), "{name}");
        list.copy_from_slice(values);
    };
    // Columns [x, h, h] of two units; then two output rows, the mean and the logarithm of the variance.
    set("recognition.layer0.weight", &[1.0, 0.0, 0.0, -1.0, 0.0, 0.0]);
    set("recognition.output.weight", &[K, -K, 0.0, 0.0]);
    set("recognition.output.bias", &[0.0, Q.ln()]);
    // Columns [h, h, z].
    set("generative.layer0.weight", &[0.0, 0.0, 1.0, 0.0, 0.0, -1.0]);
    set("generative.output.weight", &[B, -B]);
    set("generative.output.log_noise", &[S.ln()]);
    (nets, parameters)
}

/// −ln N(x | 0, B² Σ_z + S I) in nats.
fn exact(prior: Prior, rows: &Rows) -> f64 {
    let steps = rows.len();
    let (b, s) = (f64::from(B), f64::from(S));
    let of_z = |i: usize, j: usize| match prior {
        Prior::White => f64::from(u8::from(i == j)),
        Prior::Wiener => (i.min(j) + 1) as f64,
    };
    let covariance = DMatrix::from_fn(steps, steps, |i, j| b * b * of_z(i, j) + if i == j { s } else { 0.0 });
    let x = DVector::from_iterator(steps, rows.values.iter().map(|value| f64::from(*value)));
    let square = (x.transpose() * covariance.clone().try_inverse().unwrap() * &x)[0];
    0.5 * (steps as f64 * std::f64::consts::TAU.ln() + covariance.determinant().ln() + square)
}

#[test]
fn importance_sampling_finds_the_likelihood_and_the_bound_lies_above() {
    let scaling =
        Scaling { inputs: Scaler::identity(1), targets: Scaler::identity(1), density: None, linear: None };
    let sequences: Vec<Sequence> = sequences(&[4, 2, 3], 1);
    let steps = 9.0;
    for (name, prior) in [("white", Prior::White), ("wiener", Prior::Wiener)] {
        let (nets, parameters) = linear(name);
        let expected = sequences.iter().map(|sequence| exact(prior, &sequence.targets)).sum::<f64>() / steps;
        let found = importance(&nets, &parameters, &scaling, &sequences, 20_000, 1).unwrap();
        assert_eq!((found.steps, found.draws), (9, 20_000));
        let off = (found.nll - expected).abs();
        assert!(off < 4.0 * found.standard_error, "{name}: {found:?} against {expected}");
        assert!(found.standard_error < 0.01, "{name}: {found:?}");
        let batches = crate::data::batch::evaluation(&sequences, &scaling, 4);
        let bound = mean_bound(&nets, &parameters, batches, 20_000, 1).unwrap();
        let bound = bound.reconstruction + bound.divergence;
        // The gap is KL(q ‖ p(z|x)), which for these K and Q is at least 0.01 nats per step.
        assert!(bound > expected + 0.01, "{name}: {bound} against {expected}");
    }
}

#[test]
fn of_clean_rows_the_bounds_hold_whatever_noise_was_read() {
    let scaling =
        Scaling { inputs: Scaler::identity(1), targets: Scaler::identity(1), density: None, linear: None };
    let sequences = seen_through_noise(&sequences(&[4, 2, 3], 1), 0.4);
    let steps = 9.0;
    let batches = || crate::data::batch::evaluation(&sequences, &scaling, 4);
    for (name, prior) in [("white", Prior::White), ("wiener", Prior::Wiener)] {
        let (nets, parameters) = linear(name);
        // Before anything is seen of them, clean rows are as likely as any: the noise is only in the guess of
        // z.
        let expected = sequences.iter().map(|sequence| exact(prior, &sequence.targets)).sum::<f64>() / steps;
        let found = importance(&nets, &parameters, &scaling, &sequences, 40_000, 1).unwrap();
        assert!((found.nll - expected).abs() < 4.0 * found.standard_error, "{name}: {found:?}, {expected}");
        assert!(found.standard_error < 0.02, "{name}: {found:?}");
        let bound = mean_bound(&nets, &parameters, batches(), 20_000, 1).unwrap();
        assert!(
            bound.reconstruction + bound.divergence > expected + 0.01,
            "{name}: {bound:?} against {expected}"
        );
        // Denoised they are N(B k x̃, B² q + S), whatever the prior; the reconstruction expects the loss of
        // every draw instead.
        let (b, s, k, q) = (f64::from(B), f64::from(S), f64::from(K), f64::from(Q));
        let pairs = || {
            let rows = sequences.iter().flat_map(|seq| seq.targets.values.iter().zip(&seq.inputs.values));
            rows.map(|(clean, noisy)| (f64::from(*clean) - b * k * f64::from(*noisy)).powi(2))
        };
        let normal = |square: f64, var: f64| 0.5 * ((std::f64::consts::TAU * var).ln() + square / var);
        let denoised = pairs().map(|square| normal(square, b * b * q + s)).sum::<f64>() / steps;
        let reconstruction = pairs().map(|square| normal(square + b * b * q, s)).sum::<f64>() / steps;
        assert!((bound.reconstruction - reconstruction).abs() < 0.02, "{bound:?} against {reconstruction}");
        assert!(bound.reconstruction > denoised + 0.02, "{bound:?} against {denoised}");
    }
}

#[test]
fn more_draws_come_closer() {
    let scaling =
        Scaling { inputs: Scaler::identity(1), targets: Scaler::identity(1), density: None, linear: None };
    let sequences: Vec<Sequence> = sequences(&[6], 1);
    let (nets, parameters) = linear("wiener");
    let nll = |draws, seed| importance(&nets, &parameters, &scaling, &sequences, draws, seed).unwrap().nll;
    let mean = |draws| (0..40).map(|seed| nll(draws, seed)).sum::<f64>() / 40.0;
    let (few, more) = (mean(2), mean(50));
    assert!(few > more + 0.005, "{few} against {more}");
    assert_eq!(nll(20, 3), nll(20, 3));
    assert_ne!(nll(20, 3), nll(20, 4));
}
