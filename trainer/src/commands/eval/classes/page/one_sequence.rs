//! One sequence: its nearest neighbours in the training data, and what its embedding depends on.

use anyhow::{Result, ensure};

use super::super::Evaluated;
use super::channel_scales;
use crate::commands::eval::page::section;
use crate::data::Rows;
use crate::evaluate::sequential_jacobian;
use crate::prediction::reduce_by_runtime;
use crate::report::plot::{self, Curve, CurveStyle, Roll, Rolls, Series};
use crate::report::{Body, Section};

/// Neighbours that are shown.
const NEIGHBOURS: usize = 4;

/// Training sequences that are searched: evenly spaced, if there are more.
const MOST_TRAINING: usize = 2000;

/// Values of a sequence for which a Jacobian is computed: beyond, only the first rows are shown.
const MOST_VALUES: usize = 4000;

/// Components of the embedding whose derivatives are shown.
const COMPONENTS: usize = 3;

/// A training sequence and its squared distance in the space of embeddings.
struct Neighbour {
    index: usize,
    distance: f32,
}

pub(super) fn sections(evaluated: &Evaluated<'_>, sequence: usize) -> Result<Vec<Section>> {
    let count = evaluated.samples.rows.len();
    ensure!(sequence < count, "--sequence {sequence}: the split has {count} sequences, counted from 0");
    let neighbours = neighbours(evaluated, sequence)?;
    Ok(vec![
        neighbour_table(evaluated, sequence, &neighbours),
        neighbour_curves(evaluated, sequence, &neighbours),
        jacobian(evaluated, sequence)?,
    ])
}

fn neighbours(evaluated: &Evaluated<'_>, sequence: usize) -> Result<Vec<Neighbour>> {
    let train = &evaluated.train;
    let every = train.rows.len().div_ceil(MOST_TRAINING).max(1);
    let indices: Vec<usize> = (0..train.rows.len()).step_by(every).collect();
    let rows: Vec<&Rows> = indices.iter().map(|index| train.rows[*index]).collect();
    let embeddings = reduce_by_runtime(&evaluated.model.bytes, &rows, None)?.mean;
    let query = evaluated.reduction.mean.row(sequence);
    let squared = |row: &[f32]| row.iter().zip(query).map(|(a, b)| (a - b) * (a - b)).sum::<f32>();
    let mut found: Vec<Neighbour> = indices
        .into_iter()
        .zip(embeddings.iter())
        .map(|(index, row)| Neighbour { index, distance: squared(row) })
        .collect();
    found.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    found.truncate(NEIGHBOURS);
    Ok(found)
}

fn class_name(evaluated: &Evaluated<'_>, label: Option<usize>) -> String {
    label.map_or("unknown".into(), |class| evaluated.classes[class].clone())
}

fn neighbour_table(evaluated: &Evaluated<'_>, sequence: usize, neighbours: &[Neighbour]) -> Section {
    let mut rows =
        vec![["neighbour", "training sequence", "class", "squared distance"].map(String::from).to_vec()];
    rows.extend(neighbours.iter().enumerate().map(|(rank, neighbour)| {
        let class = class_name(evaluated, evaluated.train.labels[neighbour.index]);
        vec![
            format!("{}", rank + 1),
            neighbour.index.to_string(),
            class,
            format!("{:.4}", neighbour.distance),
        ]
    }));
    let class = class_name(evaluated, evaluated.samples.labels[sequence]);
    let predicted =
        evaluated.reduction.classes.as_ref().map(|found| &evaluated.classes[found.classes[sequence]]);
    let predicted = predicted.map_or(String::new(), |name| format!(" The model says {name}."));
    let text = format!(
        "Sequence {sequence} of the split is of class {class}.{predicted} Nearest in the space of embeddings:"
    );
    section("Nearest neighbours", &text, rows)
}

