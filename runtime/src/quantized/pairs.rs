//! Pairs of columns that are left in a pruned map (layout `sparse`): for each four rows a list of bytes.
//!
//! A byte names a pair within a span of 512 columns, hence a group has a list for each span. The section
//! holds where each list ends, counted in pairs from the first list on, and then the lists one after the
//! other.

use super::format::{BLOCK_ROWS, PaddedShape};

/// Pairs of columns that a byte can name.
pub(super) const SPAN_PAIRS: usize = 256;

/// Bytes of two columns of four rows.
pub(super) const PAIR_BYTES: usize = 2 * BLOCK_ROWS;

/// Bytes at the head of a map.
pub(super) const HEAD: usize = 16;

/// How a map of the layout `sparse` is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Every pair of columns, as in the layout `fast`.
    Dense,
    /// Listed pairs, this many in all groups together.
    Listed { pairs: u32 },
}

impl Form {
    /// `None` if the bytes are no form's.
    pub(super) fn read(head: [u8; HEAD]) -> Option<Self> {
        match super::format::words(head) {
            [0, 0, 0, 0] => Some(Form::Dense),
            [1, pairs, 0, 0] => Some(Form::Listed { pairs }),
            _ => None,
        }
    }

    #[cfg(feature = "write")]
    pub(super) fn to_bytes(self) -> [u8; HEAD] {
        super::format::bytes(match self {
            Form::Dense => [0; 4],
            Form::Listed { pairs } => [1, pairs, 0, 0],
        })
    }
}

/// Lists of each group: as many as its columns need to be named in bytes.
pub(super) const fn spans(padded: PaddedShape) -> usize {
    (padded.cols / 2).div_ceil(SPAN_PAIRS)
}

/// The lists of a whole map; none if the map is dense.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairLists<'m> {
    /// Where each list ends, counted in pairs from the first list on.
    pub(super) ends: &'m [[u8; 4]],
    pub(super) indices: &'m [u8],
    /// What is behind them.
    pub(super) padding: &'m [u8],
}

impl<'m> PairLists<'m> {
    /// Of a map that is dense.
    pub(super) const NONE: Self = PairLists { ends: &[], indices: &[], padding: &[] };

    /// Of a section that begins with `ends` ends, followed by `pairs` indices.
    pub(super) fn new(section: &'m [u8], ends: usize, pairs: usize) -> Self {
        let (ends, rest) = section.split_at_checked(4 * ends).unwrap_or_default();
        let (indices, padding) = rest.split_at_checked(pairs).unwrap_or_default();
        PairLists { ends: ends.as_chunks().0, indices, padding }
    }

    /// The form of a map with these lists.
    pub(super) fn form(&self) -> Form {
        if self.is_empty() { Form::Dense } else { Form::Listed { pairs: self.indices.len() as u32 } }
    }

    /// Whether the map is dense.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The lists of group `index`.
    #[inline(always)]
    pub(super) fn group(&self, index: usize, spans: usize) -> GroupPairs<'m> {
        let first = index.wrapping_mul(spans);
        let start = first.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, end);
        let ends = self.ends.get(first..first.wrapping_add(spans)).unwrap_or_default();
        let last = ends.last().map_or(start, end);
        let indices = self.indices.get(start..last).unwrap_or_default();
        GroupPairs { start, ends, indices }
    }
}

fn end(word: &[u8; 4]) -> usize {
    u32::from_le_bytes(*word) as usize
}

/// The lists of four rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupPairs<'m> {
    /// Pairs of all groups before.
    pub(super) start: usize,
    ends: &'m [[u8; 4]],
    pub(super) indices: &'m [u8],
}

impl<'m> GroupPairs<'m> {
    /// Of a group that has no lists: all its columns are stored.
    pub(super) const ALL: Self = GroupPairs { start: 0, ends: &[], indices: &[] };

    /// Whether all columns are stored.
    #[inline(always)]
    pub(super) fn is_all(&self) -> bool {
        self.ends.is_empty()
    }

    /// The pair of columns, counted from the first one on, whose codes are at a place among those stored.
    #[inline(never)] // rare, and its caller is short of registers
    pub(super) fn number(&self, place: usize) -> usize {
        let Some(index) = self.indices.get(place) else { return place };
        let before = self.ends.iter().filter(|word| end(word) <= self.start.saturating_add(place)).count();
        SPAN_PAIRS.saturating_mul(before).saturating_add(usize::from(*index))
    }

    /// Whether no list ends before the one before it, and none behind all of them.
    pub(super) fn is_in_order(&self) -> bool {
        let last = self.ends.last().map_or(self.start, end);
        let mut before = self.start;
        let follows = |word| before <= core::mem::replace(&mut before, end(word));
        self.ends.iter().all(follows) && last == self.start.saturating_add(self.indices.len())
    }

    /// The lists, span by span. A list that would begin before the one before it, or end behind all of them,
    /// is empty.
    #[inline(always)]
    pub(super) fn lists(self) -> impl Iterator<Item = &'m [u8]> {
        let mut from = 0;
        self.ends.iter().map(move |word| {
            let to = end(word).wrapping_sub(self.start);
            let list = self.indices.get(from..to).unwrap_or_default();
            from = to;
            list
        })
    }
}
