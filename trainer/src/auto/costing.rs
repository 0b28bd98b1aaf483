//! What an architecture takes, by encoding it before anything is trained.

use anyhow::Result;
use quaver::checkpoint::{Layout, ModelSpec, WeightFormat};
use quaver::linear::numbers;

use super::budget::{Budget, ModelCost};
use super::candidates::Candidate;
use super::experiment::{Experiment, Task};
use super::settings::{Settings, TrainingSize};
use crate::config::Config;
use crate::data::{Dataset, LinearPart, Scaler, Scaling, ridge_rows};
use crate::export::{Additions, Encoding, RangeOptions, encode};
use crate::fit::{Architecture, RunState};
use crate::nn::{TrainingMethod, predictor_spec};
use crate::reduce::ReduceModel;

/// Most parameters for each training row: larger networks learn rows by heart.
const PARAMETERS_PER_ROW: usize = 10;

/// What all architectures share.
pub(super) struct Costing<'a> {
    experiment: &'a Experiment,
    data: &'a Dataset,
    budget: &'a Budget,
    scaling: Scaling,
    additions: Additions,
    settings: Settings,
    rows: usize,
}

impl<'a> Costing<'a> {
    pub(super) fn new(experiment: &'a Experiment, data: &'a Dataset, budget: &'a Budget) -> Result<Self> {
        // Costs do not depend on it, but a config must be possible.
        let size =
            TrainingSize { chunk: if experiment.is_reducer() { 0 } else { 1 }, batch: 1, steps_per_epoch: 1 };
        let mut settings = experiment.default_settings(size, 10);
        if experiment.is_normal() {
            // The dearer of both.
            settings.set("model.likelihood", "heteroscedastic");
        }
        Ok(Costing {
            experiment,
            data,
            budget,
            scaling: Scaling::fit(&data.train).with_density(&data.train, &data.valid),
            additions: Additions { ranges: RangeOptions::default().fit(data)?, ..Additions::default() },
            settings,
            rows: data.train.iter().map(crate::data::Sequence::len).sum(),
        })
    }

    /// An architecture in the fastest layout that fits, or else in the one nearest to it; nothing if the
    /// network is too large for the data, or was not measured on the core.
    pub(super) fn network(
        &self,
        cell: &'static str,
        layers: &[u16],
        posterior: &'static str,
        linear: usize,
    ) -> Result<Option<Candidate>> {
        // Ridge regression reads the last row as well.
        let residual =
            self.experiment.allows_linear().then(|| linear == 0 && self.experiment.task == Task::Next);
        let candidate =
            Candidate { cell, layers: layers.to_vec(), posterior, residual, ..Candidate::ridge(linear) };
        let config = self.experiment.config(&self.settings.with(&candidate.values()))?;
        let state = self.untrained(&config)?;
        if state.spec.parameters() as usize > PARAMETERS_PER_ROW * self.rows.max(100) {
            return Ok(None);
        }
        self.costed(candidate, &state, &config, &[Layout::Fast, Layout::Small])
    }

    /// Ridge regression alone on the last rows: of the numbers of rows that fit, the one with the smallest
    /// squared error on the validation data. If none fits, the smallest model; nothing where a model has no
    /// linear part.
    pub(super) fn ridge(&self) -> Result<Option<Candidate>> {
        if !self.experiment.allows_linear() {
            return Ok(None);
        }
        let mut costed = Vec::new();
        for rows in ridge_rows(self.data.input_names.len()) {
            let candidate = Candidate::ridge(rows);
            let config = self.experiment.config(&self.experiment.ridge_settings(rows))?;
            let state = self.untrained(&config)?;
            costed.extend(self.costed(candidate, &state, &config, &[Layout::Float])?);
        }
        let fitting: Vec<usize> = costed
            .iter()
            .filter(|candidate| self.budget.fits(&candidate.cost))
            .map(|candidate| candidate.linear)
            .collect();
        if fitting.is_empty() {
            return Ok(costed.into_iter().next());
        }
        let Dataset { train, valid, .. } = self.data;
        let best = LinearPart::fit_best(train, valid, &self.scaling, &fitting).map(|part| part.rows);
        Ok(costed.into_iter().find(|candidate| Some(candidate.linear) == best))
    }

