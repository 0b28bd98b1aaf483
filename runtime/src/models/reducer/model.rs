//! A loaded reducer, its sizes and costs.

use super::pool::{component_words, pool_words};
use super::state::ReducerState;
use crate::backend::NetworkMemory;
use crate::checkpoint::{ClassifierNumbers, ReducerCheckpoint, line};
use crate::format::{Error, Recheck};
use crate::models::Model;
use crate::models::cost::check_budget;
use crate::pooling::log_keep;
use crate::spec::{ClassifierSpec, PoolOver, ReducerSpec, Window};

/// A loaded reducer: network, prototypes and class names stay in flash.
///
/// A [`Reducer`](crate::Reducer) is such a model with one stream; this type has the sizes that it needs.
#[derive(Clone, Debug)]
pub struct ReducerModel<'m> {
    spec: ReducerSpec,
    network: Model<'m>,
    dimensions: usize,
    /// One name per line.
    class_names: &'m [u8],
    /// The numbers of the classifier.
    pub(super) numbers: ClassifierNumbers<'m>,
    recheck: Recheck<'m>,
    crc: u32,
    /// What the weight of a pool is multiplied by from row to row, and its logarithm.
    pub(super) keep: [f32; 2],
}

impl<'m> ReducerModel<'m> {
    /// Checks the bytes of a checkpoint.
    ///
    /// # Errors
    /// Names the part and the field at fault; see [`Error`].
    #[inline(never)]
    pub fn load(bytes: &'m [u8]) -> Result<Self, Error> {
        let checkpoint = ReducerCheckpoint::read(bytes)?;
        let keep = match checkpoint.spec().window {
            Window::Sequence | Window::Ring { .. } => 1.0,
            Window::Forgetting { rows } => 1.0 - 1.0 / rows,
        };
        Ok(ReducerModel {
            spec: *checkpoint.spec(),
            dimensions: checkpoint.dimensions(),
            class_names: checkpoint.header().class_names,
            numbers: checkpoint.numbers(),
            recheck: checkpoint.recheck(),
            crc: checkpoint.crc(),
            network: Model::new(checkpoint.into_network()),
            keep: [keep, log_keep(keep)],
        })
    }

    /// Like [`load`](Self::load), for models that are not known when the program is made: refuses one whose
    /// step takes more than `budget` multiply-accumulates ([`step_cost`](Self::step_cost)).
    ///
    /// # Errors
    /// As [`load`](Self::load), and [`Error::Budget`].
    pub fn load_within(bytes: &'m [u8], budget: u64) -> Result<Self, Error> {
        let model = Self::load(bytes)?;
        check_budget(model.step_cost(), budget)?;
        Ok(model)
    }

    /// Pooling and classifier.
    pub fn spec(&self) -> &ReducerSpec {
        &self.spec
    }

    /// The network that reads the rows.
    pub fn network(&self) -> &Model<'m> {
        &self.network
    }

    /// Components of an embedding.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Classes of the checkpoint.
    pub fn classes(&self) -> usize {
        self.spec().classes.into()
    }

    /// Name of a class; `None` for a checkpoint without names.
    pub fn class_name(&self, class: usize) -> Option<&'m str> {
        line(self.class_names, class)
    }

    /// Whether steps run in the kernels in assembler of the target core; see [`Model::is_accelerated`].
    pub fn is_accelerated(&self) -> bool {
        self.network.is_accelerated()
    }

    /// A second look at the bytes, in case the flash has changed since they were loaded.
    pub fn recheck(&self) -> Recheck<'m> {
        self.recheck.clone()
    }

    /// The checksum of the checkpoint: identifies exactly this model.
    pub fn crc(&self) -> u32 {
        self.crc
    }

    /// Four-byte words of RAM that one stream of this model needs: the `WORDS` of its
    /// [`Arena`](crate::Arena).
    #[inline(never)]
    pub fn arena_words(&self) -> usize {
        reducer_words(self.spec(), self.network.spec().memory())
    }

    /// Numbers of one sub-pool.
    pub(in crate::models) fn component_cost(&self) -> u64 {
        (self.dimensions * component_words(self.spec().pooling)) as u64
    }

    /// Words of the pool.
    pub(super) fn pool_words(&self) -> usize {
        pool_words(self.spec(), self.dimensions)
    }

    /// Numbers in a saved stream: the network's and those of the pool.
    pub fn saved_words(&self) -> usize {
        self.network.spec().saved_words() + self.pool_words()
    }

    /// Carves up a caller's memory and begins a sequence in it.
    #[inline(never)]
    pub(super) fn start<'a>(&self, words: &'a mut [f32]) -> Result<ReducerState<'a>, Error> {
        let mut state = ReducerState::carve(self, words)?;
        self.reset(&mut state);
        Ok(state)
    }

    /// Forgets everything seen.
    pub(super) fn reset(&self, state: &mut ReducerState<'_>) {
        self.network.reset(&mut state.network);
        state.pool.clear();
    }
}

/// Words of a stream: the network's, the pool's, the embedding's moments, and what a classification needs.
pub(in crate::models) const fn reducer_words(spec: &ReducerSpec, network: NetworkMemory) -> usize {
    let dims = match spec.over {
        PoolOver::Units => network.units,
        PoolOver::Outputs => network.outputs,
    };
    let [lists, classes] = classifier_words(spec, dims);
    network.arena_words() + pool_words(spec, dims) + 2 * dims + lists + classes
}

/// Words of scratch for a classification, and of the probabilities.
pub(super) const fn classifier_words(spec: &ReducerSpec, dims: usize) -> [usize; 2] {
    let classes = spec.classes as usize;
    match spec.classifier {
        ClassifierSpec::None => [0, 0],
        // Precision of each component.
        ClassifierSpec::Nearest { .. } => [dims, classes],
        // Variance of each logit.
        ClassifierSpec::Linear { .. } => [classes, classes],
    }
}
