//! Reads the files of a `[data]` section into a [`Dataset`].

use anyhow::{Context, Result};
use quaver::checkpoint::Likelihood;

use super::augment::Augmentation;
use super::dataset::{Dataset, EpochChanges};
use super::envelope;
use super::input_gaps::InputGaps;
use super::read_file::ReadFiles;
use super::read_source::ReadOptions;
use super::rows::{Rows, Sequence};
use super::select_columns::SelectedColumns;
use super::split::split_off;
use super::table::{Table, listed};
use crate::config::{Config, DataConfig, DataSource, Targets};

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
            Likelihood::Gaussian | Likelihood::Heteroscedastic => {}
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
        if let Some(kind) = self.token_kind() {
            return self.load_text(kind);
        }
        if self.is_labelled() {
            return self.load_labelled();
        }
        let (mut choice, mut files) = (None, ReadFiles::default());
        let mut split = |key, sources| self.split(key, sources, &mut choice, &mut files);
        let mut train = split("train", &self.train)?;
        let mut valid = split("valid", &self.valid)?;
        let mut test = split("test", &self.test)?;
        let mut validation = "from files of its own".to_string();
        if let Some(fraction) = self.fraction_set_aside() {
            (train, valid, validation) = split_off(train, fraction, self.valid_seed)?;
        }
        let noise = self.noise.map(|noise| noise.add([&mut train, &mut valid, &mut test]));
        let SelectedColumns { inputs, targets } =
            choice.context("data.train names no file; name at least one")?;
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
            validation,
            changes: EpochChanges { augmentation, fresh_noise, gaps },
            files: files.0,
        };
        dataset.check()?;
        Ok(dataset)
    }

    /// Reads the files of one split. The first file of all determines the columns.
    fn split(
        &self,
        key: &str,
        sources: &[DataSource],
        settled: &mut Option<SelectedColumns>,
        files: &mut ReadFiles,
    ) -> Result<Vec<Sequence>> {
        let mut sequences = Vec::new();
        for source in sources {
            let (choice, table) =
                self.read(source, settled.as_ref(), files).with_context(|| format!("data.{key}"))?;
            let burn_in = source.burn_in.unwrap_or(0);
            let led = |sequence| Sequence { burn_in, ..sequence };
            sequences.extend(self.sequences(table, &choice).into_iter().map(led));
            settled.get_or_insert(choice);
        }
        Ok(sequences)
    }

    fn read(
        &self,
        source: &DataSource,
        settled: Option<&SelectedColumns>,
        files: &mut ReadFiles,
    ) -> Result<(SelectedColumns, Table)> {
        let reading =
            ReadOptions { format: self.format, header: self.header, lengths: self.lengths.as_deref() };
        source.read(reading, files, |names| {
            let own = SelectedColumns::new(&self.inputs, &self.targets, names)?;
            match settled {
                Some(settled) => check_same_columns(settled, &own).map(|()| settled.clone()),
                None => Ok(own),
            }
        })
    }

    /// Separates inputs from targets in a table of all selected columns, which has the inputs first.
    fn sequences(&self, table: Table, choice: &SelectedColumns) -> Vec<Sequence> {
        let all: Vec<usize> = (0..table.names.len()).collect();
        let (inputs, targets) = all.split_at(choice.inputs.len());
        let part = |rows: Rows| match (&self.targets, self.envelope) {
            (targets, Some(window)) if self.noise.is_some() => envelope::sensed(&rows, window, targets),
            (targets, Some(window)) => envelope::sequence(&rows, window, targets),
            (Targets::Next, None) => Sequence::next(rows),
            (Targets::Clean | Targets::Labels, None) => Sequence::columns(rows.clone(), rows),
            (Targets::Matching(_), None) => Sequence::columns(rows.columns(inputs), rows.columns(targets)),
        };
        table.sequences.into_iter().map(part).collect()
    }
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
