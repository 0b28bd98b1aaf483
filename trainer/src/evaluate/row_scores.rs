//! Predictions by the runtime, row by row, with anomaly scores of every row.

use quaver::checkpoint::{Family, Kind};
use quaver::{Denoiser, LatentModel, Model, Prediction, Sampler};

use crate::data::{Scaler, Sequence};
use crate::prediction::SequencePrediction;

/// What a score may look at: a row as the model read it, and the model's prediction after it.
pub struct ReadRow<'a> {
    /// The row in raw units; NaN where a channel is missing.
    pub row: &'a [f32],
    /// The model after the row, with its surprise.
    pub prediction: Prediction<'a>,
    /// Mean and standard deviation of every input in training.
    pub inputs: &'a Scaler,
    /// Whether the model predicts rows before it reads them.
    pub predicts_rows: bool,
}

/// An anomaly score of every row: larger for rows that are less expected.
#[derive(Clone, Copy, Debug)]
pub struct RowScore {
    /// Its name.
    pub name: &'static str,
    /// How it is computed.
    pub detail: &'static str,
    /// Its threshold, if it has one of its own; for others it is chosen on the sound recording.
    pub threshold: Option<f64>,
    /// The score of one row; `None` where the model has none.
    pub of: fn(&ReadRow<'_>) -> Option<f32>,
}

/// Every score that is compared. The first two are those of the runtime.
pub const ROW_SCORES: [RowScore; 3] = [
    RowScore {
        name: "surprise",
        detail: "negative log-likelihood of the row under the prediction made before it; largest for a row with an implausible \
                 value",
        threshold: None,
        of: surprise,
    },
    RowScore {
        name: "anomaly",
        detail: "largest statistic relative to its limit in the checkpoint (export --false-alarms)",
        threshold: Some(1.0),
        of: |read| read.prediction.anomaly().map(|anomaly| anomaly.score),
    },
    RowScore {
        name: "largest z",
        detail: "no model: the largest |value − training mean| / training standard deviation in the row",
        threshold: None,
        of: largest_z,
    },
];

/// An implausible value is not scored, because it is treated as missing; but the model reports it.
fn surprise(read: &ReadRow<'_>) -> Option<f32> {
    if read.predicts_rows && read.prediction.implausible().next().is_some() {
        return Some(f32::MAX);
    }
    read.prediction.surprise().map(|surprise| surprise.nll)
}

fn largest_z(read: &ReadRow<'_>) -> Option<f32> {
    let scored = read.row.iter().zip(read.inputs.mean.iter().zip(&read.inputs.std_dev));
    let z = scored.map(|(value, (mean, std_dev))| ((value - mean) / std_dev).abs());
    z.filter(|z| !z.is_nan()).reduce(f32::max)
}

/// Predictions of the targets of every row, and scores of the rows.
#[derive(Clone, Debug)]
pub struct ScoredRun {
    /// Predictions of every sequence.
    pub predictions: Vec<SequencePrediction>,
    /// By score, by sequence, by row; NaN where there is none.
    pub scores: Vec<Vec<Vec<f32>>>,
}

/// Streams sequences through any checkpoint, with some scores of every row.
///
/// Of a latent model, predictions are one-step-ahead predictions or, where the targets are clean rows,
/// estimates.
///
/// # Errors
/// If the bytes are not a checkpoint.
pub fn predict_and_score(
    bytes: &[u8],
    inputs: &Scaler,
    scores: &[RowScore],
    sequences: &[Sequence],
) -> Result<ScoredRun, quaver::Error> {
    let recorder = |outputs, predicts_rows| Recorder::new(inputs, scores, sequences, outputs, predicts_rows);
    if Kind::of(bytes) != Some(Kind::Latent) {
        let model = Model::load(bytes)?;
        let mut words = vec![0.0; model.spec().arena_words()];
        let mut state = model.start_in(&mut words)?;
        let next = model.spec().target.is_next();
        return Ok(recorder(model.spec().outputs.into(), next).run(sequences, |recorder, row, first| {
            if first {
                model.reset(&mut state);
            }
            // A model of its own next input has predicted a row before it reads it.
            if next {
                recorder.write(&model.prediction(&state));
            }
            let prediction = model.step(&mut state, row);
            if !next {
                recorder.write(&prediction);
            }
            recorder.score(row, prediction);
        }));
    }
    let model = LatentModel::load(bytes)?;
    let mut words = vec![0.0; model.arena_words()];
    let recorder = recorder(model.channels(), true);
    match model.spec().family {
        Family::Storn => {
            let mut sampler = Sampler::load_in(bytes, &mut words)?;
            Ok(recorder.run(sequences, |recorder, row, first| {
                if first {
                    sampler.reset();
                }
                recorder.write(&sampler.prediction());
                recorder.score(row, sampler.observe(row));
            }))
        }
        Family::Vosp => {
            let mut denoiser = Denoiser::load_in(bytes, &mut words)?;
            let next = sequences.first().is_none_or(|sequence| sequence.target.is_next());
            Ok(recorder.run(sequences, |recorder, row, first| {
                if first {
                    denoiser.reset();
                }
                if next {
                    recorder.write(&denoiser.expected());
                }
                let estimate = denoiser.step(row);
                if !next {
                    recorder.write(&estimate);
                }
                recorder.score(row, estimate);
            }))
        }
    }
}

/// Predictions and scores so far.
struct Recorder<'a> {
    inputs: &'a Scaler,
    kinds: &'a [RowScore],
    predicts_rows: bool,
    found: ScoredRun,
    /// The current sequence and step.
    at: (usize, usize),
}

