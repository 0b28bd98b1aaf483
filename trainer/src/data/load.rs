//! Reads the files of a `[data]` section into a [`Dataset`].

use std::collections::HashSet;

use anyhow::{Context, Result};
use quaver::checkpoint::Likelihood;

use super::augment::Augmentation;
use super::dataset::{Dataset, EpochChanges};
use super::envelope;
use super::input_gaps::InputGaps;
use super::look_ahead::shift_targets;
use super::overlap::{SplitRows, UsedRows};
use super::read_file::ReadFiles;
use super::read_source::ReadOptions;
use super::row_classes::{LabelCodes, classify_targets};
use super::rows::{Rows, Sequence};
use super::select_columns::SelectedColumns;
use super::split::split_off;
use super::table::{Table, listed, places};
use super::uninformative::uninformative;
use super::watch::WatchedReading;
use crate::config::{Columns, Config, DataConfig, DataSource, FileFormat, Targets};

impl Config {
    /// Reads the data, and checks that the targets suit the likelihood.
    ///
    /// # Errors
    /// When a file cannot be read, or its contents contradict the config; the message names the file or the
    /// key.
    pub fn load_data(&self) -> Result<Dataset> {
        let mut dataset = self.data.load()?;
        if self.data.token_kind().is_some() || self.data.is_labelled() {
            return Ok(dataset);
        }
        if self.latent.is_some() {
            // Their key for gaps is `latent.max_gap`.
            dataset.changes.gaps = None;
        }
        match self.model.likelihood {
            Likelihood::Gaussian | Likelihood::Heteroscedastic => dataset.check_targets_vary()?,
            Likelihood::Bernoulli => dataset.check_binary_targets()?,
            Likelihood::Categorical => dataset.check_one_hot_targets()?,
        }
        Ok(dataset)
    }
}

impl DataConfig {
    /// Reads all files and assembles the splits.
    ///
    /// # Errors
    /// When a file cannot be read, or its contents contradict the config; the message names the file or the
    /// key.
    pub fn load(&self) -> Result<Dataset> {
        let sources = self.train.iter().chain(&self.valid).chain(&self.test);
        let _watched = WatchedReading::begin(sources.map(|source| source.file.as_path()));
        if let Some(kind) = self.token_kind() {
            return self.load_text(kind);
        }
        if self.is_labelled() {
            return self.load_labelled();
        }
        let mut reading = Reading::default();
        let mut train = self.split("train", &self.train, &mut reading)?;
        train = self.without_uninformative(train, &mut reading)?;
        let mut valid = self.split("valid", &self.valid, &mut reading)?;
        let mut test = self.split("test", &self.test, &mut reading)?;
        let mut validation = "from files of its own".to_string();
        if let Some(fraction) = self.fraction_set_aside() {
            (train, valid, validation) = split_off(train, fraction, self.valid_seed)?;
        }
        let noise = self.noise.map(|noise| noise.add([&mut train, &mut valid, &mut test]));
        let choice = reading.settled.context("data.train names no file; name at least one")?;
        let splits = [("train", &mut train), ("valid", &mut valid), ("test", &mut test)];
        let (targets, look_ahead) = match &self.targets {
            Targets::Ahead(ahead) => shift_targets(ahead, &choice, splits)?,
            Targets::Class(class) => {
                (classify_targets(class, &reading.codes, splits, &validation)?, Vec::new())
            }
            _ => (choice.targets, Vec::new()),
        };
        let inputs = choice.inputs;
        let augment = |asked| Augmentation::new(asked, &inputs, &train, self.targets_are_inputs());
        let transforms = self.augment.as_ref().filter(|asked| asked.transforms_rows());
        let augmentation = transforms.map(augment).transpose().map_err(anyhow::Error::msg)?;
        let fresh_noise = noise.filter(|_| self.noise_is_fresh());
        let gaps = InputGaps::new(self.augment.as_ref(), &train);
        let dataset = Dataset {
            train,
            valid,
            test,
            input_names: inputs,
            target_names: targets,
            target: self.target(),
            look_ahead,
            validation,
            changes: EpochChanges { augmentation, fresh_noise, gaps },
            files: reading.files.0,
            notes: reading.notes,
        };
        dataset.check()?;
        Ok(dataset)
    }

    /// Reads the files of one split. The first file of all determines the columns.
    fn split(
        &self,
        key: &'static str,
        sources: &[DataSource],
        reading: &mut Reading,
    ) -> Result<Vec<Sequence>> {
        let (mut sequences, mut used) = (Vec::new(), Vec::new());
        for source in sources {
            let (choice, table) =
                self.read(source, reading, &mut used).with_context(|| format!("data.{key}"))?;
            if key == "train" {
                table.check_magnitudes().with_context(|| format!("data.train: {}", source.file.display()))?;
            }
            let burn_in = source.burn_in.unwrap_or(0);
            let led = |sequence| Sequence { burn_in, ..sequence };
            sequences.extend(self.sequences(table, &choice).into_iter().map(led));
            reading.settled.get_or_insert(choice);
        }
        if !(self.valid_in_train && key == "valid") {
            reading.splits.add(key, used)?;
        }
        Ok(sequences)
    }

