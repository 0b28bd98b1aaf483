//! Models that predict row by row, and the loop over rows.

use std::io::{BufRead, Write};

use anyhow::Result;
use quaver::checkpoint::Likelihood;
use quaver::{Model, Output, Prediction, State};

use super::implausible::ImplausibleValues;
use super::row_io::{cell, select};
use crate::data::csv::{RowReader, RowStart, spreadsheet};

/// The channels of a model.
#[derive(Clone, Debug)]
pub(super) struct ModelChannels {
    /// Names of the inputs; empty if they have none.
    pub(super) input_names: Vec<String>,
    /// Number of inputs.
    pub(super) inputs: usize,
    /// Names of the outputs, y0, y1, … if they have none.
    pub(super) output_names: Vec<String>,
}

impl ModelChannels {
    pub(super) fn new(
        input_names: Vec<String>,
        inputs: usize,
        output_names: Vec<String>,
        outputs: usize,
    ) -> Self {
        let numbered = || (0..outputs).map(|index| format!("y{index}")).collect();
        let output_names = if output_names.is_empty() { numbered() } else { output_names };
        ModelChannels { input_names, inputs, output_names }
    }
}

/// The prediction of a model after a row.
#[derive(Clone, Debug)]
pub(super) struct RowPrediction {
    pub(super) outputs: Vec<Output>,
    /// Surprise of the row, if it was scored: negative log-likelihood in nats, and z-scores.
    pub(super) surprise: Option<(f32, Vec<f32>)>,
    /// Channels of the row outside of their plausible ranges.
    pub(super) implausible: Vec<usize>,
}

impl From<Prediction<'_>> for RowPrediction {
    fn from(prediction: Prediction<'_>) -> Self {
        let surprise = prediction.surprise().map(|surprise| (surprise.nll, surprise.z.to_vec()));
        let implausible = prediction.implausible().collect();
        RowPrediction { outputs: prediction.iter().collect(), surprise, implausible }
    }
}

/// What a line has besides the moments of every output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LineParts {
    /// The most probable class and its probability.
    pub(super) class: bool,
    /// The surprise of the row that was read.
    pub(super) surprise: bool,
}

/// A model with one stream.
pub(super) trait RowModel {
    fn channels(&self) -> &ModelChannels;

    /// What it writes for a row besides the moments of its outputs.
    fn parts(&self) -> LineParts;

    fn reset(&mut self);

    fn step(&mut self, row: &[f32]) -> RowPrediction;
}

/// Predicts row by row and writes each prediction immediately, so that it works on a live pipe, behind the
/// columns to `keep`; `watch` gets every row with its prediction. Returns what was implausible in the rows.
pub(super) fn follow<R: BufRead>(
    model: &mut dyn RowModel,
    rows: &mut RowReader<R>,
    keep: &[String],
    out: &mut dyn Write,
    mut watch: impl FnMut(RowStart, &[f32], &RowPrediction),
) -> Result<ImplausibleValues> {
    let channels = model.channels().clone();
    let parts = model.parts();
    select(rows, &channels.input_names, channels.inputs)?;
    let kept = rows.positions(keep)?;
    let mut row = vec![0.0; channels.inputs];
    let mut implausible = ImplausibleValues::new(&channels.input_names, channels.inputs);
    let names = keep.iter().map(|name| spreadsheet::cell(name) + ",").collect::<String>();
    writeln!(out, "{names}{}", header(&channels.output_names, parts))?;
    out.flush()?;
    while let Some(start) = rows.next_row(&mut row)? {
        if start == RowStart::NewSequence {
            model.reset();
        }
        let prediction = model.step(&row);
        let texts = kept.iter().map(|&column| spreadsheet::cell(rows.text(column)) + ",").collect::<String>();
        out.write_all((texts + &line(&prediction, &channels.output_names, parts)).as_bytes())?;
        out.flush()?;
        implausible.add(prediction.implausible.iter().copied());
        watch(start, &row, &prediction);
    }
    Ok(implausible)
}

pub(super) fn header(names: &[String], parts: LineParts) -> String {
    let moments = |name: &String| {
        ["mean", "std_dev", "epistemic", "aleatoric"].map(|part| spreadsheet::cell(&format!("{name}.{part}")))
    };
    let mut columns: Vec<String> = names.iter().flat_map(moments).collect();
    if parts.class {
        columns.extend(["class".to_string(), "probability".to_string()]);
    }
    if parts.surprise {
        columns.push("surprise".into());
        columns.extend(names.iter().map(|name| spreadsheet::cell(&format!("{name}.z"))));
    }
    columns.join(",")
}

pub(super) fn line(prediction: &RowPrediction, names: &[String], parts: LineParts) -> String {
    let outputs = prediction.outputs.iter().flat_map(|o| [o.mean, o.std_dev(), o.epistemic, o.aleatoric]);
    let mut cells: Vec<String> = outputs.map(|value| value.to_string()).collect();
    if parts.class {
        cells.extend(class_cells(&prediction.outputs, names));
    }
    if parts.surprise {
        let (nll, z) = prediction.surprise.as_ref().map_or((f32::NAN, [].as_slice()), |(nll, z)| (*nll, z));
        cells.push(cell(nll));
        let z = |index: usize| cell(z.get(index).copied().unwrap_or(f32::NAN));
        cells.extend((0..prediction.outputs.len()).map(z));
    }
    cells.join(",") + "\n"
}

/// The name of the most probable class, the first of equal ones, and its probability.
fn class_cells(outputs: &[Output], names: &[String]) -> [String; 2] {
    let better =
        |best: usize, class: usize| if outputs[class].mean > outputs[best].mean { class } else { best };
    let best = (1..outputs.len()).fold(0, better);
    let name = names.get(best).map_or_else(String::new, |name| spreadsheet::cell(name));
    [name, outputs.get(best).map_or_else(String::new, |output| output.mean.to_string())]
}

/// A predictor in the runtime.
pub(super) struct RuntimePredictor<'s, 'm, 'a> {
    model: &'s Model<'m>,
    state: State<'a>,
    channels: ModelChannels,
}

impl<'s, 'm, 'a> RuntimePredictor<'s, 'm, 'a> {
    pub(super) fn new(model: &'s Model<'m>, words: &'a mut [f32]) -> Result<Self> {
        let names = |names: &mut dyn Iterator<Item = &str>| names.map(String::from).collect();
        let (spec, checkpoint) = (model.spec(), model.checkpoint());
        let inputs = names(&mut checkpoint.input_names());
        let outputs = names(&mut checkpoint.output_names());
        let channels = ModelChannels::new(inputs, spec.inputs.into(), outputs, spec.outputs.into());
        Ok(RuntimePredictor { model, state: model.start_in(words)?, channels })
    }
}

impl RowModel for RuntimePredictor<'_, '_, '_> {
    fn channels(&self) -> &ModelChannels {
        &self.channels
    }

    fn parts(&self) -> LineParts {
        let spec = self.model.spec();
        LineParts { class: spec.likelihood == Likelihood::Categorical, surprise: spec.target.is_next() }
    }

    fn reset(&mut self) {
        self.model.reset(&mut self.state);
    }

    fn step(&mut self, row: &[f32]) -> RowPrediction {
        self.model.step(&mut self.state, row).into()
    }
}
