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

mod check;
mod document;
mod latent;
mod model;
mod noise;
mod search;
mod training;
mod weights;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use quaver::checkpoint::{Likelihood, MAX_WIDTH, ModelSpec, OutputMode, Target};
use serde::{Deserialize, Serialize};

use crate::data::{DataConfig, Dataset, Targets};
use crate::nn::{Method, Posterior};
use check::{Fault, fault, within};
use document::{Document, Override};

pub use latent::{Direction, Latent, OutputNoise, Recognition, Variance};
pub use model::{Cell, Model};
pub use noise::{Noise, NoiseKind};
pub use search::{Distribution, Halving, Search};
pub use training::{Init, Keep, Optimiser, Schedule, Training};
pub use weights::Weights;

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
    pub model: Model,
    /// Noise on units.
    #[serde(default)]
    pub noise: Noise,
    /// What is known of the weights.
    #[serde(default)]
    pub weights: Weights,
    /// Latent sequences: with this section, the model is not a predictor but two nets, of which `[model]` is the one that
    /// generates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latent: Option<Latent>,
    /// The recognition net of a latent model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recognition: Option<Recognition>,
    /// Where training begins.
    #[serde(default)]
    pub init: Init,
    /// The optimiser and when it stops.
    #[serde(default)]
    pub training: Training,
    /// What a search draws anew for every trial. The config as run does not have it: there everything is settled.
    #[serde(default, skip_serializing)]
    pub search: Search,
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
            Err(Fault { key, problem }) => Err(anyhow!("{}: `{key}` {problem}", document.origin(&key))),
        }
    }

    /// The config as TOML, defaults written out.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).context("cannot write the config as TOML")
    }

    /// The architecture for this many input and target channels, with weights of 32 bits.
    pub fn model_spec(&self, inputs: usize, outputs: usize) -> Result<ModelSpec> {
        let width = |what: &str, count: usize| {
            ensure!(
                (1..=usize::from(MAX_WIDTH)).contains(&count),
                "{count} {what}; a model takes 1 to {MAX_WIDTH}"
            );
            Ok(count as u16)
        };
        let (inputs, outputs) = (width("inputs", inputs)?, width("outputs", outputs)?);
        Ok(self.model.spec(inputs, outputs, self.target(), &self.noise, &self.weights))
    }

    /// What the outputs of the model stand for.
    pub fn target(&self) -> Target {
        match (self.data.target(), self.model.residual) {
            (target, false) => target,
            (Target::Next | Target::ResidualNext, true) => Target::ResidualNext,
            (Target::Columns | Target::ResidualSame, true) => Target::ResidualSame,
        }
    }

    /// How the model is trained, beyond its architecture.
    pub fn method(&self) -> Method {
        Method {
            posterior: self.weights.posterior,
            weight_noise: self.weights.noise(),
            scale_min: self.model.learn_variance_scale.then_some(self.model.variance_scale_min),
            learned_keep: self.noise.learn_keep,
            implicit_variance: self.model.implicit_variance,
        }
    }

    /// Epochs since the validation loss has last got better, after `done` epochs of which `best` was the best. While the
    /// divergence of a latent model does not count in full, its bound may well get worse: that is not held against it.
    pub fn stale_epochs(&self, done: usize, best: usize) -> usize {
        let warm_up = self.latent.as_ref().map_or(0, |latent| latent.warm_up.ceil() as usize);
        done.saturating_sub(best.max(warm_up))
    }

    /// Reads the data, and checks that they suit the model.
    pub fn load_data(&self) -> Result<Dataset> {
        let dataset = self.data.load()?;
        match self.model.likelihood {
            Likelihood::Gaussian | Likelihood::Heteroscedastic => {}
            Likelihood::Bernoulli => dataset.check_binary_targets()?,
            Likelihood::Categorical => dataset.check_one_hot_targets()?,
        }
        Ok(dataset)
    }

    fn check(&self) -> Result<(), Fault> {
        // TOML has no larger whole numbers, and the config as run must be writable.
        within("seed", self.seed, 0..=i64::MAX as u64)?;
        if self.data.train.is_empty() {
            return Err(fault("data.train", "must name at least one file"));
        }
        if self.data.valid_seed.is_some() && !self.data.valid.is_empty() {
            return Err(fault("data.valid_seed", "and `data.valid` exclude each other; remove one of them"));
        }
        if let Some(fraction) = self.data.valid_fraction {
            if !self.data.valid.is_empty() {
                return Err(fault(
                    "data.valid_fraction",
                    "and `data.valid` exclude each other; remove one of them",
                ));
            }
            if !(fraction > 0.0 && fraction < 1.0) {
                return Err(fault(
                    "data.valid_fraction",
                    format!("must be above 0 and below 1, found {fraction}"),
                ));
            }
        }
        for (key, sources) in [("data.train", &self.data.train), ("data.valid", &self.data.valid)] {
            if sources.iter().any(|source| source.burn_in.is_some()) {
                return Err(fault(key, "must not have `burn_in`, which is for test data"));
            }
        }
        self.check_added_noise()?;
        self.check_augment()?;
        self.model.check()?;
        if self.model.residual && !self.data.targets_are_inputs() {
            let problem = "needs `data.targets = \"next\"` or `\"clean\"`: other columns have no value among the inputs to start from";
            return Err(fault("model.residual", problem));
        }
        self.noise.check()?;
        self.weights.check()?;
        self.check_variance()?;
        self.init.check(self.model.layers.iter().min().copied())?;
        self.training.check()?;
        self.check_latent()?;
        self.search.check(self.training.epochs)
    }

    /// Checks that noise to be added is well defined, and there where it is needed.
    fn check_added_noise(&self) -> Result<(), Fault> {
        self.check_envelope()?;
        match &self.data.noise {
            None if self.data.targets == Targets::Clean && self.data.envelope.is_none() => {
                let problem = "\"clean\" needs noise that the inputs can be told from: set `data.noise` (or `data.envelope` for \
                               raw EMG)";
                Err(fault("data.targets", problem))
            }
            Some(noise) => noise.fault().map_or(Ok(()), |problem| Err(fault("data.noise", problem))),
            None => Ok(()),
        }
    }

    /// Checks that training rows are changed into ones that could be.
    fn check_augment(&self) -> Result<(), Fault> {
        let Some(augment) = &self.data.augment else { return Ok(()) };
        if let Some((key, problem)) = augment.fault() {
            return Err(fault(key, problem));
        }
        let binary = matches!(self.model.likelihood, Likelihood::Bernoulli | Likelihood::Categorical);
        match augment.unfit_for_binary(self.data.targets_are_inputs()).filter(|_| binary) {
            Some(key) => Err(fault(key, "makes other numbers of targets that must be 0 or 1; remove it")),
            None => Ok(()),
        }
    }

    fn check_envelope(&self) -> Result<(), Fault> {
        let Some(window) = self.data.envelope else { return Ok(()) };
        if window % 2 == 0 {
            let problem =
                format!("must be an odd number of rows, as many before a row as after it, found {window}");
            return Err(fault("data.envelope", problem));
        }
        if matches!(self.data.targets, Targets::Matching(_)) {
            let problem = "needs `data.targets = \"clean\"` or `\"next\"`: other columns have no envelope among the inputs";
            return Err(fault("data.envelope", problem));
        }
        Ok(())
    }

    /// Checks that methods which live on variance get some.
    fn check_variance(&self) -> Result<(), Fault> {
        let silent = self.model.is_silent(&self.noise) && !self.weights.has_variance();
        if self.model.implicit_variance && silent {
            let problem =
                "needs a source of variance: set probabilities in `[noise]`, or `weights.posterior`";
            return Err(fault("model.implicit_variance", problem));
        }
        if self.weights.has_variance() && self.model.output == OutputMode::MeanOnly {
            let problem =
                "must be \"propagating\" when weights are uncertain: a plain output carries no variance";
            return Err(fault("model.output", problem));
        }
        let gaussian = self.model.likelihood == Likelihood::Gaussian && !self.model.implicit_variance;
        if self.weights.posterior == Posterior::Vb && !gaussian {
            let problem = "\"vb\" needs a Gaussian likelihood with a learned noise; \"ropd\" works with all";
            return Err(fault("weights.posterior", problem));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