    fn read(
        &self,
        source: &DataSource,
        reading: &mut Reading,
        used: &mut Vec<UsedRows>,
    ) -> Result<(SelectedColumns, Table)> {
        let options = ReadOptions {
            format: self.format,
            header: self.header,
            decimal: self.decimal,
            lengths: self.lengths.as_deref(),
            bag: self.bag.as_ref(),
        };
        let Reading { settled, left_out, files, notes, codes, .. } = reading;
        let codes = self.row_class().map(|_| codes);
        source.read(options, files, notes, used, codes, |names| {
            let excluded = match &self.exclude {
                Some(patterns) => patterns.among("data.exclude", names)?,
                None => Vec::new(),
            };
            let left_out = left_out.iter().cloned().chain(excluded).collect();
            let own = SelectedColumns::new(&self.inputs, &self.targets, &left_out, names)?;
            match settled {
                Some(settled) => check_same_columns(settled, &own).map(|()| settled.clone()),
                None => Ok(own),
            }
        })
    }

    /// Leaves out the input columns of CSV files and bags that say nothing, where the config asks for all
    /// inputs.
    fn without_uninformative(&self, train: Vec<Sequence>, reading: &mut Reading) -> Result<Vec<Sequence>> {
        if self.inputs != Columns::All || !self.has_named_columns()? {
            return Ok(train);
        }
        let Some(choice) = &mut reading.settled else { return Ok(train) };
        // A column that is predicted ahead tells more about itself than any other.
        let is_target = |column: usize| choice.targets.contains(&choice.inputs[column]);
        let mut found = uninformative(&train);
        found.retain(|(column, _)| self.targets_follow_inputs() || !is_target(*column));
        let is_kept = |column: &usize| found.iter().all(|(index, _)| index != column);
        let kept: Vec<usize> = (0..choice.inputs.len()).filter(is_kept).collect();
        if found.is_empty() || kept.is_empty() {
            return Ok(train);
        }
        for (column, reason) in &found {
            let name = &choice.inputs[*column];
            reading.notes.push(format!("`{name}` is not read: {reason}; name it in data.inputs to read it"));
            reading.left_out.insert(name.clone());
        }
        let inputs = kept.iter().map(|&column| choice.inputs[column].clone()).collect();
        let follow = self.targets_follow_inputs();
        let targets = if follow { Clone::clone(&inputs) } else { choice.targets.clone() };
        *choice = SelectedColumns { inputs, targets };
        Ok(train.into_iter().map(|sequence| sequence.with_inputs_of(&kept, follow)).collect())
    }

    /// Whether the target columns are all inputs, whichever these are.
    fn targets_follow_inputs(&self) -> bool {
        self.targets_are_inputs() || self.ahead().is_some_and(|ahead| ahead.next.is_none())
    }

    /// Whether all training files have names of columns.
    pub(super) fn has_named_columns(&self) -> Result<bool> {
        let mut formats =
            self.train.iter().map(|source| self.format.map_or_else(|| source.infer_format(), Ok));
        formats.try_fold(true, |all, format| {
            Ok(all && matches!(format?, FileFormat::Csv | FileFormat::Parquet | FileFormat::Mcap))
        })
    }

    /// Separates inputs from targets in a table of all selected columns, which has the inputs first.
    fn sequences(&self, table: Table, choice: &SelectedColumns) -> Vec<Sequence> {
        let all: Vec<usize> = (0..table.names.len()).collect();
        let inputs = &all[..choice.inputs.len()];
        let places = places(&table.names);
        let targets: Vec<usize> =
            choice.targets.iter().filter_map(|name| places.get(name.as_str()).copied()).collect();
        let part = |rows: Rows| match (&self.targets, self.envelope) {
            (targets, Some(window)) if self.noise.is_some() => envelope::sensed(&rows, window, targets),
            (targets, Some(window)) => envelope::sequence(&rows, window, targets),
            (Targets::Next, None) => Sequence::next(rows),
            (Targets::Clean | Targets::Labels, None) => Sequence::columns(rows.clone(), rows),
            (Targets::Matching(_) | Targets::Ahead(_) | Targets::Class(_), None) => {
                let targets = rows.columns(&targets);
                Sequence::columns(rows.into_columns(inputs), targets)
            }
        };
        table.sequences.into_iter().map(part).collect()
    }
}

/// What the files read so far have settled.
#[derive(Default)]
struct Reading {
    /// The columns that are read from every file.
    settled: Option<SelectedColumns>,
    /// Columns that `inputs = "all"` does not mean.
    left_out: HashSet<String>,
    files: ReadFiles,
    splits: SplitRows,
    /// Labels of rows, if those are the targets.
    codes: LabelCodes,
    /// What was taken for granted, for people.
    notes: Vec<String>,
}

/// Files may order their columns differently, but must have the same ones.
fn check_same_columns(settled: &SelectedColumns, own: &SelectedColumns) -> Result<(), String> {
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
