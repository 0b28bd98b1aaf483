//! Groups of four rows as bytes, and what is left of them in the layout `sparse`.

use std::vec::Vec;

use super::super::format::PaddedShape;
use super::super::pairs::{Form, PAIR_BYTES, SPAN_PAIRS, spans};
use super::super::sections::SectionBytes;
use crate::format::AffineShape;

/// Four rows in one of a map's sections.
pub(super) struct Stream {
    /// Codes by columns; none if the section holds no codes.
    pub(super) blocks: Vec<u8>,
    /// Biases and scales.
    pub(super) words: Vec<u8>,
}

/// Four rows: a stream for each section.
pub(super) struct EncodedGroup {
    pub(super) streams: Vec<Stream>,
}

impl EncodedGroup {
    /// Pairs of columns with a code other than zero in any stream.
    fn pairs_left(&self) -> Vec<usize> {
        let pairs = self.streams.iter().map(|stream| stream.blocks.len() / PAIR_BYTES).max().unwrap_or(0);
        let is_left = |pair: &usize| {
            let codes = |stream: &Stream| {
                stream.blocks.iter().skip(pair * PAIR_BYTES).take(PAIR_BYTES).any(|byte| *byte != 0)
            };
            self.streams.iter().any(codes)
        };
        (0..pairs).filter(is_left).collect()
    }

    /// Drops the codes of all other pairs.
    fn keep(&mut self, pairs: &[usize]) {
        for Stream { blocks, .. } in self.streams.iter_mut().filter(|stream| !stream.blocks.is_empty()) {
            let codes = |pair: &usize| blocks[pair * PAIR_BYTES..][..PAIR_BYTES].to_vec();
            *blocks = pairs.iter().flat_map(codes).collect();
        }
    }
}

/// The bytes of one section.
pub(super) fn section(groups: &[EncodedGroup], index: usize) -> Vec<u8> {
    let streams = groups.iter().filter_map(|group| group.streams.get(index));
    streams.flat_map(|stream| stream.blocks.iter().chain(&stream.words)).copied().collect()
}

/// Drops pairs of columns that are zero in all four rows if the map gets shorter by it, and returns its form
/// and its section of lists.
pub(super) fn drop_empty_pairs(
    groups: &mut [EncodedGroup],
    shape: AffineShape,
    padded: PaddedShape,
) -> (Form, Vec<u8>) {
    let lists: Vec<Vec<usize>> = groups.iter().map(EncodedGroup::pairs_left).collect();
    let listed = Form::Listed { pairs: lists.iter().map(Vec::len).sum::<usize>() as u32 };
    let bytes = |form| SectionBytes::new(shape, padded, form).total();
    if bytes(listed) >= bytes(Form::Dense) {
        return (Form::Dense, Vec::new());
    }
    let (mut ends, mut indices) = (Vec::new(), Vec::new());
    for (group, list) in groups.iter_mut().zip(&lists) {
        group.keep(list);
        for span in 0..spans(padded) {
            indices.extend(list.iter().filter(|pair| **pair / SPAN_PAIRS == span).map(|pair| *pair as u8));
            ends.extend((indices.len() as u32).to_le_bytes());
        }
    }
    (listed, [ends, indices].concat())
}
