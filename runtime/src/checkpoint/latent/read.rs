//! Reading the checkpoint of a latent model where it lies.

use serde::{Deserialize, Serialize};

use super::super::frame::{Frame, Kind, take};
use super::super::layout::aligned;
use super::super::{Checkpoint, Error, Part, validate::zeros};
use super::{LatentSpec, validate};

/// The part of a latent model's checkpoint that postcard encodes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) spec: LatentSpec,
    pub(super) recognition_bytes: u32,
    pub(super) generating_bytes: u32,
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
    generating: Checkpoint<'m>,
    crc: u32,
}

impl<'m> LatentCheckpoint<'m> {
    /// Checks both networks, and that they belong together.
    ///
    /// # Errors
    /// Names the network and the field at fault; see [`Error`].
    pub fn read(bytes: &'m [u8]) -> Result<Self, Error> {
        let frame = Frame::read(bytes, Kind::Latent)?;
        let header: Header = frame.decode()?;
        let (recognition, rest) = network(frame.payload, header.recognition_bytes, Part::Recognition)?;
        let (generating, rest) = network(rest, header.generating_bytes, Part::Generating)?;
        if !rest.is_empty() {
            let found = frame.payload.len() as u64;
            return Err(Error::Length { field: "payload", expected: found - rest.len() as u64, found });
        }
        validate::networks(&header.spec, &recognition, &generating)?;
        Ok(LatentCheckpoint { spec: header.spec, recognition, generating, crc: frame.crc })
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
    pub fn generating(&self) -> &Checkpoint<'m> {
        &self.generating
    }

    /// The checksum stored at the end of the file: a name for exactly this model.
    pub fn crc(&self) -> u32 {
        self.crc
    }
}

/// The complete checkpoint of a network in the first `bytes` of the payload, and what follows its padding.
fn network(payload: &[u8], bytes: u32, part: Part) -> Result<(Checkpoint<'_>, &[u8]), Error> {
    let (network, rest) = take(payload, bytes.into(), "payload")?;
    let (padding, rest) = take(rest, aligned(bytes.into()) - u64::from(bytes), "payload")?;
    zeros(padding, part, "padding")?;
    Ok((Checkpoint::read(network).map_err(|error| validate::inside(part, error))?, rest))
}
