//! Predictors.

use core::ffi::c_void;

use quaver::Predictor;

use super::random::CallerRng;
use crate::boundary::{Handle, Input, Output};
use crate::results::{QuaverOutput, QuaverScore, copy_outputs};
use crate::status::Status;
use crate::streams::{QuaverPredictor, Row};

/// Checks a checkpoint and starts a stream in `arena`: `quaver_arena_words` words, aligned to 8 bytes. Both
/// must stay where they are for as long as the handle is used; there is nothing to free. On an error the handle
/// is null.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_predictor_load(
    model: Input<c_void>,
    bytes: usize,
    arena: Output<c_void>,
    arena_words: usize,
    predictor: Output<Handle<QuaverPredictor>>,
) -> i32 {
    let load = |bytes, words| Ok(Predictor::load_in(bytes, words)?);
    Status::of(arena.arena(arena_words).load(model.bytes(bytes), predictor, load))
}

/// Reads one row in raw units and predicts: a mean and a variance for every output.
///
/// A NaN is a missing channel, and so is every channel beyond the end of a short row. `outputs` may be null with
/// a count of 0; `quaver_predictor_prediction` copies them later.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_predictor_step(
    predictor: Handle<QuaverPredictor>,
    row: Input<f32>,
    count: usize,
    outputs: Output<QuaverOutput>,
    output_count: usize,
) -> i32 {
    let row = Row { mean: row, count, variance: Input::none(), variances: 0 };
    predictor.read(row, outputs, output_count, |stream, row, _| stream.step(row))
}

/// Like `quaver_predictor_step`, for values that are themselves uncertain: one variance per channel, in squared raw
/// units.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_predictor_step_uncertain(
    predictor: Handle<QuaverPredictor>,
    mean: Input<f32>,
    variance: Input<f32>,
    count: usize,
    outputs: Output<QuaverOutput>,
    output_count: usize,
) -> i32 {
    let row = Row { mean, count, variance, variances: count };
    predictor.read(row, outputs, output_count, |stream, mean, variance| stream.step_uncertain(mean, variance))
}

/// Reads one token of a model of text, by its index among the inputs, and predicts. An index beyond the last is a
/// missing token.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_predictor_step_token(
    predictor: Handle<QuaverPredictor>,
    token: usize,
    outputs: Output<QuaverOutput>,
    output_count: usize,
) -> i32 {
    Status::of(predictor.enter(outputs.many(output_count), |stream, outputs| {
        copy_outputs(&stream.step_token(token), outputs)
    }))
}

/// Draws a class by the probabilities of the last prediction of a categorical model, in proportion to
/// p^(1/`temperature`). `next` returns 32 random bits.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_predictor_draw_class(
    predictor: Handle<QuaverPredictor>,
    temperature: f32,
    next: Option<extern "C" fn(state: *mut c_void) -> u32>,
    state: *mut c_void,
    class_: Output<usize>,
) -> i32 {
    Status::of(predictor.enter(class_.one(), |stream, class| {
        let mut rng = CallerRng::new(next, state)?;
        let drawn = stream.prediction().draw_class_at(temperature, &mut rng);
        class.iter_mut().for_each(|class| *class = drawn);
        Ok(())
    }))
}

/// Tells the stream the truth about its last prediction, one value per output, NaN where it is not known: the
/// width of error bars follows it, if the model was exported so. For models of other columns.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_predictor_observe(
    predictor: Handle<QuaverPredictor>,
    truth: Input<f32>,
    count: usize,
) -> i32 {
    Status::of(predictor.enter(truth.many(count), |stream, truth| {
        stream.observe(truth);
        Ok(())
    }))
}

/// Whether the width of error bars follows the truth: 1, as at the start, or 0.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_predictor_track(predictor: Handle<QuaverPredictor>, on: i32) -> i32 {
    Status::of(predictor.enter((), |stream, ()| {
        stream.track(on != 0);
        Ok(())
    }))
}

/// Both ends of the central interval of a level, such as 0.9, around output `index` of the last prediction.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_predictor_interval(
    predictor: Handle<QuaverPredictor>,
    index: usize,
    level: f32,
    low: Output<f32>,
    high: Output<f32>,
) -> i32 {
    Status::of(predictor.enter((low.one(), high.one()), |stream, (low, high)| {
        let ends = stream.interval(index, level).ok_or(Status::RANGE)?;
        low.iter_mut().chain(high).zip(ends).for_each(|(target, end)| *target = end);
        Ok(())
    }))
}

/// Copies the last prediction; before the first row, the prediction of it.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_predictor_prediction(
    predictor: Handle<QuaverPredictor>,
    outputs: Output<QuaverOutput>,
    output_count: usize,
) -> i32 {
    predictor.prediction(outputs, output_count)
}

/// Scores of the row just read: surprise, novelty, anomaly, implausible values.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_predictor_score(
    predictor: Handle<QuaverPredictor>,
    score: Output<QuaverScore>,
) -> i32 {
    predictor.score(score)
}

/// Residuals of the row just read in predicted standard deviations, one per output; NaN where a channel was
/// missing, and for models that do not predict their own inputs.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_predictor_residuals(
    predictor: Handle<QuaverPredictor>,
    residuals: Output<f32>,
    count: usize,
) -> i32 {
    predictor.residuals(residuals, count)
}

/// Channels of the row just read whose values were implausible: 1 for each of those, 0 for all others.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_predictor_implausible(
    predictor: Handle<QuaverPredictor>,
    channels: Output<u8>,
    count: usize,
) -> i32 {
    predictor.implausible(channels, count)
}

/// Forgets everything seen; the prediction is then the one before the first row.
/// Widths that followed the truth are forgotten as well.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_predictor_reset(predictor: Handle<QuaverPredictor>) -> i32 {
    predictor.reset()
}

/// Copies the state of the stream into `words`, of which there must be exactly `saved_words` of `quaver_model_info`.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_predictor_save(
    predictor: Handle<QuaverPredictor>,
    words: Output<f32>,
    count: usize,
) -> i32 {
    predictor.save(words, count)
}

/// Continues from a saved state, of this stream or of another one of the same model. Words that cannot be a
/// state are refused, and the stream stays as it is.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_predictor_restore(
    predictor: Handle<QuaverPredictor>,
    words: Input<f32>,
    count: usize,
) -> i32 {
    predictor.restore(words, count)
}

/// Checks that the memory of the stream is one that steps can have left: for a task that watches over others.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_predictor_check(predictor: Handle<QuaverPredictor>) -> i32 {
    predictor.check()
}
