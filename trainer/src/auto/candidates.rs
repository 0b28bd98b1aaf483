//! Architectures that fit a budget, costed before anything is trained.

use anyhow::{Context, Result};
use quaver::checkpoint::Layout;
use toml::Value;

use super::budget::{Budget, ModelCost};
use super::costing::Costing;
use super::experiment::Experiment;
use super::settings::{ARCHITECTURE, LONGER_CHUNKS, Settings, TrainingSize, search_space};
use crate::config::SearchConfig;
use crate::data::Dataset;
use crate::search::draw;

/// Cells that are tried. A layer without recurrence is for data whose rows stand for themselves.
const CELLS: [&str; 4] = ["lstm", "gru", "tanh", "dense-tanh"];

/// Units of the layers that are tried.
const LAYERS: [&[u16]; 10] = [&[4], &[8], &[16], &[24], &[32], &[48], &[64], &[96], &[24, 24], &[48, 48]];

/// The probability with which a value of a trial that did well is drawn anew in a variation of it.
const RENEWED: f64 = 1.0 / 3.0;

/// An architecture.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The cell of every layer.
    pub cell: &'static str,
    /// Units of each layer; none for ridge regression alone.
    pub layers: Vec<u16>,
    /// `point`, or `ropd` for a variance of every weight.
    pub posterior: &'static str,
    /// Rows that ridge regression reads, to which the network adds what it misses; 0 for a network alone.
    pub linear: usize,
    /// Whether outputs are added to the last row; none where a task has no linear part, and the default of
    /// the task stays.
    pub residual: Option<bool>,
    /// The layout in which it fits.
    pub layout: Layout,
    /// What it takes.
    pub cost: ModelCost,
}

impl Candidate {
    /// Ridge regression on the last rows, without a network and not costed yet.
    pub(super) fn ridge(rows: usize) -> Self {
        Candidate {
            cell: "",
            layers: Vec::new(),
            posterior: "point",
            linear: rows,
            residual: Some(false),
            layout: Layout::Float,
            cost: ModelCost::default(),
        }
    }

    /// Its values in a config: of the same keys for all candidates of a task.
    pub fn values(&self) -> Vec<(String, Value)> {
        let layers: Vec<i64> = self.layers.iter().map(|units| i64::from(*units)).collect();
        let mut values = vec![
            ("model.cell".into(), self.cell.into()),
            ("model.layers".into(), layers.into()),
            ("weights.posterior".into(), self.posterior.into()),
        ];
        if let Some(residual) = self.residual {
            values.push(("model.residual".into(), residual.into()));
            values.push(("model.linear".into(), (self.linear as i64).into()));
        }
        values
    }

    /// Its name, such as `lstm 32` or `lstm 32 + ridge 12`.
    pub fn name(&self) -> String {
        let layers: Vec<String> = self.layers.iter().map(u16::to_string).collect();
        let posterior = if self.posterior == "point" { "" } else { " with weight variances" };
        let network = format!("{} {}{posterior}", self.cell, layers.join("+"));
        match (self.layers.is_empty(), self.linear) {
            (true, rows) => format!("ridge regression on {rows} rows"),
            (false, 0) => network,
            (false, rows) => format!("{network} + ridge {rows}"),
        }
    }

    fn units(&self) -> u32 {
        self.layers.iter().map(|units| u32::from(*units)).sum()
    }
}

