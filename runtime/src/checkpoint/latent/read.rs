//! Reading the checkpoint of a latent model where it lies.

#[cfg(feature = "std")]
use serde::Serialize;

use super::super::frame::{Frame, Kind};
use super::super::layout::aligned;
use super::super::read::Cursor;
use super::super::{Checkpoint, Error, Part, decode, validate::zeros};
use super::{LatentSpec, validate};

/// The part of a latent model's checkpoint that postcard encodes.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "std", derive(Serialize))]
pub(crate) struct Header {
    pub(crate) spec: LatentSpec,
    pub(crate) recognition_bytes: u32,
    pub(crate) generating_bytes: u32,
}

/// A checked checkpoint of a latent model, borrowing its weights from the bytes it was read from.
///
/// ```
/// use quaver::checkpoint::{Kind, LatentCheckpoint};
/// use quaver::Error;
///
/// let predictor = quaver::include_checkpoint!("../../../examples/grip_force.qvr");
/// let error = LatentCheckpoint::read(predictor).unwrap_err();
/// assert_eq!(error, Error::Kind { found: Kind::Predictor });
/// ```
#[derive(Clone, Debug)]
pub struct LatentCheckpoint<'m> {
    spec: LatentSpec,
    recognition: Checkpoint<'m>,
    generative: Checkpoint<'m>,
    crc: u32,
}

impl<'m> LatentCheckpoint<'m> {
    /// Checks both networks, and that they belong together.
    ///
    /// # Errors
    /// Names the network and the field at fault; see [`Error`].
    pub fn read(bytes: &'m [u8]) -> Result<Self, Error> {
        let Frame { header, payload, crc } = Frame::read(bytes, Kind::Latent)?;
        let header = decode::all(header, decode::latent_header)?;
        let (recognition_bytes, generating_bytes) =
            (header.recognition_bytes as usize, header.generating_bytes as usize);
        let (expected, found) =
            (aligned(recognition_bytes).saturating_add(aligned(generating_bytes)), payload.len());
        if expected != found {
            return Err(Error::Length { field: "payload", expected, found });
        }
        let mut cursor = Cursor::new(payload);
        let recognition = network(&mut cursor, recognition_bytes, Part::Recognition)?;
        let generative = network(&mut cursor, generating_bytes, Part::Generative)?;
        validate::networks(&header.spec, &recognition, &generative)?;
        Ok(LatentCheckpoint { spec: header.spec, recognition, generative, crc })
    }

    /// What the networks are to each other.
    pub fn spec(&self) -> &LatentSpec {
        &self.spec
    }

    /// The network that reads x_t and says q(z_t | x_{1:t}).
    pub fn recognition(&self) -> &Checkpoint<'m> {
        &self.recognition
    }

    /// The network that says p(x_t | …, z_t).
    pub fn generative(&self) -> &Checkpoint<'m> {
        &self.generative
    }

    /// The checksum stored at the end of the file: a name for exactly this model.
    pub fn crc(&self) -> u32 {
        self.crc
    }
}

/// The complete checkpoint of a network in the next `bytes` of the payload.
fn network<'m>(cursor: &mut Cursor<'m>, bytes: usize, part: Part) -> Result<Checkpoint<'m>, Error> {
    let (network, padding) = cursor.padded(bytes);
    zeros(padding, part, "padding")?;
    Checkpoint::read(network).map_err(|error| validate::inside(part, error))
}
