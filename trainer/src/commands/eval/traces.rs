//! Truth and prediction over time, for the page of an evaluation.

use std::ops::Range;

use anyhow::{Result, bail};
use quaver::checkpoint::Likelihood;

use super::Arguments;
use crate::commands::plot_limits::{MOST_CHANNELS, MOST_ROWS, Z_90, left_out};
use crate::data::{Dataset, Rows, Sequence};
use crate::prediction::SequencePrediction;
use crate::report::plot::{self, Area, Curve, CurveStyle, Series, ShadedRange};
use crate::report::{Body, Section};

/// Half-width of the central 50 % interval of a normal, in standard deviations.
const Z_50: f32 = 0.674_49;

/// Most stretches of missing inputs that are marked; more would cover the plot.
const MOST_SHADES: usize = 40;

/// What is shown.
pub(super) struct TraceOptions<'a> {
    /// Names of outputs; all, as far as there is space, if none.
    outputs: &'a [String],
    rows: Option<&'a Range<usize>>,
    rate_hz: Option<f64>,
    likelihood: Likelihood,
}

impl<'a> TraceOptions<'a> {
    pub(super) fn of(arguments: &'a Arguments, likelihood: Likelihood) -> Self {
        TraceOptions {
            outputs: &arguments.trace,
            rows: arguments.trace_rows.as_ref(),
            rate_hz: arguments.rate_hz,
            likelihood,
        }
    }

    fn is_shown(&self, name: &String) -> bool {
        self.outputs.is_empty() || self.outputs.contains(name)
    }
}

/// Refuses traces of outputs and rows that there are not.
pub(super) fn check(arguments: &Arguments, data: &Dataset, sequences: &[Sequence]) -> Result<()> {
    if let Some(unknown) = arguments.trace.iter().find(|name| !data.target_names.contains(name)) {
        bail!("--trace: no output `{unknown}`; the outputs are {}", data.target_names.join(", "));
    }
    let longest = sequences.iter().map(Sequence::len).max().unwrap_or(0);
    if let Some(rows) = arguments.trace_rows.as_ref().filter(|rows| rows.end > longest) {
        bail!(
            "--trace-rows {}..{}: the longest sequence of the split has {longest} rows",
            rows.start,
            rows.end
        );
    }
    Ok(())
}

/// A stretch of one sequence.
struct Stretch<'a> {
    sequence: &'a Sequence,
    prediction: &'a SequencePrediction,
    rows: Range<usize>,
}

/// A plot of every output that is shown, over the same stretch of the first sequence that is long enough.
pub(super) fn sections(
    data: &Dataset,
    sequences: &[Sequence],
    predictions: &[SequencePrediction],
    options: &TraceOptions<'_>,
) -> Vec<Section> {
    let wanted = options.rows.map_or(1, |rows| rows.end);
    let index = sequences.iter().position(|sequence| sequence.len() >= wanted).unwrap_or(0);
    let Some((sequence, prediction)) = sequences.get(index).zip(predictions.get(index)) else {
        return Vec::new();
    };
    let from = options.rows.map_or(sequence.burn_in, |rows| rows.start).min(sequence.len());
    let to = options.rows.map_or(from + MOST_ROWS, |rows| rows.end).min(sequence.len());
    let stretch = Stretch { sequence, prediction, rows: from..to };
    let shown: Vec<(usize, &String)> =
        data.target_names.iter().enumerate().filter(|(_, name)| options.is_shown(name)).collect();
    let more = if options.outputs.is_empty() { left_out(shown.len()) } else { String::new() };
    let text = format!("Rows {from} to {} of sequence {index}.{more}", to.saturating_sub(1));
    let draw = |(place, (output, name)): (usize, &(usize, &String))| Section {
        heading: format!("{name} over time"),
        text: if place == 0 { format!("{text} {}", explanation(options.likelihood)) } else { String::new() },
        body: Body::Svg(stretch.draw(data, *output, name, options)),
    };
    shown.iter().take(MOST_CHANNELS).enumerate().map(draw).collect()
}

fn explanation(likelihood: Likelihood) -> &'static str {
    if likelihood.is_normal() {
        "Half of the truth should lie in the inner band, nine tenths in the outer one. Where inputs are missing, the plot is shaded."
    } else {
        "The truth is 0 or 1, the prediction its probability. Where inputs are missing, the plot is shaded."
    }
}

impl Stretch<'_> {
    fn draw(&self, data: &Dataset, output: usize, name: &str, options: &TraceOptions<'_>) -> plot::Figure {
        let time = |step: usize| options.rate_hz.map_or(step as f64, |hz| step as f64 / hz) as f32;
        let x: Vec<f32> = self.rows.clone().map(time).collect();
        let mean = self.column(&self.prediction.mean, output);
        let edge = |std_devs: f32| -> Vec<f32> {
            let spread = self.rows.clone().map(|step| self.prediction.variance(step, output).sqrt());
            mean.iter().zip(spread).map(|(mean, std_dev)| mean + std_devs * std_dev).collect()
        };
        let edges = [-Z_90, Z_90, -Z_50, Z_50].map(edge);
        let areas = [
            Area { label: "90 % band", lower: &edges[0], upper: &edges[1] },
            Area { label: "50 % band", lower: &edges[2], upper: &edges[3] },
        ];
        let is_normal = options.likelihood.is_normal();
        let y_label = if is_normal { name.to_string() } else { format!("probability of {name}") };
        plot::series(&Series {
            name: "Prediction and truth over time",
            x: &x,
            areas: if is_normal { &areas } else { &[] },
            curves: &[
                Curve {
                    label: "truth",
                    values: &self.column(&self.sequence.targets, output),
                    style: CurveStyle::Truth,
                },
                Curve { label: "prediction", values: &mean, style: CurveStyle::Estimate },
            ],
            shaded: &self.missing(data, time),
            x_label: if options.rate_hz.is_some() { "time (s)" } else { "row" },
            y_label: &y_label,
        })
    }

    fn column(&self, rows: &Rows, output: usize) -> Vec<f32> {
        self.rows.clone().map(|step| rows.row(step)[output]).collect()
    }

    /// Runs of rows with the same inputs missing.
    fn missing(&self, data: &Dataset, time: impl Fn(usize) -> f32) -> Vec<ShadedRange> {
        let missing = |step: &usize| -> Vec<usize> {
            let row = self.sequence.input(*step).unwrap_or(&[]);
            row.iter().enumerate().filter(|(_, value)| value.is_nan()).map(|(channel, _)| channel).collect()
        };
        let steps: Vec<usize> = self.rows.clone().collect();
        let runs = steps.chunk_by(|one, next| missing(one) == missing(next));
        let shade = |run: &[usize]| {
            let label = match missing(run.first()?).as_slice() {
                [] => return None,
                [one] => data.input_names[*one].clone(),
                several => format!("{} inputs", several.len()),
            };
            let end = run.last().copied().unwrap_or_default() + 1;
            Some(ShadedRange { from: time(run[0]), to: time(end), label: format!("{label} missing") })
        };
        let mut shades: Vec<ShadedRange> = runs.filter_map(shade).collect();
        shades.truncate(MOST_SHADES);
        if shades.len() > 3 {
            // Labels would cover each other.
            shades.iter_mut().skip(1).for_each(|shade| shade.label.clear());
        }
        shades
    }
}
