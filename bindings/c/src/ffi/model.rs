//! Checkpoints before they are loaded: sizes and names.

use core::ffi::{c_char, c_void};

use quaver::checkpoint::{Checkpoint, Family, Kind as CheckpointKind};
use quaver::{LatentModel, Model};

use crate::boundary::{Input, Output, call};
use crate::codes::*;
use crate::results::QuaverInfo;
use crate::sizes::*;
use crate::status::Status;

/// Words of four bytes that an arena for a stream of this checkpoint needs, the handle included; 0 if it does
/// not load: `quaver_model_info` returns why. For an adaptive predictor, see `quaver_adaptive_arena_words`.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_arena_words(model: Input<c_void>, bytes: usize) -> usize {
    call(model.bytes(bytes), info).map_or(0, |info| info.arena_words as usize)
}

/// Checks a checkpoint, as loading does, and describes it. A second look at a model in flash.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_model_info(model: Input<c_void>, bytes: usize, result: Output<QuaverInfo>) -> i32 {
    Status::of(call((model.bytes(bytes), result.one()), |(bytes, result)| {
        let info = info(bytes)?;
        result.iter_mut().for_each(|result| *result = info);
        Ok(())
    }))
}

/// Copies the name of input `index`, with a NUL at its end. `QUAVER_ERROR_SHORT` if it has more than `size` - 1
/// bytes of UTF-8, `QUAVER_ERROR_RANGE` if there is no such input or inputs have no names.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_model_input_name(
    model: Input<c_void>,
    bytes: usize,
    index: usize,
    name: Output<c_char>,
    size: usize,
) -> i32 {
    Status::of(call((model.bytes(bytes), name.text(size)), |(bytes, name)| {
        with_checkpoint(bytes, |checkpoint| copy_name(checkpoint.input_names().nth(index), name))
    }))
}

/// Copies the name of output `index`, as `quaver_model_input_name` does for inputs.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_model_output_name(
    model: Input<c_void>,
    bytes: usize,
    index: usize,
    name: Output<c_char>,
    size: usize,
) -> i32 {
    Status::of(call((model.bytes(bytes), name.text(size)), |(bytes, name)| {
        let latent = CheckpointKind::of(bytes) == Some(CheckpointKind::Latent);
        with_checkpoint(bytes, |checkpoint| match latent {
            // The rows of a latent model have the same channels on both sides.
            true => copy_name(checkpoint.input_names().nth(index), name),
            false => copy_name(checkpoint.output_names().nth(index), name),
        })
    }))
}

/// The network that reads rows.
fn with_checkpoint<R>(
    bytes: &[u8],
    run: impl FnOnce(&Checkpoint<'_>) -> Result<R, Status>,
) -> Result<R, Status> {
    if CheckpointKind::of(bytes) == Some(CheckpointKind::Latent) {
        return run(LatentModel::load(bytes)?.recognition().checkpoint());
    }
    run(Model::load(bytes)?.checkpoint())
}

fn copy_name(name: Option<&str>, target: &mut [u8]) -> Result<(), Status> {
    let name = name.ok_or(Status::RANGE)?;
    if name.len() >= target.len() {
        return Err(Status::SHORT);
    }
    target.iter_mut().zip(name.bytes().chain([0])).for_each(|(target, byte)| *target = byte);
    Ok(())
}

/// What a checkpoint of any kind holds.
fn info(bytes: &[u8]) -> Result<QuaverInfo, Status> {
    if CheckpointKind::of(bytes) == Some(CheckpointKind::Latent) {
        return Ok(latent_info(&LatentModel::load(bytes)?));
    }
    let model = Model::load(bytes)?;
    let spec = model.spec();
    Ok(QuaverInfo {
        kind: QUAVER_KIND_PREDICTOR,
        inputs: spec.inputs.into(),
        outputs: spec.outputs.into(),
        latents: 0,
        arena_words: (QUAVER_PREDICTOR_WORDS + spec.arena_words()) as u32,
        saved_words: spec.saved_words() as u32,
        future_words: 0,
        predicts_next: spec.target.is_next().into(),
        is_accelerated: model.is_accelerated().into(),
        crc: model.checkpoint().crc(),
        step_cost: spec.step_cost(),
    })
}

fn latent_info(model: &LatentModel<'_>) -> QuaverInfo {
    let (kind, words, future_words) = match model.spec().family {
        Family::Vosp => (QUAVER_KIND_DENOISER, QUAVER_DENOISER_WORDS, 0),
        Family::Storn => (QUAVER_KIND_SAMPLER, QUAVER_SAMPLER_WORDS, model.future_words()),
    };
    QuaverInfo {
        kind,
        inputs: model.channels() as u32,
        outputs: model.channels() as u32,
        latents: model.spec().latents.into(),
        arena_words: (words + model.arena_words()) as u32,
        saved_words: model.saved_words() as u32,
        future_words: future_words as u32,
        predicts_next: (kind == QUAVER_KIND_SAMPLER).into(),
        is_accelerated: model.is_accelerated().into(),
        crc: model.crc(),
        step_cost: model.step_cost(),
    }
}
