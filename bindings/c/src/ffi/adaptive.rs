//! Adaptive predictors.

use core::ffi::c_void;

use quaver::{AdaptOptions, AdaptivePredictor, Covariance, Model};

use crate::boundary::{Handle, Input, Output, call};
use crate::codes::{QUAVER_COVARIANCE_DIAGONAL, QUAVER_COVARIANCE_FULL};
use crate::results::{QuaverAdaptOptions, QuaverOutput, QuaverScore};
use crate::sizes::QUAVER_ADAPTIVE_WORDS;
use crate::status::Status;
use crate::streams::{QuaverAdaptive, Row};

/// The settings that suit labels at the sensors' rate of some hundred per second.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_adapt_options_default(options: Output<QuaverAdaptOptions>) -> i32 {
    let AdaptOptions { covariance, prior, forgetting, correlation } = AdaptOptions::default();
    let covariance = match covariance {
        Covariance::Full => QUAVER_COVARIANCE_FULL,
        Covariance::Diagonal => QUAVER_COVARIANCE_DIAGONAL,
    };
    Status::of(call(options.one(), |options| {
        let defaults = QuaverAdaptOptions { covariance, prior, forgetting, correlation };
        options.iter_mut().for_each(|options| *options = defaults);
        Ok(())
    }))
}

fn options_of(options: &[QuaverAdaptOptions]) -> Result<AdaptOptions, Status> {
    let QuaverAdaptOptions { covariance, prior, forgetting, correlation } =
        *options.first().ok_or(Status::NULL)?;
    let covariance = match covariance {
        QUAVER_COVARIANCE_FULL => Covariance::Full,
        QUAVER_COVARIANCE_DIAGONAL => Covariance::Diagonal,
        _ => return Err(Status::RANGE),
    };
    Ok(AdaptOptions { covariance, prior, forgetting, correlation })
}

/// Words of an arena for an adaptive predictor, the handle included; 0 if the model does not load.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_adaptive_arena_words(
    model: Input<c_void>,
    bytes: usize,
    options: Input<QuaverAdaptOptions>,
) -> usize {
    let words = call((model.bytes(bytes), options.one()), |(bytes, options)| {
        let words = AdaptivePredictor::arena_words(&Model::load(bytes)?, &options_of(options)?);
        Ok(QUAVER_ADAPTIVE_WORDS + words)
    });
    words.unwrap_or(0)
}

/// Checks a checkpoint of one network and starts a stream that has learned nothing yet, in an arena of
/// `quaver_adaptive_arena_words`. Otherwise as `quaver_predictor_load`.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_adaptive_load(
    model: Input<c_void>,
    bytes: usize,
    options: Input<QuaverAdaptOptions>,
    arena: Output<c_void>,
    arena_words: usize,
    adaptive: Output<Handle<QuaverAdaptive>>,
) -> i32 {
    let options = call(options.one(), options_of);
    let load = |bytes, words| Ok(AdaptivePredictor::load_in(bytes, words, options?)?);
    Status::of(arena.arena(arena_words).load(model.bytes(bytes), adaptive, load))
}

/// Reads one row in raw units and predicts with what was learned so far.
///
/// A NaN is a missing channel, and so is every channel beyond the end of a short row. `outputs` may be null with
/// a count of 0; `quaver_adaptive_prediction` copies them later.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_adaptive_step(
    adaptive: Handle<QuaverAdaptive>,
    row: Input<f32>,
    count: usize,
    outputs: Output<QuaverOutput>,
    output_count: usize,
) -> i32 {
    let row = Row { mean: row, count, variance: Input::none(), variances: 0 };
    adaptive.read(row, outputs, output_count, |stream, row, _| stream.step(row))
}

/// Like `quaver_adaptive_step`, for values that are themselves uncertain: one variance per channel, in squared raw
/// units.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_adaptive_step_uncertain(
    adaptive: Handle<QuaverAdaptive>,
    mean: Input<f32>,
    variance: Input<f32>,
    count: usize,
    outputs: Output<QuaverOutput>,
    output_count: usize,
) -> i32 {
    let row = Row { mean, count, variance, variances: count };
    adaptive.read(row, outputs, output_count, |stream, mean, variance| stream.step_uncertain(mean, variance))
}

/// Learns the true values of what was just predicted, one per output, NaN where there is none. `learned`, which
/// may be null, becomes 0 if there was nothing to learn, else 1.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_adaptive_learn(
    adaptive: Handle<QuaverAdaptive>,
    truth: Input<f32>,
    count: usize,
    learned: Output<i32>,
) -> i32 {
    Status::of(adaptive.enter((truth.many(count), learned.optional()), |stream, (truth, learned)| {
        let any = stream.learn(truth);
        learned.iter_mut().for_each(|learned| *learned = any.into());
        Ok(())
    }))
}

/// Forgets what was learned from labels, and continues the stream: another arm, another machine.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_adaptive_forget(adaptive: Handle<QuaverAdaptive>) -> i32 {
    Status::of(adaptive.enter((), |stream, ()| {
        stream.forget();
        Ok(())
    }))
}

/// Words of a saved stream with what was learned; 0 if the handle is none.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_adaptive_saved_words(adaptive: Handle<QuaverAdaptive>) -> usize {
    adaptive.enter((), |stream, ()| Ok(stream.saved_words())).unwrap_or(0)
}

/// Copies the last prediction; before the first row, the prediction of it.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_adaptive_prediction(
    adaptive: Handle<QuaverAdaptive>,
    outputs: Output<QuaverOutput>,
    output_count: usize,
) -> i32 {
    adaptive.prediction(outputs, output_count)
}

/// Scores of the row just read: surprise, novelty, anomaly, implausible values.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_adaptive_score(adaptive: Handle<QuaverAdaptive>, score: Output<QuaverScore>) -> i32 {
    adaptive.score(score)
}

/// Residuals of the row just read in predicted standard deviations, one per output; NaN where a channel was
/// missing, and for models that do not predict their own inputs.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_adaptive_residuals(
    adaptive: Handle<QuaverAdaptive>,
    residuals: Output<f32>,
    count: usize,
) -> i32 {
    adaptive.residuals(residuals, count)
}

/// Channels of the row just read whose values were implausible: 1 for each of those, 0 for all others.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_adaptive_implausible(
    adaptive: Handle<QuaverAdaptive>,
    channels: Output<u8>,
    count: usize,
) -> i32 {
    adaptive.implausible(channels, count)
}

/// Forgets every row, and keeps what was learned from labels.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_adaptive_reset(adaptive: Handle<QuaverAdaptive>) -> i32 {
    adaptive.reset()
}

/// Copies the state of the stream into `words`, of which there must be exactly `quaver_adaptive_saved_words`.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_adaptive_save(
    adaptive: Handle<QuaverAdaptive>,
    words: Output<f32>,
    count: usize,
) -> i32 {
    adaptive.save(words, count)
}

/// Continues from a saved state, of this stream or of another one of the same model. Words that cannot be a
/// state are refused, and the stream stays as it is.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_adaptive_restore(
    adaptive: Handle<QuaverAdaptive>,
    words: Input<f32>,
    count: usize,
) -> i32 {
    adaptive.restore(words, count)
}

/// Checks that the memory of the stream is one that steps can have left: for a task that watches over others.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_adaptive_check(adaptive: Handle<QuaverAdaptive>) -> i32 {
    adaptive.check()
}
