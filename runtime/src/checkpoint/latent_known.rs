//! Checkpoints of latent models that are decoded while a program is compiled.

use super::latent::PRIOR_BYTES;
use crate::backend::NetworkMemory;
use crate::format::{Cursor, Decoder, F32s, Kind, LatentHeader, known_sections};
use crate::spec::{Family, LatentSpec};

/// Parts of a latent model's checkpoint that was checked when the program was made; see
/// [`embed_denoiser`](crate::embed_denoiser).
pub(crate) struct KnownLatentCheckpoint<'m> {
    pub(crate) spec: LatentSpec,
    /// The checkpoint of the recognition network.
    pub(crate) recognition: &'m [u8],
    /// The checkpoint of the generative network.
    pub(crate) generative: &'m [u8],
    /// Mean, variance and decay of each latent's fitted prior; empty without one.
    pub(crate) prior: F32s<'m>,
    /// Noise of observed rows; empty if predictions contain it.
    pub(crate) row_noise: F32s<'m>,
    pub(crate) crc: u32,
}

impl<'m> KnownLatentCheckpoint<'m> {
    /// The parts in a constant.
    ///
    /// # Panics
    /// If these are not the bytes of a latent model, or a backend is not built in; in a constant that is an
    /// error of compilation.
    pub(crate) const fn new(bytes: &'m [u8]) -> Self {
        let (Some(header), Some([_, payload, stored])) = (header(bytes), known_sections(bytes)) else {
            panic!("the file is no checkpoint of a latent model")
        };
        let crc = match stored.first_chunk() {
            Some(crc) => u32::from_le_bytes(*crc),
            None => panic!("the checkpoint has no checksum"),
        };
        let LatentHeader { spec, recognition_bytes, generative_bytes } = header;
        let mut cursor = Cursor::new(payload);
        let (recognition, _) = cursor.padded(recognition_bytes as usize);
        let (generative, _) = cursor.padded(generative_bytes as usize);
        let Some(NetworkMemory { inputs: channels, .. }) = NetworkMemory::of_checkpoint(recognition) else {
            panic!("the backend of the model (cargo feature `float` or `quantized`) is not built in")
        };
        // Nothing follows the networks unless a prior was fitted: then both sections are empty.
        let (prior, _) = cursor.padded(PRIOR_BYTES * spec.latents as usize);
        let (row_noise, _) = cursor.padded(4 * channels);
        let (prior, row_noise) = (F32s::new(prior), F32s::new(row_noise));
        KnownLatentCheckpoint { spec, recognition, generative, prior, row_noise, crc }
    }

    /// The family of the latent model that these bytes are; `None` if they are another kind of file.
    pub(crate) const fn family(bytes: &'m [u8]) -> Option<Family> {
        match header(bytes) {
            Some(header) => Some(header.spec.family),
            None => None,
        }
    }
}

const fn header(bytes: &[u8]) -> Option<LatentHeader> {
    match (Kind::of(bytes), known_sections(bytes)) {
        (Some(Kind::Latent), Some([header, ..])) => {
            let mut decoder = Decoder::new(header);
            let header = decoder.latent_header();
            if decoder.is_sound() { Some(header) } else { None }
        }
        _ => None,
    }
}
