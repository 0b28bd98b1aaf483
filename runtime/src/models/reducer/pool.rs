//! The pool of a stream in the caller's memory: one for all rows, or a ring of sub-pools.

use core::iter::repeat_n;
use core::ops::RangeInclusive;

use super::model::ReducerModel;
use crate::arena::ArenaSplitter;
use crate::limits::{EMBEDDING_LIMIT, UNIT_LIMIT};
use crate::moments::{Moments, at_most};
use crate::pooling::{Average, Maximum, Pool, SoftmaxAverage};
use crate::spec::{Pooling, ReducerSpec, Window};

/// Largest weight of a pool: f32 counts every row up to here. Beyond, the oldest rows fade.
const WEIGHT_LIMIT: f32 = 16_777_216.0;

/// Words of the state of one component.
pub(super) const fn component_words(pooling: Pooling) -> usize {
    match pooling {
        Pooling::Mean | Pooling::Sum => 3,
        Pooling::Max => 2,
        Pooling::Stochastic => 9,
    }
}

/// Number of sub-pools.
const fn pool_count(window: Window) -> usize {
    match window {
        Window::Sequence | Window::Forgetting { .. } => 1,
        Window::Ring { pools, .. } => pools as usize,
    }
}

/// Words of a pool: the place of the newest sub-pool and its rows, the weight of each, and their numbers.
pub(super) const fn pool_words(spec: &ReducerSpec, dims: usize) -> usize {
    2 + pool_count(spec.window) * (1 + dims * component_words(spec.pooling))
}

/// Evaluates an expression with `$Pool` naming the operator's type and `$WORDS` its number of words.
macro_rules! dispatch {
    ($pooling:expr, $Pool:ident, $WORDS:ident => $result:expr) => {
        match $pooling {
            Pooling::Mean | Pooling::Sum => {
                type $Pool = Average<f32>;
                const $WORDS: usize = component_words(Pooling::Mean);
                $result
            }
            Pooling::Max => {
                type $Pool = Maximum<f32>;
                const $WORDS: usize = component_words(Pooling::Max);
                $result
            }
            Pooling::Stochastic => {
                type $Pool = SoftmaxAverage<f32>;
                const $WORDS: usize = component_words(Pooling::Stochastic);
                $result
            }
        }
    };
}

/// The pool of a stream.
#[derive(Debug)]
pub(super) struct StreamPool<'a> {
    /// Place of the newest sub-pool, and the number of its rows.
    position: &'a mut [f32],
    /// Weight of each sub-pool: 0 while it is empty.
    weights: &'a mut [f32],
    /// Sub-pool after sub-pool, component after component.
    numbers: &'a mut [f32],
}

/// What all components of a step have in common.
struct Update {
    /// Whether the sub-pool is empty.
    first: bool,
    /// Share of the newest row in the weight.
    share: f32,
    keep: [f32; 2],
    correlation: f32,
}

impl<'a> StreamPool<'a> {
    /// Takes [`pool_words`].
    pub(super) fn carve(words: &mut ArenaSplitter<'a>, model: &ReducerModel<'_>) -> Option<Self> {
        let pools = pool_count(model.spec().window);
        let count = pools * model.dimensions() * component_words(model.spec().pooling);
        Some(StreamPool {
            position: words.carve(2)?,
            weights: words.carve(pools)?,
            numbers: words.carve(count)?,
        })
    }

    /// Forgets all rows.
    pub(super) fn clear(&mut self) {
        [&mut *self.position, self.weights, self.numbers].into_iter().for_each(|words| words.fill(0.0));
    }

    /// Whether no row has been added.
    pub(super) fn is_empty(&self) -> bool {
        self.weights.iter().all(|weight| *weight == 0.0)
    }

    /// Place of the newest sub-pool.
    fn newest(&self) -> usize {
        self.position.first().map_or(0, |place| *place as usize)
    }

    /// Moves on to the next sub-pool if the newest one is full; counts the row.
    fn turn(&mut self, window: Window) {
        let pools = self.weights.len();
        let (Window::Ring { rows: limit, .. }, [place, rows]) = (window, &mut *self.position) else { return };
        if *rows >= f32::from(limit) {
            let next = *place as usize + 1;
            let next = if next < pools { next } else { 0 };
            (*place, *rows) = (next as f32, 0.0);
            if let Some(weight) = self.weights.get_mut(next) {
                *weight = 0.0;
            }
        }
        *rows += 1.0;
    }

    /// Adds the moments of a row's components.
    pub(super) fn add(&mut self, model: &ReducerModel<'_>, mean: &[f32], var: &[f32]) {
        let spec = model.spec();
        self.turn(spec.window);
        let place = self.newest();
        let Some(weight) = self.weights.get_mut(place) else { return };
        let before = *weight * model.keep[0];
        let after = at_most(before + 1.0, WEIGHT_LIMIT);
        let update = Update {
            first: *weight == 0.0,
            share: 1.0 / after,
            keep: model.keep,
            correlation: spec.correlation,
        };
        *weight = after;
        let count = model.dimensions() * component_words(spec.pooling);
        let numbers = self.numbers.get_mut(place * count..).unwrap_or_default();
        dispatch!(spec.pooling, P, WORDS => update.add::<P, WORDS>(numbers, mean, var));
    }

