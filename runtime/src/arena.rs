//! The caller's memory for one stream, and how it is carved up.

/// Memory for the state of one stream: `WORDS` four-byte words, wherever the caller puts them.
///
/// The exporter prints the number that a model needs; [`load`](crate::Predictor::load) checks it.
///
/// ```
/// let mut arena = quaver::Arena::<142>::new();
/// # let model = quaver::include_checkpoint!("../examples/grip_force.qvr");
/// let predictor = quaver::Predictor::load(model, &mut arena)?;
/// # Ok::<(), quaver::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Arena<const WORDS: usize> {
    words: [f32; WORDS],
}

impl<const WORDS: usize> Arena<WORDS> {
    /// An empty arena; `const`, so that it can be a static in zero-initialised memory.
    pub const fn new() -> Self {
        Arena { words: [0.0; WORDS] }
    }

    /// The words as a slice, for code that exists once in flash whatever `WORDS` is.
    pub(crate) fn words_mut(&mut self) -> &mut [f32] {
        &mut self.words
    }
}

impl<const WORDS: usize> Default for Arena<WORDS> {
    fn default() -> Self {
        Self::new()
    }
}

/// Carves slices off the front of an arena's words.
pub(crate) struct ArenaSplitter<'a>(&'a mut [f32]);

impl<'a> ArenaSplitter<'a> {
    pub(crate) fn new(words: &'a mut [f32]) -> Self {
        ArenaSplitter(words)
    }

    /// The next `count` words; `None` if fewer are left.
    pub(crate) fn carve(&mut self, count: usize) -> Option<&'a mut [f32]> {
        let (carved, rest) = core::mem::take(&mut self.0).split_at_mut_checked(count)?;
        self.0 = rest;
        Some(carved)
    }
}

/// Copies as many words as both slices have. Unlike `copy_from_slice` it cannot panic.
#[cfg(not(feature = "vectors"))]
#[inline(never)] // once in flash, not once per caller
pub(crate) fn copy(target: &mut [f32], source: &[f32]) {
    target.iter_mut().zip(source).for_each(|(target, source)| *target = *source);
}

/// The same by the library of a host, in as wide words as it has.
#[cfg(feature = "vectors")]
pub(crate) fn copy(target: &mut [f32], source: &[f32]) {
    let count = target.len().min(source.len());
    if let Some((target, source)) = target.get_mut(..count).zip(source.get(..count)) {
        target.copy_from_slice(source);
    }
}
