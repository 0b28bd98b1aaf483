//! Writing the checkpoint of a latent model (feature `write`).

use std::boxed::Box;
use std::vec::Vec;

use super::write::{Contents, write};
use super::{LatentCheckpoint, WriteError};
use crate::format::{Kind, LatentHeader, PLAIN_VERSION, Part, encode_latent_header, extend_padded, framed};
use crate::spec::LatentSpec;

/// Encodes a latent model and reads it back: the bytes are known to load.
///
/// # Errors
/// Names the network and the list of the wrong length or the value that a checkpoint cannot hold, or how the
/// networks do not fit together.
pub fn write_latent(
    spec: &LatentSpec,
    recognition: &Contents,
    generative: &Contents,
) -> Result<Vec<u8>, WriteError> {
    let recognition = network(recognition, Part::Recognition)?;
    let generative = network(generative, Part::Generative)?;
    let length = |bytes: &[u8], field| {
        u32::try_from(bytes.len()).map_err(|_| WriteError::TooLong { field, bytes: bytes.len() })
    };
    let header = encode_latent_header(&LatentHeader {
        spec: *spec,
        recognition_bytes: length(&recognition, "recognition network")?,
        generative_bytes: length(&generative, "generative network")?,
    });
    let mut payload = Vec::new();
    extend_padded(&mut payload, &recognition);
    extend_padded(&mut payload, &generative);
    let bytes = framed(Kind::Latent, PLAIN_VERSION, &header, &payload)?;
    LatentCheckpoint::read(&bytes)?;
    Ok(bytes)
}

fn network(contents: &Contents, network: Part) -> Result<Vec<u8>, WriteError> {
    write(contents).map_err(|error| WriteError::Network { network, error: Box::new(error) })
}