    /// The candidate with its cost in the first of these layouts that fits, or else in the nearest; nothing
    /// if none was measured on the core.
    fn costed(
        &self,
        candidate: Candidate,
        state: &RunState,
        config: &Config,
        layouts: &[Layout],
    ) -> Result<Option<Candidate>> {
        let mut best: Option<(f64, Layout, ModelCost)> = None;
        for &layout in layouts {
            let encoding = Encoding { additions: Some(&self.additions), ..Encoding::default() };
            // The layout `small` holds no weight variances.
            let Ok(bytes) = encode(state, WeightFormat::Int8, layout, &encoding) else { continue };
            let cost = ModelCost::of(&bytes, self.budget.core())?;
            // Not every layout was measured on every core.
            if !cost.is_known(self.budget) {
                continue;
            }
            let cost = self.with_classifier(cost, &ModelSpec { layout, ..state.spec.clone() }, config);
            let excess = self.budget.excess(&cost);
            if self.budget.fits(&cost) {
                best = Some((excess, layout, cost));
                break;
            }
            if best.as_ref().is_none_or(|(least, _, _)| excess < *least) {
                best = Some((excess, layout, cost));
            }
        }
        Ok(best.map(|(_, layout, cost)| Candidate { layout, cost, ..candidate }))
    }

    /// The network before training.
    fn untrained(&self, config: &Config) -> Result<RunState> {
        let (spec, names, mut scaling) = if self.experiment.is_reducer() {
            let spec = ReduceModel::from_config(config, self.data)?.network;
            let names: Vec<String> = (0..spec.outputs).map(|output| format!("e{output}")).collect();
            let targets = Scaler::identity(names.len());
            (spec, names, Scaling { targets, ..self.scaling.clone() })
        } else {
            let data = self.data;
            let spec = predictor_spec(config, data.input_names.len(), data.target_names.len())?;
            (spec, data.target_names.clone(), self.scaling.clone())
        };
        let rows = usize::from(config.model.linear);
        scaling.linear = (rows > 0).then(|| self.empty_linear_part(rows));
        let method = TrainingMethod::from(&config.network());
        let parameters = config.init.parameters_for(&spec, method, config.seed);
        let names = [self.data.input_names.clone(), names];
        Ok(RunState::first(spec, parameters, &config.training, scaling, names))
    }

    /// A linear part of the right size: what it takes does not depend on its weights.
    fn empty_linear_part(&self, rows: usize) -> LinearPart {
        let [inputs, targets] = [&self.data.input_names, &self.data.target_names].map(Vec::len);
        let numbers = vec![0.0; targets * numbers(rows, inputs)];
        LinearPart { rows, penalty: 1.0, numbers, noise_var: vec![1.0; targets] }
    }

    /// Adds what a reducer has besides its network, at most: weights and centres of every class, the
    /// precision of embeddings, names, and the pool of every part of a window.
    fn with_classifier(&self, cost: ModelCost, network: &ModelSpec, config: &Config) -> ModelCost {
        let Some(reduce) = &config.reduce else { return cost };
        let classes = self.data.target_names.len() as u64;
        let cost = cost.of_reducer(network, self.budget.core());
        let units = network.layers.iter().next_back().map_or(0, |layer| u64::from(layer.units));
        let names: u64 = self.data.target_names.iter().map(|name| name.len() as u64 + 2).sum();
        let parts = reduce.ring.map_or(1, |[parts, _]| u64::from(parts));
        ModelCost {
            model_bytes: cost.model_bytes + 4 * (2 * classes * (units + 1) + units * units) + names + 128,
            arena_bytes: cost.arena_bytes + 4 * (2 * units * (parts + 2) + 2 * classes + 16),
            ..cost
        }
    }
}
