//! State of one stream of a reducer, and its steps.

use super::model::{ReducerModel, classifier_words};
use super::pool::StreamPool;
use crate::arena::ArenaSplitter;
use crate::format::Error;
use crate::models::state::State;

/// Memory of a stream.
#[derive(Debug)]
pub(super) struct ReducerState<'a> {
    pub(super) network: State<'a>,
    pub(super) pool: StreamPool<'a>,
    /// Moments of the embedding; while a row is read, of its units. Not part of what a stream remembers, as
    /// everything below.
    pub(super) mean: &'a mut [f32],
    pub(super) var: &'a mut [f32],
    /// Precision of each component, or variance of each logit.
    pub(super) scratch: &'a mut [f32],
    pub(super) probabilities: &'a mut [f32],
}

impl<'a> ReducerState<'a> {
    /// Carves up a caller's memory; its contents stay as they are.
    pub(super) fn carve(model: &ReducerModel<'_>, words: &'a mut [f32]) -> Result<Self, Error> {
        let too_small = Error::Arena { needed: model.arena_words(), found: words.len() };
        let network_words = model.network().spec().arena_words();
        let (network, rest) = words.split_at_mut_checked(network_words).ok_or(too_small)?;
        let network = State::carve(model.network().spec().memory(), network)?;
        let mut words = ArenaSplitter::new(rest);
        let dims = model.dimensions();
        let [scratch, classes] = classifier_words(model.spec(), dims);
        let state = || {
            Some(ReducerState {
                network,
                pool: StreamPool::carve(&mut words, model)?,
                mean: words.carve(dims)?,
                var: words.carve(dims)?,
                scratch: words.carve(scratch)?,
                probabilities: words.carve(classes)?,
            })
        };
        state().ok_or(too_small)
    }
}

impl ReducerModel<'_> {
    /// Reads a row and adds it to the pool.
    pub(super) fn step(&self, state: &mut ReducerState<'_>, mean: &[f32], var: &[f32]) {
        let ReducerState { network, pool, mean: means, var: vars, .. } = state;
        self.network().step_pooled(network, [mean, var], self.spec().over, [means, vars]);
        pool.add(self, means, vars);
    }

    /// Writes the moments of the embedding; `false` before the first row.
    pub(super) fn embed(&self, state: &mut ReducerState<'_>) -> bool {
        state.pool.read(self, state.mean, state.var);
        !state.pool.is_empty()
    }
}
