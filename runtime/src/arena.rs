//! The caller's memory for one stream.

/// Memory for the state of one stream: `WORDS` four-byte words, wherever the caller puts them.
///
/// The exporter prints the number a model needs and [`load`](crate::Predictor::load) checks it.
///
/// ```
/// let mut arena = quaver::Arena::<124>::new();
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

    /// The words, for the code that exists once in flash whatever `WORDS` is.
    pub(crate) fn words_mut(&mut self) -> &mut [f32] {
        &mut self.words
    }
}

impl<const WORDS: usize> Default for Arena<WORDS> {
    fn default() -> Self {
        Self::new()
    }
}
