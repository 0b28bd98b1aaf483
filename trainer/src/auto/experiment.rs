//! A task on data, as a commented config.

use std::fmt::Write;

use anyhow::Result;
use toml::Value;

use super::settings::{Settings, TrainingSize};
use super::split::Splits;
use crate::config::{Config, DataSource, RowSelection};
use crate::data::Dataset;

/// What a model is for.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// Other columns of the same row.
    Columns(Vec<String>),
    /// The next row.
    Next,
    /// Some of the inputs, some rows ahead.
    Ahead(AheadTask),
    /// The row without its noise, which other columns have, in the order of the inputs.
    Truth(Vec<String>),
    /// The row without noise of this signal-to-noise ratio in decibels.
    Clean(f64),
    /// The class of a sequence.
    Label(LabelledTask),
}

/// Which inputs are predicted how far ahead.
#[derive(Clone, Debug, PartialEq)]
pub struct AheadTask {
    /// The columns.
    pub columns: Vec<String>,
    /// Rows ahead; an output for each column and number.
    pub horizons: Vec<u32>,
}

/// How labelled recordings become sequences.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledTask {
    /// The column of labels.
    pub column: String,
    /// How recordings are cut: `sequences`, `windows` or `runs`.
    pub cut: &'static str,
    /// Rows of a window, for windows.
    pub window: usize,
    /// Rows between windows.
    pub stride: usize,
    /// Whether sequences of every class are drawn for validation and testing, instead of files.
    pub is_stratified: bool,
    /// Share of the sequences for testing, where they are drawn.
    pub test_share: f64,
}

/// A task on data.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Seed of all trials.
    pub seed: u64,
    /// The files of each split.
    pub splits: Splits,
    /// Whether CSV files name their columns.
    pub has_header: bool,
    /// The decimal mark, if the user has said.
    pub decimal_comma: bool,
    /// The inputs.
    pub inputs: Vec<String>,
    /// The task.
    pub task: Task,
    /// Whether all targets are 0 or 1.
    pub is_binary: bool,
}

impl Experiment {
    /// Whether the likelihood of outputs is normal.
    pub fn is_normal(&self) -> bool {
        !self.is_binary && !self.is_reducer()
    }

    /// Whether it classifies sequences.
    pub fn is_reducer(&self) -> bool {
        matches!(self.task, Task::Label(_))
    }

    /// Whether a model may begin with ridge regression: probabilities are not linear, and noise that is drawn
    /// anew in every epoch has no closed form.
    pub fn allows_linear(&self) -> bool {
        self.is_normal() && !matches!(self.task, Task::Clean(_))
    }

    /// The task in words.
    pub fn task_in_words(&self) -> String {
        match &self.task {
            Task::Columns(names) => format!("predict {} from {} inputs", names.join(", "), self.inputs.len()),
            Task::Next => format!("predict the next row of {} inputs", self.inputs.len()),
            Task::Ahead(AheadTask { columns, horizons }) => {
                let rows: Vec<String> = horizons.iter().map(u32::to_string).collect();
                let noun = if horizons[..] == [1] { "row" } else { "rows" };
                format!(
                    "predict {} {} {noun} ahead from {} inputs",
                    columns.join(", "),
                    rows.join(", "),
                    self.inputs.len()
                )
            }
            Task::Truth(names) => {
                let pairs = self.inputs.iter().zip(names).map(|(input, truth)| format!("{input} to {truth}"));
                format!("remove noise from {} inputs: {}", names.len(), pairs.collect::<Vec<_>>().join(", "))
            }
            Task::Clean(snr_db) => {
                format!(
                    "remove noise from {} inputs, tried with added noise of {snr_db} dB",
                    self.inputs.len()
                )
            }
            Task::Label(labels) => {
                let what = match labels.cut {
                    "windows" => format!("windows of {} rows", labels.window),
                    "runs" => "stretches of one class".into(),
                    _ => "whole recordings".into(),
                };
                format!("classify {what} by `{}` from {} inputs", labels.column, self.inputs.len())
            }
        }
    }

