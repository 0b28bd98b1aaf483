//! Writing the checkpoint of a latent model (feature `std`).

use std::format;
use std::string::String;
use std::vec::Vec;

use super::super::frame::Kind;
use super::super::write::{Contents, extend_padded, framed, write};
use super::read::Header;
use super::{LatentCheckpoint, LatentSpec};

/// Encodes a latent model and reads it back, so that what is returned is known to load.
///
/// # Errors
/// Says which network has which list of the wrong length or which value that a checkpoint may not hold, or in what
/// the networks do not fit together.
pub fn write_latent(
    spec: &LatentSpec,
    recognition: &Contents,
    generative: &Contents,
) -> Result<Vec<u8>, String> {
    let network =
        |contents: &Contents, name: &str| write(contents).map_err(|error| format!("{name} network: {error}"));
    let recognition = network(recognition, "recognition")?;
    let generative = network(generative, "generative")?;
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).map_err(|_| String::from("more than 4 GB"));
    let header = Header {
        spec: *spec,
        recognition_bytes: length(&recognition)?,
        generating_bytes: length(&generative)?,
    };
    let header = postcard::to_stdvec(&header).map_err(|error| format!("header: {error}"))?;
    let mut payload = Vec::new();
    extend_padded(&mut payload, &recognition);
    extend_padded(&mut payload, &generative);
    let bytes = framed(Kind::Latent, &header, &payload)?;
    LatentCheckpoint::read(&bytes).map_err(|error| format!("{error}"))?;
    Ok(bytes)
}
