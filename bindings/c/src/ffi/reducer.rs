//! Reducers.

use core::ffi::c_void;

use quaver::{Reducer, ReducerModel};

use crate::boundary::{Handle, Input, Output, call};
use crate::results::QuaverClassification;
use crate::sizes::QUAVER_REDUCER_WORDS;
use crate::status::Status;
use crate::streams::QuaverReducer;

/// Checks a checkpoint and starts a stream in `arena`, of `quaver_arena_words` words. Otherwise as
/// `quaver_predictor_load`.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_reducer_load(
    model: Input<c_void>,
    bytes: usize,
    arena: Output<c_void>,
    arena_words: usize,
    reducer: Output<Handle<QuaverReducer>>,
) -> i32 {
    let load = |bytes, words| Ok(Reducer::load_in(bytes, words)?);
    Status::of(arena.arena(arena_words).load(model.bytes(bytes), reducer, load))
}

/// Words of an arena, the handle included, for a reducer that can be taught `prototypes` examples, also of
/// `new_classes` classes that the checkpoint has not; 0 if the model does not load.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_reducer_teachable_words(
    model: Input<c_void>,
    bytes: usize,
    new_classes: u16,
    prototypes: usize,
) -> usize {
    let words = call(model.bytes(bytes), |bytes| {
        let model = ReducerModel::load(bytes)?;
        let slots = prototypes.checked_mul(model.dimensions() + 1).ok_or(Status::RANGE)?;
        let stream = QUAVER_REDUCER_WORDS + model.arena_words() + model.classes() + usize::from(new_classes);
        stream.checked_add(slots).ok_or(Status::RANGE)
    });
    words.unwrap_or(0)
}

/// Like `quaver_reducer_load`, for a reducer that can be taught: in an arena of
/// `quaver_reducer_teachable_words`. The checkpoint must tell classes apart by prototypes.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_reducer_load_teachable(
    model: Input<c_void>,
    bytes: usize,
    new_classes: u16,
    arena: Output<c_void>,
    arena_words: usize,
    reducer: Output<Handle<QuaverReducer>>,
) -> i32 {
    let load = |bytes: &'static [u8], words: &'static mut [f32]| {
        let needed = ReducerModel::load(bytes)?.arena_words();
        let (stream, taught) = words.split_at_mut_checked(needed).ok_or(Status::ARENA)?;
        Ok(Reducer::load_in(bytes, stream)?.teach_in(taught, new_classes)?)
    };
    Status::of(arena.arena(arena_words).load(model.bytes(bytes), reducer, load))
}

/// Begins a sequence: forgets all rows, and keeps what was taught.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_reducer_begin(reducer: Handle<QuaverReducer>) -> i32 {
    Status::of(reducer.enter((), |stream, ()| {
        stream.begin();
        Ok(())
    }))
}

/// Reads one row in raw units and adds it to the pool. A NaN is a missing channel, and so is every channel
/// beyond the end of a short row.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_reducer_step(reducer: Handle<QuaverReducer>, row: Input<f32>, count: usize) -> i32 {
    Status::of(reducer.enter(row.many(count), |stream, row| {
        stream.step(row);
        Ok(())
    }))
}

/// Like `quaver_reducer_step`, with one variance per channel, in squared raw units.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_reducer_step_uncertain(
    reducer: Handle<QuaverReducer>,
    mean: Input<f32>,
    variance: Input<f32>,
    count: usize,
) -> i32 {
    Status::of(reducer.enter((mean.many(count), variance.many(count)), |stream, (mean, variance)| {
        stream.step_uncertain(mean, variance);
        Ok(())
    }))
}

/// The embedding of the rows in the window: mean and variance of each component, `dimensions` of
/// `quaver_model_info`. `QUAVER_ERROR_RANGE` before the first row.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_reducer_embedding(
    reducer: Handle<QuaverReducer>,
    mean: Output<f32>,
    variance: Output<f32>,
    count: usize,
) -> i32 {
    Status::of(reducer.enter((mean.many(count), variance.many(count)), |stream, (mean, variance)| {
        let embedding = stream.embedding().ok_or(Status::RANGE)?;
        if mean.len() < embedding.mean.len() {
            return Err(Status::SHORT);
        }
        mean.iter_mut().zip(embedding.mean).for_each(|(target, mean)| *target = *mean);
        variance.iter_mut().zip(embedding.var).for_each(|(target, var)| *target = *var);
        Ok(())
    }))
}

