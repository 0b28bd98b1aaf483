//! Headers of the two kinds of checkpoints.

use crate::spec::{LatentSpec, ModelSpec};

/// Header of one network.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Header<'m> {
    pub(crate) spec: ModelSpec,
    /// One name per line.
    pub(crate) input_names: &'m [u8],
    /// One name per line.
    pub(crate) output_names: &'m [u8],
}

/// Header of a latent model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LatentHeader {
    pub(crate) spec: LatentSpec,
    /// Bytes of the recognition network's checkpoint.
    pub(crate) recognition_bytes: u32,
    /// Bytes of the generative network's checkpoint.
    pub(crate) generative_bytes: u32,
}
