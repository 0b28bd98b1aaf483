//! The data of one experiment.

use std::borrow::Cow;

use anyhow::{Result, bail, ensure};
use quaver::checkpoint::{MAX_WIDTH, Target};

use super::augment::Augmentation;
use super::input_gaps::InputGaps;
use super::look_ahead::LookAhead;
use super::read_file::ReadFile;
use super::recording_noise::FreshNoise;
use super::rows::Sequence;
use crate::config::DataSize;

/// With fewer training rows a target may be constant by chance.
const FEW_ROWS: usize = 20;

/// All sequences of an experiment in raw units, by split.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// Training sequences; never empty after loading.
    pub train: Vec<Sequence>,
    /// Validation sequences, for early stopping; never empty after loading.
    pub valid: Vec<Sequence>,
    /// Test sequences; may be empty.
    pub test: Vec<Sequence>,
    /// Names of the input channels.
    pub input_names: Vec<String>,
    /// Names of the target channels.
    pub target_names: Vec<String>,
    /// Whether the targets are the next inputs or other columns.
    pub target: Target,
    /// Where the target of each output is found, if targets are columns some rows ahead; empty otherwise.
    pub look_ahead: Vec<LookAhead>,
    /// How the validation sequences were chosen, for people.
    pub validation: String,
    /// How the training sequences change from epoch to epoch.
    pub changes: EpochChanges,
    /// The files that the data were read from; none if they were made in memory.
    pub files: Vec<ReadFile>,
    /// What was taken for granted about the files, for people: columns left out, unusual forms.
    pub notes: Vec<String>,
}

/// What the training sequences get anew in every epoch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EpochChanges {
    /// Augmentation, if any.
    pub augmentation: Option<Augmentation>,
    /// Noise, if it is not the same in all epochs.
    pub fresh_noise: Option<FreshNoise>,
    /// Gaps in the inputs, if any.
    pub gaps: Option<InputGaps>,
}

