//! Architectures that fit a budget, costed before anything is trained.

use anyhow::{Context, Result};
use quaver::checkpoint::{Layout, WeightFormat};
use toml::Value;

use super::budget::{Budget, ModelCost};
use super::experiment::Experiment;
use super::settings::{Settings, TrainingSize, search_space};
use crate::config::{Config, SearchConfig};
use crate::data::{Dataset, Scaler, Scaling};
use crate::export::{Additions, Encoding, RangeOptions, encode};
use crate::fit::{Architecture, RunState};
use crate::nn::{TrainingMethod, predictor_spec};
use crate::reduce::ReduceModel;
use crate::search::draw;

/// Cells that are tried. A layer without recurrence is for data whose rows stand for themselves.
const CELLS: [&str; 4] = ["lstm", "gru", "tanh", "dense-tanh"];

/// Units of the layers that are tried.
const LAYERS: [&[u16]; 10] = [&[4], &[8], &[16], &[24], &[32], &[48], &[64], &[96], &[24, 24], &[48, 48]];

/// Most parameters for each training row: larger networks learn rows by heart.
const PARAMETERS_PER_ROW: usize = 10;

/// An architecture.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The cell of every layer.
    pub cell: &'static str,
    /// Units of each layer.
    pub layers: Vec<u16>,
    /// `point`, or `ropd` for a variance of every weight.
    pub posterior: &'static str,
    /// The layout in which it fits.
    pub layout: Layout,
    /// What it takes.
    pub cost: ModelCost,
}

impl Candidate {
    /// Its values in a config.
    pub fn values(&self) -> Vec<(String, Value)> {
        let layers: Vec<i64> = self.layers.iter().map(|units| i64::from(*units)).collect();
        vec![
            ("model.cell".into(), self.cell.into()),
            ("model.layers".into(), layers.into()),
            ("weights.posterior".into(), self.posterior.into()),
        ]
    }

    /// Its name, such as `lstm 32`.
    pub fn name(&self) -> String {
        let layers: Vec<String> = self.layers.iter().map(u16::to_string).collect();
        let posterior = if self.posterior == "point" { "" } else { " with weight variances" };
        format!("{} {}{posterior}", self.cell, layers.join("+"))
    }

    fn units(&self) -> u32 {
        self.layers.iter().map(|units| u32::from(*units)).sum()
    }
}

/// The architectures that fit, and the one that is nearest to fitting.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// Those that fit.
    pub fitting: Vec<Candidate>,
    /// Number of architectures that were costed.
    pub costed: usize,
    /// The one that needs the least of its most scarce resource.
    pub smallest: Candidate,
    space: SearchConfig,
    seed: u64,
}

/// Costs all architectures.
///
/// # Errors
/// When one cannot be encoded at all.
pub fn candidates(experiment: &Experiment, data: &Dataset, budget: &Budget) -> Result<Candidates> {
    let costing = Costing::new(experiment, data, budget)?;
    let mut all = Vec::new();
    for cell in CELLS {
        for layers in LAYERS {
            // Reducers have no variational weights in their objective.
            let posteriors = if experiment.is_reducer() { &["point"][..] } else { &["point", "ropd"] };
            for &posterior in posteriors {
                all.extend(costing.candidate(cell, layers, posterior)?);
            }
        }
    }
    let costed = all.len();
    let by_excess = |one: &&Candidate, other: &&Candidate| {
        budget.excess(&one.cost).total_cmp(&budget.excess(&other.cost)).then(one.units().cmp(&other.units()))
    };
    let smallest = all.iter().min_by(by_excess).cloned().context("no architecture can be exported")?;
    let fitting: Vec<Candidate> = all.into_iter().filter(|candidate| budget.fits(&candidate.cost)).collect();
    let space = search_space(experiment.is_normal(), experiment.is_reducer(), fitting.len());
    Ok(Candidates { fitting, costed, smallest, space, seed: experiment.seed })
}

