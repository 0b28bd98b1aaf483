//! Denoisers.

use core::ffi::c_void;

use quaver::Denoiser;

use crate::boundary::{Handle, Input, Output};
use crate::results::{QuaverOutput, QuaverScore, copy_outputs};
use crate::status::Status;
use crate::streams::{QuaverDenoiser, Row};

/// Checks a checkpoint and starts a stream in `arena`: `quaver_arena_words` words, aligned to 8 bytes. Both
/// must stay where they are for as long as the handle is used; there is nothing to free. On an error the handle
/// is null.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_denoiser_load(
    model: Input<c_void>,
    bytes: usize,
    arena: Output<c_void>,
    arena_words: usize,
    denoiser: Output<Handle<QuaverDenoiser>>,
) -> i32 {
    let load = |bytes, words| Ok(Denoiser::load_in(bytes, words)?);
    Status::of(arena.arena(arena_words).load(model.bytes(bytes), denoiser, load))
}

/// Reads one noisy row in raw units and estimates it without the noise.
///
/// A NaN is a missing channel, and so is every channel beyond the end of a short row. `outputs` may be null with
/// a count of 0; `quaver_denoiser_prediction` copies them later.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_denoiser_step(
    denoiser: Handle<QuaverDenoiser>,
    row: Input<f32>,
    count: usize,
    outputs: Output<QuaverOutput>,
    output_count: usize,
) -> i32 {
    let row = Row { mean: row, count, variance: Input::none(), variances: 0 };
    denoiser.read(row, outputs, output_count, |stream, row, _| stream.step(row))
}

/// Like `quaver_denoiser_step`, for values that are themselves uncertain: one variance per channel, in squared raw
/// units.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_denoiser_step_uncertain(
    denoiser: Handle<QuaverDenoiser>,
    mean: Input<f32>,
    variance: Input<f32>,
    count: usize,
    outputs: Output<QuaverOutput>,
    output_count: usize,
) -> i32 {
    let row = Row { mean, count, variance, variances: count };
    denoiser.read(row, outputs, output_count, |stream, mean, variance| stream.step_uncertain(mean, variance))
}

/// Predicts the next row, noise included, without advancing the stream. It is the last prediction from then on.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_denoiser_expected(
    denoiser: Handle<QuaverDenoiser>,
    outputs: Output<QuaverOutput>,
    output_count: usize,
) -> i32 {
    Status::of(
        denoiser
            .enter(outputs.many(output_count), |stream, outputs| copy_outputs(&stream.expected(), outputs)),
    )
}

/// Copies the last prediction, or the last expected row.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_denoiser_prediction(
    denoiser: Handle<QuaverDenoiser>,
    outputs: Output<QuaverOutput>,
    output_count: usize,
) -> i32 {
    denoiser.prediction(outputs, output_count)
}

/// Scores of the row just read: surprise, novelty, anomaly, implausible values.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_denoiser_score(denoiser: Handle<QuaverDenoiser>, score: Output<QuaverScore>) -> i32 {
    denoiser.score(score)
}

/// Residuals of the row just read in predicted standard deviations, one per output; NaN where a channel was
/// missing, and for models that do not predict their own inputs.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_denoiser_residuals(
    denoiser: Handle<QuaverDenoiser>,
    residuals: Output<f32>,
    count: usize,
) -> i32 {
    denoiser.residuals(residuals, count)
}

/// Channels of the row just read whose values were implausible: 1 for each of those, 0 for all others.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_denoiser_implausible(
    denoiser: Handle<QuaverDenoiser>,
    channels: Output<u8>,
    count: usize,
) -> i32 {
    denoiser.implausible(channels, count)
}

/// Forgets everything seen; the prediction is then the one before the first row.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_denoiser_reset(denoiser: Handle<QuaverDenoiser>) -> i32 {
    denoiser.reset()
}

/// Copies the state of the stream into `words`, of which there must be exactly `saved_words` of `quaver_model_info`.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_denoiser_save(
    denoiser: Handle<QuaverDenoiser>,
    words: Output<f32>,
    count: usize,
) -> i32 {
    denoiser.save(words, count)
}

/// Continues from a saved state, of this stream or of another one of the same model. Words that cannot be a
/// state are refused, and the stream stays as it is.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_denoiser_restore(
    denoiser: Handle<QuaverDenoiser>,
    words: Input<f32>,
    count: usize,
) -> i32 {
    denoiser.restore(words, count)
}

/// Checks that the memory of the stream is one that steps can have left: for a task that watches over others.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_denoiser_check(denoiser: Handle<QuaverDenoiser>) -> i32 {
    denoiser.check()
}
