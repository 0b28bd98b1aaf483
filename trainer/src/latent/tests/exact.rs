//! A model whose likelihood can be integrated: linear, with normal noise.

use nalgebra::{DMatrix, DVector};

use super::{config, nets, sequences};
use crate::data::{Rows, Scaler, Scaling, Sequence};
use crate::latent::importance::importance;
use crate::latent::learn::mean_bound;
use crate::latent::nets::{LatentNets, Prior};
use crate::nn::Parameters;

/// x_t = B z_t + noise of variance S.
const B: f32 = 0.8;
const S: f32 = 0.5;

/// Rectifiers in pairs are linear: max(0, a) − max(0, −a) = a. The generating net says N(B z, S); the recognition net
/// says N(k x, q) with k and q near, but not at, what is right for a white prior.
fn linear(prior: &str) -> (LatentNets, Parameters) {
    let lines = format!(
        "latent = {{ family = \"vosp\", latents = 1, prior = \"{prior}\" }}\n\
         [model]\ncell = \"dense-rectifier\"\nlayers = [2]\n[recognition]\ncell = \"rectifier\"\nlayers = [2]\n"
    );
    let (nets, mut parameters) = nets(&config(&lines, &[]), 1);
    for tensor in &mut parameters.tensors {
        tensor.values.fill(0.0);
    }
    let (k, q) = (0.9 * B / (B * B + S), 1.3 * S / (B * B + S));
    let mut set = |name: &str, values: &[f32]| {
        let list = &mut parameters.get_mut(name).unwrap().values;
        assert_eq!(list.len(), values.len(), "{name}");
        list.copy_from_slice(values);
    };
    // Columns [x, h, h] of two units; then two output rows, the mean and the logarithm of the variance.
    set("recognition.layer0.weight", &[1.0, 0.0, 0.0, -1.0, 0.0, 0.0]);
    set("recognition.output.weight", &[k, -k, 0.0, 0.0]);
    set("recognition.output.bias", &[0.0, q.ln()]);
    // Columns [h, h, z].
    set("generating.layer0.weight", &[0.0, 0.0, 1.0, 0.0, 0.0, -1.0]);
    set("generating.output.weight", &[B, -B]);
    set("generating.output.log_noise", &[S.ln()]);
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
    let scaling = Scaling { inputs: Scaler::identity(1), targets: Scaler::identity(1) };
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
        // The gap is KL(q ‖ p(z|x)), which for these k and q is at least 0.01 nats per step.
        assert!(bound > expected + 0.01, "{name}: {bound} against {expected}");
    }
}

#[test]
fn more_draws_come_closer() {
    let scaling = Scaling { inputs: Scaler::identity(1), targets: Scaler::identity(1) };
    let sequences: Vec<Sequence> = sequences(&[6], 1);
    let (nets, parameters) = linear("wiener");
    let nll = |draws, seed| importance(&nets, &parameters, &scaling, &sequences, draws, seed).unwrap().nll;
    let mean = |draws| (0..40).map(|seed| nll(draws, seed)).sum::<f64>() / 40.0;
    let (few, more) = (mean(2), mean(50));
    assert!(few > more + 0.005, "{few} against {more}");
    assert_eq!(nll(20, 3), nll(20, 3));
    assert_ne!(nll(20, 3), nll(20, 4));
}