    /// Settings that are good without a search, but for the architecture.
    pub fn default_settings(&self, size: TrainingSize, epochs: usize) -> Settings {
        let mut settings = Settings::default();
        if self.is_reducer() {
            settings.set("reduce.objective", "cross-entropy");
            settings.set("reduce.classifier", "logistic");
            settings.set("reduce.over", "units");
            settings.set("reduce.pooling", "mean");
            settings.set("reduce.select", "nll");
            if let Task::Label(LabelledTask { cut: "windows", window, .. }) = &self.task {
                let parts = (1..=5).rev().find(|parts| window % parts == 0).unwrap_or(1);
                settings.set("reduce.ring", vec![parts as i64, (window / parts) as i64]);
            }
        } else {
            settings.set("model.likelihood", if self.is_binary { "bernoulli" } else { "gaussian" });
        }
        if self.is_normal() && self.task == Task::Next {
            settings.set("model.residual", true);
        }
        for (key, value) in [("noise.input_keep", 0.95), ("noise.output_keep", 0.95)] {
            settings.set(key, value);
        }
        settings.set("training.learning_rate", 0.005);
        settings.set("training.schedule", "cosine");
        settings.set("training.schedule_epochs", epochs as i64);
        settings.set("training.schedule_factor", 0.02);
        settings.set("training.average", 0.0);
        settings.set("training.batch", size.batch as i64);
        settings.set("training.chunk", size.chunk as i64);
        settings.set("training.epochs", epochs as i64);
        settings.set("training.patience", (epochs / 3).max(5) as i64);
        settings
    }

    /// Settings of ridge regression alone on the last rows.
    pub fn ridge_settings(&self, rows: usize) -> Settings {
        let mut settings = Settings::default();
        settings.set("model.layers", Value::Array(Vec::new()));
        settings.set("model.likelihood", "gaussian");
        settings.set("model.linear", rows as i64);
        settings
    }

    /// The config with these settings, as commented TOML.
    pub fn config_text(&self, settings: &Settings, head: &str) -> String {
        let mut text =
            head.lines().map(|line| format!("# {line}").trim_end().to_string() + "\n").collect::<String>();
        write!(text, "seed = {}\n\n[data]\n", self.seed).expect("a string takes any text");
        let splits = &self.splits;
        for (key, sources) in [("train", &splits.train), ("valid", &splits.valid), ("test", &splits.test)] {
            if !sources.is_empty() {
                writeln!(text, "{key} = {}", sources_text(sources)).expect("a string takes any text");
            }
        }
        if !self.has_header {
            text += "header = false                   # columns are called c0, c1, …\n";
        }
        if self.decimal_comma {
            text += "decimal = \"comma\"\n";
        }
        writeln!(text, "inputs = {}", names(&self.inputs)).expect("a string takes any text");
        text += &self.targets_text();
        text + &settings.render()
    }

    fn targets_text(&self) -> String {
        match &self.task {
            Task::Columns(targets) | Task::Truth(targets) => format!("targets = {}\n", names(targets)),
            Task::Next => "targets = \"next\"\n".into(),
            Task::Ahead(AheadTask { columns, horizons }) => {
                format!("targets = {{ next = {}, horizon = {horizons:?} }}\n", names(columns))
            }
            Task::Clean(snr_db) => {
                format!(
                    "targets = \"clean\"\nnoise = {{ snr_db = {snr_db:?} }}      # added to the inputs, drawn anew in every epoch\n"
                )
            }
            Task::Label(labels) => labels.text(),
        }
    }

    /// The config with these settings.
    ///
    /// # Errors
    /// When a setting is not allowed.
    pub fn config(&self, settings: &Settings) -> Result<Config> {
        Config::parse("the config", &self.config_text(settings, ""), &[])
    }

    /// Reads the data.
    ///
    /// # Errors
    /// As [`Config::load_data`].
    pub fn load_data(&self) -> Result<Dataset> {
        self.config(&self.default_settings(TrainingSize { chunk: 0, batch: 1, steps_per_epoch: 1 }, 10))?
            .load_data()
    }
}

