//! What a step costs, known before it runs.

use super::latent::{KnownLatent, LatentModel};
use super::reducer::ReducerModel;
use crate::format::{AffineShape, Error};
use crate::spec::{ClassifierSpec, ModelSpec, PoolOver, Window};

impl ModelSpec {
    /// Multiply-accumulates of the most expensive step: whatever the row, it takes no more.
    ///
    /// Counts every weight for its mean, for its variance where variances are propagated, and once (quantized
    /// layouts) or twice (`float`) more where weights have variances of their own; with an input density also
    /// the imputation of a row of which any channels are missing, n³/3 + 5n² for n inputs; with a linear part
    /// each of its weights for mean and variance. Everything else in a step is proportional to rows of
    /// weights and channels, of which there are fewer. A core's time per multiply-accumulate follows from one
    /// model that was timed.
    pub fn step_cost(&self) -> u64 {
        let maps = self.shapes().map(map_cost).fold(0, u64::saturating_add);
        let inputs = u64::from(self.inputs);
        let imputation = self.extensions.density.map_or(0, |_| inputs * inputs * (inputs + 15) / 3);
        let linear = 2 * self.linear_values() as u64 * u64::from(self.outputs);
        maps.saturating_add(imputation).saturating_add(linear)
    }
}

fn map_cost(shape: AffineShape) -> u64 {
    let sums = match (shape.propagates, shape.weight_variance) {
        (false, _) => 1,
        (true, false) => 2,
        (true, true) if shape.layout.is_quantized() => 3,
        (true, true) => 4,
    };
    sums * shape.rows as u64 * shape.cols as u64
}

impl<K: KnownLatent> LatentModel<'_, K> {
    /// Multiply-accumulates of the most expensive step, see [`ModelSpec::step_cost`]: the recognition network
    /// once, and the generative network as often as the forecast asks for. A
    /// [`Rollouts`](crate::Rollouts) of `K` futures takes `K` times those of the generative network.
    pub fn step_cost(&self) -> u64 {
        let generative = self.held.generative().spec().step_cost();
        let passes = generative.saturating_mul(self.spec().generative_passes());
        self.held.recognition().spec().step_cost().saturating_add(passes)
    }
}

impl ReducerModel<'_> {
    /// Multiply-accumulates of the most expensive step, see [`ModelSpec::step_cost`]: the network, without
    /// its output map where units are pooled, and each number of the pool once. A
    /// [classification](Self::classify_cost) is extra.
    pub fn step_cost(&self) -> u64 {
        let network = self.network().spec();
        let unused = match self.spec().over {
            PoolOver::Units => map_cost(network.output_shape()),
            PoolOver::Outputs => 0,
        };
        (network.step_cost() - unused).saturating_add(self.component_cost())
    }

    /// Multiply-accumulates of an embedding and its classification: each number of each sub-pool, and two for
    /// each component of each prototype or class. Prototypes that were taught are extra.
    pub fn classify_cost(&self) -> u64 {
        let pools = match self.spec().window {
            Window::Sequence | Window::Forgetting { .. } => 1,
            Window::Ring { pools, .. } => pools.into(),
        };
        let rows = match self.spec().classifier {
            ClassifierSpec::None => 0,
            ClassifierSpec::Nearest { prototypes, .. } => prototypes.into(),
            ClassifierSpec::Linear { centres, .. } => (1 + u64::from(centres)) * self.classes() as u64,
        };
        pools * self.component_cost() + 2 * rows * self.dimensions() as u64
    }
}

/// An error if a step takes more than a budget.
pub(super) fn check_budget(needed: u64, allowed: u64) -> Result<(), Error> {
    if needed <= allowed { Ok(()) } else { Err(Error::Budget { needed, allowed }) }
}
