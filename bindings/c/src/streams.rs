//! The kinds of streams, and what they have in common.

use quaver::{AdaptivePredictor, Denoiser, Error, Futures, Prediction, Predictor, Sampler};

use crate::boundary::{Handle, Input, Kind, Output};
use crate::results::{QuaverOutput, QuaverScore, copy_implausible, copy_outputs, copy_residuals};
use crate::sizes::*;
use crate::status::Status;

/// A model with one stream: rows in, means and variances out.
#[derive(Debug)]
pub struct QuaverPredictor(());

/// A model with one stream that removes noise from rows.
#[derive(Debug)]
pub struct QuaverDenoiser(());

/// A model with one stream that predicts the next row and samples continuations.
#[derive(Debug)]
pub struct QuaverSampler(());

/// Many sampled futures of a sampler.
#[derive(Debug)]
pub struct QuaverRollouts(());

/// A predictor whose output layer learns from labels.
#[derive(Debug)]
pub struct QuaverAdaptive(());

/// Futures, with the address of the sampler that they were started from.
pub(crate) struct RolloutStream {
    pub(crate) futures: Futures<'static>,
    pub(crate) sampler: usize,
}

macro_rules! kinds {
    ($($kind:ident: $stream:ty, $tag:literal, $words:ident;)*) => {
        $(impl Kind for $kind {
            type Stream = $stream;
            const TAG: u32 = u32::from_le_bytes(*$tag);
            const WORDS: usize = $words;
        })*
    };
}

kinds! {
    QuaverPredictor: Predictor<'static, 'static>, b"QVhp", QUAVER_PREDICTOR_WORDS;
    QuaverDenoiser: Denoiser<'static, 'static>, b"QVhd", QUAVER_DENOISER_WORDS;
    QuaverSampler: Sampler<'static, 'static>, b"QVhs", QUAVER_SAMPLER_WORDS;
    QuaverRollouts: RolloutStream, b"QVhr", QUAVER_ROLLOUTS_WORDS;
    QuaverAdaptive: AdaptivePredictor<'static, 'static>, b"QVha", QUAVER_ADAPTIVE_WORDS;
}

/// What every stream of rows can do.
pub(crate) trait Stream {
    fn last(&mut self) -> Prediction<'_>;
    fn implausible_total(&self) -> u32;
    fn forget_rows(&mut self);
    fn save_to(&self, words: &mut [f32]) -> Result<(), Error>;
    fn restore_from(&mut self, words: &[f32]) -> Result<(), Error>;
    fn check(&self) -> Result<(), Error>;
}

macro_rules! streams {
    ($($stream:ident)*) => {
        $(impl Stream for $stream<'static, 'static> {
            fn last(&mut self) -> Prediction<'_> {
                self.prediction()
            }

            fn implausible_total(&self) -> u32 {
                self.implausible_count()
            }

            fn forget_rows(&mut self) {
                self.reset();
            }

            fn save_to(&self, words: &mut [f32]) -> Result<(), Error> {
                self.save(words)
            }

            fn restore_from(&mut self, words: &[f32]) -> Result<(), Error> {
                self.restore(words)
            }

            fn check(&self) -> Result<(), Error> {
                self.check_state()
            }
        })*
    };
}

streams!(Predictor Denoiser Sampler AdaptivePredictor);

/// The calls that are the same for every stream of rows.
impl<K: Kind<Stream: Stream>> Handle<K> {
    pub(crate) fn prediction(self, outputs: Output<QuaverOutput>, count: usize) -> i32 {
        Status::of(self.enter(outputs.many(count), |stream, outputs| copy_outputs(&stream.last(), outputs)))
    }

    pub(crate) fn score(self, score: Output<QuaverScore>) -> i32 {
        Status::of(self.enter(score.one(), |stream, score| {
            let total = stream.implausible_total();
            let prediction = stream.last();
            score.iter_mut().for_each(|score| *score = QuaverScore::new(&prediction, total));
            Ok(())
        }))
    }

    pub(crate) fn residuals(self, residuals: Output<f32>, count: usize) -> i32 {
        Status::of(
            self.enter(residuals.many(count), |stream, residuals| copy_residuals(&stream.last(), residuals)),
        )
    }

    pub(crate) fn implausible(self, channels: Output<u8>, count: usize) -> i32 {
        Status::of(
            self.enter(channels.many(count), |stream, channels| copy_implausible(&stream.last(), channels)),
        )
    }

    pub(crate) fn reset(self) -> i32 {
        Status::of(self.enter((), |stream, ()| {
            stream.forget_rows();
            Ok(())
        }))
    }

    pub(crate) fn save(self, words: Output<f32>, count: usize) -> i32 {
        Status::of(self.enter(words.many(count), |stream, words| Ok(stream.save_to(words)?)))
    }

    pub(crate) fn restore(self, words: Input<f32>, count: usize) -> i32 {
        Status::of(self.enter(words.many(count), |stream, words| Ok(stream.restore_from(words)?)))
    }

    pub(crate) fn check(self) -> i32 {
        Status::of(self.enter((), |stream, ()| Ok(stream.check()?)))
    }

    /// Reads a row, with variances if there are any, and copies what is predicted.
    pub(crate) fn read(
        self,
        row: Row,
        outputs: Output<QuaverOutput>,
        count: usize,
        step: impl for<'s> FnOnce(&'s mut K::Stream, &[f32], &[f32]) -> Prediction<'s>,
    ) -> i32 {
        let arguments = (row.mean.many(row.count), (row.variance.many(row.variances), outputs.many(count)));
        Status::of(self.enter(arguments, |stream, (mean, (variance, outputs))| {
            copy_outputs(&step(stream, mean, variance), outputs)
        }))
    }
}

/// A row of C: `count` means and as many or no variances.
pub(crate) struct Row {
    pub(crate) mean: Input<f32>,
    pub(crate) count: usize,
    pub(crate) variance: Input<f32>,
    pub(crate) variances: usize,
}
