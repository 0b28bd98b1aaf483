//! A model that answers every row, and the loop around it.

use std::io::{BufRead, Write};

use anyhow::Result;
use quaver::{Model, Output, Prediction, State};

use super::csv_rows::{cell, quoted, select};
use crate::data::csv::{RowReader, RowStart};

/// The channels of a model.
#[derive(Clone, Debug)]
pub(super) struct Channels {
    /// Names of the inputs; none if they have none.
    pub(super) input_names: Vec<String>,
    /// Number of inputs.
    pub(super) inputs: usize,
    /// Names of the outputs, made up where they have none.
    pub(super) output_names: Vec<String>,
}

impl Channels {
    pub(super) fn new(
        input_names: Vec<String>,
        inputs: usize,
        output_names: Vec<String>,
        outputs: usize,
    ) -> Self {
        let numbered = || (0..outputs).map(|index| format!("y{index}")).collect();
        let output_names = if output_names.is_empty() { numbered() } else { output_names };
        Channels { input_names, inputs, output_names }
    }
}

/// What a model says when it has seen a row.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) outputs: Vec<Output>,
    /// How surprising the row was, if it was judged: nats, and distances in standard deviations.
    pub(super) surprise: Option<(f32, Vec<f32>)>,
}

impl From<Prediction<'_>> for Answer {
    fn from(prediction: Prediction<'_>) -> Self {
        let surprise = prediction.surprise().map(|surprise| (surprise.nll, surprise.z.to_vec()));
        Answer { outputs: prediction.iter().collect(), surprise }
    }
}

/// A model with one stream.
pub(super) trait RowModel {
    fn channels(&self) -> &Channels;

    /// Whether it judges the rows that it sees.
    fn judges(&self) -> bool;

    fn reset(&mut self);

    fn step(&mut self, row: &[f32]) -> Answer;
}

/// Answers row by row, each at once, so that it works on a live pipe; `watch` sees every row with its answer.
pub(super) fn follow<R: BufRead>(
    model: &mut dyn RowModel,
    mut rows: RowReader<R>,
    out: &mut dyn Write,
    mut watch: impl FnMut(RowStart, &[f32], &Answer),
) -> Result<()> {
    let channels = model.channels().clone();
    let judges = model.judges();
    select(&mut rows, &channels.input_names, channels.inputs)?;
    let mut row = vec![0.0; channels.inputs];
    writeln!(out, "{}", header(&channels.output_names, judges))?;
    out.flush()?;
    while let Some(start) = rows.next_row(&mut row)? {
        if start == RowStart::NewSequence {
            model.reset();
        }
        let answer = model.step(&row);
        out.write_all(line(&answer, judges).as_bytes())?;
        out.flush()?;
        watch(start, &row, &answer);
    }
    Ok(())
}

fn header(names: &[String], judges: bool) -> String {
    let parts = |name: &String| {
        ["mean", "sd", "epistemic", "aleatoric"].map(|part| quoted(&format!("{name}.{part}")))
    };
    let mut columns: Vec<String> = names.iter().flat_map(parts).collect();
    if judges {
        columns.push("surprise".into());
        columns.extend(names.iter().map(|name| quoted(&format!("{name}.z"))));
    }
    columns.join(",")
}

fn line(answer: &Answer, judges: bool) -> String {
    let outputs = answer.outputs.iter().flat_map(|o| [o.mean, o.std_dev(), o.epistemic, o.aleatoric]);
    let mut cells: Vec<String> = outputs.map(|value| value.to_string()).collect();
    if judges {
        let (nll, z) = answer.surprise.as_ref().map_or((f32::NAN, [].as_slice()), |(nll, z)| (*nll, z));
        cells.push(cell(nll));
        let z = |index: usize| cell(z.get(index).copied().unwrap_or(f32::NAN));
        cells.extend((0..answer.outputs.len()).map(z));
    }
    cells.join(",") + "\n"
}

/// A predictor in the runtime.
pub(super) struct RunningPredictor<'s, 'm, 'a> {
    model: &'s Model<'m>,
    state: State<'a>,
    channels: Channels,
}

impl<'s, 'm, 'a> RunningPredictor<'s, 'm, 'a> {
    pub(super) fn new(model: &'s Model<'m>, words: &'a mut [f32]) -> Result<Self> {
        let names = |names: &mut dyn Iterator<Item = &str>| names.map(String::from).collect();
        let (spec, checkpoint) = (model.spec(), model.checkpoint());
        let inputs = names(&mut checkpoint.input_names());
        let outputs = names(&mut checkpoint.output_names());
        let channels = Channels::new(inputs, spec.inputs.into(), outputs, spec.outputs.into());
        Ok(RunningPredictor { model, state: model.start_in(words)?, channels })
    }
}

impl RowModel for RunningPredictor<'_, '_, '_> {
    fn channels(&self) -> &Channels {
        &self.channels
    }

    fn judges(&self) -> bool {
        self.model.spec().target.is_next()
    }

    fn reset(&mut self) {
        self.model.reset(&mut self.state);
    }

    fn step(&mut self, row: &[f32]) -> Answer {
        self.model.step(&mut self.state, row).into()
    }
}
