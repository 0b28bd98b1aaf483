//! Samplers.

use core::ffi::c_void;

use quaver::Sampler;

use super::random::{CallerRng, feed_mode};
use crate::boundary::{Handle, Input, Output};
use crate::results::{QuaverOutput, QuaverScore};
use crate::status::Status;
use crate::streams::{QuaverSampler, Row};

/// Checks a checkpoint and starts a stream in `arena`: `quaver_arena_words` words, aligned to 8 bytes. Both
/// must stay where they are for as long as the handle is used; there is nothing to free. On an error the handle
/// is null.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_sampler_load(
    model: Input<c_void>,
    bytes: usize,
    arena: Output<c_void>,
    arena_words: usize,
    sampler: Output<Handle<QuaverSampler>>,
) -> i32 {
    let load = |bytes, words| Ok(Sampler::load_in(bytes, words)?);
    Status::of(arena.arena(arena_words).load(model.bytes(bytes), sampler, load))
}

/// Reads one row in raw units and predicts the next one.
///
/// A NaN is a missing channel, and so is every channel beyond the end of a short row. `outputs` may be null with
/// a count of 0; `quaver_sampler_prediction` copies them later.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_sampler_observe(
    sampler: Handle<QuaverSampler>,
    row: Input<f32>,
    count: usize,
    outputs: Output<QuaverOutput>,
    output_count: usize,
) -> i32 {
    let row = Row { mean: row, count, variance: Input::none(), variances: 0 };
    sampler.read(row, outputs, output_count, |stream, row, _| stream.observe(row))
}

/// Like `quaver_sampler_observe`, for values that are themselves uncertain: one variance per channel, in squared raw
/// units.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_sampler_observe_uncertain(
    sampler: Handle<QuaverSampler>,
    mean: Input<f32>,
    variance: Input<f32>,
    count: usize,
    outputs: Output<QuaverOutput>,
    output_count: usize,
) -> i32 {
    let row = Row { mean, count, variance, variances: count };
    sampler
        .read(row, outputs, output_count, |stream, mean, variance| stream.observe_uncertain(mean, variance))
}

/// Samples the next row, in raw units, and feeds it back: the stream is then as if it had observed that row.
/// `next` returns 32 random bits, `feed` is `QUAVER_FEED_DRAW` or `QUAVER_FEED_MEAN`.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_sampler_sample(
    sampler: Handle<QuaverSampler>,
    next: Option<extern "C" fn(state: *mut c_void) -> u32>,
    state: *mut c_void,
    feed: i32,
    row: Output<f32>,
    count: usize,
) -> i32 {
    Status::of(sampler.enter(row.many(count), |stream, row| {
        let (mut rng, feed) = (CallerRng::new(next, state)?, feed_mode(feed)?);
        if row.len() < stream.model().channels() {
            return Err(Status::SHORT);
        }
        let sampled = stream.sample(&mut rng, feed);
        row.iter_mut().zip(sampled).for_each(|(target, value)| *target = *value);
        Ok(())
    }))
}

/// A copy of the stream in an arena of its own, of as many words. It needs the model, but not the first stream.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_sampler_fork(
    sampler: Handle<QuaverSampler>,
    arena: Output<c_void>,
    arena_words: usize,
    fork: Output<Handle<QuaverSampler>>,
) -> i32 {
    let copy = |sampler: &Sampler<'static, 'static>, _, words| Ok(sampler.fork_in(words)?);
    Status::of(arena.arena(arena_words).load_from(sampler, fork, copy))
}

/// Copies the last prediction: that of the next row.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_sampler_prediction(
    sampler: Handle<QuaverSampler>,
    outputs: Output<QuaverOutput>,
    output_count: usize,
) -> i32 {
    sampler.prediction(outputs, output_count)
}

/// Scores of the row just read: surprise, novelty, anomaly, implausible values.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_sampler_score(sampler: Handle<QuaverSampler>, score: Output<QuaverScore>) -> i32 {
    sampler.score(score)
}

/// Residuals of the row just read in predicted standard deviations, one per output; NaN where a channel was
/// missing, and for models that do not predict their own inputs.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_sampler_residuals(
    sampler: Handle<QuaverSampler>,
    residuals: Output<f32>,
    count: usize,
) -> i32 {
    sampler.residuals(residuals, count)
}

/// Channels of the row just read whose values were implausible: 1 for each of those, 0 for all others.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_sampler_implausible(
    sampler: Handle<QuaverSampler>,
    channels: Output<u8>,
    count: usize,
) -> i32 {
    sampler.implausible(channels, count)
}

/// Forgets everything seen; the prediction is then the one before the first row.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_sampler_reset(sampler: Handle<QuaverSampler>) -> i32 {
    sampler.reset()
}

/// Copies the state of the stream into `words`, of which there must be exactly `saved_words` of `quaver_model_info`.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_sampler_save(
    sampler: Handle<QuaverSampler>,
    words: Output<f32>,
    count: usize,
) -> i32 {
    sampler.save(words, count)
}

/// Continues from a saved state, of this stream or of another one of the same model. Words that cannot be a
/// state are refused, and the stream stays as it is.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_sampler_restore(
    sampler: Handle<QuaverSampler>,
    words: Input<f32>,
    count: usize,
) -> i32 {
    sampler.restore(words, count)
}

/// Checks that the memory of the stream is one that steps can have left: for a task that watches over others.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_sampler_check(sampler: Handle<QuaverSampler>) -> i32 {
    sampler.check()
}
