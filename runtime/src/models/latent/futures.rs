//! Many sampled futures of one stream, and their statistics.

use rand_core::Rng;

use super::model::LatentModel;
use super::network_inputs::{Inputs, Latents};
use super::parts::KnownLatent;
use super::sampler::{FeedMode, Sampler};
use super::state::LatentState;
use super::steps::network_step;
use crate::arena::copy;
use crate::format::Error;
use crate::moments::{Scalar, at_most};

/// Sampled futures without their sampler: [`Rollouts`](crate::Rollouts) whose number is known at run time,
/// and which do not keep the sampler from observing further rows.
///
/// Every call gets the sampler or its model again. They must be those that the futures were started with;
/// others give rows without a meaning.
///
/// ```
/// use quaver::{Arena, FeedMode, Futures, Sampler};
/// use rand_xoshiro::{Xoroshiro128PlusPlus, rand_core::SeedableRng};
///
/// static MODEL: &[u8] = quaver::include_checkpoint!("../../../examples/sampler.qvr");
///
/// let mut arena = Arena::<111>::new();
/// let mut sampler = Sampler::load(MODEL, &mut arena)?;
/// let count = 16; // known at run time
/// let mut words = vec![0.0; count * sampler.model().future_words()];
/// let mut futures = Futures::start(sampler.model(), &mut words, count)?;
/// let mut rng = Xoroshiro128PlusPlus::seed_from_u64(1);
/// for row in [[12.0, 35.0, 4.0], [16.0, f32::NAN, 6.0]] {
///     sampler.observe(&row);
///     futures.restart(); // one step ahead of every row
///     futures.advance(&mut sampler, &mut rng, FeedMode::Draw);
///     println!("{:?} ± {:?}", futures.mean(sampler.model(), 0), futures.std_dev(sampler.model(), 0));
/// }
/// # assert!(futures.std_dev(sampler.model(), 0).is_some_and(|std_dev| std_dev > 0.0));
/// # Ok::<(), quaver::Error>(())
/// ```
#[derive(Debug)]
pub struct Futures<'s> {
    /// Per future: the layers of the generative network, then the last row.
    words: &'s mut [f32],
    horizon: usize,
}

impl<'s> Futures<'s> {
    /// `count` futures that begin at the present of a sampler of this model, in a slice of `count` ×
    /// [`future_words`](LatentModel::future_words).
    ///
    /// # Errors
    /// If the slice is too short.
    pub fn start(
        model: &LatentModel<'_, impl KnownLatent>,
        words: &'s mut [f32],
        count: usize,
    ) -> Result<Self, Error> {
        let (needed, found) = (count.saturating_mul(model.future_words()), words.len());
        let words = words.get_mut(..needed).ok_or(Error::Arena { needed, found })?;
        Ok(Futures { words, horizon: 0 })
    }

    /// Takes every future back: the next step is one from the present of the sampler.
    pub fn restart(&mut self) {
        self.horizon = 0;
    }

    /// Number of steps that the futures are ahead.
    pub fn horizon(&self) -> usize {
        self.horizon
    }

    /// Extends every future by one step, each with a z of its own. The sampler lends its scratch; its stream
    /// is unchanged afterwards.
    pub fn advance(
        &mut self,
        sampler: &mut Sampler<'_, '_, impl KnownLatent>,
        rng: &mut (impl Rng + ?Sized),
        feed: FeedMode,
    ) {
        let (words, first) = (future_words(sampler.model()), self.horizon == 0);
        let (model, state) = sampler.parts();
        let network = model.held.generative();
        // The futures overwrite the last prediction.
        state.predicted = false;
        for future in self.words.chunks_exact_mut(words) {
            let layers = network.spec().recurrent_words();
            let (recurrent, row) = future.split_at_mut_checked(layers).unwrap_or_default();
            if first {
                copy(recurrent, state.generative);
            }
            state.draw_latents(rng);
            let LatentState { decoder_input, outputs, scratch, .. } = &mut *state;
            let inputs = if first {
                Inputs::decoder(&model.held, decoder_input, Latents::Moments)
            } else {
                Inputs::row_and_latents(&model.held, row, decoder_input, Latents::Moments)
            };
            network_step(&network.held, recurrent, scratch, inputs, outputs.slices());
            if feed == FeedMode::Draw {
                outputs.draw(model.likelihood(), rng);
            }
            copy(row, outputs.mean);
        }
        self.horizon = self.horizon.saturating_add(1);
    }

    /// The values of one channel, future by future; none before the first step.
    pub fn values(
        &self,
        model: &LatentModel<'_, impl KnownLatent>,
        channel: usize,
    ) -> impl Iterator<Item = f32> + '_ {
        let word = if self.horizon > 0 && channel < model.channels() {
            model.held.generative().spec().recurrent_words() + channel
        } else {
            usize::MAX
        };
        self.words.chunks_exact(future_words(model)).filter_map(move |future| future.get(word).copied())
    }

    /// Mean of a channel over the futures; `None` before the first step, or if there is no such channel.
    pub fn mean(&self, model: &LatentModel<'_, impl KnownLatent>, channel: usize) -> Option<f32> {
        self.moments(model, channel).map(|(mean, _)| mean)
    }

    /// Standard deviation of a channel over the futures, about their own mean (the root of a sum over one
    /// less than their number); 0 for one future.
    pub fn std_dev(&self, model: &LatentModel<'_, impl KnownLatent>, channel: usize) -> Option<f32> {
        self.moments(model, channel).map(|(_, std_dev)| std_dev)
    }

    /// Quantile `q`, from 0 to 1, of a channel over the futures: linear between the sorted values (Hyndman
    /// and Fan 1996, definition 7).
    pub fn quantile(&self, model: &LatentModel<'_, impl KnownLatent>, channel: usize, q: f32) -> Option<f32> {
        let last = self.values(model, channel).count().checked_sub(1)?;
        let position = q.clamp(0.0, 1.0) * last as f32;
        let below = position as usize;
        let ranked = |rank| self.ranked(model, channel, rank);
        let (low, high) = (ranked(below)?, ranked((below + 1).min(last))?);
        Some(low + (high - low) * (position - below as f32))
    }

    /// Mean and standard deviation. Where squares leave the finite range, they are those of smaller values: a
    /// power of two changes no bit of a mantissa.
    fn moments(&self, model: &LatentModel<'_, impl KnownLatent>, channel: usize) -> Option<(f32, f32)> {
        let (mean, std_dev) = moments(self.values(model, channel))?;
        if std_dev.is_finite() {
            return Some((mean, std_dev));
        }
        let (mean, std_dev) = moments(self.values(model, channel).map(|value| value / LARGE))?;
        Some((mean * LARGE, at_most(std_dev * LARGE, f32::MAX)))
    }

    /// The value of rank `rank`, the smallest being 0. Found by counting: futures are few, and sorting would
    /// need memory.
    fn ranked(&self, model: &LatentModel<'_, impl KnownLatent>, channel: usize, rank: usize) -> Option<f32> {
        self.values(model, channel).find(|value| {
            let (mut below, mut equal) = (0, 0);
            for other in self.values(model, channel) {
                below += usize::from(other < *value);
                equal += usize::from(other == *value);
            }
            (below..below + equal).contains(&rank)
        })
    }
}

/// Words of one future, never 0.
fn future_words(model: &LatentModel<'_, impl KnownLatent>) -> usize {
    model.future_words().max(1)
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
    let std_dev = Scalar::sqrt(squares / (count - 1.0).max(1.0));
    (count > 0.0).then_some((mean, std_dev))
}