/// The architectures that fit, and the one that is nearest to fitting.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// The networks that fit, alone and added to ridge regression.
    pub fitting: Vec<Candidate>,
    /// Ridge regression without a network, if it fits.
    pub ridge: Option<Candidate>,
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
    let ridge = costing.ridge()?;
    // Where ridge regression alone does not fit, it does not fit with a network.
    let rows = ridge.as_ref().filter(|ridge| budget.fits(&ridge.cost)).map(|ridge| ridge.linear);
    let mut all = Vec::from_iter(ridge);
    // Reducers have no variational weights in their objective.
    let posteriors = if experiment.is_reducer() { &["point"][..] } else { &["point", "ropd"] };
    for linear in [0].into_iter().chain(rows) {
        for cell in CELLS {
            for layers in LAYERS {
                for &posterior in posteriors {
                    all.extend(costing.network(cell, layers, posterior, linear)?);
                }
            }
        }
    }
    let costed = all.len();
    let by_excess = |one: &&Candidate, other: &&Candidate| {
        budget.excess(&one.cost).total_cmp(&budget.excess(&other.cost)).then(one.units().cmp(&other.units()))
    };
    let smallest = all.iter().min_by(by_excess).cloned().context("no architecture can be exported")?;
    all.retain(|candidate| budget.fits(&candidate.cost));
    let (fitting, ridge): (Vec<Candidate>, Vec<Candidate>) =
        all.into_iter().partition(|candidate| !candidate.layers.is_empty());
    let space = search_space(experiment.is_normal(), experiment.is_reducer(), fitting.len());
    Ok(Candidates {
        fitting,
        ridge: ridge.into_iter().next(),
        costed,
        smallest,
        space,
        seed: experiment.seed,
    })
}

impl Candidates {
    /// Those to start with, alone and, where that fits, added to ridge regression: an LSTM with 32 units, 16
    /// for few rows, or the nearest to it that fits.
    pub fn first(&self, train_rows: usize) -> Vec<&Candidate> {
        let (alone, added): (Vec<&Candidate>, Vec<&Candidate>) =
            self.fitting.iter().partition(|candidate| candidate.linear == 0);
        [alone, added].into_iter().filter_map(|kind| Self::nearest_to_default(kind, train_rows)).collect()
    }

    fn nearest_to_default(kind: Vec<&Candidate>, train_rows: usize) -> Option<&Candidate> {
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
        kind.into_iter().min_by_key(distance)
    }

    /// Number of architectures that fit.
    pub fn fitting_count(&self) -> usize {
        self.fitting.len() + usize::from(self.ridge.is_some())
    }

    /// The values of trial `index`, which depend on the seed and the index alone.
    pub fn trial(&self, index: usize, size: TrainingSize) -> Vec<(String, Value)> {
        let drawn = draw::values(&self.space, self.seed, index);
        drawn.into_iter().flat_map(|(key, value)| self.expanded(key, value, size)).collect()
    }

    /// Like [`trial`](Self::trial), but with most values of a trial that did well: some are drawn anew, one
    /// of them in any case.
    pub fn variation(&self, index: usize, size: TrainingSize, of: &Settings) -> Vec<(String, Value)> {
        let drawn = draw::values(&self.space, self.seed, index);
        let renewed = index % drawn.len().max(1);
        let value = |(place, (key, value)): (usize, (String, Value))| {
            let expanded = self.expanded(key.clone(), value, size);
            if place == renewed || draw::share(self.seed, index, &key) < RENEWED {
                return expanded;
            }
            let kept = |(key, new): (String, Value)| {
                let value = of.0.get(&key).cloned().unwrap_or(new);
                (key, value)
            };
            expanded.into_iter().map(kept).collect()
        };
        drawn.into_iter().enumerate().flat_map(value).collect()
    }

