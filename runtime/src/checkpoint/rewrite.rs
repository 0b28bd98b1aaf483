//! Upgrading checkpoints (feature `write`).

use std::vec::Vec;

use super::write_latent::encode_latent;
use super::write_reducer::rewrite_reducer;
use super::{Checkpoint, FittedPrior, Kind, LatentCheckpoint, WriteError};

/// Writes the model of a checkpoint of any version down again, in the newest version for its contents.
/// Weights are copied byte for byte, not rounded again.
///
/// Versions 2 to 5 have the same bytes for the same contents, so that today a valid checkpoint comes out as
/// it went in. A version that stores something in another way is converted here.
///
/// ```
/// let bytes = quaver::include_checkpoint!("../../examples/grip_force.qvr");
/// assert_eq!(quaver::checkpoint::rewrite(bytes).unwrap(), bytes);
/// ```
///
/// # Errors
/// If the bytes are not a valid checkpoint.
pub fn rewrite(bytes: &[u8]) -> Result<Vec<u8>, WriteError> {
    match Kind::of(bytes) {
        Some(Kind::Latent) => rewrite_latent(bytes),
        Some(Kind::Reducer) => rewrite_reducer(bytes),
        Some(Kind::Predictor) | None => {
            let written = Checkpoint::read(bytes)?.encode()?;
            Checkpoint::read(&written)?;
            Ok(written)
        }
    }
}

fn rewrite_latent(bytes: &[u8]) -> Result<Vec<u8>, WriteError> {
    let model = LatentCheckpoint::read(bytes)?;
    let fitted = FittedPrior {
        latents: model.autoregressive_prior().collect(),
        row_noise: model.row_noise_numbers().iter().collect(),
    };
    encode_latent(model.spec(), &model.recognition().encode()?, &model.generative().encode()?, &fitted)
}
