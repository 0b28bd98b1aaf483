//! The last rows of a stream, in bounded memory.

use std::collections::VecDeque;

use crate::row::Meta;

/// Bytes that the values of all kept rows may take.
const MAX_BYTES: usize = 48 * 1024 * 1024;
/// Most rows.
const MAX_ROWS: usize = 120_000;

/// Rows of one width. Each has a number that counts from the start of the program.
#[derive(Debug)]
pub(super) struct Ring {
    width: usize,
    capacity: usize,
    /// Number of the first row that is still there.
    first: u64,
    metas: VecDeque<Meta>,
    values: VecDeque<f32>,
}

impl Ring {
    /// No rows, of this width; the next one has the number `first`.
    pub(super) fn new(width: usize, first: u64) -> Self {
        let row = width * size_of::<f32>() + size_of::<Meta>();
        let capacity = (MAX_BYTES / row).clamp(1, MAX_ROWS);
        Ring { width, capacity, first, metas: VecDeque::new(), values: VecDeque::new() }
    }

    /// Number of the next row.
    pub(super) fn next(&self) -> u64 {
        self.first + self.metas.len() as u64
    }

    /// Number of the oldest row.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Adds a row, in place of the oldest if there is no more room.
    pub(super) fn push(&mut self, meta: Meta, values: &[f32]) {
        debug_assert_eq!(values.len(), self.width);
        if self.metas.len() == self.capacity {
            self.metas.pop_front();
            self.values.drain(..self.width);
            self.first += 1;
        }
        self.metas.push_back(meta);
        self.values.extend(values);
    }

    /// The newest row.
    pub(super) fn last(&self) -> Option<&Meta> {
        self.metas.back()
    }

    /// The newest rows, newest first.
    pub(super) fn newest(&self) -> impl Iterator<Item = &Meta> {
        self.metas.iter().rev()
    }

    /// Copies rows from number `from`, `count` at most.
    pub(super) fn copy(&self, from: u64, count: usize, metas: &mut Vec<Meta>, values: &mut Vec<f32>) {
        let begin = (from.saturating_sub(self.first) as usize).min(self.metas.len());
        let end = begin.saturating_add(count).min(self.metas.len());
        metas.extend(self.metas.range(begin..end));
        values.extend(self.values.range(begin * self.width..end * self.width));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_rows_make_room() {
        let mut ring = Ring::new(2, 7);
        ring.capacity = 3;
        for index in 0..5 {
            ring.push(Meta { time: f64::from(index), ..Meta::default() }, &[index as f32, -1.0]);
        }
        assert_eq!((ring.first(), ring.next()), (9, 12));
        let (mut metas, mut values) = (Vec::new(), Vec::new());
        ring.copy(10, 9, &mut metas, &mut values);
        assert_eq!(values, [3.0, -1.0, 4.0, -1.0]);
        assert_eq!(metas.iter().map(|meta| meta.time).collect::<Vec<_>>(), [3.0, 4.0]);
        ring.copy(0, 1, &mut metas, &mut values);
        assert_eq!(values[4..], [2.0, -1.0]);
        assert_eq!(ring.newest().next().map(|meta| meta.time), ring.last().map(|meta| meta.time));
    }

    #[test]
    fn memory_is_bounded_for_any_width() {
        for width in [0, 1, 28, 100_000] {
            let ring = Ring::new(width, 0);
            let bytes = ring.capacity * (width * 4 + size_of::<Meta>());
            assert!(ring.capacity > 0 && bytes <= MAX_BYTES, "{width}: {bytes}");
        }
    }
}
