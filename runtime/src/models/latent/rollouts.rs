//! Many sampled futures of one stream, with the sampler that they are futures of.

use rand_core::Rng;

use super::futures::Futures;
use super::parts::{KnownLatent, LoadedLatent};
use super::sampler::{FeedMode, Sampler};
use crate::arena::Arena;
use crate::format::Error;

/// `K` sampled futures of a stream.
///
/// Each [`advance`](Self::advance) extends all of them by one step; mean, standard deviation and quantiles
/// are those of the rows drawn. The sampler lends its scratch and is unchanged afterwards. Those of a sampler
/// that is known while compiling ([`embed_sampler!`](crate::embed_sampler)) are `Rollouts::<16, _>`.
///
/// ```
/// use quaver::{Arena, Rollouts, FeedMode, Sampler};
/// use rand_xoshiro::{Xoroshiro128PlusPlus, rand_core::SeedableRng};
///
/// static MODEL: &[u8] = quaver::include_checkpoint!("../../../examples/sampler.qvr");
///
/// let mut arena = Arena::<111>::new();
/// let mut sampler = Sampler::load(MODEL, &mut arena)?;
/// sampler.observe(&[12.0, 35.0, 4.0]);
///
/// let mut rng = Xoroshiro128PlusPlus::seed_from_u64(1);
/// let mut futures = Arena::<{ 16 * 21 }>::new(); // `LatentModel::future_words` for each
/// let mut rollouts = Rollouts::<16>::new(&mut sampler, &mut futures)?;
/// for _ in 0..5 {
///     rollouts.advance(&mut rng, FeedMode::Draw);
///     let [low, high] = [0.1, 0.9].map(|q| rollouts.quantile(0, q));
///     println!("{:?} ± {:?}, between {low:?} and {high:?}", rollouts.mean(0), rollouts.std_dev(0));
/// }
/// # assert!(rollouts.std_dev(0).is_some_and(|std_dev| std_dev > 0.0));
/// # assert_eq!(sampler.model().future_words(), 21);
/// # Ok::<(), quaver::Error>(())
/// ```
#[derive(Debug)]
pub struct Rollouts<'s, 'm, 'a, const K: usize, L = LoadedLatent<'m>> {
    sampler: &'s mut Sampler<'m, 'a, L>,
    futures: Futures<'s>,
}

impl<'s, 'm, 'a, const K: usize, L: KnownLatent> Rollouts<'s, 'm, 'a, K, L> {
    /// Starts `K` futures of `sampler`'s stream, in an arena of `K` ×
    /// [`future_words`](crate::LatentModel::future_words).
    ///
    /// # Errors
    /// If the arena is too small.
    pub fn new<const WORDS: usize>(
        sampler: &'s mut Sampler<'m, 'a, L>,
        arena: &'s mut Arena<WORDS>,
    ) -> Result<Self, Error> {
        Self::new_in(sampler, arena.words_mut())
    }

    /// Like [`new`](Self::new), for hosts that size the memory at run time.
    ///
    /// # Errors
    /// If the slice is too short.
    pub fn new_in(sampler: &'s mut Sampler<'m, 'a, L>, words: &'s mut [f32]) -> Result<Self, Error> {
        let futures = Futures::start(sampler.model(), words, K)?;
        Ok(Rollouts { sampler, futures })
    }

    /// Takes every future back to the present of the sampler.
    pub fn restart(&mut self) {
        self.futures.restart();
    }

    /// Number of steps that the futures are ahead.
    pub fn horizon(&self) -> usize {
        self.futures.horizon()
    }

    /// Extends every future by one step, each with a z of its own.
    pub fn advance(&mut self, rng: &mut (impl Rng + ?Sized), feed: FeedMode) {
        self.futures.advance(self.sampler, rng, feed);
    }

    /// The values of one channel, future by future; none before the first step.
    pub fn values(&self, channel: usize) -> impl Iterator<Item = f32> + '_ {
        self.futures.values(self.sampler.model(), channel)
    }

    /// Mean of a channel over the futures; `None` before the first step, or if there is no such channel.
    pub fn mean(&self, channel: usize) -> Option<f32> {
        self.futures.mean(self.sampler.model(), channel)
    }

    /// Standard deviation of a channel over the futures, about their own mean (the root of a sum over K − 1);
    /// 0 for one future.
    pub fn std_dev(&self, channel: usize) -> Option<f32> {
        self.futures.std_dev(self.sampler.model(), channel)
    }

    /// Quantile `q`, from 0 to 1, of a channel over the futures: linear between the sorted values (Hyndman
    /// and Fan 1996, definition 7).
    pub fn quantile(&self, channel: usize, q: f32) -> Option<f32> {
        self.futures.quantile(self.sampler.model(), channel, q)
    }
}
