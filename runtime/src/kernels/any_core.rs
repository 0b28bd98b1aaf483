//! The portable kernels, for cores without kernels of their own.

pub(crate) use super::packed::dot;
