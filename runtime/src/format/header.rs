//! Headers of the kinds of checkpoints.

use super::{EXTENDED_VERSION, PLAIN_VERSION, RANGES_VERSION, VERSION};
use crate::spec::{LatentSpec, ModelSpec, ReducerSpec};

/// Header of one network.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Header<'m> {
    pub(crate) spec: ModelSpec,
    /// One name per line.
    pub(crate) input_names: &'m [u8],
    /// One name per line.
    pub(crate) output_names: &'m [u8],
}

impl Header<'_> {
    /// Version of the format that the model needs.
    pub(crate) fn version(&self) -> u16 {
        match &self.spec.extensions {
            extensions if extensions.is_empty() => PLAIN_VERSION,
            extensions if extensions.linear.is_some() => VERSION,
            extensions if extensions.ranges => RANGES_VERSION,
            _ => EXTENDED_VERSION,
        }
    }
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

/// Header of a reducer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ReducerHeader<'m> {
    pub(crate) spec: ReducerSpec,
    /// Bytes of the network's checkpoint.
    pub(crate) network_bytes: u32,
    /// One name per line.
    pub(crate) class_names: &'m [u8],
}