/// The first channel of the sequence and of its neighbours.
fn neighbour_curves(evaluated: &Evaluated<'_>, sequence: usize, neighbours: &[Neighbour]) -> Section {
    let first = |rows: &Rows| -> Vec<f32> { rows.iter().map(|row| row[0]).collect() };
    let mut values: Vec<Vec<f32>> =
        neighbours.iter().map(|neighbour| first(evaluated.train.rows[neighbour.index])).collect();
    values.push(first(evaluated.samples.rows[sequence]));
    let longest = values.iter().map(Vec::len).max().unwrap_or(0);
    values.iter_mut().for_each(|values| values.resize(longest, f32::NAN));
    let last = values.len() - 1;
    let curves: Vec<Curve<'_>> = values
        .iter()
        .enumerate()
        .map(|(index, values)| {
            let label = match index {
                0 if last > 0 => "its nearest neighbours",
                _ if index == last => "the sequence",
                _ => "",
            };
            let style = if index == last { CurveStyle::Estimate } else { CurveStyle::Background };
            Curve { label, values, style }
        })
        .collect();
    let name = evaluated.model.channels.names.first().map_or("first channel", String::as_str);
    let figure = plot::series(&Series {
        name: "A sequence and its nearest neighbours",
        x: &(1..=longest).map(|row| row as f32).collect::<Vec<_>>(),
        areas: &[],
        curves: &curves,
        shaded: &[],
        x_label: "row",
        y_label: name,
    });
    Section::plot("The sequence and its neighbours", figure)
}

/// Absolute derivatives of the embedding: of all components together, and of those that depend most.
fn jacobian(evaluated: &Evaluated<'_>, sequence: usize) -> Result<Section> {
    let rows = evaluated.samples.rows[sequence];
    let shown = rows.slice(0..rows.len().min(MOST_VALUES / rows.channels.max(1)));
    let scale = channel_scales(&evaluated.train.rows);
    let found = sequential_jacobian(&shown, &scale, |changed| {
        reduce_by_runtime(&evaluated.model.bytes, changed, None).map(|reduction| reduction.mean)
    })?;
    let sum_of_squares = |rows: &Rows| rows.values.iter().map(|value| value * value).sum::<f32>();
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by(|a, b| sum_of_squares(&found[*b]).total_cmp(&sum_of_squares(&found[*a])));
    let norm = |index: usize| found.iter().map(|of| of.values[index] * of.values[index]).sum::<f32>().sqrt();
    let all = Rows { channels: shown.channels, values: (0..shown.values.len()).map(norm).collect() };
    let mut panels = vec![("‖∂e/∂x‖, all components".to_string(), normalised(&all))];
    panels.extend(order.iter().take(COMPONENTS).map(|&component| {
        let size = Rows {
            channels: shown.channels,
            values: found[component].values.iter().map(|v| v.abs()).collect(),
        };
        (format!("|∂e{component}/∂x|"), normalised(&size))
    }));
    let rolls: Vec<Roll<'_>> = panels
        .iter()
        .enumerate()
        .map(|(index, (label, notes))| Roll { label, notes, colour: if index == 0 { "ink" } else { "blue" } })
        .collect();
    let figure = plot::rolls(&Rolls { rolls: &rolls, first_key: 0, x_label: "row", y_label: "channel" });
    Ok(Section {
        heading: "Sequential Jacobian".into(),
        text: format!(
            "How the embedding of sequence {sequence} depends on every value of it: absolute derivatives in units of each channel's \
             standard deviation, by central differences; the darkest is the largest of its panel."
        ),
        body: Body::Svg(figure),
    })
}

/// The rows divided by their largest value.
fn normalised(rows: &Rows) -> Rows {
    let largest = rows.values.iter().copied().fold(0.0, f32::max);
    let scaled = rows.values.iter().map(|value| if largest > 0.0 { value / largest } else { 0.0 });
    Rows { channels: rows.channels, values: scaled.collect() }
}