impl<'a> Recorder<'a> {
    fn new(
        inputs: &'a Scaler,
        kinds: &'a [RowScore],
        sequences: &[Sequence],
        outputs: usize,
        predicts_rows: bool,
    ) -> Self {
        let predictions = sequences.iter().map(|s| SequencePrediction::zeros(s.len(), outputs)).collect();
        let unscored = || sequences.iter().map(|sequence| vec![f32::NAN; sequence.len()]).collect();
        let found = ScoredRun { predictions, scores: kinds.iter().map(|_| unscored()).collect() };
        Recorder { inputs, kinds, predicts_rows, found, at: (0, 0) }
    }

    fn write(&mut self, prediction: &Prediction<'_>) {
        self.found.predictions[self.at.0].write_row(self.at.1, prediction);
    }

    fn score(&mut self, row: &[f32], prediction: Prediction<'_>) {
        let read = ReadRow { row, prediction, inputs: self.inputs, predicts_rows: self.predicts_rows };
        for (kind, scores) in self.kinds.iter().zip(&mut self.found.scores) {
            scores[self.at.0][self.at.1] = (kind.of)(&read).unwrap_or(f32::NAN);
        }
    }

    /// Reads every row; `read` also gets whether it is the first of its sequence.
    fn run(mut self, sequences: &[Sequence], mut read: impl FnMut(&mut Self, &[f32], bool)) -> ScoredRun {
        for (index, sequence) in sequences.iter().enumerate() {
            for (step, row) in sequence.inputs.iter().enumerate() {
                self.at = (index, step);
                read(&mut self, row, step == 0);
            }
        }
        self.found
    }
}

#[cfg(test)]
mod tests {
    use quaver::checkpoint::{Forecast, Layout, WeightFormat};

    use super::*;
    use crate::config::{Config, InitConfig, TrainingConfig};
    use crate::data::{Rows, Scaling};
    use crate::evaluate::predict_latent_by_runtime;
    use crate::export::{Encoding, LatentEncoding, LatentStorageOptions, encode, encode_latent};
    use crate::fit::RunState;
    use crate::latent::LatentNets;
    use crate::nn::test_spec;
    use crate::prediction::predict_by_runtime;
    use crate::random::{Purpose, normals, stream};
    use quaver::checkpoint::{Activation, CellKind, Target};

