//! The config of an experiment: a TOML file with data, model and training, as plain data.
//!
//! ```toml
//! seed = 1
//!
//! [data]
//! train = "train.csv"
//! test = "test.csv"
//! targets = "force_n"
//!
//! [model]
//! cell = "lstm"
//! layers = [32]
//! ```
//!
//! Only `data.train` and `data.targets` are required. The keys are the fields of [`Config`] and of the
//! structs in it; `docs/reference/config.md` lists them all. This module reads them, fills in defaults and
//! checks every value, alone and with the others. What they mean is up to the modules that use them: they
//! convert sections to their own types.

mod data;
mod document;
mod from_data;
mod init;
mod latent;
mod limits;
mod model;
mod noise;
mod reduce;
#[cfg(test)]
mod reference;
pub(crate) mod renamed;
mod search;
mod text;
mod training;
mod weights;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use quaver::checkpoint::{Likelihood, OutputMode, Target};
use serde::{Deserialize, Serialize};
use toml::Value;

use document::{Document, Override};
use limits::{InvalidValue, invalid};

pub use data::{
    AddedNoiseConfig, AheadTargets, AugmentConfig, BagConfig, ClassTarget, ColumnPatterns, Columns,
    DataConfig, DataSource, DecimalMark, FileFormat, Horizons, LabelCut, LabelsConfig, MirrorConfig, Missing,
    MissingConfig, RowList, RowRange, RowSelection, Targets, TokenKind,
};
pub use from_data::DataSize;
pub use init::{InitConfig, InitialNoise};
pub use latent::{Direction, LatentConfig, LatentFamily, LatentVariance, OutputNoise, RecognitionConfig};
#[cfg(test)]
pub(crate) use model::test_cell_names;
pub use model::{CellName, ModelConfig};
pub use noise::{NoiseConfig, NoiseKind};
pub use reduce::{
    ClassifierName, NoveltyName, ObjectiveName, PoolOverName, PoolingName, ReduceConfig, SelectName,
    SparseNorm, ThinningName,
};
pub use search::{Distribution, HalvingConfig, SearchConfig};
pub use training::{OptimiserKind, Padding, Schedule, StateSelection, TrainingConfig};
pub use weights::{PosteriorName, WeightPriorName, WeightsConfig};

/// A whole config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Seed of all random numbers except those of `data.noise`, `data.augment` and `data.valid_seed`, which
    /// have seeds of their own.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// Files, columns and rows.
    pub data: DataConfig,
    /// The architecture.
    #[serde(default)]
    pub model: ModelConfig,
    /// Noise on units.
    #[serde(default)]
    pub noise: NoiseConfig,
    /// Distributions of the weights and noise on them.
    #[serde(default)]
    pub weights: WeightsConfig,
    /// Latent variables: with this section, the model is not a predictor but a recognition network and a
    /// generative network, the latter described by `[model]`.
    #[serde(default)]
    pub latent: Option<LatentConfig>,
    /// The recognition network of a latent model.
    #[serde(default)]
    pub recognition: Option<RecognitionConfig>,
    /// Embeddings and classes of whole sequences: with this section, the model is not a predictor but a
    /// reducer.
    #[serde(default)]
    pub reduce: Option<ReduceConfig>,
    /// Initial parameters.
    #[serde(default)]
    pub init: InitConfig,
    /// Optimiser, batches, and when training stops.
    #[serde(default)]
    pub training: TrainingConfig,
    /// Keys that a search draws for every trial. The `config.toml` of a run does not contain this section:
    /// there every value is settled.
    #[serde(default, skip_serializing_if = "SearchConfig::is_default")]
    pub search: SearchConfig,
}

/// The sections that describe one network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetworkConfig {
    /// The architecture.
    pub model: ModelConfig,
    /// Noise on units.
    pub noise: NoiseConfig,
    /// Distributions of the weights and noise on them.
    pub weights: WeightsConfig,
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("{}: cannot resolve this path", path.display()))
}

fn first_seed() -> u64 {
    1
}

/// Collects the values of nested tables by their dotted keys.
fn flatten(key: &str, value: &Value, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Table(table) => {
            for (name, value) in table {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                flatten(&key, value, found);
            }
        }
        value => {
            found.insert(key.to_string(), value.to_string());
        }
    }
}

impl Config {
    /// Reads a config file, applies overrides such as `training.epochs=5`, and checks every value.
    ///
    /// Overrides are TOML values; anything else is taken as a string, so that `model.cell=tanh` needs no
    /// quotes. Relative paths, those in overrides included, are resolved against the folder of the config
    /// file.
    ///
    /// # Errors
    /// When the file cannot be read, or a key or value is not allowed; the message names its place.
    pub fn load(path: &Path, overrides: &[String]) -> Result<Config> {
        Config::load_with_data(path, overrides, None)
    }

