//! Memory of a stream as a constant of the checkpoint's bytes.

use super::adaptive::{Covariance, readout_words};
use super::latent::latent_words;
use super::reducer::reducer_words;
use crate::backend::NetworkMemory;
use crate::format::{Decoder, Kind, aligned, unchecked_sections};

/// Words of RAM that one stream of a checkpoint needs, at compile time: the `WORDS` of its
/// [`Arena`](crate::Arena).
///
/// Equal to [`ModelSpec::arena_words`](crate::checkpoint::ModelSpec::arena_words) of one network, to
/// [`LatentModel::arena_words`](crate::LatentModel::arena_words) of a latent model, and to
/// [`ReducerModel::arena_words`](crate::ReducerModel::arena_words) of a reducer.
///
/// ```
/// use quaver::{Arena, Predictor};
///
/// static MODEL: &[u8] = quaver::include_checkpoint!("../../examples/grip_force.qvr");
///
/// let mut arena = Arena::<{ quaver::arena_words(MODEL) }>::new();
/// let predictor = Predictor::load(MODEL, &mut arena)?;
/// # assert_eq!(quaver::arena_words(MODEL), predictor.model().spec().arena_words());
/// # Ok::<(), quaver::Error>(())
/// ```
///
/// # Panics
/// If the bytes are not a checkpoint, or need a backend that is not built in. In a constant, as above, that
/// is an error of compilation. Only the header is decoded; loading checks everything else.
pub const fn arena_words(checkpoint: &[u8]) -> usize {
    let words = match Kind::of(checkpoint) {
        Some(Kind::Predictor) => match NetworkMemory::of_checkpoint(checkpoint) {
            Some(memory) => Some(memory.arena_words()),
            None => None,
        },
        Some(Kind::Latent) => latent_arena_words(checkpoint),
        Some(Kind::Reducer) => reducer_arena_words(checkpoint),
        None => None,
    };
    match words {
        Some(words) => words,
        None => panic!(
            "quaver::arena_words: not a checkpoint of this version, or one whose backend (cargo feature `float` or `quantized`) is not built in"
        ),
    }
}

/// Words of RAM that an [`AdaptivePredictor`](crate::AdaptivePredictor) of a checkpoint needs, at compile
/// time: those of its stream, and those of what it learns.
///
/// # Panics
/// As [`arena_words`]; also for a latent model, which does not adapt.
pub const fn adaptive_arena_words(checkpoint: &[u8], covariance: Covariance) -> usize {
    match (Kind::of(checkpoint), NetworkMemory::of_checkpoint(checkpoint)) {
        (Some(Kind::Predictor), Some(memory)) => {
            memory.arena_words() + readout_words(memory.outputs, memory.units, covariance)
        }
        _ => panic!(
            "quaver::adaptive_arena_words: not a checkpoint of one network in this version, or one whose backend (cargo feature `float` or `quantized`) is not built in"
        ),
    }
}

const fn latent_arena_words(checkpoint: &[u8]) -> Option<usize> {
    let Some((header, payload)) = unchecked_sections(checkpoint) else { return None };
    let mut decoder = Decoder::new(header);
    let header = decoder.latent_header();
    let Some((recognition, generative)) =
        payload.split_at_checked(aligned(header.recognition_bytes as usize))
    else {
        return None;
    };
    match (NetworkMemory::of_checkpoint(recognition), NetworkMemory::of_checkpoint(generative)) {
        (Some(recognition), Some(generative)) if decoder.is_sound() => {
            Some(latent_words(&header.spec, recognition, generative))
        }
        _ => None,
    }
}

const fn reducer_arena_words(checkpoint: &[u8]) -> Option<usize> {
    let Some((header, payload)) = unchecked_sections(checkpoint) else { return None };
    let mut decoder = Decoder::new(header);
    let header = decoder.reducer_header();
    match NetworkMemory::of_checkpoint(payload) {
        Some(network) if decoder.is_sound() => Some(reducer_words(&header.spec, network)),
        _ => None,
    }
}