/// The class of the rows in the window, and the probabilities of all classes, which may be null with a count
/// of 0. `QUAVER_ERROR_RANGE` before the first row, without a classifier and without any prototype.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_reducer_classify(
    reducer: Handle<QuaverReducer>,
    classification: Output<QuaverClassification>,
    probabilities: Output<f32>,
    count: usize,
) -> i32 {
    let arguments = (classification.one(), probabilities.many(count));
    Status::of(reducer.enter(arguments, |stream, (classification, probabilities)| {
        let found = stream.classify().ok_or(Status::RANGE)?;
        if !probabilities.is_empty() && probabilities.len() < found.probabilities.len() {
            return Err(Status::SHORT);
        }
        probabilities.iter_mut().zip(found.probabilities).for_each(|(target, p)| *target = *p);
        let result = QuaverClassification {
            class_: found.class as u32,
            known: found.known.into(),
            probability: found.probability(),
            distance: found.distance.unwrap_or(f32::NAN),
            novelty: found.novelty,
            classes: found.probabilities.len() as u32,
        };
        classification.iter_mut().for_each(|target| *target = result);
        Ok(())
    }))
}

/// Teaches that the rows just read are an example of a class; nothing is trained. `QUAVER_ERROR_RANGE` if
/// nothing was taught: no row has been read, there is no such class, or no memory is left.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_reducer_teach(reducer: Handle<QuaverReducer>, class_: usize) -> i32 {
    Status::of(reducer.enter((), |stream, ()| if stream.teach(class_) { Ok(()) } else { Err(Status::RANGE) }))
}

/// Words of what was taught; 0 if the handle is none.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_reducer_taught_words(reducer: Handle<QuaverReducer>) -> usize {
    reducer.enter((), |stream, ()| Ok(stream.taught().len())).unwrap_or(0)
}

/// Copies what was taught, to be stored and restored later.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_reducer_save_taught(
    reducer: Handle<QuaverReducer>,
    words: Output<f32>,
    count: usize,
) -> i32 {
    Status::of(reducer.enter(words.many(count), |stream, words| {
        let taught = stream.taught();
        if words.len() != taught.len() {
            return Err(Status::STATE);
        }
        words.iter_mut().zip(taught).for_each(|(target, word)| *target = *word);
        Ok(())
    }))
}

/// Takes over what was taught before, with this checkpoint, and forgets what was taught since; words that
/// cannot be that, or have no room, are refused.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_reducer_restore_taught(
    reducer: Handle<QuaverReducer>,
    words: Input<f32>,
    count: usize,
) -> i32 {
    Status::of(reducer.enter(words.many(count), |stream, words| {
        if stream.restore_taught(words) { Ok(()) } else { Err(Status::STATE_VALUE) }
    }))
}

/// Forgets what was taught.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_reducer_forget_taught(reducer: Handle<QuaverReducer>) -> i32 {
    Status::of(reducer.enter((), |stream, ()| {
        stream.forget_taught();
        Ok(())
    }))
}

/// Copies the state of the stream into `words`, of which there must be exactly `saved_words` of
/// `quaver_model_info`; what was taught is saved on its own.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_reducer_save(
    reducer: Handle<QuaverReducer>,
    words: Output<f32>,
    count: usize,
) -> i32 {
    Status::of(reducer.enter(words.many(count), |stream, words| Ok(stream.save(words)?)))
}

/// Continues from a saved state. Words that cannot be a state are refused, and the stream stays as it is.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_reducer_restore(
    reducer: Handle<QuaverReducer>,
    words: Input<f32>,
    count: usize,
) -> i32 {
    Status::of(reducer.enter(words.many(count), |stream, words| Ok(stream.restore(words)?)))
}

/// Checks that the memory of the stream is one that steps can have left.
#[unsafe(no_mangle)]
pub extern "C" fn quaver_reducer_check(reducer: Handle<QuaverReducer>) -> i32 {
    Status::of(reducer.enter((), |stream, ()| Ok(stream.check_state()?)))
}
