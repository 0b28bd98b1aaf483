//! The config of an experiment: a TOML file that names data, model and training.
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
//! structs in it.

mod data;
mod document;
mod invalid;
mod latent;
mod model;
mod noise;
mod search;
mod training;
mod weights;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use quaver::checkpoint::{Likelihood, OutputMode, Target};
use serde::{Deserialize, Serialize};

use document::{Document, Override};
use invalid::{InvalidValue, invalid, within};

pub use data::{
    AddedNoiseConfig, AugmentConfig, ColumnPatterns, Columns, DataConfig, DataSource, FileFormat,
    MirrorConfig, RowList, RowRange, RowSelection, Targets,
};
pub use latent::{Direction, LatentConfig, LatentFamily, LatentVariance, OutputNoise, RecognitionConfig};
pub use model::{CellName, ModelConfig};
pub use noise::{NoiseConfig, NoiseKind};
pub use search::{Distribution, HalvingConfig, SearchConfig};
pub use training::{InitConfig, OptimiserKind, Padding, Schedule, StateSelection, TrainingConfig};
pub use weights::{WeightPosterior, WeightsConfig};

/// Everything an experiment is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where all random numbers start from; 1 unless given.
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
    /// What is known of the weights.
    #[serde(default)]
    pub weights: WeightsConfig,
    /// Latent sequences: with this section, the model is not a predictor but two nets, of which `[model]` is the one that
    /// generates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latent: Option<LatentConfig>,
    /// The recognition net of a latent model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recognition: Option<RecognitionConfig>,
    /// Where training begins.
    #[serde(default)]
    pub init: InitConfig,
    /// The optimiser and when it stops.
    #[serde(default)]
    pub training: TrainingConfig,
    /// What a search draws anew for every trial. The config as run does not have it: there everything is settled.
    #[serde(default, skip_serializing)]
    pub search: SearchConfig,
}

/// The sections that describe one network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetworkConfig {
    /// The architecture.
    pub model: ModelConfig,
    /// Noise on units.
    pub noise: NoiseConfig,
    /// What is known of the weights.
    pub weights: WeightsConfig,
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("{}: cannot tell where this is", path.display()))
}

fn first_seed() -> u64 {
    1
}

impl Config {
    /// Reads a config file, applies overrides such as `training.epochs=5`, and checks every value.
    ///
    /// The values of overrides are TOML; what is not TOML counts as a string, so that `model.cell=tanh` needs
    /// no quotes. Relative paths, of overrides as well, start at the folder of the config file; they are
    /// absolute in the result.
    pub fn load(path: &Path, overrides: &[String]) -> Result<Config> {
        Config::load_with_data(path, overrides, None)
    }

    /// The same with relative paths that start at another folder, if one is given.
    pub fn load_with_data(path: &Path, overrides: &[String], data_dir: Option<&Path>) -> Result<Config> {
        let file = path.display().to_string();
        let text =
            std::fs::read_to_string(path).with_context(|| format!("{file}: cannot read this config"))?;
        let mut config = Config::parse(&file, &text, overrides)?;
        let beside = path.parent().unwrap_or(Path::new("/"));
        // An empty path stands for the working directory, which only `.` says.
        let beside = if beside == Path::new("") { Path::new(".") } else { beside };
        config.data.anchor(&absolute(data_dir.unwrap_or(beside))?);
        config.init.anchor(&absolute(beside)?);
        Ok(config)
    }

    /// The same from text; paths stay as they are written. `file` is what errors call it.
    pub fn parse(file: &str, text: &str, overrides: &[String]) -> Result<Config> {
        let overrides = Override::list(overrides, text.len())?;
        let document = Document::new(file, text, &overrides)?;
        let config: Config = document.read()?;
        match config.check() {
            Ok(()) => Ok(config),
            Err(InvalidValue { key, problem }) => {
                Err(anyhow!("{}: `{key}` {problem}", document.origin(&key)))
            }
        }
    }

    /// The config as TOML, defaults written out.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).context("cannot write the config as TOML")
    }

    /// The sections that describe the network, or the generative net of a latent model.
    pub fn network(&self) -> NetworkConfig {
        NetworkConfig { model: self.model.clone(), noise: self.noise.clone(), weights: self.weights.clone() }
    }

    /// What the outputs of the model stand for.
    pub fn target(&self) -> Target {
        match (self.data.target(), self.model.residual) {
            (target, false) => target,
            (Target::Next | Target::ResidualNext, true) => Target::ResidualNext,
            (Target::Columns | Target::ResidualSame, true) => Target::ResidualSame,
        }
    }

    /// Epochs since the validation loss has last got better, after `done` epochs of which `best` was the best. While the
    /// divergence of a latent model does not count in full, its bound may well get worse: that is not held against it.
    pub fn stale_epochs(&self, done: usize, best: usize) -> usize {
        let warm_up = self.latent.as_ref().map_or(0, |latent| latent.warm_up.ceil() as usize);
        done.saturating_sub(best.max(warm_up))
    }

    fn check(&self) -> Result<(), InvalidValue> {
        // TOML has no larger whole numbers, and the config as run must be writable.
        within("seed", self.seed, 0..=i64::MAX as u64)?;
        self.data.check(self.model.likelihood)?;
        self.model.check()?;
        if self.model.residual && !self.data.targets_are_inputs() {
            let problem = "needs `data.targets = \"next\"` or `\"clean\"`: other columns have no value among the inputs to start from";
            return Err(invalid("model.residual", problem));
        }
        self.noise.check()?;
        self.weights.check()?;
        self.check_variance()?;
        self.init.check(self.model.layers.iter().min().copied())?;
        self.training.check()?;
        self.check_latent()?;
        self.search.check(self.training.epochs)
    }

    /// Checks that methods which live on variance get some.
    fn check_variance(&self) -> Result<(), InvalidValue> {
        let silent = self.model.is_silent(&self.noise) && !self.weights.has_variance();
        if self.model.implicit_variance && silent {
            let problem =
                "needs a source of variance: set probabilities in `[noise]`, or `weights.posterior`";
            return Err(invalid("model.implicit_variance", problem));
        }
        if self.weights.has_variance() && self.model.output == OutputMode::MeanOnly {
            let problem =
                "must be \"propagating\" when weights are uncertain: a plain output carries no variance";
            return Err(invalid("model.output", problem));
        }
        let gaussian = self.model.likelihood == Likelihood::Gaussian && !self.model.implicit_variance;
        if self.weights.posterior == WeightPosterior::Vb && !gaussian {
            let problem = "\"vb\" needs a Gaussian likelihood with a learned noise; \"ropd\" works with all";
            return Err(invalid("weights.posterior", problem));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
