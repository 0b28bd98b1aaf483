//! The network on the host: its parameters, the recurrence and its gradient on plain slices, and the whole
//! network on Burn.
//!
//! A batch passes through this module from the outside in: [`net`] adds noise ([`noise_layer`]) and computes
//! pre-activations with Burn, [`host_node`] passes them to [`recurrence`], whose blocks of sequences run in
//! [`parallel`] on the matrix products of [`product`]. Tokens select columns of weights ([`token_net`]).
//! Parameters are named lists of numbers ([`parameters`]); they become tensors ([`tensors`]) for the duration
//! of one step only, so that saving, resuming and exporting are independent of Burn.

pub(crate) mod activation_moments;
pub mod bidirectional;
pub mod embedding_tensors;
mod fast_normals;
mod gather;
pub mod host_node;
mod init;
mod layer_function;
pub(crate) mod linear;
pub mod method;
pub mod net;
pub mod noise_layer;
pub(crate) mod observation_head;
pub(crate) mod output_factors;
pub mod parallel;
pub mod parameters;
pub mod posterior_tensors;
pub mod product;
pub mod pruning;
pub mod recurrence;
pub mod sampled_network;
mod softplus_var;
mod spec;
pub mod tensors;
pub mod token_net;
pub(crate) mod vectorised;
pub mod weight_posterior;
pub mod weight_sample;
pub mod weight_spread;

#[cfg(test)]
mod gru_tests;
#[cfg(test)]
mod net_tests;

pub use method::{TrainingMethod, WeightNoise};
pub use net::{BatchPrediction, predict};
pub use parameters::{NamedTensor, Parameters};
pub(crate) use parameters::{layer_inputs, maps};
pub use pruning::{PruningCriterion, PruningOrder, PruningUnit, WeightsLeft, weights_left};
pub use sampled_network::SampledNetwork;
pub use spec::{model_spec, predictor_spec};
pub use weight_posterior::{BayesByBackprop, ScaleMixture, WeightPosterior, WeightPrior};
pub use weight_sample::{SharpenedSample, WeightSample};

/// Every cell there is, read off its encoding: the tests that loop over these cannot miss a new one.
#[cfg(test)]
pub(crate) fn test_cells() -> Vec<quaver::checkpoint::CellKind> {
    // From 128 on a byte would be the first of a longer number.
    let codes = (0..128).flat_map(|kind| (0..128).map(move |activation| [kind, activation]));
    let mut cells: Vec<_> = codes.filter_map(|code: [u8; 2]| postcard::from_bytes(&code).ok()).collect();
    // Cells without an activation function of their own do not read the second byte.
    cells.dedup();
    cells
}

/// A noiseless Gaussian network for tests.
#[cfg(test)]
pub(crate) fn test_spec(
    inputs: u16,
    outputs: u16,
    layers: &[(quaver::checkpoint::CellKind, u16)],
) -> quaver::checkpoint::ModelSpec {
    use quaver::checkpoint::*;
    let layer = |&(cell, units): &(CellKind, u16)| LayerSpec {
        cell,
        units,
        input_noise: UnitNoise::None,
        recurrent_noise: UnitNoise::None,
        weight_variance: false,
        variance_scale: 1.0,
    };
    ModelSpec {
        inputs,
        outputs,
        target: Target::Columns,
        likelihood: Likelihood::Gaussian,
        moment_form: MomentForm::Accurate,
        weight_format: WeightFormat::F32,
        layout: Layout::Float,
        layers: layers.iter().map(layer).collect(),
        extensions: Extensions::default(),
        output: OutputSpec {
            mode: OutputMode::Propagating,
            noise: UnitNoise::None,
            weight_variance: false,
            variance_scale: 1.0,
        },
    }
}
