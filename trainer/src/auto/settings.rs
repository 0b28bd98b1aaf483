//! The keys of a config that a trial may change, with their values, and what they mean.

use std::collections::BTreeMap;

use toml::Value;

use crate::config::{HalvingConfig, SearchConfig};

/// Values by dotted key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings(pub BTreeMap<String, Value>);

/// Sections and keys in the order in which they are written, with comments.
const KEYS: &[(&str, &[(&str, &str)])] = &[
    (
        "model",
        &[
            ("cell", "lstm, gru, tanh, …; dense-tanh reads no past rows"),
            ("layers", "units of each layer: more cost flash and time (quaver inspect)"),
            (
                "likelihood",
                "gaussian: one error bar per output; heteroscedastic: one per row; bernoulli for 0 and 1",
            ),
            ("linear", "ridge regression on as many last rows, to which the network adds what it misses"),
            ("residual", "outputs are added to the last row, or to the noisy one"),
        ],
    ),
    ("weights", &[("posterior", "point, or ropd: a variance for every weight, for few data")]),
    (
        "noise",
        &[
            ("input_keep", "fast dropout: keep probabilities, 1 for none"),
            ("recurrent_keep", ""),
            ("output_keep", ""),
        ],
    ),
    (
        "reduce",
        &[
            ("objective", "what training minimises"),
            ("classifier", ""),
            ("over", "what is pooled over time"),
            ("pooling", ""),
            ("prototypes", ""),
            ("select", ""),
            ("ring", "in a stream: sub-pools of a window, and rows of each; a class after every row"),
        ],
    ),
    (
        "training",
        &[
            ("learning_rate", ""),
            ("schedule", ""),
            ("schedule_epochs", ""),
            ("schedule_factor", "the last rate, as a fraction of the first"),
            ("average", "moving average of the parameters: 0 for none"),
            ("batch", "chunks per step of the optimiser"),
            ("chunk", "rows per chunk; 0 for whole sequences"),
            ("epochs", "passes over the training data"),
            ("patience", "epochs without a lower validation loss"),
        ],
    ),
];

impl Settings {
    /// Sets a value.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.0.insert(key.to_string(), value.into());
    }

    /// These settings with other values for some keys.
    pub fn with(&self, values: &[(String, Value)]) -> Self {
        let mut all = self.clone();
        values.iter().for_each(|(key, value)| all.set(key, value.clone()));
        all
    }

    /// All values as overrides of a config.
    pub fn overrides(&self) -> Vec<(String, Value)> {
        self.0.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// The sections as commented TOML.
    pub fn render(&self) -> String {
        let mut text = String::new();
        for (section, keys) in KEYS {
            let lines: String =
                keys.iter().filter_map(|(key, comment)| self.line(section, key, comment)).collect();
            if !lines.is_empty() {
                text += &format!("\n[{section}]\n{lines}");
            }
        }
        text
    }

    fn line(&self, section: &str, key: &str, comment: &str) -> Option<String> {
        let value = self.0.get(&format!("{section}.{key}"))?;
        let setting = format!("{key} = {value}");
        Some(if comment.is_empty() { setting + "\n" } else { format!("{setting:<32} # {comment}\n") })
    }

    /// Keys that no section lists, so that a test can find them.
    #[cfg(test)]
    fn unlisted(&self) -> Vec<&String> {
        let listed = |key: &String| {
            KEYS.iter()
                .any(|(section, keys)| keys.iter().any(|(name, _)| format!("{section}.{name}") == *key))
        };
        self.0.keys().filter(|key| !listed(key)).collect()
    }
}

/// How long and in which portions a network is trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TrainingSize {
    /// Rows per chunk; 0 for whole sequences.
    pub chunk: usize,
    /// Chunks per batch.
    pub batch: usize,
    /// Steps of the optimiser in an epoch, about.
    pub steps_per_epoch: usize,
}

/// Steps of the optimiser in an epoch, at least: small files would otherwise train one step per epoch.
const FEWEST_STEPS: usize = 20;

/// Steps of the optimiser after which a run has converged, about.
const MOST_STEPS: usize = 6000;

impl TrainingSize {
    /// Portions for a predictor with this many training rows.
    pub fn for_rows(rows: usize) -> Self {
        let chunk = (rows / FEWEST_STEPS).clamp(10, 100);
        let chunks = rows.div_ceil(chunk).max(1);
        let batch = (chunks / FEWEST_STEPS).clamp(1, 16);
        TrainingSize { chunk, batch, steps_per_epoch: chunks.div_ceil(batch) }
    }

