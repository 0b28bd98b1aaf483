//! The `[data]` section of a config: which files, which columns, which rows.

mod added_noise;
mod columns;
mod envelope;
mod row_range;
mod row_selection;
mod source;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use quaver::checkpoint::Target;
use serde::{Deserialize, Serialize};

use super::augment::{Augment, Augmentation};
use super::dataset::Dataset;
use super::format::Format;
use super::rows::{Rows, Sequence};
use super::split::split_off;
use super::table::{Table, listed};

pub use added_noise::{AddedNoise, FreshNoise};
use columns::Choice;
pub use columns::{Columns, Patterns, Targets};
pub use row_range::RowRange;
pub use row_selection::{RowList, RowSelection};
use source::Reading;
pub use source::Source;

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
    /// stretches such as `"2"`, `"0..2502"` or `"..80%"`, see [`Cut`]; `rows` may be a list in a file instead,
    /// see [`RowSelection`].
    #[serde(deserialize_with = "source::one_or_many")]
    pub train: Vec<Source>,
    /// What to stop early on, in the same form. Instead of it, `valid_fraction` may be given.
    #[serde(default, deserialize_with = "source::one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub valid: Vec<Source>,
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
    pub test: Vec<Source>,
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
    pub noise: Option<AddedNoise>,
    /// What is drawn anew for every chunk of training rows; nothing unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub augment: Option<Augment>,
    /// Format of all files: `"csv"`, `"npy"` or `"piano-roll"`; told from the file itself unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
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

    /// Whether training rows get other noise in every epoch, see [`AddedNoise::fresh`].
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

    /// Reads all files and puts the splits together.
    pub fn load(&self) -> Result<Dataset> {
        let mut choice = None;
        let mut train = self.split("train", &self.train, &mut choice)?;
        let mut valid = self.split("valid", &self.valid, &mut choice)?;
        let mut test = self.split("test", &self.test, &mut choice)?;
        let mut validation = "from files of its own".to_string();
        if let Some(fraction) = self.fraction_set_aside() {
            (train, valid, validation) = split_off(train, fraction, self.valid_seed)?;
        }
        let noise = self.noise.map(|noise| noise.add([&mut train, &mut valid, &mut test]));
        let Choice { inputs, targets } = choice.context("data.train names no file; name at least one")?;
        let augment = |asked| Augmentation::new(asked, &inputs, &train, self.targets_are_inputs());
        let augmentation = self.augment.as_ref().map(augment).transpose().map_err(anyhow::Error::msg)?;
        let dataset = Dataset {
            train,
            valid,
            test,
            input_names: inputs,
            target_names: targets,
            target: self.target(),
            validation,
            augmentation,
            fresh_noise: noise.filter(|_| self.noise_is_fresh()),
        };
        dataset.check()?;
        Ok(dataset)
    }

    /// Reads the files of one split. The first file of all settles which columns there are.
    fn split(&self, key: &str, sources: &[Source], settled: &mut Option<Choice>) -> Result<Vec<Sequence>> {
        let mut sequences = Vec::new();
        for source in sources {
            let (choice, table) =
                self.read(source, settled.as_ref()).with_context(|| format!("data.{key}"))?;
            let burn_in = source.burn_in.unwrap_or(0);
            let led = |sequence| Sequence { burn_in, ..sequence };
            sequences.extend(self.sequences(table, &choice).into_iter().map(led));
            settled.get_or_insert(choice);
        }
        Ok(sequences)
    }

    fn read(&self, source: &Source, settled: Option<&Choice>) -> Result<(Choice, Table)> {
        let reading = Reading { format: self.format, header: self.header, lengths: self.lengths.as_deref() };
        source.read(reading, |names| {
            let own = Choice::new(&self.inputs, &self.targets, names)?;
            match settled {
                Some(settled) => check_same_columns(settled, &own).map(|()| settled.clone()),
                None => Ok(own),
            }
        })
    }

    /// Parts inputs from targets in a table of all columns chosen, which has the inputs first.
    fn sequences(&self, table: Table, choice: &Choice) -> Vec<Sequence> {
        let all: Vec<usize> = (0..table.names.len()).collect();
        let (inputs, targets) = all.split_at(choice.inputs.len());
        let part = |rows: Rows| match (&self.targets, self.envelope) {
            (targets, Some(window)) if self.noise.is_some() => envelope::sensed(&rows, window, targets),
            (targets, Some(window)) => envelope::sequence(&rows, window, targets),
            (Targets::Next, None) => Sequence::next(rows),
            (Targets::Clean, None) => Sequence::columns(rows.clone(), rows),
            (Targets::Matching(_), None) => Sequence::columns(rows.columns(inputs), rows.columns(targets)),
        };
        table.sequences.into_iter().map(part).collect()
    }
}

/// Files may order their columns as they like, but must have the same ones.
fn check_same_columns(settled: &Choice, own: &Choice) -> Result<(), String> {
    let sorted = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort();
        names
    };
    if sorted(&settled.inputs) == sorted(&own.inputs) {
        return Ok(());
    }
    Err(format!(
        "the inputs here are {}, but those of the first file are {}; \
         name the inputs that all files have in `data.inputs`",
        listed(&own.inputs),
        listed(&settled.inputs)
    ))
}

#[cfg(test)]
mod tests;
