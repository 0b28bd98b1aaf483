//! Settings that a config leaves to the data.
//!
//! A config with `[data]` alone says nothing about model and training; then they follow from the size of the
//! data. A config with any other section means the defaults of the reference, whatever the data.

use std::path::Path;

use anyhow::{Context, Result};

use super::document::{Document, Override};
use super::{CellName, Config, Schedule};

/// The only keys at the top level of a config that leaves everything else to the data.
const DATA_ALONE: [&str; 2] = ["seed", "data"];

/// The size of the training data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataSize {
    /// Rows, of all recordings.
    pub rows: usize,
    /// Rows of the longest recording.
    pub longest: usize,
}

/// A key, and how it is set by the size of the data.
type Choice = (&'static str, fn(&mut Config, DataSize));

/// Every key that is left to the data, in the order of the config. Later ones use earlier ones.
const CHOICES: [Choice; 9] = [
    ("model.cell", |config, _| config.model.cell = CellName::Gru),
    ("model.layers", |config, size| config.model.layers = vec![if size.rows < FEW_ROWS { 16 } else { 32 }]),
    ("training.learning_rate", |config, _| config.training.learning_rate = 0.01),
    ("training.schedule", |config, _| config.training.schedule = Schedule::Cosine),
    ("training.batch", |config, size| config.training.batch = batch(size)),
    ("training.chunk", |config, size| config.training.chunk = chunk(size)),
    ("training.epochs", |config, size| config.training.epochs = epochs(config, size)),
    ("training.schedule_epochs", |config, _| config.training.schedule_epochs = config.training.epochs),
    ("training.patience", |config, _| config.training.patience = (config.training.epochs / 4).max(10)),
];

/// With fewer rows, a network has fewer units.
const FEW_ROWS: usize = 2_000;

/// Rows of a chunk: as many as the network's memory should reach back at least, and as many as do.
const CHUNKS: [usize; 2] = [25, 100];

/// Chunks of a batch.
const BATCHES: [usize; 2] = [4, 16];

/// Steps of an epoch that batch and chunk are made smaller for, and steps of a run, by which epochs are
/// counted.
const STEPS_PER_EPOCH: usize = 10;
const STEPS: usize = 2_000;

/// Fewest and most epochs.
const EPOCHS: [usize; 2] = [30, 300];

fn batch(size: DataSize) -> usize {
    (size.rows / (CHUNKS[1] * STEPS_PER_EPOCH)).clamp(BATCHES[0], BATCHES[1])
}

fn chunk(size: DataSize) -> usize {
    let fits = size.rows / (BATCHES[0] * STEPS_PER_EPOCH);
    fits.clamp(CHUNKS[0], CHUNKS[1]).min(size.longest.max(1))
}

fn epochs(config: &Config, size: DataSize) -> usize {
    let steps = size.rows.div_ceil(config.training.batch * config.training.chunk.max(1)).max(1);
    (STEPS / steps).clamp(EPOCHS[0], EPOCHS[1])
}

impl Config {
    /// The keys that the config in a file leaves to the data: none if it has sections besides `[data]`. Keys
    /// that overrides set are not among them.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn left_to_data(path: &Path, overrides: &[String]) -> Result<Vec<&'static str>> {
        let file = path.display().to_string();
        let text =
            std::fs::read_to_string(path).with_context(|| format!("{file}: cannot read this config"))?;
        Self::left_to_data_in(&file, &text, overrides)
    }

    fn left_to_data_in(file: &str, text: &str, overrides: &[String]) -> Result<Vec<&'static str>> {
        let overrides = Override::list(overrides, text.len())?;
        let written = Document::new(file, text, &[])?;
        let config: Config = Document::new(file, text, &overrides)?.read()?;
        let has_tokens_or_labels = config.data.token_kind().is_some() || config.data.is_labelled();
        if has_tokens_or_labels || !written.keys().all(|key| DATA_ALONE.contains(&key)) {
            return Ok(Vec::new());
        }
        let document = Document::new(file, text, &overrides)?;
        Ok(CHOICES.iter().map(|(key, _)| *key).filter(|key| !document.sets(key)).collect())
    }

    /// Sets the keys that were left to the data; returns a description of them, for people.
    pub fn choose(&mut self, left: &[&'static str], size: DataSize) -> Option<String> {
        let chosen: Vec<&Choice> = CHOICES.iter().filter(|(key, _)| left.contains(key)).collect();
        chosen.iter().for_each(|(_, set)| set(self, size));
        let settings = self.settings().ok()?;
        let shown = chosen.iter().filter_map(|(key, _)| Some(format!("{key} = {}", settings.get(*key)?)));
        let shown: Vec<String> = shown.collect();
        (!shown.is_empty()).then(|| {
            format!("the config leaves these to the {} training rows: {}", size.rows, shown.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: &str = "data = { train = 'a.csv', targets = 'y' }\n";

    fn left(text: &str, overrides: &[&str]) -> Vec<&'static str> {
        let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
        Config::left_to_data_in("run.toml", text, &overrides).unwrap()
    }

    fn chosen(rows: usize, overrides: &[&str]) -> Config {
        let strings: Vec<String> = overrides.iter().map(ToString::to_string).collect();
        let mut config = Config::parse("run.toml", SHORT, &strings).unwrap();
        let note = config.choose(&left(SHORT, overrides), DataSize { rows, longest: rows });
        assert!(note.unwrap().contains(&format!("{rows} training rows")));
        config
    }

    #[test]
    fn only_a_config_of_data_leaves_anything_open() {
        assert_eq!(left(SHORT, &[]).len(), CHOICES.len());
        assert_eq!(left(&format!("seed = 2\n{SHORT}"), &["training.epochs=5"]).len(), CHOICES.len() - 1);
        for section in ["model = {}", "training = {}", "noise = {}", "weights = {}", "init = {}"] {
            assert!(left(&format!("{SHORT}{section}\n"), &[]).is_empty(), "{section}");
        }
        assert!(left("data = { train = 'a.txt', targets = 'next', format = 'words' }", &[]).is_empty());
    }

    #[test]
    fn small_data_get_short_chunks_and_many_epochs() {
        let small = chosen(400, &[]).training;
        assert_eq!((small.batch, small.chunk, small.epochs), (4, 25, 300));
        assert_eq!(small.schedule_epochs, small.epochs);
        let large = chosen(200_000, &[]).training;
        assert_eq!((large.batch, large.chunk, large.epochs), (16, 100, 30));
        assert_eq!(chosen(3, &[]).training.chunk, 3, "no longer than the recording");
    }

    #[test]
    fn what_is_set_stays_and_the_rest_follows_it() {
        let config = chosen(400, &["training.epochs=7", "model.cell=lstm"]);
        assert_eq!((config.training.epochs, config.training.schedule_epochs), (7, 7));
        assert_eq!((config.model.cell, config.model.layers.as_slice()), (CellName::Lstm, [16].as_slice()));
        let again = Config::parse("run.toml", &config.to_toml().unwrap(), &[]).unwrap();
        assert_eq!(again, config);
    }
}