    fn sequences() -> Vec<Sequence> {
        let mut rng = stream(2, Purpose::Initialisation);
        let mut rows = |steps: usize| Rows { channels: 2, values: normals(&mut rng, 2 * steps) };
        let mut gappy = rows(9);
        gappy.values[6] = f32::NAN;
        vec![Sequence::next(gappy), Sequence::next(rows(5))]
    }

    fn names() -> [Vec<String>; 2] {
        [vec!["a".into(), "b".into()], vec!["a".into(), "b".into()]]
    }

    #[test]
    fn predictions_are_those_of_the_runtime_and_rows_have_scores() {
        let sequences = sequences();
        let scaling = Scaling::fit(&sequences);
        let mut spec = test_spec(2, 2, &[(CellKind::Elman(Activation::Tanh), 4)]);
        for target in [Target::Next, Target::ResidualNext, Target::Columns] {
            spec.target = target;
            let parameters = InitConfig::default().parameters(&spec, 1);
            let training = TrainingConfig::default();
            let state = RunState::first(spec.clone(), parameters, &training, scaling.clone(), names());
            let bytes = encode(&state, WeightFormat::F32, Layout::Float, &Encoding::default()).unwrap();
            let found = predict_and_score(&bytes, &scaling.inputs, &ROW_SCORES, &sequences).unwrap();
            assert_eq!(found.predictions, predict_by_runtime(&bytes, &sequences).unwrap(), "{target:?}");
            let [surprise, _, z] = &found.scores[..] else { panic!("three scores") };
            let scored = surprise.iter().flatten().filter(|score| !score.is_nan()).count();
            assert_eq!(scored, if target.is_next() { 14 } else { 0 }, "{target:?}");
            let row = sequences[1].inputs.row(3);
            let standardised = [0, 1].map(|channel| scaling.inputs.standardise(channel, row[channel]).abs());
            assert_eq!(z[1][3], standardised[0].max(standardised[1]));
            assert_eq!(
                z[0][3],
                scaling.inputs.standardise(1, sequences[0].inputs.row(3)[1]).abs(),
                "one is missing"
            );
        }
    }

    #[test]
    fn latent_models_predict_as_ever_and_score_rows() {
        let sequences = sequences();
        let clean = |s: &Sequence| Sequence::columns(Rows::clone(&s.inputs), Rows::clone(&s.inputs));
        let clean: Vec<Sequence> = sequences.iter().map(clean).collect();
        for (family, cell) in [("storn", "tanh"), ("vosp", "dense-tanh")] {
            let text = format!(
                "data = {{ train = \"none.csv\", targets = \"next\" }}\nlatent = {{ family = \"{family}\", latents = 2 }}\n\
                 [model]\ncell = \"{cell}\"\nlayers = [4]\n"
            );
            let config = Config::parse("test.toml", &text, &[]).unwrap();
            let spec = LatentNets::new(&config, config.latent.as_ref().unwrap(), 2).unwrap();
            let parameters = spec.init_parameters(&config.init, 4);
            let scaling = Scaling::fit(&sequences);
            let state = RunState::first(spec, parameters, &config.training, scaling.clone(), names());
            let storage = LatentStorageOptions {
                format: WeightFormat::F32,
                layout: Layout::Float,
                forecast: Forecast::Moments,
            };
            let bytes = encode_latent(&state, storage, &LatentEncoding::default()).unwrap();
            for sequences in [&sequences, &clean] {
                let found = predict_and_score(&bytes, &scaling.inputs, &ROW_SCORES, sequences).unwrap();
                let expected = predict_latent_by_runtime(&bytes, sequences).unwrap();
                assert_eq!(found.predictions, expected.for_target(sequences[0].target), "{family}");
                assert!(found.scores[0].iter().flatten().all(|score| score.is_finite()), "{family}");
            }
        }
    }
}
