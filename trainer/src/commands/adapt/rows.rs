//! The rows to replay, with their labels.

use std::path::Path;

use anyhow::{Result, ensure};
use quaver::Model;
use quaver::checkpoint::Target;

use super::Arguments;
use crate::commands::evaluated_model::check_channels;
use crate::commands::row_io;
use crate::config::Config;
use crate::data::{Sequence, csv};

/// Sequences with inputs and labels.
pub(super) struct LabelledRows {
    pub(super) sequences: Vec<Sequence>,
    pub(super) output_names: Vec<String>,
}

impl LabelledRows {
    pub(super) fn read(arguments: &Arguments, model: &Model<'_>) -> Result<Self> {
        let checkpoint = model.checkpoint();
        let inputs: Vec<String> = checkpoint.input_names().map(String::from).collect();
        let outputs: Vec<String> = checkpoint.output_names().map(String::from).collect();
        let sequences = match &arguments.data {
            Some(config) => of_config(arguments, config, &inputs, &outputs)?,
            None => of_file(arguments, model.spec().target, &inputs, &outputs)?,
        };
        Ok(LabelledRows { sequences, output_names: outputs })
    }
}

fn of_config(
    arguments: &Arguments,
    config: &Path,
    inputs: &[String],
    outputs: &[String],
) -> Result<Vec<Sequence>> {
    let data = Config::load_with_data(config, &[], arguments.data_dir.as_deref())?.load_data()?;
    check_channels(&data, (inputs, outputs))?;
    ensure!(
        data.look_ahead.is_empty(),
        "{}: targets some rows ahead are not known right after their prediction, so a device cannot learn from them so soon",
        config.display()
    );
    let sequences = arguments.split.of(&data).to_vec();
    ensure!(
        !sequences.is_empty(),
        "{}: there is no {} data; add data.{1}, or choose another --split",
        config.display(),
        arguments.split.name()
    );
    Ok(sequences)
}

fn of_file(
    arguments: &Arguments,
    target: Target,
    inputs: &[String],
    outputs: &[String],
) -> Result<Vec<Sequence>> {
    let labels = if arguments.labels.is_empty() { outputs } else { &arguments.labels };
    ensure!(
        labels.len() == outputs.len(),
        "--labels names {} columns, but the model has {} outputs ({}); name one column for each",
        labels.len(),
        outputs.len(),
        outputs.join(", ")
    );
    let path = arguments.input.as_deref().filter(|path| *path != Path::new("-"));
    let mut reader = row_io::open(path, true)?;
    if target.is_next() {
        ensure!(
            arguments.labels.is_empty(),
            "a model of its own next input learns from its rows: omit --labels"
        );
        reader.select(inputs)?;
        return Ok(csv::read(&mut reader)?.sequences.into_iter().map(Sequence::next).collect());
    }
    let columns: Vec<String> = inputs.iter().chain(labels).cloned().collect();
    reader.select(&columns)?;
    let (of_inputs, of_labels): (Vec<usize>, Vec<usize>) =
        ((0..inputs.len()).collect(), (inputs.len()..columns.len()).collect());
    let tables = csv::read(&mut reader)?.sequences;
    Ok(tables
        .iter()
        .map(|rows| Sequence::columns(rows.columns(&of_inputs), rows.columns(&of_labels)))
        .collect())
}
