//! Dividing a caller's memory.

/// The words of an arena that are still to be given away.
pub(super) struct Words<'a>(&'a mut [f32]);

impl<'a> Words<'a> {
    pub(super) fn new(words: &'a mut [f32]) -> Self {
        Words(words)
    }

    /// The next `count` words; `None` if there are not so many left.
    pub(super) fn take(&mut self, count: usize) -> Option<&'a mut [f32]> {
        let (taken, left) = core::mem::take(&mut self.0).split_at_mut_checked(count)?;
        self.0 = left;
        Some(taken)
    }
}

/// Copies as many words as both lists have; unlike `copy_from_slice` it has nothing to panic about.
#[inline(never)] // once in flash, not once per caller
pub(super) fn copy(places: &mut [f32], values: &[f32]) {
    places.iter_mut().zip(values).for_each(|(place, value)| *place = *value);
}
