//! Prototypes that are added at run time, in the caller's memory.

use crate::limits::EMBEDDING_LIMIT;

/// Prototypes of a stream's own: for each its class, as a number, and its components.
#[derive(Debug, Default)]
pub(super) struct Taught<'a> {
    slots: &'a mut [f32],
    /// Words in use.
    used: usize,
    /// Probability of every class, those of the checkpoint and those that can be taught.
    pub(super) probabilities: &'a mut [f32],
}

impl<'a> Taught<'a> {
    /// Probabilities first, then as many slots as there is room for.
    pub(super) fn carve(words: &'a mut [f32], classes: usize) -> Option<Self> {
        let (probabilities, slots) = words.split_at_mut_checked(classes)?;
        Some(Taught { slots, used: 0, probabilities })
    }

    /// Words of one prototype.
    fn slot(dims: usize) -> usize {
        dims.saturating_add(1) // never zero, by which nothing could be divided
    }

    /// The words in use.
    pub(super) fn words(&self) -> &[f32] {
        self.slots.get(..self.used).unwrap_or_default()
    }

    /// The words in use, and where probabilities are written.
    pub(super) fn parts(&mut self) -> (&[f32], &mut [f32]) {
        (self.slots.get(..self.used).unwrap_or_default(), self.probabilities)
    }

    /// Class and components of each prototype in words.
    pub(super) fn prototypes(words: &[f32], dims: usize) -> impl Iterator<Item = (u16, &[f32])> {
        words.chunks_exact(Self::slot(dims)).filter_map(|slot| {
            let (label, values) = slot.split_first()?;
            Some((*label as u16, values))
        })
    }

    /// Adds one; `false` if there is no such class or no room left.
    pub(super) fn add(&mut self, class: usize, embedding: &[f32]) -> bool {
        let free = self.slots.get_mut(self.used..).unwrap_or_default();
        let Some((slot, _)) = free.split_at_mut_checked(Self::slot(embedding.len())) else { return false };
        let Some((label, values)) = slot.split_first_mut() else { return false };
        if class >= self.probabilities.len() {
            return false;
        }
        *label = class as f32;
        crate::arena::copy(values, embedding);
        self.used += Self::slot(embedding.len());
        true
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.used = 0;
    }

    /// Takes over the words of prototypes taught before; `false` if they cannot be such.
    pub(super) fn restore(&mut self, words: &[f32], dims: usize) -> bool {
        let classes = self.probabilities.len() as f32;
        let possible = |slot: &[f32]| match slot.split_first() {
            Some((label, values)) => {
                (0.0..classes).contains(label)
                    && *label as u16 as f32 == *label
                    && values.iter().all(|value| value.abs() <= EMBEDDING_LIMIT)
            }
            None => false,
        };
        let mut slots = words.chunks_exact(Self::slot(dims));
        let whole = slots.all(possible) && slots.remainder().is_empty();
        let Some(target) = self.slots.get_mut(..words.len()).filter(|_| whole) else { return false };
        crate::arena::copy(target, words);
        self.used = words.len();
        true
    }
}
