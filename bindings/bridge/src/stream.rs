//! A checkpoint with one stream, predictor or denoiser alike.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use quaver::checkpoint::{Family, Kind};
use quaver::{Denoiser, LatentModel, Model, Predictor};

use crate::estimate::Estimate;

/// The bytes of a checkpoint, and the words of one stream of it.
#[derive(Debug)]
pub struct Memory {
    bytes: Vec<u8>,
    words: Vec<f32>,
}

impl Memory {
    /// Reads a checkpoint.
    ///
    /// # Errors
    /// If the file cannot be read; its contents are checked by [`stream`](Self::stream).
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).with_context(|| format!("cannot read the model {}", path.display()))?;
        Ok(Memory::new(bytes))
    }

    /// A checkpoint that has been read.
    pub fn new(bytes: Vec<u8>) -> Self {
        Memory { bytes, words: Vec::new() }
    }

    /// Checks the checkpoint and starts its stream.
    ///
    /// # Errors
    /// If it is no checkpoint of a predictor or a denoiser.
    pub fn stream(&mut self) -> Result<Stream<'_>> {
        let Memory { bytes, words } = self;
        match Kind::of(bytes) {
            Some(Kind::Latent) => denoiser(bytes, words),
            Some(Kind::Reducer) => bail!(
                "the model is a reducer, which turns a sequence into one point (`quaver reduce`); \
                 give a predictor or a denoiser (VOSP)"
            ),
            _ => predictor(bytes, words),
        }
    }
}

const UNUSABLE: &str = "the model is not a usable checkpoint; `quaver export` writes one";

fn predictor<'m>(bytes: &'m [u8], words: &'m mut Vec<f32>) -> Result<Stream<'m>> {
    let model = Model::load(bytes).context(UNUSABLE)?;
    let (spec, checkpoint) = (model.spec(), model.checkpoint());
    let inputs = names("input", spec.inputs.into(), checkpoint.input_names());
    let outputs = names("output", spec.outputs.into(), checkpoint.output_names());
    let crc = checkpoint.crc();
    words.resize(spec.arena_words(), 0.0);
    let handle = Handle::Predictor(Predictor::load_in(bytes, words).context(UNUSABLE)?.into());
    Ok(Stream { handle, inputs, outputs, crc, estimate: Estimate::default() })
}

fn denoiser<'m>(bytes: &'m [u8], words: &'m mut Vec<f32>) -> Result<Stream<'m>> {
    let model = LatentModel::load(bytes).context(UNUSABLE)?;
    if model.spec().family == Family::Storn {
        bail!(
            "the model is a STORN, which samples rows (`quaver sample`); give a predictor or a denoiser (VOSP)"
        );
    }
    let inputs = names("input", model.channels(), model.recognition().checkpoint().input_names());
    let outputs = names("output", model.channels(), model.generative().checkpoint().output_names());
    let crc = model.crc();
    words.resize(model.arena_words(), 0.0);
    let handle = Handle::Denoiser(Denoiser::load_in(bytes, words).context(UNUSABLE)?.into());
    Ok(Stream { handle, inputs, outputs, crc, estimate: Estimate::default() })
}

/// Names of channels; `input1`, `input2`, … where the checkpoint has none.
fn names<'n>(stem: &str, count: usize, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut names = names.filter(|name| !name.is_empty());
    (1..=count).map(|number| names.next().map_or_else(|| format!("{stem}{number}"), String::from)).collect()
}

/// A running model; see [`Memory::stream`].
#[derive(Debug)]
pub struct Stream<'m> {
    handle: Handle<'m>,
    inputs: Vec<String>,
    outputs: Vec<String>,
    crc: u32,
    estimate: Estimate,
}

#[derive(Debug)]
enum Handle<'m> {
    Predictor(Box<Predictor<'m, 'm>>),
    Denoiser(Box<Denoiser<'m, 'm>>),
}

