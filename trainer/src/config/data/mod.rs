//! The section `[data]`: files, columns, rows, added noise and augmentation.

mod added_noise;
mod augment;
mod bag;
mod columns;
mod format;
mod labels;
mod missing;
mod row_range;
mod row_selection;
mod source;
mod targets;
mod text;

use std::path::{Path, PathBuf};

use quaver::checkpoint::{Likelihood, Target};
use serde::{Deserialize, Serialize};

use super::limits::{InvalidValue, Limits, Rule, check_path, check_rules, invalid, optional};

pub use added_noise::AddedNoiseConfig;
pub use augment::{AugmentConfig, MirrorConfig};
pub use bag::BagConfig;
pub use columns::{ColumnPatterns, Columns};
pub use format::{DecimalMark, FileFormat};
pub use labels::{LabelCut, LabelsConfig};
pub use missing::{Missing, MissingConfig};
pub use row_range::RowRange;
pub use row_selection::{RowList, RowSelection};
pub use source::DataSource;
pub use targets::{AheadTargets, ClassTarget, Horizons, Targets};
pub use text::TokenKind;

/// Fraction of the training data that is set aside for validation where the config sets neither `valid` nor
/// `valid_fraction`.
const DEFAULT_VALID_FRACTION: f64 = 0.2;

/// The section `[data]`: files, columns, rows, added noise and augmentation.
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
    /// Training data: the path of a file, a table `{ file, sequences, rows, lengths }`, or a list of these.
    /// Paths are relative to the config file, or to the folder given by `--data-dir`.
    #[serde(deserialize_with = "source::one_or_many")]
    pub train: Vec<DataSource>,
    /// Validation data for early stopping, in the same form. Excludes `valid_fraction`.
    #[serde(default, deserialize_with = "source::one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub valid: Vec<DataSource>,
    /// Fraction of the training data that is set aside for validation; 0.2 if `valid` is not set either. Of
    /// ten or more training sequences these are the last ones, of fewer the end of each.
    pub valid_fraction: Option<f64>,
    /// Seed for setting aside random sequences instead of the last ones, for samples whose order has no
    /// meaning. Needs ten or more training sequences.
    pub valid_seed: Option<u64>,
    /// Whether rows may be in `train` and `valid` alike, for a final model whose settings are chosen and
    /// whose last state is kept. Its validation loss then says nothing about other data.
    #[serde(default, skip_serializing_if = "is_false")]
    pub valid_in_train: bool,
    /// Test data, in the same form; optional.
    #[serde(default, deserialize_with = "source::one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub test: Vec<DataSource>,
    /// Input columns: `"all"` (all columns but the targets), a name, a range such as `"c0..c8"` (without its
    /// end) or `"emg1..=emg8"` (with it), or a list of names and ranges.
    #[serde(default)]
    pub inputs: Columns,
    /// Columns that are not read, in the form of `inputs`, for `inputs = "all"`. Columns of CSV files that
    /// are constant or empty in the training data, count rows or tell the time are left out of `"all"`
    /// unasked, and `quaver train` names them.
    pub exclude: Option<ColumnPatterns>,
    /// What is predicted: `"next"` for the inputs one step ahead, `"clean"` for the inputs at the same step
    /// without the noise of `noise` (or their `envelope`), `"labels"` for the class of each sequence, columns
    /// in the form of `inputs`, or a table: `{ next = "y", horizon = [1, 5] }` for columns some rows ahead,
    /// `{ class = "gesture" }` for the class of every row.
    pub targets: Targets,
    /// Where labels are found, for `targets = "labels"`.
    #[serde(default)]
    pub labels: Option<LabelsConfig>,
    /// Window, an odd number of rows, of a Hann-weighted moving average over the rectified inputs |x|: the
    /// average is the clean signal, for raw EMG with `targets = "clean"` or `"next"` (see
    /// `docs/evaluation.md`). With `noise`, the inputs are the envelopes under that noise.
    pub envelope: Option<usize>,
    /// Noise added to the inputs; none if not set.
    pub noise: Option<AddedNoiseConfig>,
    /// Augmentation of the training rows; if not set, none but the gaps of `data.augment.missing`.
    pub augment: Option<AugmentConfig>,
    /// Format of all files; inferred from each file if not set. With `"words"` or `"characters"` the files of
    /// a split are one stream of tokens, and the model predicts the next token.
    pub format: Option<FileFormat>,
    /// Text: file with the vocabulary, a token per line, with escapes such as `\n` and `\s` (a space). If not
    /// set, the tokens of the training files, the most frequent first.
    pub vocabulary: Option<PathBuf>,
    /// CSV: whether the first line names the columns. Without a header they are called c0, c1, ….
    #[serde(default = "yes")]
    pub header: bool,
    /// CSV: decimal mark, `"point"` or `"comma"`. If not set, that of the first number with one.
    pub decimal: Option<DecimalMark>,
    /// ROS 2 bags: the topic whose messages are the rows, and how others are joined to it.
    pub bag: Option<BagConfig>,
    /// NumPy: file with the lengths of the sequences. `X.lengths.npy` next to `X.values.npy` is found
    /// automatically.
    pub lengths: Option<PathBuf>,
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_false(value: &bool) -> bool {
    !value
}