impl Dataset {
    /// Sequences that predict themselves, for tests.
    #[cfg(test)]
    pub(crate) fn of(splits: [Vec<Sequence>; 3], names: &[&str]) -> Self {
        let [train, valid, test] = splits;
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        Dataset {
            train,
            valid,
            test,
            input_names: names.clone(),
            target_names: names,
            target: Target::Next,
            look_ahead: Vec::new(),
            validation: String::new(),
            changes: EpochChanges::default(),
            files: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The splits with their names in a config.
    pub fn splits(&self) -> [(&'static str, &[Sequence]); 3] {
        [("train", &self.train), ("valid", &self.valid), ("test", &self.test)]
    }

    /// The training sequences of an epoch, counted from 1. With augmentation, every `rows` rows of a sequence
    /// (0 for all of it) are transformed independently and become a sequence of their own. Without gaps,
    /// which depend on the chunks.
    pub fn train_in(&self, epoch: u64, rows: usize) -> Cow<'_, [Sequence]> {
        let train: Cow<'_, [Sequence]> = match &self.changes.augmentation {
            Some(augmentation) => Cow::Owned(augmentation.on_epoch(&self.train, epoch, rows)),
            None => Cow::Borrowed(&self.train),
        };
        match &self.changes.fresh_noise {
            Some(noise) => Cow::Owned(noise.on_epoch(&train, epoch)),
            None => train,
        }
    }

    /// Checks properties of the whole dataset.
    pub(super) fn check(&self) -> Result<()> {
        let most = usize::from(MAX_WIDTH);
        for (key, names) in [("data.inputs", &self.input_names), ("data.targets", &self.target_names)] {
            ensure!(names.len() <= most, "{key}: {} columns; a model takes at most {most}", names.len());
        }
        for (channel, name) in self.target_names.iter().enumerate() {
            let mut values = self.train.iter().flat_map(|s| s.targets.iter().map(move |row| row[channel]));
            ensure!(
                values.any(|value| !value.is_nan()),
                "data.targets: every value of `{name}` is missing in the training data, \
                 so it cannot be learned"
            );
        }
        Ok(())
    }

    /// Checks that every target column that is no input varies in the training data.
    ///
    /// # Errors
    /// Names the first one that does not.
    pub fn check_targets_vary(&self) -> Result<()> {
        if self.target.is_next() || self.target_names == self.input_names {
            return Ok(());
        }
        for (channel, name) in self.target_names.iter().enumerate() {
            let values = self.train.iter().flat_map(|s| s.targets.iter().map(move |row| row[channel]));
            let mut values = values.filter(|value| !value.is_nan());
            let first = values.next();
            ensure!(
                self.train_rows() < FEW_ROWS || values.any(|value| Some(value) != first),
                "data.targets: `{name}` is {} in every row of the training data, so there is nothing to learn; \
                 choose another target or other rows",
                first.unwrap_or(f32::NAN)
            );
        }
        Ok(())
    }

    /// The size of the training data.
    pub fn size(&self) -> DataSize {
        DataSize { rows: self.train_rows(), longest: self.train.iter().map(Sequence::len).max().unwrap_or(0) }
    }

    fn train_rows(&self) -> usize {
        self.train.iter().map(Sequence::len).sum()
    }

    /// Checks that every target is 0, 1 or missing, as a Bernoulli likelihood requires.
    ///
    /// # Errors
    /// Names the first target that is not.
    pub fn check_binary_targets(&self) -> Result<()> {
        for (split, sequences) in self.splits() {
            for (index, sequence) in sequences.iter().enumerate() {
                let binary = |value: &f32| *value == 0.0 || *value == 1.0 || value.is_nan();
                let Some(at) = sequence.targets.values.iter().position(|value| !binary(value)) else {
                    continue;
                };
                let (step, channel) = (at / self.target_names.len(), at % self.target_names.len());
                bail!(
                    "target `{}` is {} in row {step} of sequence {index} of data.{split}; \
                     a Bernoulli likelihood needs targets of 0 and 1: \
                     set model.likelihood = \"gaussian\" or choose other targets",
                    self.target_names[channel],
                    sequence.targets.values[at]
                );
            }
        }
        Ok(())
    }
}

impl Dataset {
    /// Checks that in every row exactly one target is 1 and the others are 0, or all are missing, as a
    /// categorical likelihood requires.
    ///
    /// # Errors
    /// Names the first row that violates this.
    pub fn check_one_hot_targets(&self) -> Result<()> {
        self.check_binary_targets()?;
        for (split, sequences) in self.splits() {
            for (index, sequence) in sequences.iter().enumerate() {
                let sound =
                    |row: &[f32]| row.iter().all(|value| value.is_nan()) || row.iter().sum::<f32>() == 1.0;
                if let Some(step) = sequence.targets.iter().position(|row| !sound(row)) {
                    bail!(
                        "row {step} of sequence {index} of data.{split} does not name exactly one class; \
                         a categorical likelihood needs one target column per class, 1 in one of them and 0 in the others: \
                         set model.likelihood = \"bernoulli\" or choose other targets"
                    );
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;

    fn dataset(values: &[f32]) -> Dataset {
        let train = vec![Sequence::next(Rows { channels: 2, values: values.to_vec() })];
        Dataset::of([train, Vec::new(), Vec::new()], &["a", "b"])
    }

    #[test]
    fn a_target_that_is_never_there_is_refused() {
        assert!(dataset(&[f32::NAN, 1.0, 2.0, f32::NAN]).check().is_ok());
        let error = dataset(&[1.0, f32::NAN, 2.0, f32::NAN]).check().unwrap_err().to_string();
        assert!(error.starts_with("data.targets: every value of `b` is missing"), "{error}");
    }

    #[test]
    fn a_target_that_never_changes_is_refused() {
        let rows =
            |channels, value: fn(usize) -> f32| Rows { channels, values: (0..40).map(value).collect() };
        let with_target = |value| {
            let train = vec![Sequence::columns(rows(1, |t| t as f32), rows(1, value))];
            let target_names = vec!["y".to_string()];
            let data = Dataset::of([train, Vec::new(), Vec::new()], &["x"]);
            Dataset { target_names, target: Target::Columns, ..data }.check_targets_vary()
        };
        assert!(with_target(|t| t as f32).is_ok());
        let error = with_target(|t| if t == 3 { f32::NAN } else { 7.0 }).unwrap_err().to_string();
        assert!(error.starts_with("data.targets: `y` is 7 in every row of the training data"), "{error}");
    }

    #[test]
    fn classes_are_recognised() {
        assert!(dataset(&[0.0, 1.0, f32::NAN, f32::NAN, 1.0, 0.0]).check_one_hot_targets().is_ok());
        let error = dataset(&[0.0, 1.0, 1.0, 1.0]).check_one_hot_targets().unwrap_err().to_string();
        assert!(error.starts_with("row 1 of sequence 0 of data.train does not name"), "{error}");
    }

    #[test]
    fn binary_targets_are_recognised() {
        assert!(dataset(&[0.0, 1.0, f32::NAN, 1.0]).check_binary_targets().is_ok());
        let error = dataset(&[0.0, 1.0, 0.0, 0.5]).check_binary_targets().unwrap_err().to_string();
        assert!(error.starts_with("target `b` is 0.5 in row 1 of sequence 0 of data.train;"), "{error}");
    }
}