    /// Writes mean and variance of each component of the embedding.
    pub(super) fn read(&self, model: &ReducerModel<'_>, mean: &mut [f32], var: &mut [f32]) {
        let pooling = model.spec().pooling;
        let total = self.weights.iter().fold(0.0, |sum, weight| sum + *weight);
        let factor = if pooling == Pooling::Sum { total } else { 1.0 };
        for (component, (mean, var)) in mean.iter_mut().zip(var).enumerate() {
            let [m, v] = dispatch!(pooling, P, WORDS => self.component::<P, WORDS>(model, component));
            let m = at_most(factor * m, EMBEDDING_LIMIT);
            *mean = if m > -EMBEDDING_LIMIT { m } else { -EMBEDDING_LIMIT };
            *var = at_most(factor * factor * v, EMBEDDING_LIMIT * EMBEDDING_LIMIT);
        }
    }

    /// Moments of a component over all sub-pools, the oldest first.
    fn component<P: Pool<f32, WORDS>, const WORDS: usize>(
        &self,
        model: &ReducerModel<'_>,
        component: usize,
    ) -> [f32; 2] {
        let (pools, correlation) = (self.weights.len(), model.spec().correlation);
        let numbers = self.numbers.as_chunks::<WORDS>().0;
        let (mut merged, mut total) = (None::<P>, 0.0);
        let newest = self.newest();
        for place in (newest + 1..pools).chain(0..=newest) {
            let (Some(weight), Some(words)) =
                (self.weights.get(place), numbers.get(place * model.dimensions() + component))
            else {
                continue;
            };
            if *weight > 0.0 {
                let pool = P::of_words(*words);
                total += *weight;
                let share = *weight / total;
                merged = Some(merged.map_or(pool, |merged| merged.merged(pool, share, correlation)));
            }
        }
        merged.map_or([0.0; 2], |merged| merged.moments(correlation))
    }

    /// The numbers that are saved.
    pub(super) fn saved(&self) -> impl Iterator<Item = f32> + '_ {
        [&*self.position, self.weights, self.numbers].into_iter().flatten().copied()
    }

    /// Takes over saved numbers.
    pub(super) fn restore(&mut self, saved: &[f32]) {
        let words = [&mut *self.position, self.weights, self.numbers].into_iter().flatten();
        words.zip(saved).for_each(|(word, value)| *word = *value);
    }
}

impl Update {
    fn add<P: Pool<f32, WORDS>, const WORDS: usize>(&self, numbers: &mut [f32], mean: &[f32], var: &[f32]) {
        let [keep, log_keep] = self.keep;
        let values = mean.iter().zip(var);
        for (words, (mean, var)) in numbers.as_chunks_mut::<WORDS>().0.iter_mut().zip(values) {
            let Moments { mean, var } = Moments { mean: *mean, var: *var }.limited();
            let newest = P::of(mean, var);
            let pool = if self.first {
                newest
            } else {
                let before = P::of_words(*words);
                let before = if keep < 1.0 { before.faded(keep, log_keep, newest) } else { before };
                before.merged(newest, self.share, self.correlation)
            };
            *words = pool.words();
        }
    }
}

/// Limits of the numbers of a pool, in order.
pub(super) fn pool_limits(model: &ReducerModel<'_>) -> impl Iterator<Item = RangeInclusive<f32>> {
    let spec = *model.spec();
    let pools = pool_count(spec.window);
    let rows = match spec.window {
        Window::Sequence | Window::Forgetting { .. } => 0.0,
        Window::Ring { rows, .. } => f32::from(rows),
    };
    let position = [0.0..=(pools as f32 - 1.0), 0.0..=rows];
    let component = move || component_limits(spec.pooling);
    let numbers = (0..pools * model.dimensions()).flat_map(move |_| component());
    position.into_iter().chain(repeat_n(0.0..=WEIGHT_LIMIT, pools)).chain(numbers)
}

/// The first of the two numbers of the position that is no whole number, though within its limits. With half
/// a row more than a stream can count, a sub-pool would take one row too many.
pub(super) fn fractional_position(saved: impl Iterator<Item = f32>) -> Option<usize> {
    saved.take(2).position(|number| number as u32 as f32 != number)
}

/// Limits of the state of a component, which follow from those of the moments that it is made of, with room
/// for rounding.
fn component_limits(pooling: Pooling) -> impl Iterator<Item = RangeInclusive<f32>> {
    const M: f32 = 1.01 * UNIT_LIMIT;
    const V: f32 = M * M;
    /// The maximum of 2²⁴ values of standard deviation σ is on average less than 6σ above the largest mean.
    const MAX: f32 = 10.0 * M;
    let limits: &'static [(f32, f32)] = match pooling {
        Pooling::Mean | Pooling::Sum => &[(-M, M), (0.0, V), (0.0, M)],
        Pooling::Max => &[(-MAX, MAX), (0.0, V)],
        Pooling::Stochastic => &[
            (-M, M),
            (-M, M),
            (0.0, V),
            (-V * M, V * M),
            (0.0, M),
            (-V, V),
            (0.0, V),
            (-V * M, V * M),
            (0.0, V * V),
        ],
    };
    limits.iter().map(|(low, high)| *low..=*high)
}
