//! Pruned networks on validation data: what each share of removed weights costs.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use quaver::checkpoint::ModelSpec;
use serde::Serialize;

use super::calibration::calibration_error;
use super::scores::scores;
use crate::config::Config;
use crate::data::Dataset;
use crate::fit::{Architecture, RunState, evaluated_state, prune_state};
use crate::nn::{PruningOrder, WeightsLeft, weights_left};
use crate::prediction::predict_by_network;
use crate::text::{TokenModel, token_nlls};

/// A network on validation data after pruning.
#[derive(Clone, Debug, Serialize)]
pub struct PruningPoint {
    /// Share of units that were removed: weights, or blocks of them.
    pub removed: f64,
    /// Units that are left.
    pub units_left: usize,
    /// Weights that are left, and all of them.
    pub weights: WeightsLeft,
    /// How well it predicts the validation data.
    #[serde(flatten)]
    pub scores: PruningScores,
}

/// How well a network predicts validation data.
#[derive(Clone, Debug, Serialize)]
pub struct PruningScores {
    /// Negative log-likelihood in nats per time step, with densities in raw units; of text per token.
    pub nll: f64,
    /// Coverage of each central interval, by its percentage; empty unless outputs are normal.
    pub coverage: BTreeMap<String, f64>,
    /// Mean distance of observed from promised probabilities; none for text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration_error: Option<f64>,
}

/// A kind of model that can be pruned.
pub trait PrunableModel: Architecture {
    /// The network whose maps are pruned.
    fn network(&self) -> &ModelSpec;

    /// Its scores on the validation data.
    ///
    /// # Errors
    /// If all targets are missing.
    fn validation_scores(state: &RunState<Self>, data: &Dataset) -> Result<PruningScores>;
}

impl PrunableModel for ModelSpec {
    fn network(&self) -> &ModelSpec {
        self
    }

    fn validation_scores(state: &RunState, data: &Dataset) -> Result<PruningScores> {
        let RunState { spec, parameters, scaling, target_names, .. } = state;
        let predictions = predict_by_network(spec, parameters, scaling, &data.valid);
        let found = scores(spec.likelihood, target_names, &data.valid, &predictions);
        Ok(PruningScores {
            nll: found.nll,
            calibration_error: calibration_error(&found.uncertainty.calibration),
            coverage: found.uncertainty.coverage,
        })
    }
}

impl PrunableModel for TokenModel {
    fn network(&self) -> &ModelSpec {
        &self.network
    }

    fn validation_scores(state: &RunState<Self>, data: &Dataset) -> Result<PruningScores> {
        let nll = token_nlls(&state.spec, &state.parameters, &data.valid);
        let nll = nll.context("data.valid: there are no tokens to predict")?;
        Ok(PruningScores { nll, coverage: BTreeMap::new(), calibration_error: None })
    }
}

/// A trained network with each of these shares of its units removed, without further training; `on_point` is
/// called after each.
///
/// # Errors
/// If all validation targets are missing.
pub fn pruning_curve<A: PrunableModel>(
    trained: &RunState<A>,
    order: &PruningOrder,
    shares: &[f64],
    (config, data): (&Config, &Dataset),
    mut on_point: impl FnMut(),
) -> Result<Vec<PruningPoint>> {
    let point = |removed: &f64| {
        let state = prune_state(trained, order, 1.0 - removed, config);
        let point = pruning_point(&evaluated_state(&state, config, data), order, *removed, data);
        on_point();
        point
    };
    shares.iter().map(point).collect()
}

/// The scores of a pruned network, as it is evaluated and exported.
///
/// # Errors
/// If all validation targets are missing.
pub fn pruning_point<A: PrunableModel>(
    state: &RunState<A>,
    order: &PruningOrder,
    removed: f64,
    data: &Dataset,
) -> Result<PruningPoint> {
    let mut weights = WeightsLeft::default();
    for (_, WeightsLeft { left, all }) in weights_left(&state.parameters) {
        weights = WeightsLeft { left: weights.left + left, all: weights.all + all };
    }
    Ok(PruningPoint {
        removed,
        units_left: order.units_left(1.0 - removed),
        weights,
        scores: A::validation_scores(state, data)?,
    })
}
