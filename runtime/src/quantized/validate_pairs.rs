//! Checks of the pairs of columns that are left in a pruned map (layout `sparse`).

use super::format::{QuantizedView, SectionBytes};
use super::pairs::{Form, GroupPairs, PAIR_BYTES, SPAN_PAIRS};
use crate::format::{AffineShape, Error, Part, check, zeros};

/// Checks the form of a map: lists that are in order and inside its columns, no pair without a code other
/// than zero, and the shorter of both forms, so that equal maps are equal bytes.
#[inline(never)]
pub(super) fn check_form(map: &QuantizedView<'_>, shape: AffineShape, part: Part) -> Result<(), Error> {
    // A head that makes no sense leaves no groups.
    check(map.padded.groups > 0, part, "form", "0 for dense, or 1 and the number of pairs")?;
    let padded = map.padded;
    let pairs_left = if map.lists.is_empty() { pairs_left(map) } else { map.lists.indices.len() };
    let listed = Form::Listed { pairs: pairs_left as u32 };
    let bytes = |form| SectionBytes::new(shape, padded, form).total();
    let is_shorter = bytes(listed) < bytes(Form::Dense);
    check(is_shorter != map.lists.is_empty(), part, "form", "the shorter one, dense if both are as long")?;
    if map.lists.is_empty() {
        return Ok(());
    }
    let padding = map.padding(SectionBytes::new(shape, padded, listed));
    padding.into_iter().try_for_each(|bytes| zeros(bytes, part, "padding"))?;
    check_lists(map, part)
}

/// Checks the lists and what they list.
fn check_lists(map: &QuantizedView<'_>, part: Part) -> Result<(), Error> {
    let mut before = 0;
    for word in map.lists.ends {
        let end = u32::from_le_bytes(*word);
        check(before <= end, part, "pairs", "lists that end in order")?;
        before = end;
    }
    check(before as usize == map.lists.indices.len(), part, "pairs", "as many as the head counts")?;
    for (index, group) in map.groups().enumerate() {
        let width = map.padded.width(map.padded.columns(index)) / 2;
        for (span, list) in group.pairs.lists().enumerate() {
            let most = width.saturating_sub(span * SPAN_PAIRS).min(SPAN_PAIRS);
            let ordered = list.windows(2).all(|pair| matches!(pair, [left, right] if left < right));
            let inside = list.last().is_none_or(|last| usize::from(*last) < most);
            check(ordered && inside, part, "pairs", "in order, each once, inside the columns")?;
        }
        let streams = [group.weights, group.squares].map(|blocks| blocks.as_chunks::<PAIR_BYTES>().0);
        let is_used = |pair: usize| {
            streams.iter().any(|words| words.get(pair).is_some_and(|words| *words != [0; PAIR_BYTES]))
        };
        let used = (0..group.pairs.indices.len()).all(is_used);
        check(used, part, "pairs", "those with a code other than 0")?;
    }
    Ok(())
}

/// Pairs of a dense map that are not zero in all four rows.
fn pairs_left(map: &QuantizedView<'_>) -> usize {
    let is_left = |words: &[u8; PAIR_BYTES]| *words != [0; PAIR_BYTES];
    let in_group = |[weights, squares]: [&[u8]; 2]| {
        let (weights, squares) = (weights.as_chunks().0, squares.as_chunks().0);
        let square = |pair: usize| squares.get(pair).is_some_and(is_left);
        weights.iter().enumerate().filter(|(pair, words)| is_left(words) || square(*pair)).count()
    };
    map.groups().map(|group| in_group([group.weights, group.squares])).sum()
}

/// The number of each pair of columns that a group's blocks hold, counted from its first column on.
pub(super) fn pair_numbers(pairs: GroupPairs<'_>) -> impl Iterator<Item = usize> {
    let all = if pairs.is_all() { usize::MAX } else { 0 };
    let span = |(span, list)| -> _ { core::iter::repeat(span * SPAN_PAIRS).zip(list as &[u8]) };
    let listed = pairs.lists().enumerate().flat_map(span);
    (0..all).chain(listed.map(|(first, index)| first + usize::from(*index)))
}
