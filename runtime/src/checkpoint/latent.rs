//! Reading the checkpoint of a latent model in place.

use super::{Checkpoint, latent_validate};
use crate::format::{
    Cursor, EXTENDED_VERSION, Error, F32s, Frame, Kind, LatentHeader, PLAIN_VERSION, Part, RANGES_VERSION,
    Recheck, aligned, decode_latent_header, zeros,
};
use crate::spec::{AutoregressivePrior, LatentSpec};

/// Bytes of one [`AutoregressivePrior`]: three numbers.
pub(super) const PRIOR_BYTES: usize = 12;

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
    prior: F32s<'m>,
    row_noise: F32s<'m>,
    bytes: &'m [u8],
    crc: u32,
}

impl<'m> LatentCheckpoint<'m> {
    /// Checks both networks, and that they belong together.
    ///
    /// # Errors
    /// Names the network and the field at fault; see [`Error`].
    pub fn read(bytes: &'m [u8]) -> Result<Self, Error> {
        let Frame { header, payload, version, crc } = Frame::read(bytes, Kind::Latent)?;
        let LatentHeader { spec, recognition_bytes, generative_bytes } = decode_latent_header(header)?;
        let [recognition_bytes, generative_bytes] =
            [recognition_bytes, generative_bytes].map(|bytes| bytes as usize);
        let found = payload.len();
        let networks = aligned(recognition_bytes).saturating_add(aligned(generative_bytes));
        let length = |expected| Error::Length { field: "payload", expected, found };
        // What follows the networks in newer versions is checked when their sizes are known to be right.
        if found < networks || (version == PLAIN_VERSION && found > networks) {
            return Err(length(networks));
        }
        let mut cursor = Cursor::new(payload);
        let recognition = latent_validate::network(&mut cursor, recognition_bytes, Part::Recognition)?;
        let generative = latent_validate::network(&mut cursor, generative_bytes, Part::Generative)?;
        latent_validate::networks(&spec, &recognition, &generative)?;
        // Equal models are equal files: the version says whether there are ranges.
        if recognition.spec().extensions.ranges != (version == RANGES_VERSION) {
            return Err(Error::Header);
        }
        let [mut prior, mut row_noise] = [F32s::default(); 2];
        if version == EXTENDED_VERSION || found > networks {
            let (latents, channels) = (usize::from(spec.latents), usize::from(generative.spec().outputs));
            let expected = networks + aligned(PRIOR_BYTES * latents) + aligned(4 * channels);
            if found != expected {
                return Err(length(expected));
            }
            prior = fitted(&mut cursor, PRIOR_BYTES * latents)?;
            row_noise = fitted(&mut cursor, 4 * channels)?;
            latent_validate::fitted(&spec, prior, row_noise)?;
        }
        Ok(LatentCheckpoint { spec, recognition, generative, prior, row_noise, bytes, crc })
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

    /// The prior of each latent that was fitted after training; none if predictions use
    /// [`LatentSpec::prior`].
    pub fn autoregressive_prior(&self) -> impl Iterator<Item = AutoregressivePrior> + 'm {
        self.prior.triples().map(|[mean, var, decay]| AutoregressivePrior { mean, var, decay })
    }

    /// The same as numbers: mean, variance and decay of each latent.
    pub(crate) fn prior_numbers(&self) -> F32s<'m> {
        self.prior
    }

    /// Variance of the noise of observed rows per channel, if predictions do not contain it.
    pub(crate) fn row_noise_numbers(&self) -> F32s<'m> {
        self.row_noise
    }

    /// The checksum stored at the end of the file: identifies exactly this model.
    pub fn crc(&self) -> u32 {
        self.crc
    }
}

/// The numbers in the next `bytes` of the payload, fitted after training.
fn fitted<'m>(cursor: &mut Cursor<'m>, bytes: usize) -> Result<F32s<'m>, Error> {
    let (numbers, padding) = cursor.padded(bytes);
    zeros(padding, Part::Latent, "padding")?;
    Ok(F32s::new(numbers))
}
