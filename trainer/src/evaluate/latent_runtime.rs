//! Predictions of a latent model by the runtime, row by row, as on a device.

use quaver::checkpoint::{Family, Target};
use quaver::{Denoiser, LatentModel, Prediction, Sampler};

use serde::Serialize;

use super::score_totals::INTERVALS;
use super::scores;
use crate::data::Sequence;
use crate::prediction::SequencePrediction;

/// The predictions for sequences.
#[derive(Clone, Debug)]
pub struct LatentStreamPrediction {
    /// One-step-ahead predictions of every row.
    pub expected: Vec<SequencePrediction>,
    /// Of a VOSP: estimates of every row without its noise.
    pub estimates: Option<Vec<SequencePrediction>>,
    /// Negative log-likelihood of the rows before they are observed or, if the targets are clean rows, of
    /// those given their noisy versions: nats per time step, summed over channels, with densities in raw
    /// units.
    pub nll: f64,
    /// Scores of the rows that were read, each against its prediction.
    pub surprise: SurpriseScores,
}

/// Scores of observed rows against the predictions made before them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SurpriseScores {
    /// Mean surprise in nats per step.
    pub mean_nats: f64,
    /// Proportion of observed values inside their 90 % interval.
    pub coverage: f64,
}

impl LatentStreamPrediction {
    /// The main result of the family: estimates of a VOSP, predictions of a STORN.
    pub fn primary(&self) -> &[SequencePrediction] {
        self.estimates.as_ref().unwrap_or(&self.expected)
    }

    /// The predictions of a target: estimates of clean rows, or one-step-ahead predictions of next rows.
    pub fn for_target(&self, target: Target) -> &[SequencePrediction] {
        if target.is_next() { &self.expected } else { self.primary() }
    }
}

/// Streams sequences through a checkpoint of a latent model.
///
/// # Errors
/// If the bytes are not such a checkpoint.
pub fn predict_latent_by_runtime(
    bytes: &[u8],
    sequences: &[Sequence],
) -> Result<LatentStreamPrediction, quaver::Error> {
    let model = LatentModel::load(bytes)?;
    let mut words = vec![0.0; model.arena_words()];
    let mut totals = StreamTotals::new(sequences, model.channels());
    match model.spec().family {
        Family::Storn => {
            let mut sampler = Sampler::load_in(bytes, &mut words)?;
            totals.run(sequences, |totals, index, step, row| {
                if step == 0 {
                    sampler.reset();
                }
                totals.expected[index].write_row(step, &sampler.prediction());
                totals.count(&sampler.observe(row));
            });
            Ok(totals.streamed(None))
        }
        Family::Vosp => {
            let mut denoiser = Denoiser::load_in(bytes, &mut words)?;
            let mut estimates = totals.expected.clone();
            totals.run(sequences, |totals, index, step, row| {
                if step == 0 {
                    denoiser.reset();
                }
                totals.expected[index].write_row(step, &denoiser.expected());
                let estimate = denoiser.step(row);
                estimates[index].write_row(step, &estimate);
                totals.count(&estimate);
            });
            let mut streamed = totals.streamed(Some(estimates));
            if let Some(clean) = sequences.first().filter(|sequence| !sequence.target.is_next()) {
                let names: Vec<String> =
                    (0..clean.targets.channels).map(|channel| channel.to_string()).collect();
                let likelihood = model.generative().spec().likelihood;
                streamed.nll = scores(likelihood, &names, sequences, streamed.primary()).nll;
            }
            Ok(streamed)
        }
    }
}

/// Predictions and likelihood so far.
struct StreamTotals {
    expected: Vec<SequencePrediction>,
    nll: f64,
    steps: usize,
    values: usize,
    inside: usize,
}

impl StreamTotals {
    fn new(sequences: &[Sequence], channels: usize) -> Self {
        let expected =
            sequences.iter().map(|sequence| SequencePrediction::zeros(sequence.len(), channels)).collect();
        StreamTotals { expected, nll: 0.0, steps: 0, values: 0, inside: 0 }
    }

    fn streamed(self, estimates: Option<Vec<SequencePrediction>>) -> LatentStreamPrediction {
        let mean_nats = self.nll / self.steps.max(1) as f64;
        let coverage = self.inside as f64 / self.values.max(1) as f64;
        let surprise = SurpriseScores { mean_nats, coverage };
        LatentStreamPrediction { expected: self.expected, estimates, nll: mean_nats, surprise }
    }

    fn run(&mut self, sequences: &[Sequence], mut see: impl FnMut(&mut Self, usize, usize, &[f32])) {
        for (index, sequence) in sequences.iter().enumerate() {
            for (step, row) in sequence.inputs.iter().enumerate() {
                see(self, index, step, row);
            }
        }
    }

    /// Adds the surprise of a row; a row without observed values has none.
    fn count(&mut self, prediction: &Prediction<'_>) {
        if let Some(surprise) = prediction.surprise() {
            self.nll += f64::from(surprise.nll);
            self.steps += 1;
            let observed = surprise.z.iter().filter(|z| !z.is_nan());
            self.values += observed.clone().count();
            let [_, (_, width), _] = INTERVALS;
            self.inside += observed.filter(|z| f64::from(z.abs()) <= width).count();
        }
    }
}
