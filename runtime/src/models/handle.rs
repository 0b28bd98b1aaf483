//! What predictor, denoiser, sampler and reducer have in common: a model of their own with one stream.
//!
//! Macros and not a trait, so that a user has the methods without an import. Each expands inside of an `impl`
//! for a struct of the fields `model` and `state`, with lifetimes `'m` of the checkpoint and `'a` of the
//! memory.

/// The ways to load a handle, by its function `start(model, words)`.
macro_rules! loading {
    ($model:ident) => {
        /// Checks a checkpoint and starts a stream in `arena`.
        ///
        /// # Errors
        /// Names the field at fault, in a latent model its network as well, or the number of words that the
        /// arena needs; see [`Error`].
        pub fn load<const WORDS: usize>(bytes: &'m [u8], arena: &'a mut Arena<WORDS>) -> Result<Self, Error> {
            Self::load_in(bytes, arena.words_mut())
        }

        /// Like [`load`](Self::load), for hosts that size the memory at run time.
        ///
        /// # Errors
        /// As [`load`](Self::load).
        #[inline(never)] // a model takes a kilobyte of stack each time that it is moved
        pub fn load_in(bytes: &'m [u8], words: &'a mut [f32]) -> Result<Self, Error> {
            Self::start($model::load(bytes)?, words)
        }

        /// Like [`load`](Self::load), for models that are not known when the program is made: refuses one
        /// whose step takes more than `budget` multiply-accumulates, before it runs one; see
        #[doc = concat!("[`", stringify!($model), "::load_within`].")]
        ///
        /// # Errors
        /// As [`load`](Self::load), and [`Error::Budget`].
        pub fn load_within<const WORDS: usize>(
            bytes: &'m [u8],
            arena: &'a mut Arena<WORDS>,
            budget: u64,
        ) -> Result<Self, Error> {
            Self::start($model::load_within(bytes, budget)?, arena.words_mut())
        }
    };
}

/// What the model does with the one stream of a handle.
macro_rules! stream_methods {
    ($model:ty, $saved_words:literal) => {
        /// Forgets everything seen; the prediction is then the one before the first row.
        pub fn reset(&mut self) {
            self.model.reset(&mut self.state);
        }

        $crate::models::handle::state_methods!($model, $saved_words);
    };
}

/// The same without `reset`.
macro_rules! state_methods {
    ($model:ty, $saved_words:literal) => {
        /// Copies the stream's state into `words`.
        ///
        /// # Errors
        #[doc = concat!("If `words` is not ", $saved_words, " long.")]
        pub fn save(&self, words: &mut [f32]) -> Result<(), Error> {
            self.model.save(&self.state, words)
        }

        /// Continues from a saved state: of this stream, or of another one.
        ///
        /// # Errors
        /// If the words cannot be a state of this model; the stream is then unchanged.
        pub fn restore(&mut self, words: &[f32]) -> Result<(), Error> {
            self.model.restore(&mut self.state, words)
        }

        /// Checks the stream's memory; see [`Model::check_state`](crate::Model::check_state).
        ///
        /// # Errors
        /// [`Error::StateValue`].
        pub fn check_state(&self) -> Result<(), Error> {
            self.model.check_state(&self.state)
        }

        /// Whether steps run in the kernels in assembler of the target core; see
        /// [`Model::is_accelerated`](crate::Model::is_accelerated).
        pub fn is_accelerated(&self) -> bool {
            self.model.is_accelerated()
        }

        /// The model.
        pub fn model(&self) -> &$model {
            &self.model
        }
    };
}

pub(super) use {loading, state_methods, stream_methods};
