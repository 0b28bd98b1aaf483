//! Writing the checkpoint of a latent model (feature `write`).

use std::boxed::Box;
use std::vec::Vec;

use super::write::{Contents, write};
use super::{Checkpoint, LatentCheckpoint, WriteError};
use crate::format::{
    EXTENDED_VERSION, Kind, LatentHeader, PLAIN_VERSION, Part, RANGES_VERSION, encode_latent_header,
    extend_padded, framed, le_bytes,
};
use crate::spec::{AutoregressivePrior, LatentSpec};

/// What was fitted after training for predictions of rows before they are observed; both lists are empty in a
/// model without.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FittedPrior {
    /// Prior of each latent, in place of [`LatentSpec::prior`].
    pub latents: Vec<AutoregressivePrior>,
    /// Variance of the noise of each channel, in squared raw units, that observed rows have and predicted
    /// rows have not: that of a model trained with clean targets.
    pub row_noise: Vec<f32>,
}

/// Encodes a latent model and reads it back: the bytes are known to load.
///
/// # Errors
/// Names the network and the list of the wrong length or the value that a checkpoint cannot hold, or how the
/// networks do not fit together.
pub fn write_latent(
    spec: &LatentSpec,
    recognition: &Contents,
    generative: &Contents,
    fitted: &FittedPrior,
) -> Result<Vec<u8>, WriteError> {
    let recognition = network(recognition, Part::Recognition)?;
    let generative = network(generative, Part::Generative)?;
    encode_latent(spec, &recognition, &generative, fitted)
}

/// The file around the checkpoints of two networks, read back.
pub(super) fn encode_latent(
    spec: &LatentSpec,
    recognition: &[u8],
    generative: &[u8],
    fitted: &FittedPrior,
) -> Result<Vec<u8>, WriteError> {
    let length = |bytes: &[u8], field| {
        u32::try_from(bytes.len()).map_err(|_| WriteError::TooLong { field, bytes: bytes.len() })
    };
    let header = encode_latent_header(&LatentHeader {
        spec: *spec,
        recognition_bytes: length(recognition, "recognition network")?,
        generative_bytes: length(generative, "generative network")?,
    });
    let mut payload = Vec::new();
    extend_padded(&mut payload, recognition);
    extend_padded(&mut payload, generative);
    let FittedPrior { latents, row_noise } = fitted;
    let has_fitted = !latents.is_empty() || !row_noise.is_empty();
    if has_fitted {
        let numbers: Vec<f32> =
            latents.iter().flat_map(|prior| [prior.mean, prior.var, prior.decay]).collect();
        extend_padded(&mut payload, &le_bytes(&numbers));
        extend_padded(&mut payload, &le_bytes(row_noise));
    }
    let ranges = Checkpoint::read(recognition)?.spec().extensions.ranges;
    let version = match (ranges, has_fitted) {
        (true, _) => RANGES_VERSION,
        (false, true) => EXTENDED_VERSION,
        (false, false) => PLAIN_VERSION,
    };
    let bytes = framed(Kind::Latent, version, &header, &payload)?;
    LatentCheckpoint::read(&bytes)?;
    Ok(bytes)
}

fn network(contents: &Contents, network: Part) -> Result<Vec<u8>, WriteError> {
    write(contents).map_err(|error| WriteError::Network { network, error: Box::new(error) })
}
