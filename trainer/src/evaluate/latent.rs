//! Scores of a latent model: its bound, its likelihood by importance sampling, and its one-step-ahead
//! predictions.

use serde::Serialize;

use super::{Scores, scores};
use crate::data::{Rows, Sequence};
use crate::latent::{LatentFeed, TrainedLatentModel};
use crate::prediction::SequencePrediction;

/// Nats per time step, summed over channels, with densities in both units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Nats {
    /// Densities in raw units.
    pub raw: f64,
    /// Densities in units of each channel's training standard deviation.
    pub standardised: f64,
}

/// Scores of a latent model.
#[derive(Clone, Debug, Serialize)]
pub struct LatentScores {
    /// The bound on the negative log-likelihood.
    pub bound: Nats,
    /// Its first term, −E_q[ln p(x|z)].
    pub reconstruction: Nats,
    /// Its second term, KL(q ‖ p).
    pub divergence: f64,
    /// The negative log-likelihood of whole sequences by importance sampling.
    pub importance: Nats,
    /// Standard error of that.
    pub standard_error: f64,
    /// Draws per sequence.
    pub draws: usize,
    /// Effective sample size per sequence, on average.
    pub effective_draws: f64,
    /// Time steps with at least one observed value.
    pub n: usize,
    /// One-step-ahead predictions of a causal model, by how latent variables are fed.
    pub one_step: Vec<FeedScores>,
    /// If the targets are clean rows: estimates of each from the noisy rows up to its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub estimates: Vec<FeedScores>,
}

/// Scores for one way of feeding latent variables.
#[derive(Clone, Debug, Serialize)]
pub struct FeedScores {
    /// How latent variables are fed to the generative network.
    pub latents: String,
    /// The scores.
    #[serde(flatten)]
    pub scores: Scores,
}

/// Draws that a one-step-ahead prediction averages over.
const PREDICTION_DRAWS: usize = 32;

/// The feeds without draws.
const WAYS: [(LatentFeed, &str); 2] = [(LatentFeed::Moments, "moments"), (LatentFeed::Mean, "means")];

/// Scores a model; nothing if no value was observed. `draws` is the number of importance samples per
/// sequence.
pub fn latent_scores(
    model: &TrainedLatentModel,
    names: &[String],
    sequences: &[Sequence],
    draws: usize,
    seed: u64,
) -> Option<LatentScores> {
    let bound = model.bound(sequences, 1, seed)?;
    let importance = model.importance(sequences, draws, seed)?;
    let shift = log_std_devs(&model.scaling.targets.std_dev, sequences) / bound.steps as f64;
    let scored = |(predictions, latents): (Vec<SequencePrediction>, String)| {
        let scores = scores(model.nets.generative.spec.likelihood, names, sequences, &predictions);
        FeedScores { latents, scores: scores.in_units_of(&model.scaling.targets.std_dev) }
    };
    let clean = sequences.iter().all(|sequence| !sequence.target.is_next());
    let nats = |standardised: f64| Nats { raw: standardised + shift, standardised };
    Some(LatentScores {
        bound: nats(bound.reconstruction + bound.divergence),
        reconstruction: nats(bound.reconstruction),
        divergence: bound.divergence,
        importance: nats(importance.nll),
        standard_error: importance.standard_error,
        draws,
        effective_draws: importance.effective_draws,
        n: bound.steps,
        one_step: one_step(model, sequences, seed).into_iter().map(scored).collect(),
        estimates: if clean { estimates(model, sequences).map(scored).to_vec() } else { Vec::new() },
    })
}

/// One-step-ahead predictions for every feed; empty if the model is not causal.
fn one_step(
    model: &TrainedLatentModel,
    sequences: &[Sequence],
    seed: u64,
) -> Vec<(Vec<SequencePrediction>, String)> {
    if !model.nets.is_causal() {
        return Vec::new();
    }
    let draws = (LatentFeed::Draws(PREDICTION_DRAWS), format!("{PREDICTION_DRAWS} draws"));
    let ways = WAYS.map(|(feed, latents)| (feed, latents.to_string())).into_iter().chain([draws]);
    ways.map(|(feed, latents)| (model.predict(sequences, feed, seed), latents)).collect()
}

/// Estimates of the clean rows for every feed without draws.
fn estimates(model: &TrainedLatentModel, sequences: &[Sequence]) -> [(Vec<SequencePrediction>, String); 2] {
    WAYS.map(|(feed, latents)| (model.reconstruct(sequences, feed), latents.to_string()))
}

/// Σ ln s over all observed values: −ln p(x) = −ln p(x/s) + ln s.
fn log_std_devs(std_devs: &[f32], sequences: &[Sequence]) -> f64 {
    let logs: Vec<f64> = std_devs.iter().map(|std_dev| f64::from(*std_dev).ln()).collect();
    let of_row = |row: &[f32]| -> f64 {
        row.iter().zip(&logs).filter(|(value, _)| !value.is_nan()).map(|(_, log)| log).sum()
    };
    let of_rows = |rows: &Rows| rows.iter().map(of_row).sum::<f64>();
    sequences.iter().map(|sequence| of_rows(&sequence.targets)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn densities_shrink_with_the_std_dev_of_the_observation() {
        let rows = Rows { channels: 2, values: vec![1.0, 2.0, f32::NAN, 4.0] };
        let found = log_std_devs(&[2.0, 0.5], &[Sequence::next(rows)]);
        assert!((found - (2.0_f64.ln() + 2.0 * 0.5_f64.ln())).abs() < 1e-12);
    }
}