impl Candidates {
    /// The one to start with: an LSTM with 32 units, 16 for few rows, or the nearest to it that fits.
    pub fn first(&self, train_rows: usize) -> Option<&Candidate> {
        let wanted = if train_rows < 2000 { 16 } else { 32 };
        let distance = |candidate: &&Candidate| {
            let kind = match (candidate.cell, candidate.posterior, candidate.layers.len()) {
                ("lstm", "point", 1) => 0,
                ("gru", "point", 1) => 1,
                ("tanh", "point", 1) => 2,
                _ => 3,
            };
            (kind, candidate.units().abs_diff(wanted))
        };
        self.fitting.iter().min_by_key(distance)
    }

    /// The values of trial `index`, which depend on the seed and the index alone.
    pub fn trial(&self, index: usize) -> Vec<(String, Value)> {
        let mut values = Vec::new();
        for (key, value) in draw::values(&self.space, self.seed, index) {
            match value.as_integer().filter(|_| key == "architecture") {
                Some(architecture) => values.extend(self.fitting[architecture as usize].values()),
                None => values.push((key, value)),
            }
        }
        values
    }

    /// How trials are stopped early.
    pub fn search(&self) -> &SearchConfig {
        &self.space
    }

    /// The candidate of a trial's values.
    pub fn of(&self, values: &[(String, Value)]) -> Option<&Candidate> {
        let is_in = |candidate: &&Candidate| candidate.values().iter().all(|value| values.contains(value));
        self.fitting.iter().find(is_in)
    }
}

/// What all architectures share.
struct Costing<'a> {
    experiment: &'a Experiment,
    data: &'a Dataset,
    budget: &'a Budget,
    scaling: Scaling,
    additions: Additions,
    settings: Settings,
    rows: usize,
}

