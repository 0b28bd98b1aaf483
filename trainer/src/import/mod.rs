//! Networks that were trained elsewhere, as runs.
//!
//! [`safetensors`] reads the tensors of a file, `pytorch.rs` finds the network in them, and `fold.rs` writes
//! it in the order and the units of Quaver's parameters. The result is the state of a run before its first
//! epoch, whose noise variance is fitted to the validation data: a network that was trained to predict means
//! has none.

mod fold;
mod pytorch;
pub mod safetensors;

#[cfg(test)]
mod tests;

use anyhow::{Result, bail, ensure};
use quaver::checkpoint::{Likelihood, ModelSpec, MomentForm};

use crate::config::{CellName, Config, WeightsConfig};
use crate::data::Dataset;
use crate::fit::{Architecture, RunState, first_state, fit_noise};

pub use safetensors::{NamedWeights, WeightTensor};

/// How weights become a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportOptions {
    /// Whether every map must have biases; without, those that have none get zeros.
    pub biases: bool,
}

impl Default for ImportOptions {
    fn default() -> Self {
        ImportOptions { biases: true }
    }
}

/// The state of a run whose network is the one in `weights`, as PyTorch names and orders them: `nn.RNN`,
/// `nn.LSTM` or `nn.GRU`, stacked, with a linear head. Means of its predictions are those of that network,
/// its noise is fitted to the validation data.
///
/// # Errors
/// When the config describes what PyTorch's modules cannot be, when a tensor is missing, left over or of
/// another shape, or when the data do not suit the config; the message names the key or the tensor.
pub fn imported_state(
    weights: NamedWeights,
    config: &Config,
    data: &Dataset,
    options: ImportOptions,
) -> Result<RunState> {
    check_config(config)?;
    let spec = ModelSpec::from_config(config, data)?;
    let network = pytorch::network(weights, &spec, options.biases)?;
    if !spec.likelihood.is_normal() {
        ensure!(
            network.targets.is_identity(),
            "`target_mean` and `target_std` belong to targets of a Gaussian likelihood: remove them, or set \
             model.likelihood = \"gaussian\""
        );
    }
    let scaling = spec.scaling(config, data)?;
    let mut parameters = spec.init_parameters(config, data, &scaling);
    fold::fold(&network, &spec, &scaling, &mut parameters)?;
    let mut state = first_state(spec, parameters, scaling, config, data);
    fit_noise(&mut state, config, data);
    Ok(state)
}

/// Refuses what a module of PyTorch's cannot be.
fn check_config(config: &Config) -> Result<()> {
    let kinds = [
        ("latent", config.latent.is_some()),
        ("reduce", config.reduce.is_some()),
        ("data.format", config.data.token_kind().is_some()),
        ("data.targets", config.data.is_labelled()),
    ];
    if let Some((key, _)) = kinds.iter().find(|(_, is_set)| *is_set) {
        bail!("`{key}`: only predictors of numbers are imported");
    }
    ensure!(config.model.linear == 0, "`model.linear`: an imported network has no linear part; remove it");
    let cells = [CellName::Tanh, CellName::Relu, CellName::Lstm, CellName::Gru];
    ensure!(
        cells.contains(&config.model.cell),
        "`model.cell` must be \"lstm\", \"gru\", or \"tanh\" or \"relu\" for nn.RNN: PyTorch has no other recurrent module"
    );
    ensure!(
        config.model.likelihood != Likelihood::Heteroscedastic,
        "`model.likelihood` must not be \"heteroscedastic\": heads that predict variances are not imported; \"gaussian\" \
         fits one variance per output"
    );
    ensure!(
        !config.model.residual,
        "`model.residual` must be false: a module's outputs are not added to its inputs"
    );
    ensure!(
        config.model.linear == 0,
        "`model.linear` must be 0: a module's outputs are not added to a linear part"
    );
    ensure!(
        config.model.moments == MomentForm::Accurate,
        "`model.moments` must be \"accurate\": the other form is not exact where there is no variance"
    );
    ensure!(
        config.weights == WeightsConfig::default(),
        "`[weights]` must be left out: imported weights are points, without variances"
    );
    ensure!(config.init.from.is_none(), "`init.from` and imported weights exclude each other: remove it");
    Ok(())
}
