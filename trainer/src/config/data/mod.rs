//! The `[data]` section of a config: which files, which columns, which rows.

mod added_noise;
mod augment;
mod columns;
mod format;
mod row_range;
mod row_selection;
mod source;

use std::path::{Path, PathBuf};

use quaver::checkpoint::{Likelihood, Target};
use serde::{Deserialize, Serialize};

use super::invalid::{InvalidValue, invalid};

pub use added_noise::AddedNoiseConfig;
pub use augment::{AugmentConfig, MirrorConfig};
pub use columns::{ColumnPatterns, Columns, Targets};
pub use format::FileFormat;
pub use row_range::RowRange;
pub use row_selection::{RowList, RowSelection};
pub use source::DataSource;

/// Part of the training data that serves as validation data where the config names neither.
const DEFAULT_VALID_FRACTION: f64 = 0.2;

/// The `[data]` section of a config.
///
/// ```toml
/// [data]
/// train = ["monday.csv", { file = "tuesday.csv", rows = "..80%" }]
/// valid = { file = "tuesday.csv", rows = "80%.." }
/// test = "wednesday.csv"
/// inputs = "emg1..=emg8"
/// targets = "force_n"
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataConfig {
    /// What to learn from: a file, a table `{ file, sequences, rows, lengths }`, or a list of these. Paths
    /// are relative to the config file, or to the folder given by `--data-dir`; `sequences` and `rows` are
    /// stretches such as `"2"`, `"0..2502"` or `"..80%"`, see [`RowRange`]; `rows` may be a list in a file instead,
    /// see [`RowSelection`].
    #[serde(deserialize_with = "source::one_or_many")]
    pub train: Vec<DataSource>,
    /// What to stop early on, in the same form. Instead of it, `valid_fraction` may be given.
    #[serde(default, deserialize_with = "source::one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub valid: Vec<DataSource>,
    /// Part of the training data, between 0 and 1, set aside for validation; 0.2 unless `valid` is given.
    /// With ten training sequences or more these are the last sequences, with fewer the end of every
    /// sequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_fraction: Option<f64>,
    /// Draws the sequences set aside at random, by this seed, instead of taking the last; for samples whose order
    /// means nothing. Needs ten training sequences or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_seed: Option<u64>,
    /// What to judge the result by, in the same form; may be left out.
    #[serde(default, deserialize_with = "source::one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub test: Vec<DataSource>,
    /// The input columns: `"all"` (the default: all but the targets), a name, a stretch such as `"c0..c8"`,
    /// or a list of these, see [`Columns`].
    #[serde(default)]
    pub inputs: Columns,
    /// What to predict: `"next"` for the inputs themselves one step ahead, `"clean"` for the inputs at the same time without
    /// the noise that `noise` puts on them, or for their `envelope`, or columns in the form of `inputs`.
    pub targets: Targets,
    /// Rectifies the inputs, |x|, and takes their envelope for the truth: a mean over this odd number of rows around each, see
    /// `docs/evaluation.md`. For raw EMG, with `targets = "clean"` or `"next"`. With `noise`, the inputs are the envelopes, under
    /// that noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub envelope: Option<usize>,
    /// Noise to put on the inputs; none unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<AddedNoiseConfig>,
    /// What is drawn anew for every chunk of training rows; nothing unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub augment: Option<AugmentConfig>,
    /// Format of all files: `"csv"`, `"npy"` or `"piano-roll"`; told from the file itself unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<FileFormat>,
    /// For CSV: whether the first line names the columns; without a header they are called c0, c1, …. `true`
    /// unless given.
    #[serde(default = "yes")]
    pub header: bool,
    /// For npy: the file with the lengths of the sequences; `X.lengths.npy` beside `X.values.npy` is found by
    /// itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lengths: Option<PathBuf>,
}

fn yes() -> bool {
    true
}

impl DataConfig {
    /// Part of the training data to set aside for validation; `None` where validation has files of its own.
    pub fn fraction_set_aside(&self) -> Option<f64> {
        self.valid.is_empty().then(|| self.valid_fraction.unwrap_or(DEFAULT_VALID_FRACTION))
    }