impl<'a> Costing<'a> {
    fn new(experiment: &'a Experiment, data: &'a Dataset, budget: &'a Budget) -> Result<Self> {
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
    /// network is too large for the data.
    fn candidate(
        &self,
        cell: &'static str,
        layers: &[u16],
        posterior: &'static str,
    ) -> Result<Option<Candidate>> {
        let cost = ModelCost::default();
        let mut candidate =
            Candidate { cell, layers: layers.to_vec(), posterior, layout: Layout::Fast, cost };
        let config = self.experiment.config(&self.settings.with(&candidate.values()))?;
        let state = self.untrained(&config)?;
        if state.spec.parameters() as usize > PARAMETERS_PER_ROW * self.rows.max(100) {
            return Ok(None);
        }
        let mut best: Option<(f64, Layout, ModelCost)> = None;
        for layout in [Layout::Fast, Layout::Small] {
            let encoding = Encoding { additions: Some(&self.additions), ..Encoding::default() };
            // The layout `small` holds no weight variances.
            let Ok(bytes) = encode(&state, WeightFormat::Int8, layout, &encoding) else { continue };
            let cost = self.with_classifier(ModelCost::of(&bytes, self.budget.core())?, &state, &config);
            let excess = self.budget.excess(&cost);
            if self.budget.fits(&cost) {
                best = Some((excess, layout, cost));
                break;
            }
            if best.as_ref().is_none_or(|(least, _, _)| excess < *least) {
                best = Some((excess, layout, cost));
            }
        }
        let Some((_, layout, cost)) = best else { return Ok(None) };
        (candidate.layout, candidate.cost) = (layout, cost);
        Ok(Some(candidate))
    }

    /// The network before training.
    fn untrained(&self, config: &Config) -> Result<RunState> {
        let (spec, names, scaling) = if self.experiment.is_reducer() {
            let spec = ReduceModel::from_config(config, self.data)?.network;
            let names: Vec<String> = (0..spec.outputs).map(|output| format!("e{output}")).collect();
            let targets = Scaler::identity(names.len());
            (spec, names, Scaling { targets, ..self.scaling.clone() })
        } else {
            let data = self.data;
            let spec = predictor_spec(config, data.input_names.len(), data.target_names.len())?;
            (spec, data.target_names.clone(), self.scaling.clone())
        };
        let method = TrainingMethod::from(&config.network());
        let parameters = config.init.parameters_for(&spec, method, config.seed);
        let names = [self.data.input_names.clone(), names];
        Ok(RunState::first(spec, parameters, &config.training, scaling, names))
    }

    /// Adds what a reducer has besides its network, at most: weights and centres of every class, the
    /// precision of embeddings, names, and the pool of every part of a window.
    fn with_classifier(&self, cost: ModelCost, state: &RunState, config: &Config) -> ModelCost {
        let Some(reduce) = &config.reduce else { return cost };
        let classes = self.data.target_names.len() as u64;
        let units = state.spec.layers.iter().next_back().map_or(0, |layer| u64::from(layer.units));
        let names: u64 = self.data.target_names.iter().map(|name| name.len() as u64 + 2).sum();
        let parts = reduce.ring.map_or(1, |[parts, _]| u64::from(parts));
        ModelCost {
            model_bytes: cost.model_bytes + 4 * (2 * classes * (units + 1) + units * units) + names + 128,
            arena_bytes: cost.arena_bytes + 4 * (2 * units * (parts + 2) + 2 * classes + 16),
            ..cost
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auto::{Core, Splits, Task};
    use crate::data::Rows;
    use crate::random::{Purpose, normals, stream};

    fn experiment() -> Experiment {
        let source = || vec![crate::config::DataSource::whole("/none.csv")];
        let splits =
            Splits { train: source(), valid: source(), test: source(), how: String::new(), train_rows: 3000 };
        Experiment {
            seed: 5,
            splits,
            has_header: true,
            decimal_comma: false,
            inputs: vec!["a".into(), "b".into()],
            task: Task::Next,
            is_binary: false,
        }
    }

    fn data() -> Dataset {
        let mut rng = stream(1, Purpose::Initialisation);
        let mut sequence = |rows: usize| {
            vec![crate::data::Sequence::next(Rows { channels: 2, values: normals(&mut rng, 2 * rows) })]
        };
        Dataset::of([sequence(3000), sequence(300), sequence(300)], &["a", "b"])
    }

    #[test]
    fn a_smaller_budget_leaves_fewer_and_smaller_architectures() {
        let (experiment, data) = (experiment(), data());
        let with = |flash: Option<u64>| {
            let budget =
                Budget { flash_bytes: flash, core: Some(Core::M0), cpu_share: 0.5, ..Budget::default() };
            candidates(&experiment, &data, &budget).unwrap()
        };
        let (all, some, none) = (with(None), with(Some(4000)), with(Some(100)));
        assert_eq!(all.fitting.len(), all.costed);
        assert!(!some.fitting.is_empty() && some.fitting.len() < all.fitting.len());
        assert!(some.fitting.iter().all(|candidate| candidate.cost.model_bytes <= 4000));
        assert!(none.fitting.is_empty() && none.first(3000).is_none());
        assert!(none.smallest.cost.model_bytes > 100);
        let first = all.first(3000).unwrap();
        assert_eq!((first.cell, &first.layers[..], first.posterior), ("lstm", &[32][..], "point"));
    }

    #[test]
    fn trials_depend_on_seed_and_number_alone_and_fit() {
        let (experiment, data) = (experiment(), data());
        let budget = Budget { flash_bytes: Some(6000), cpu_share: 0.5, ..Budget::default() };
        let found = candidates(&experiment, &data, &budget).unwrap();
        let size = TrainingSize::for_rows(3000);
        let settings = experiment.default_settings(size, 20);
        for index in 0..30 {
            let values = found.trial(index);
            assert_eq!(values, found.trial(index));
            let candidate = found.of(&values).expect("a trial has an architecture that fits");
            assert!(budget.fits(&candidate.cost), "{}", candidate.name());
            experiment.config(&settings.with(&values)).expect("a valid config");
        }
        assert_ne!(found.trial(0), found.trial(1));
    }
}
