//! Many sampled futures of one stream, and their statistics.

use rand_core::Rng;

use super::network_inputs::{Inputs, Latents};
use super::sampler::{FeedMode, Sampler};
use super::state::LatentState;
use super::steps::network_step;
use crate::arena::{Arena, copy};
use crate::format::Error;
use crate::moments::at_most;

/// `K` sampled futures of a stream.
///
/// Each [`advance`](Self::advance) extends all of them by one step; mean, standard deviation and quantiles
/// are those of the rows drawn. The sampler lends its scratch and is unchanged afterwards.
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
pub struct Rollouts<'s, 'm, 'a, const K: usize> {
    sampler: &'s mut Sampler<'m, 'a>,
    /// Per future: the layers of the generative network, then the last row.
    futures: &'s mut [f32],
    horizon: usize,
}

impl<'s, 'm, 'a, const K: usize> Rollouts<'s, 'm, 'a, K> {
    /// Starts `K` futures of `sampler`'s stream, in an arena of `K` ×
    /// [`future_words`](crate::LatentModel::future_words).
    ///
    /// # Errors
    /// If the arena is too small.
    pub fn new<const WORDS: usize>(
        sampler: &'s mut Sampler<'m, 'a>,
        arena: &'s mut Arena<WORDS>,
    ) -> Result<Self, Error> {
        Self::new_in(sampler, arena.words_mut())
    }

    /// Like [`new`](Self::new), for hosts that size the memory at run time.
    ///
    /// # Errors
    /// If the slice is too short.
    pub fn new_in(sampler: &'s mut Sampler<'m, 'a>, words: &'s mut [f32]) -> Result<Self, Error> {
        let (needed, found) = (K.saturating_mul(sampler.model.future_words()), words.len());
        let futures = words.get_mut(..needed).ok_or(Error::Arena { needed, found })?;
        let mut rollouts = Rollouts { sampler, futures, horizon: 0 };
        rollouts.restart();
        Ok(rollouts)
    }

    /// Takes every future back to the present of the sampler.
    pub fn restart(&mut self) {
        let words = self.future_words();
        for future in self.futures.chunks_exact_mut(words) {
            copy(future, self.sampler.state.generative);
        }
        self.horizon = 0;
    }

    /// Number of steps that the futures are ahead.
    pub fn horizon(&self) -> usize {
        self.horizon
    }

    /// Extends every future by one step, each with a z of its own.
    pub fn advance(&mut self, rng: &mut (impl Rng + ?Sized), feed: FeedMode) {
        let (words, first) = (self.future_words(), self.horizon == 0);
        let Sampler { model, state } = &mut *self.sampler;
        let network = model.generative();
        // The futures overwrite the last prediction.
        state.predicted = false;
        for future in self.futures.chunks_exact_mut(words) {
            let layers = network.spec().recurrent_words();
            let (recurrent, row) = future.split_at_mut_checked(layers).unwrap_or_default();
            state.draw_latents(rng);
            let LatentState { decoder_input, outputs, scratch, .. } = &mut *state;
            let inputs = if first {
                Inputs::decoder(network, decoder_input, Latents::Moments)
            } else {
                Inputs::row_and_latents(network, row, decoder_input, Latents::Moments)
            };
            network_step(network, recurrent, scratch, inputs, outputs.slices());
            if feed == FeedMode::Draw {
                outputs.draw(model.likelihood(), rng);
            }
            copy(row, outputs.mean);
        }
        self.horizon = self.horizon.saturating_add(1);
    }

    /// The values of one channel, future by future; none before the first step.
    pub fn values(&self, channel: usize) -> impl Iterator<Item = f32> + '_ {
        let word = if self.horizon > 0 && channel < self.sampler.model.channels() {
            self.sampler.model.generative().spec().recurrent_words() + channel
        } else {
            usize::MAX
        };
        self.futures.chunks_exact(self.future_words()).filter_map(move |future| future.get(word).copied())
    }

    /// Mean of a channel over the futures; `None` before the first step, or if there is no such channel.
    pub fn mean(&self, channel: usize) -> Option<f32> {
        self.moments(channel).map(|(mean, _)| mean)
    }

    /// Standard deviation of a channel over the futures, about their own mean (the root of a sum over K − 1);
    /// 0 for one future.
    pub fn std_dev(&self, channel: usize) -> Option<f32> {
        self.moments(channel).map(|(_, std_dev)| std_dev)
    }

    /// Quantile `q`, from 0 to 1, of a channel over the futures: linear between the sorted values (Hyndman
    /// and Fan 1996, definition 7).
    pub fn quantile(&self, channel: usize, q: f32) -> Option<f32> {
        let last = self.values(channel).count().checked_sub(1)?;
        let position = q.clamp(0.0, 1.0) * last as f32;
        let below = position as usize;
        let (low, high) = (self.ranked(channel, below)?, self.ranked(channel, (below + 1).min(last))?);
        Some(low + (high - low) * (position - below as f32))
    }

    /// Mean and standard deviation. Where squares leave the finite range, they are those of smaller values: a
    /// power of two changes no bit of a mantissa.
    fn moments(&self, channel: usize) -> Option<(f32, f32)> {
        let (mean, std_dev) = moments(self.values(channel))?;
        if std_dev.is_finite() {
            return Some((mean, std_dev));
        }
        let (mean, std_dev) = moments(self.values(channel).map(|value| value / LARGE))?;
        Some((mean * LARGE, at_most(std_dev * LARGE, f32::MAX)))
    }

    /// The value of rank `rank`, the smallest being 0. Found by counting: futures are few, and sorting would
    /// need memory.
    fn ranked(&self, channel: usize, rank: usize) -> Option<f32> {
        self.values(channel).find(|value| {
            let (mut below, mut equal) = (0, 0);
            for other in self.values(channel) {
                below += usize::from(other < *value);
                equal += usize::from(other == *value);
            }
            (below..below + equal).contains(&rank)
        })
    }

    /// Words of one future, never 0.
    fn future_words(&self) -> usize {
        self.sampler.model.future_words().max(1)
    }
}

/// 2⁷²: divided by it, even the largest numbers have squares, and sums of squares, inside the finite range.
const LARGE: f32 = 4_722_366_482_869_645_213_696.0;

/// Mean and standard deviation, by Welford's sums (1962).
fn moments(values: impl Iterator<Item = f32>) -> Option<(f32, f32)> {
    let (mut count, mut mean, mut squares) = (0.0_f32, 0.0_f32, 0.0_f32);
    for value in values {
        count += 1.0;
        let before = value - mean;
        mean += before / count;
        squares += before * (value - mean);
    }
    let std_dev = libm::sqrtf(squares / (count - 1.0).max(1.0));
    (count > 0.0).then_some((mean, std_dev))
}