    /// Whether training rows get other noise in every epoch, see [`AddedNoiseConfig::fresh`].
    pub fn noise_is_fresh(&self) -> bool {
        self.noise.is_some_and(|noise| noise.fresh.unwrap_or(self.targets == Targets::Clean))
    }

    /// Whether what is to be predicted are the inputs, sooner or cleaner than they are seen.
    pub fn targets_are_inputs(&self) -> bool {
        !matches!(self.targets, Targets::Matching(_))
    }

    /// What the outputs of a model for these data stand for.
    pub fn target(&self) -> Target {
        match self.targets {
            Targets::Next => Target::Next,
            Targets::Clean | Targets::Matching(_) => Target::Columns,
        }
    }

    /// Makes relative paths start at `folder`.
    pub fn anchor(&mut self, folder: &Path) {
        for source in self.train.iter_mut().chain(&mut self.valid).chain(&mut self.test) {
            source.anchor(folder);
        }
        self.lengths = self.lengths.take().map(|lengths| folder.join(lengths));
    }
}

impl DataConfig {
    /// Checks every key of the section; `likelihood` is that of the model which is to learn from the data.
    pub(super) fn check(&self, likelihood: Likelihood) -> Result<(), InvalidValue> {
        if self.train.is_empty() {
            return Err(invalid("data.train", "must name at least one file"));
        }
        if self.valid_seed.is_some() && !self.valid.is_empty() {
            return Err(invalid(
                "data.valid_seed",
                "and `data.valid` exclude each other; remove one of them",
            ));
        }
        if let Some(fraction) = self.valid_fraction {
            if !self.valid.is_empty() {
                return Err(invalid(
                    "data.valid_fraction",
                    "and `data.valid` exclude each other; remove one of them",
                ));
            }
            if !(fraction > 0.0 && fraction < 1.0) {
                return Err(invalid(
                    "data.valid_fraction",
                    format!("must be above 0 and below 1, found {fraction}"),
                ));
            }
        }
        for (key, sources) in [("data.train", &self.train), ("data.valid", &self.valid)] {
            if sources.iter().any(|source| source.burn_in.is_some()) {
                return Err(invalid(key, "must not have `burn_in`, which is for test data"));
            }
        }
        self.check_added_noise()?;
        self.check_augment(likelihood)
    }

    /// Checks that noise to be added is well defined, and there where it is needed.
    fn check_added_noise(&self) -> Result<(), InvalidValue> {
        self.check_envelope()?;
        match &self.noise {
            None if self.targets == Targets::Clean && self.envelope.is_none() => {
                let problem = "\"clean\" needs noise that the inputs can be told from: set `data.noise` (or `data.envelope` for \
                               raw EMG)";
                Err(invalid("data.targets", problem))
            }
            Some(noise) => noise.invalid().map_or(Ok(()), |problem| Err(invalid("data.noise", problem))),
            None => Ok(()),
        }
    }

    /// Checks that training rows are changed into ones that could be.
    fn check_augment(&self, likelihood: Likelihood) -> Result<(), InvalidValue> {
        let Some(augment) = &self.augment else { return Ok(()) };
        if let Some((key, problem)) = augment.invalid() {
            return Err(invalid(key, problem));
        }
        let binary = matches!(likelihood, Likelihood::Bernoulli | Likelihood::Categorical);
        match augment.unfit_for_binary(self.targets_are_inputs()).filter(|_| binary) {
            Some(key) => Err(invalid(key, "makes other numbers of targets that must be 0 or 1; remove it")),
            None => Ok(()),
        }
    }

    fn check_envelope(&self) -> Result<(), InvalidValue> {
        let Some(window) = self.envelope else { return Ok(()) };
        if window % 2 == 0 {
            let problem =
                format!("must be an odd number of rows, as many before a row as after it, found {window}");
            return Err(invalid("data.envelope", problem));
        }
        if matches!(self.targets, Targets::Matching(_)) {
            let problem = "needs `data.targets = \"clean\"` or `\"next\"`: other columns have no envelope among the inputs";
            return Err(invalid("data.envelope", problem));
        }
        Ok(())
    }
}