impl LabelledTask {
    fn text(&self) -> String {
        let mut text = String::from("targets = \"labels\"\n");
        if self.is_stratified {
            text += "valid_fraction = 0.2\nvalid_seed = 1                   # of every class\n";
        }
        write!(text, "\n[data.labels]\ncolumn = {}\ncut = \"{}\"\n", quoted(&self.column), self.cut)
            .expect("a string takes any text");
        if self.cut == "windows" {
            write!(text, "window = {}\nstride = {}\n", self.window, self.stride)
                .expect("a string takes any text");
        }
        if self.is_stratified && self.test_share > 0.0 {
            writeln!(text, "test_fraction = {:?}", self.test_share).expect("a string takes any text");
        }
        text
    }
}

fn quoted(text: &str) -> String {
    Value::String(text.to_string()).to_string()
}

fn names(names: &[String]) -> String {
    format!("[{}]", names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "))
}

fn sources_text(sources: &[DataSource]) -> String {
    let one = |source: &DataSource| {
        let file = quoted(&source.file.to_string_lossy());
        let sequences = source.sequences.map_or(String::new(), |range| format!(", sequences = \"{range}\""));
        let rows = match &source.rows {
            Some(RowSelection::Range(range)) => format!(", rows = \"{range}\""),
            _ => String::new(),
        };
        match sequences.is_empty() && rows.is_empty() {
            true => file,
            false => format!("{{ file = {file}{sequences}{rows} }}"),
        }
    };
    match sources {
        [source] => one(source),
        _ => format!(
            "[\n{}]",
            sources.iter().map(|source| format!("  {},\n", one(source))).collect::<String>()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Targets;

    fn experiment(task: Task) -> Experiment {
        let source = |rows: &str| {
            vec![DataSource {
                rows: rows.parse().ok().map(RowSelection::Range),
                ..DataSource::whole("/x/a \"b\".csv")
            }]
        };
        let splits = Splits {
            train: source("..70%"),
            valid: source("70%..85%"),
            test: source("85%.."),
            how: String::new(),
            train_rows: 700,
        };
        Experiment {
            seed: 3,
            splits,
            has_header: false,
            decimal_comma: true,
            inputs: vec!["a [mV]".into(), "b".into()],
            task,
            is_binary: false,
        }
    }

    fn settings(experiment: &Experiment) -> Settings {
        let size = match experiment.is_reducer() {
            true => TrainingSize::for_sequences(100),
            false => TrainingSize::for_rows(700),
        };
        experiment.default_settings(size, 100)
    }

    #[test]
    fn every_task_is_a_valid_config() {
        let labels = LabelledTask {
            column: "gesture".into(),
            cut: "windows",
            window: 40,
            stride: 8,
            is_stratified: false,
            test_share: 0.15,
        };
        let ahead = AheadTask { columns: vec!["b".into()], horizons: vec![1, 5] };
        let tasks = [
            Task::Columns(vec!["y".into()]),
            Task::Truth(vec!["y".into(), "z".into()]),
            Task::Next,
            Task::Ahead(ahead),
            Task::Clean(10.0),
            Task::Label(labels),
        ];
        for task in tasks {
            let experiment = experiment(task.clone());
            let config = experiment.config(&settings(&experiment)).unwrap();
            assert_eq!(config.seed, 3);
            assert_eq!(config.data.train, experiment.splits.train, "{task:?}");
            assert!(!config.data.header && config.data.decimal.is_some());
            assert_eq!(config.data.targets == Targets::Next, task == Task::Next);
            assert_eq!(config.model.residual, task == Task::Next);
        }
    }

    #[test]
    fn sequences_of_classes_are_drawn_where_files_do_not_say() {
        let labels = LabelledTask {
            column: "c9".into(),
            cut: "runs",
            window: 0,
            stride: 0,
            is_stratified: true,
            test_share: 0.2,
        };
        let mut experiment = experiment(Task::Label(labels));
        experiment.splits.train = vec![DataSource::whole("/x/a.csv")];
        (experiment.splits.valid, experiment.splits.test) = (Vec::new(), Vec::new());
        let config = experiment.config(&settings(&experiment)).unwrap();
        assert_eq!(config.data.labels.unwrap().test_fraction, Some(0.2));
        assert_eq!(config.data.valid_seed, Some(1));
    }
}
