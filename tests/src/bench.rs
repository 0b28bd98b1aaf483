//! Models of typical sizes, to count what a step costs.

use quaver::checkpoint::{
    CellKind, Contents, Layout, OutputMode, Target, Transfer, UnitNoise, WeightFormat, write,
};

use crate::Case;
use crate::golden::{Architecture, randomise};
use crate::numbers::Numbers;
use crate::replay::Task;

/// Rows in a benchmark's stream: enough to average over what depends on the data.
const ROWS: usize = 16;

/// The model called `CELL-INPUTS-UNITS-WEIGHTS`, for example `lstm-16-64-fast`, with a stream to run it on.
///
/// WEIGHTS is `f32` or `int8` in the plain layout, or `small`, `fast` or `mean`: int8 in that layout. The model reads
/// sensors and estimates one other quantity, with fast dropout on every connection; `mean` has neither noise nor variance.
/// With a further word, `next`, it predicts its own next input instead: the most that a step can be asked.
pub fn case(name: &str) -> Option<Case> {
    let mut words = name.split('-');
    let mut next = || words.next();
    let cell = match next()? {
        "elman" => CellKind::Elman(Transfer::Tanh),
        "lstm" => CellKind::Lstm,
        _ => return None,
    };
    let inputs: u16 = next()?.parse().ok()?;
    let units = next()?.parse().ok()?;
    let (format, layout) = match next()? {
        "f32" => (WeightFormat::F32, Layout::Plain),
        "int8" => (WeightFormat::Int8, Layout::Plain),
        "small" => (WeightFormat::Int8, Layout::Small),
        "fast" => (WeightFormat::Int8, Layout::Fast),
        "mean" => (WeightFormat::Int8, Layout::Mean),
        _ => return None,
    };
    let (outputs, target) = match next() {
        None => (1, Target::Columns),
        Some("next") => (inputs, Target::Next),
        Some(_) => return None,
    };
    let architecture = Architecture { inputs, outputs, target, ..Architecture::default() };
    let certain = Architecture { noise: [UnitNoise::None; 3], mode: OutputMode::Plain, ..architecture };
    let architecture = if layout == Layout::Mean { certain } else { architecture };
    let mut contents = Contents::zeros(architecture.spec(&[(cell, units)], format));
    contents.spec.layout = layout;
    randomise(&mut contents, &mut Numbers::new(name));
    Some(Case {
        name: name.into(),
        model: write(&contents).ok()?,
        inputs: inputs.into(),
        stream: noise(inputs.into(), ROWS),
        task: Task::Follow,
    })
}

/// Rows of noise, for a model whose own data are not at hand.
pub fn noise(inputs: usize, rows: usize) -> Vec<f32> {
    let mut stream = vec![0.0; inputs * rows];
    Numbers::new("noise").fill(&mut stream, -2.0, 2.0);
    stream
}
