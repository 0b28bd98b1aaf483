//! Replaces `vectors` on cores without vector units.

pub(super) use super::all_zero;
use super::{Layer, Units};
use crate::spec::Activation;

/// Advances no units of an LSTM.
pub(super) fn lstm(_: &Layer<'_>, _: bool, _: &mut Units<'_>, _: &mut Units<'_>) -> usize {
    0
}

/// Advances no units of a GRU.
pub(super) fn gru(_: &Layer<'_>, _: bool, _: &mut Units<'_>) -> usize {
    0
}

/// Advances no units of an Elman or dense layer.
pub(super) fn elman(_: &Layer<'_>, _: bool, _: Activation, _: &mut Units<'_>) -> usize {
    0
}
