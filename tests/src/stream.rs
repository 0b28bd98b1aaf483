//! A stream of any kind of model, so that what holds for all of them is tested once.

use quaver::checkpoint::{Family, Kind};
use quaver::{Denoiser, Error, LatentModel, Model, Prediction, Predictor, Sampler};
use quaver_streams::numbers::Numbers;

/// A model with one stream.
#[derive(Debug)]
pub enum Stream<'m, 'a> {
    /// One network.
    Predictor(Predictor<'m, 'a>),
    /// A latent model of the family VOSP.
    Denoiser(Denoiser<'m, 'a>),
    /// A latent model of the family STORN.
    Sampler(Sampler<'m, 'a>),
}

/// The same expression for every kind of stream.
macro_rules! each {
    ($stream:expr, $name:ident => $value:expr) => {
        match $stream {
            Stream::Predictor($name) => $value,
            Stream::Denoiser($name) => $value,
            Stream::Sampler($name) => $value,
        }
    };
}

impl<'m, 'a> Stream<'m, 'a> {
    /// Words of memory that a stream of this checkpoint needs.
    ///
    /// # Errors
    /// If the bytes are not a checkpoint.
    pub fn arena_words(bytes: &[u8]) -> Result<usize, Error> {
        Ok(match Kind::of(bytes) {
            Some(Kind::Latent) => LatentModel::load(bytes)?.arena_words(),
            _ => Model::load(bytes)?.spec().arena_words(),
        })
    }

    /// Loads a checkpoint of any kind.
    ///
    /// # Errors
    /// If the bytes are not a checkpoint, or there are not enough words.
    pub fn load(bytes: &'m [u8], words: &'a mut [f32]) -> Result<Self, Error> {
        if Kind::of(bytes) != Some(Kind::Latent) {
            return Ok(Stream::Predictor(Predictor::load_in(bytes, words)?));
        }
        Ok(match LatentModel::load(bytes)?.spec().family {
            Family::Storn => Stream::Sampler(Sampler::load_in(bytes, words)?),
            Family::Vosp => Stream::Denoiser(Denoiser::load_in(bytes, words)?),
        })
    }

    /// Length of a saved stream.
    pub fn saved_words(&self) -> usize {
        match self {
            Stream::Predictor(predictor) => predictor.model().spec().saved_words(),
            Stream::Denoiser(denoiser) => denoiser.model().saved_words(),
            Stream::Sampler(sampler) => sampler.model().saved_words(),
        }
    }

    /// Reads a row with a variance per channel.
    pub fn step_uncertain(&mut self, row: &[f32], vars: &[f32]) -> Prediction<'_> {
        match self {
            Stream::Predictor(predictor) => predictor.step_uncertain(row, vars),
            Stream::Denoiser(denoiser) => denoiser.step_uncertain(row, vars),
            Stream::Sampler(sampler) => sampler.observe_uncertain(row, vars),
        }
    }

    /// Reads a row.
    pub fn step(&mut self, row: &[f32]) -> Prediction<'_> {
        self.step_uncertain(row, &[])
    }

    /// The last prediction.
    pub fn prediction(&mut self) -> Prediction<'_> {
        each!(self, stream => stream.prediction())
    }

    /// Forgets everything seen.
    pub fn reset(&mut self) {
        each!(self, stream => stream.reset());
    }

    /// Copies the state into `words`.
    ///
    /// # Errors
    /// If `words` has another length than [`saved_words`](Self::saved_words).
    pub fn save(&self, words: &mut [f32]) -> Result<(), Error> {
        each!(self, stream => stream.save(words))
    }

    /// Continues from a saved state.
    ///
    /// # Errors
    /// If the words cannot be a state of this model.
    pub fn restore(&mut self, words: &[f32]) -> Result<(), Error> {
        each!(self, stream => stream.restore(words))
    }

    /// Checks the stream's memory.
    ///
    /// # Errors
    /// The first word that no step can have left.
    pub fn check_state(&self) -> Result<(), Error> {
        each!(self, stream => stream.check_state())
    }
}

/// Values with gaps, infinities and numbers far outside of what was trained on.
pub fn rough_row(numbers: &mut Numbers, channels: usize) -> Vec<f32> {
    let mut value = || match () {
        () if numbers.once_in(9) => f32::NAN,
        () if numbers.once_in(40) => f32::INFINITY,
        () if numbers.once_in(20) => 1e4 * numbers.signed(),
        () => 3.0 * numbers.signed(),
    };
    (0..channels).map(|_| value()).collect()
}