impl Stream<'_> {
    /// Names of the inputs in order; `input1` and so on where the checkpoint has none.
    pub fn inputs(&self) -> &[String] {
        &self.inputs
    }

    /// Names of the outputs in order; `output1` and so on where the checkpoint has none.
    pub fn outputs(&self) -> &[String] {
        &self.outputs
    }

    /// "predictor" or "denoiser".
    pub fn kind(&self) -> &'static str {
        match self.handle {
            Handle::Predictor(_) => "predictor",
            Handle::Denoiser(_) => "denoiser",
        }
    }

    /// The checksum of the checkpoint.
    pub fn crc(&self) -> u32 {
        self.crc
    }

    /// Reads a row in raw units, NaN for a missing channel.
    pub fn step(&mut self, row: &[f32]) -> &Estimate {
        match &mut self.handle {
            Handle::Predictor(predictor) => self.estimate.set(&predictor.step(row)),
            Handle::Denoiser(denoiser) => self.estimate.set(&denoiser.step(row)),
        }
        &self.estimate
    }
}

#[cfg(test)]
mod tests {
    use quaver::Prediction;

    use super::*;

    static GRIP_FORCE: &[u8] = include_bytes!("../../../runtime/examples/grip_force.qvr");
    static DENOISER: &[u8] = include_bytes!("../../../runtime/examples/denoiser.qvr");
    static SAMPLER: &[u8] = include_bytes!("../../../runtime/examples/sampler.qvr");
    static REDUCER: &[u8] = include_bytes!("../../../runtime/examples/reducer.qvr");
    static ANOMALY: &[u8] = include_bytes!("../../../tests/fixtures/anomaly-fast.qvr");

    fn assert_equal(estimate: &Estimate, expected: &Prediction<'_>) {
        assert_eq!(estimate.outputs, expected.iter().collect::<Vec<_>>());
        assert_eq!(estimate.surprise, expected.surprise().map(|surprise| surprise.nll));
        assert_eq!(estimate.anomaly, expected.anomaly());
        assert_eq!(estimate.implausible, expected.implausible().collect::<Vec<_>>());
    }

    #[test]
    fn a_predictor_gives_the_numbers_of_the_runtime() {
        for bytes in [GRIP_FORCE, ANOMALY] {
            let mut words = vec![0.0; Model::load(bytes).expect("a model").spec().arena_words()];
            let mut predictor = Predictor::load_in(bytes, &mut words).expect("a model");
            let mut memory = Memory::new(bytes.to_vec());
            let mut stream = memory.stream().expect("a model");
            assert_eq!(stream.kind(), "predictor");
            for step in 0..20 {
                let row: Vec<f32> =
                    (0..stream.inputs().len()).map(|channel| (step * channel) as f32).collect();
                assert_equal(stream.step(&row), &predictor.step(&row));
            }
            assert_equal(stream.step(&[f32::NAN]), &predictor.step(&[f32::NAN]));
        }
    }

    #[test]
    fn a_denoiser_gives_the_numbers_of_the_runtime() {
        let mut words = vec![0.0; LatentModel::load(DENOISER).expect("a model").arena_words()];
        let mut denoiser = Denoiser::load_in(DENOISER, &mut words).expect("a model");
        let mut memory = Memory::new(DENOISER.to_vec());
        let mut stream = memory.stream().expect("a model");
        assert_eq!(
            (stream.kind(), stream.inputs()),
            ("denoiser", &["hip", "knee", "ankle"].map(String::from)[..])
        );
        for row in [[12.5, 31.0, 3.0], [12.0, f32::NAN, 3.5]] {
            assert_equal(stream.step(&row), &denoiser.step(&row));
        }
    }

    #[test]
    fn what_is_no_model_of_rows_is_refused() {
        let refused =
            |bytes: &[u8]| format!("{:#}", Memory::new(bytes.to_vec()).stream().expect_err("refused"));
        assert!(refused(SAMPLER).contains("quaver sample"));
        assert!(refused(REDUCER).contains("quaver reduce"));
        assert!(refused(b"nothing").contains("not a usable checkpoint"));
        assert!(refused(&GRIP_FORCE[..100]).contains("not a usable checkpoint"));
        let absent = Memory::read(Path::new("no/such.qvr")).expect_err("no file");
        assert!(format!("{absent:#}").contains("no/such.qvr"));
    }

    #[test]
    fn channels_without_names_are_numbered() {
        assert_eq!(names("input", 3, ["hip"].into_iter()), ["hip", "input2", "input3"]);
    }
}