    /// Like [`Config::load`], with relative paths of data resolved against `data_dir`, if given.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn load_with_data(path: &Path, overrides: &[String], data_dir: Option<&Path>) -> Result<Config> {
        let file = path.display().to_string();
        let text =
            std::fs::read_to_string(path).with_context(|| format!("{file}: cannot read this config"))?;
        let mut config = Config::parse(&file, &text, overrides)?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        // The parent of a bare file name is empty, which is not a path.
        let folder = if folder == Path::new("") { Path::new(".") } else { folder };
        config.data.anchor(&absolute(data_dir.unwrap_or(folder))?);
        config.init.anchor(&absolute(folder)?);
        Ok(config)
    }

    /// Like [`Config::load`] from text, with paths as they are written. `file` names the text in errors.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn parse(file: &str, text: &str, overrides: &[String]) -> Result<Config> {
        let overrides = Override::list(overrides, text.len())?;
        let document = Document::new(file, text, &overrides)?;
        let mut config: Config = document.read()?;
        if config.data.row_class().is_some() && !document.sets("model.likelihood") {
            config.model.likelihood = Likelihood::Categorical;
        }
        match config.check() {
            Ok(()) => Ok(config),
            Err(InvalidValue { key, problem }) => {
                Err(anyhow!("{}: `{key}` {problem}", document.origin(&key)))
            }
        }
    }

    /// The config as TOML, with all defaults. Keys that are not set are left out: TOML has no null.
    ///
    /// # Errors
    /// When a value has no TOML form.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).context("cannot write the config as TOML")
    }

    /// The config of one run: the same without `[search]`, because every value is settled.
    pub fn settled(&self) -> Config {
        Config { search: SearchConfig::default(), ..self.clone() }
    }

    /// Every value by its dotted key, as TOML, with all defaults.
    ///
    /// # Errors
    /// As [`Config::to_toml`].
    pub fn settings(&self) -> Result<BTreeMap<String, String>> {
        let mut found = BTreeMap::new();
        flatten("", &Value::Table(self.to_toml()?.parse()?), &mut found);
        Ok(found)
    }

    /// The sections that describe the network, or a latent model's generative network.
    pub fn network(&self) -> NetworkConfig {
        NetworkConfig { model: self.model.clone(), noise: self.noise.clone(), weights: self.weights.clone() }
    }

    /// Whether the loss of training is that of standardised targets: their densities are then in units of
    /// each target's standard deviation, not in raw units.
    pub fn loss_is_standardised(&self) -> bool {
        self.reduce.is_none() && self.data.token_kind().is_none() && self.model.likelihood.is_normal()
    }

    /// Name of the loss of training, for people.
    pub fn loss_name(&self) -> &'static str {
        match (self.latent.is_some(), self.loss_is_standardised()) {
            _ if self.reduce.is_some() => "loss",
            (true, true) => "standardised bound",
            (true, false) => "bound",
            (false, true) => "standardised NLL",
            (false, false) => "NLL",
        }
    }

    /// The target of the model, residual or not.
    pub fn target(&self) -> Target {
        match (self.data.target(), self.model.residual) {
            (target, false) => target,
            (Target::Next | Target::ResidualNext, true) => Target::ResidualNext,
            (Target::Columns | Target::ResidualSame, true) => Target::ResidualSame,
        }
    }

    /// Epochs since the last improvement of the validation loss, after `done` epochs with the lowest loss in
    /// epoch `best`. Epochs of a latent model's warm-up do not count: its bound may well rise while the
    /// divergence gains weight.
    pub fn stale_epochs(&self, done: usize, best: usize) -> usize {
        let warm_up = self.latent.as_ref().map_or(0, |latent| latent.warm_up.ceil() as usize);
        done.saturating_sub(best.max(warm_up))
    }

    fn check(&self) -> Result<(), InvalidValue> {
        // TOML has no larger integers, and the config of a run must be writable.
        if self.seed > i64::MAX as u64 {
            return Err(invalid("seed", format!("must be from 0 to {}, found {}", i64::MAX, self.seed)));
        }
        self.data.check(self.model.likelihood)?;
        self.model.check()?;
        if self.data.row_class().is_some() && self.model.likelihood != Likelihood::Categorical {
            let problem = "must be \"categorical\" for classes (`data.targets = { class = … }`); remove it";
            return Err(invalid("model.likelihood", problem));
        }
        if self.model.residual && !self.data.targets_are_inputs() {
            let problem = "needs `data.targets = \"next\"` or `\"clean\"`: targets in other columns have no input to be \
                           added to";
            return Err(invalid("model.residual", problem));
        }
        if self.model.linear > 0 && self.data.targets == Targets::Clean {
            let problem = "does not go with `data.targets = \"clean\"`, where training rows get other noise in every epoch; \
                           leave it out";
            return Err(invalid("model.linear", problem));
        }
        self.noise.check("noise")?;
        self.weights.check()?;
        if self.model.layers.is_empty() && self.weights.has_variance_in_training() {
            let problem =
                "must be \"point\", without noise on weights, where `model.layers` is empty: there are none";
            return Err(invalid("weights.posterior", problem));
        }
        self.check_variance()?;
        self.init.check(self.model.layers.iter().min().copied())?;
        if self.init.sharpen_rate > 0.0 && !self.weights.sharpen {
            return Err(invalid("init.sharpen_rate", "needs `weights.sharpen = true`"));
        }
        self.training.check()?;
        self.check_latent()?;
        self.check_text()?;
        self.check_reduce()?;
        self.search.check(self.training.epochs)
    }

    /// Checks that methods which need variance have a source of it, and that there is an output for it.
    fn check_variance(&self) -> Result<(), InvalidValue> {
        let noiseless = self.model.is_noiseless(&self.noise) && !self.weights.has_variance_in_training();
        if self.model.implicit_variance && noiseless {
            let problem = "needs a source of variance: set keep probabilities in `[noise]`, or `weights.posterior = \"ropd\"`";
            return Err(invalid("model.implicit_variance", problem));
        }
        if self.weights.has_variance() && self.model.output == OutputMode::MeanOnly {
            let problem =
                "must be \"propagating\" when weights have variances: a mean-only output discards them";
            return Err(invalid("model.output", problem));
        }
        let gaussian = self.model.likelihood == Likelihood::Gaussian && !self.model.implicit_variance;
        if self.weights.posterior == PosteriorName::Vb && !gaussian {
            let problem = "\"vb\" needs a Gaussian likelihood with learned noise; \"ropd\" and \"bbb\" work with every likelihood";
            return Err(invalid("weights.posterior", problem));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
