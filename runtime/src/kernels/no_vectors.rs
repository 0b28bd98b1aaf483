//! In place of `vectors`, for cores without any.

use crate::cells::{Layer, Units};
use crate::checkpoint::Activation;

/// Takes on no units of an LSTM.
pub(crate) fn lstm(_: &Layer<'_>, _: bool, _: &mut Units<'_>, _: &mut Units<'_>) -> usize {
    0
}

/// Takes on no units of an Elman or dense layer.
pub(crate) fn elman(_: &Layer<'_>, _: bool, _: Activation, _: &mut Units<'_>) -> usize {
    0
}
