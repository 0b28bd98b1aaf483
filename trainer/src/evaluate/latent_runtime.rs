//! What the runtime makes of sequences with a latent model, row by row, as a device does.

use quaver::checkpoint::{Family, Target};
use quaver::{Denoiser, LatentModel, Prediction, Sampler};

use super::scores;
use crate::data::Sequence;
use crate::prediction::Forecast;

/// What came of it.
#[derive(Clone, Debug)]
pub struct Streamed {
    /// What every row was expected to be before it was seen.
    pub expected: Vec<Forecast>,
    /// Of a VOSP, what every row was without its noise.
    pub estimates: Option<Vec<Forecast>>,
    /// How unlikely rows were before they were seen or, if the targets are clean rows, how unlikely those are once their noisy
    /// selves were: nats per time step, summed over channels, densities in raw units.
    pub nll: f64,
}

impl Streamed {
    /// What a stream of this family is for: estimates of a VOSP, predictions of a STORN.
    pub fn said(&self) -> &[Forecast] {
        self.estimates.as_ref().unwrap_or(&self.expected)
    }

    /// What was said of targets: clean rows are estimated with their noisy selves, next rows are expected.
    pub fn of(&self, target: Target) -> &[Forecast] {
        if target.is_next() { &self.expected } else { self.said() }
    }
}

/// Streams sequences through a checkpoint of a latent model.
///
/// # Errors
/// If the bytes are not such a checkpoint.
pub fn latent_from_runtime(bytes: &[u8], sequences: &[Sequence]) -> Result<Streamed, quaver::Error> {
    let model = LatentModel::load(bytes)?;
    let mut words = vec![0.0; model.arena_words()];
    let mut tally = Tally::new(sequences, model.channels());
    match model.spec().family {
        Family::Storn => {
            let mut sampler = Sampler::load_in(bytes, &mut words)?;
            tally.run(sequences, |tally, index, step, row| {
                if step == 0 {
                    sampler.reset();
                }
                enter(&mut tally.expected[index], step, &sampler.prediction());
                tally.count(&sampler.observe(row));
            });
            Ok(tally.streamed(None))
        }
        Family::Vosp => {
            let mut denoiser = Denoiser::load_in(bytes, &mut words)?;
            let mut estimates = tally.expected.clone();
            tally.run(sequences, |tally, index, step, row| {
                if step == 0 {
                    denoiser.reset();
                }
                enter(&mut tally.expected[index], step, &denoiser.expected());
                let estimate = denoiser.step(row);
                enter(&mut estimates[index], step, &estimate);
                tally.count(&estimate);
            });
            let mut streamed = tally.streamed(Some(estimates));
            if let Some(clean) = sequences.first().filter(|sequence| !sequence.target.is_next()) {
                let names: Vec<String> =
                    (0..clean.targets.channels).map(|channel| channel.to_string()).collect();
                let likelihood = model.generative().spec().likelihood;
                streamed.nll = scores(likelihood, &names, sequences, streamed.said()).nll;
            }
            Ok(streamed)
        }
    }
}

fn enter(forecast: &mut Forecast, step: usize, prediction: &Prediction<'_>) {
    for (channel, output) in prediction.iter().enumerate() {
        forecast.set(step, channel, output.mean, output.epistemic, output.aleatoric);
    }
}

/// What has been seen so far.
struct Tally {
    expected: Vec<Forecast>,
    nll: f64,
    steps: usize,
}

impl Tally {
    fn new(sequences: &[Sequence], channels: usize) -> Self {
        let expected = sequences.iter().map(|sequence| Forecast::zeros(sequence.len(), channels)).collect();
        Tally { expected, nll: 0.0, steps: 0 }
    }

    fn streamed(self, estimates: Option<Vec<Forecast>>) -> Streamed {
        Streamed { expected: self.expected, estimates, nll: self.nll / self.steps.max(1) as f64 }
    }

    fn run(&mut self, sequences: &[Sequence], mut see: impl FnMut(&mut Self, usize, usize, &[f32])) {
        for (index, sequence) in sequences.iter().enumerate() {
            for (step, row) in sequence.inputs.iter().enumerate() {
                see(self, index, step, row);
            }
        }
    }

    /// Takes in how surprising a row was; one of which nothing was observed says nothing.
    fn count(&mut self, prediction: &Prediction<'_>) {
        if let Some(surprise) = prediction.surprise() {
            self.nll += f64::from(surprise.nll);
            self.steps += 1;
        }
    }
}
