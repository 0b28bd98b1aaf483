//! Reading the checkpoint of a latent model in place.

use super::{Checkpoint, latent_validate};
use crate::format::{
    Cursor, Error, Frame, Kind, LatentHeader, Part, Recheck, aligned, decode_latent_header, zeros,
};
use crate::spec::LatentSpec;

/// A checked checkpoint of a latent model, borrowing its weights from the bytes it was read from.
///
/// ```
/// use quaver::checkpoint::{Kind, LatentCheckpoint};
/// use quaver::Error;
///
/// let predictor = quaver::include_checkpoint!("../../examples/grip_force.qvr");
/// let error = LatentCheckpoint::read(predictor).unwrap_err();
/// assert_eq!(error, Error::Kind { found: Kind::Predictor });
/// ```
#[derive(Clone, Debug)]
pub struct LatentCheckpoint<'m> {
    spec: LatentSpec,
    recognition: Checkpoint<'m>,
    generative: Checkpoint<'m>,
    bytes: &'m [u8],
    crc: u32,
}

impl<'m> LatentCheckpoint<'m> {
    /// Checks both networks, and that they belong together.
    ///
    /// # Errors
    /// Names the network and the field at fault; see [`Error`].
    pub fn read(bytes: &'m [u8]) -> Result<Self, Error> {
        let Frame { header, payload, crc, .. } = Frame::read(bytes, Kind::Latent)?;
        let LatentHeader { spec, recognition_bytes, generative_bytes } = decode_latent_header(header)?;
        let [recognition_bytes, generative_bytes] =
            [recognition_bytes, generative_bytes].map(|bytes| bytes as usize);
        let (expected, found) =
            (aligned(recognition_bytes).saturating_add(aligned(generative_bytes)), payload.len());
        if expected != found {
            return Err(Error::Length { field: "payload", expected, found });
        }
        let mut cursor = Cursor::new(payload);
        let recognition = network(&mut cursor, recognition_bytes, Part::Recognition)?;
        let generative = network(&mut cursor, generative_bytes, Part::Generative)?;
        latent_validate::networks(&spec, &recognition, &generative)?;
        Ok(LatentCheckpoint { spec, recognition, generative, bytes, crc })
    }

    /// The architecture, apart from the two networks.
    pub fn spec(&self) -> &LatentSpec {
        &self.spec
    }

    /// The network that reads x_t and computes q(z_t | x_{1:t}).
    pub fn recognition(&self) -> &Checkpoint<'m> {
        &self.recognition
    }

    /// The network that computes p(x_t | …, z_t).
    pub fn generative(&self) -> &Checkpoint<'m> {
        &self.generative
    }

    /// A second look at the bytes of both networks, in case they have changed since they were read.
    pub fn recheck(&self) -> Recheck<'m> {
        Recheck::new(self.bytes, self.crc)
    }

    /// The checksum stored at the end of the file: identifies exactly this model.
    pub fn crc(&self) -> u32 {
        self.crc
    }
}

/// The complete checkpoint of a network in the next `bytes` of the payload.
fn network<'m>(cursor: &mut Cursor<'m>, bytes: usize, part: Part) -> Result<Checkpoint<'m>, Error> {
    let (network, padding) = cursor.padded(bytes);
    zeros(padding, part, "padding")?;
    Checkpoint::read(network).map_err(|error| latent_validate::inside(part, error))
}