    /// A drawn value as those of a config.
    fn expanded(&self, key: String, value: Value, size: TrainingSize) -> Vec<(String, Value)> {
        match (&*key, value.as_integer()) {
            (ARCHITECTURE, Some(number)) => self.fitting[number as usize].values(),
            (LONGER_CHUNKS, Some(times)) => {
                let size = size.with_longer_chunks(times as usize);
                let pair = [("training.chunk", size.chunk), ("training.batch", size.batch)];
                pair.map(|(key, value)| (key.to_string(), Value::Integer(value as i64))).into()
            }
            _ => vec![(key, value)],
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auto::{Core, Splits, Task, TrainingSize};
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
        assert_eq!(all.fitting_count(), all.costed);
        assert!(!some.fitting.is_empty() && some.fitting.len() < all.fitting.len());
        assert!(some.fitting.iter().all(|candidate| candidate.cost.model_bytes <= 4000));
        assert!(none.fitting_count() == 0 && none.first(3000).is_empty());
        assert!(none.smallest.cost.model_bytes > 100);
        let ridge = all.ridge.as_ref().expect("ridge regression fits everywhere").linear;
        let first = all.first(3000);
        assert_eq!(first.iter().map(|first| first.linear).collect::<Vec<_>>(), [0, ridge]);
        for first in first {
            assert_eq!((first.cell, &first.layers[..], first.posterior), ("lstm", &[32][..], "point"));
        }
    }

    #[test]
    fn ridge_regression_is_costed_alone_and_with_networks() {
        let (experiment, data) = (experiment(), data());
        let with = |budget: &Budget| candidates(&experiment, &data, budget).unwrap();
        let unlimited = with(&Budget::default());
        let (alone, added): (Vec<_>, Vec<_>) = unlimited.fitting.iter().partition(|found| found.linear == 0);
        assert_eq!(alone.len(), added.len());
        for (alone, added) in alone.iter().zip(&added) {
            let name = format!("{} + ridge {}", alone.name(), added.linear);
            assert_eq!(added.name(), name);
            assert!(added.cost.model_bytes > alone.cost.model_bytes, "{name}");
            assert!(added.cost.arena_bytes > alone.cost.arena_bytes, "{name}");
            assert!(added.cost.instructions > alone.cost.instructions, "{name}");
        }
        let ridge = unlimited.ridge.expect("nothing is limited");
        assert!(
            ridge.cost.stack_bytes.is_some()
                && ridge.cost.handle_bytes.is_some()
                && ridge.cost.instructions.is_some()
        );
        // Between one row and all that were tried, as many as fit.
        let small = Budget { flash_bytes: Some(320), ..Budget::default() };
        let only = with(&small);
        assert!(only.fitting.is_empty(), "{:?}", only.fitting);
        assert!(only.ridge.is_some_and(|ridge| ridge.cost.model_bytes <= 320));
    }

    #[test]
    fn trials_depend_on_seed_and_number_alone_and_fit() {
        let (experiment, data) = (experiment(), data());
        let budget = Budget { flash_bytes: Some(6000), cpu_share: 0.5, ..Budget::default() };
        let found = candidates(&experiment, &data, &budget).unwrap();
        let size = TrainingSize::for_rows(3000);
        let settings = experiment.default_settings(size, 20);
        for index in 0..30 {
            let values = found.trial(index, size);
            assert_eq!(values, found.trial(index, size));
            let candidate = found.of(&values).expect("a trial has an architecture that fits");
            assert!(budget.fits(&candidate.cost), "{}", candidate.name());
            experiment.config(&settings.with(&values)).expect("a valid config");
        }
        assert_ne!(found.trial(0, size), found.trial(1, size));
    }

    #[test]
    fn variations_share_most_values_with_what_they_vary_and_fit() {
        let (experiment, data) = (experiment(), data());
        let found = candidates(&experiment, &data, &Budget::default()).unwrap();
        let size = TrainingSize::for_rows(3000);
        let settings = experiment.default_settings(size, 20).with(&found.trial(3, size));
        let (mut shared, mut all, mut new) = (0, 0, 0);
        for index in 100..200 {
            let values = found.variation(index, size, &settings);
            assert_eq!(values, found.variation(index, size, &settings));
            assert!(found.of(&values).is_some(), "{values:?}");
            new += usize::from(settings.with(&values) != settings);
            experiment.config(&settings.with(&values)).expect("a valid config");
            shared += values.iter().filter(|(key, value)| settings.0.get(key) == Some(value)).count();
            all += values.len();
        }
        // Two thirds are kept, one is always drawn anew, and some of those are drawn as they were.
        let share = shared as f64 / all as f64;
        assert!((0.5..0.85).contains(&share) && new > 80, "{share}, {new} of 100 are new");
    }
}
