//! Checks of the pairs of columns that are left in a pruned map (layout `sparse`).

use super::format::QuantizedView;
use super::pairs::{Form, GroupPairs, PAIR_BYTES, SPAN_PAIRS};
use super::sections::SectionBytes;
use crate::format::{AffineShape, Error, Part, check, zeros};

/// Checks the form of a map, of whose pairs of columns `left` have a code other than zero: lists that end
/// where the map's head says, no pair without such a code, and the shorter of both forms, so that equal maps
/// are equal bytes.
#[inline(never)]
pub(super) fn check_form(
    map: &QuantizedView<'_>,
    left: usize,
    shape: AffineShape,
    part: Part,
) -> Result<(), Error> {
    // A head that makes no sense leaves no groups.
    check(map.padded.groups > 0, part, "form", "0 for dense, or 1 and the number of pairs")?;
    let listed = Form::Listed { pairs: left as u32 };
    let [bytes, dense] = [listed, Form::Dense].map(|form| SectionBytes::new(shape, map.padded, form));
    let is_dense = map.lists().is_empty();
    check(
        (bytes.total() < dense.total()) != is_dense,
        part,
        "form",
        "the shorter one, dense if both are as long",
    )?;
    if is_dense {
        return Ok(());
    }
    check(
        map.lists().form() == listed,
        part,
        "pairs",
        "as many as the head counts, each with a code other than 0",
    )?;
    map.padding(bytes).into_iter().try_for_each(|bytes| zeros(bytes, part, "padding"))
}

/// Checks the lists of four rows that read `pairs` pairs of columns, and returns how many pairs have a code
/// other than zero in any of the streams.
#[inline(never)]
pub(super) fn check_lists(
    lists: GroupPairs<'_>,
    streams: [&[u8]; 3],
    pairs: usize,
    part: Part,
) -> Result<usize, Error> {
    if !lists.is_all() {
        let mut room = pairs;
        for list in lists.lists() {
            let ordered = list.windows(2).all(|pair| matches!(pair, [left, right] if left < right));
            let inside = list.last().is_none_or(|last| usize::from(*last) < room.min(SPAN_PAIRS));
            check(ordered && inside, part, "pairs", "in order, each once, inside the columns")?;
            room = room.saturating_sub(SPAN_PAIRS);
        }
        check(lists.is_in_order(), part, "pairs", "lists that end in order")?;
    }
    let [weights, ..] = streams;
    let stored = weights.len() / PAIR_BYTES;
    Ok((0..stored).filter(|pair| streams.iter().any(|codes| is_used(codes, *pair))).count())
}

/// Whether a pair has a code other than zero.
fn is_used(codes: &[u8], pair: usize) -> bool {
    codes.as_chunks::<PAIR_BYTES>().0.get(pair).is_some_and(|codes| *codes != [0; PAIR_BYTES])
}