    /// Portions for a reducer with this many training sequences.
    pub fn for_sequences(sequences: usize) -> Self {
        let batch = (sequences / 10).clamp(8, 128);
        TrainingSize { chunk: 0, batch, steps_per_epoch: sequences.div_ceil(batch).max(1) }
    }

    /// Chunks that are as many times as long, as far as a batch has as many, in batches with the same rows.
    pub(super) fn with_longer_chunks(self, times: usize) -> Self {
        let times = times.clamp(1, self.batch.max(1));
        TrainingSize { chunk: self.chunk * times, batch: self.batch / times, ..self }
    }

    /// Most epochs that are worth it.
    pub fn most_epochs(&self) -> usize {
        (MOST_STEPS / self.steps_per_epoch.max(1)).clamp(20, 600)
    }
}

/// The drawn number of an architecture among those that fit.
pub(super) const ARCHITECTURE: &str = "architecture";

/// How many times as long as the default chunks are: what a network is to remember for longer than a chunk,
/// it cannot learn.
pub(super) const LONGER_CHUNKS: &str = "longer_chunks";

/// Values that are drawn independently of the architecture, and its number.
pub(super) fn search_space(varies_noise: bool, is_reducer: bool, architectures: usize) -> SearchConfig {
    let mut text = format!("{ARCHITECTURE} = {{ integer = [0, {}] }}\n", architectures.max(1) - 1);
    text += "training.learning_rate = { log_uniform = [1e-3, 2e-2] }\n";
    text += "noise.input_keep = { choice = [1.0, 0.95, 0.9] }\nnoise.output_keep = { choice = [1.0, 0.95, 0.9, 0.8] }\n";
    text += "training.average = { choice = [0.0, 0.99] }\n";
    if varies_noise {
        text += "model.likelihood = { choice = [\"gaussian\", \"heteroscedastic\"] }\n";
    }
    if !is_reducer {
        text += &format!("{LONGER_CHUNKS} = {{ choice = [1, 4] }}\n");
    }
    if is_reducer {
        text += "reduce.pooling = { choice = [\"mean\", \"max\"] }\n";
    }
    let table: toml::Table = text.parse().expect("a constant table");
    let space = SearchConfig::try_from(table).expect("a constant search space");
    SearchConfig { halving: HalvingConfig { first_epochs: None, factor: 3 }, ..space }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::draw;

    #[test]
    fn small_files_train_many_steps() {
        for (rows, chunk, batch) in [(200, 10, 1), (700, 35, 1), (20_000, 100, 10), (1_000_000, 100, 16)] {
            let size = TrainingSize::for_rows(rows);
            assert_eq!((size.chunk, size.batch), (chunk, batch), "{rows}");
            assert!(size.steps_per_epoch >= 20, "{rows}");
        }
        assert_eq!(TrainingSize::for_rows(700).most_epochs(), 300);
    }

    #[test]
    fn longer_chunks_keep_the_rows_of_a_batch() {
        for (batch, chunk, expected) in [(16, 100, (400, 4)), (2, 100, (200, 1)), (1, 35, (35, 1))] {
            let longer = TrainingSize { chunk, batch, steps_per_epoch: 20 }.with_longer_chunks(4);
            assert_eq!((longer.chunk, longer.batch), expected);
        }
    }

    #[test]
    fn every_drawn_key_has_its_place_in_a_config() {
        for (varies_noise, is_reducer) in [(true, false), (false, false), (false, true)] {
            let drawn = draw::values(&search_space(varies_noise, is_reducer, 5), 1, 0);
            let mut settings = Settings::default().with(&drawn);
            settings.0.retain(|key, _| ![ARCHITECTURE, LONGER_CHUNKS].contains(&key.as_str()));
            assert!(settings.unlisted().is_empty(), "{:?}", settings.unlisted());
        }
    }

    #[test]
    fn settings_are_commented_toml() {
        let mut settings = Settings::default();
        settings.set("model.cell", "lstm");
        settings.set("training.batch", 4);
        let text = settings.render();
        assert!(text.contains("[model]\ncell = \"lstm\"") && text.contains("# lstm, gru"), "{text}");
        assert!(text.parse::<toml::Table>().is_ok() && !text.contains("[noise]"), "{text}");
    }
}