impl DataConfig {
    /// Fraction of the training data to set aside for validation; `None` where validation has files of its
    /// own.
    pub fn fraction_set_aside(&self) -> Option<f64> {
        self.valid.is_empty().then(|| self.valid_fraction.unwrap_or(DEFAULT_VALID_FRACTION))
    }

    /// Whether training rows get different noise in every epoch, see [`AddedNoiseConfig::fresh`].
    pub fn noise_is_fresh(&self) -> bool {
        self.noise.is_some_and(|noise| noise.fresh.unwrap_or(self.targets == Targets::Clean))
    }

    /// Whether the targets are the inputs, at the next step or without noise.
    pub fn targets_are_inputs(&self) -> bool {
        matches!(self.targets, Targets::Next | Targets::Clean)
    }

    /// The target of a model for these data.
    pub fn target(&self) -> Target {
        match self.targets {
            Targets::Next => Target::Next,
            Targets::Clean
            | Targets::Labels
            | Targets::Matching(_)
            | Targets::Ahead(_)
            | Targets::Class(_) => Target::Columns,
        }
    }

    /// Resolves relative paths against `folder`.
    pub fn anchor(&mut self, folder: &Path) {
        for source in self.train.iter_mut().chain(&mut self.valid).chain(&mut self.test) {
            source.anchor(folder);
        }
        self.lengths = self.lengths.take().map(|lengths| folder.join(lengths));
        self.vocabulary = self.vocabulary.take().map(|vocabulary| folder.join(vocabulary));
        if let Some(labels) = &mut self.labels {
            labels.anchor(folder);
        }
    }
}

impl DataConfig {
    pub(super) const RULES: [Rule<Self>; 1] =
        [Rule::new("valid_fraction", Limits::FRACTION, |data| optional(data.valid_fraction))];

    /// Checks the section; `likelihood` is that of the model.
    pub(super) fn check(&self, likelihood: Likelihood) -> Result<(), InvalidValue> {
        if self.train.is_empty() {
            return Err(invalid("data.train", "must name at least one file"));
        }
        self.check_paths()?;
        let exclusive = [
            ("data.valid_seed", self.valid_seed.is_some()),
            ("data.valid_fraction", self.valid_fraction.is_some()),
        ];
        if let Some((key, _)) = exclusive.into_iter().find(|(_, set)| *set && !self.valid.is_empty()) {
            return Err(invalid(key, "and `data.valid` exclude each other; remove one of them"));
        }
        check_rules("data", self, &Self::RULES)?;
        for (key, sources) in [("data.train", &self.train), ("data.valid", &self.valid)] {
            if sources.iter().any(|source| source.burn_in.is_some()) {
                return Err(invalid(key, "must not have `burn_in`, which is for test data"));
            }
        }
        self.bag.iter().try_for_each(BagConfig::check)?;
        self.check_text()?;
        self.check_labels()?;
        self.check_labelled()?;
        self.check_envelope()?;
        self.check_ahead()?;
        self.check_noise()?;
        self.check_augment(likelihood)
    }

    fn check_paths(&self) -> Result<(), InvalidValue> {
        for (key, sources) in
            [("data.train", &self.train), ("data.valid", &self.valid), ("data.test", &self.test)]
        {
            sources.iter().flat_map(DataSource::paths).try_for_each(|path| check_path(key, path))?;
        }
        self.vocabulary.iter().try_for_each(|path| check_path("data.vocabulary", path))?;
        self.lengths.iter().try_for_each(|path| check_path("data.lengths", path))
    }

    /// Checks the noise, and that there is some where the targets need it.
    fn check_noise(&self) -> Result<(), InvalidValue> {
        match &self.noise {
            None if self.targets == Targets::Clean && self.envelope.is_none() => {
                let problem = "\"clean\" needs noise that separates inputs from targets: set `data.noise` (or \
                               `data.envelope` for raw EMG)";
                Err(invalid("data.targets", problem))
            }
            Some(noise) => noise.check(),
            None => Ok(()),
        }
    }

    /// Checks the augmentation, and that it keeps targets that a likelihood needs to be 0 or 1.
    fn check_augment(&self, likelihood: Likelihood) -> Result<(), InvalidValue> {
        let Some(augment) = &self.augment else { return Ok(()) };
        augment.check()?;
        let binary = matches!(likelihood, Likelihood::Bernoulli | Likelihood::Categorical);
        match augment.unfit_for_binary(self.targets_are_inputs()).filter(|_| binary) {
            Some(key) => Err(invalid(key, "changes targets that must be 0 or 1; remove it")),
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
        if !self.targets_are_inputs() {
            let problem =
                "needs `data.targets = \"clean\"` or `\"next\"`: only inputs have an envelope to predict";
            return Err(invalid("data.envelope", problem));
        }
        Ok(())
    }
}
