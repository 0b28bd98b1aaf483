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
/// With a further word, `next`, it predicts its own next input instead: the most that a step can be asked. With `certain` it
/// has neither noise nor variance, as `mean` always has.
pub fn case(name: &str) -> Option<Case> {
    let contents = contents(name)?;
    let inputs = usize::from(contents.spec.inputs);
    let (model, stream) = (write(&contents).ok()?, noise(inputs, ROWS));
    Some(Case { name: name.into(), model, inputs, stream, task: Task::Follow })
}

/// What is in the model of [`case`].
pub fn contents(name: &str) -> Option<Contents> {
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
    let (outputs, target, certain) = match next() {
        None => (1, Target::Columns, false),
        Some("next") => (inputs, Target::Next, false),
        Some("certain") => (1, Target::Columns, true),
        Some(_) => return None,
    };
    let architecture = Architecture { inputs, outputs, target, ..Architecture::default() };
    let without = Architecture { noise: [UnitNoise::None; 3], mode: OutputMode::Plain, ..architecture };
    let architecture = if certain || layout == Layout::Mean { without } else { architecture };
    let mut contents = Contents::zeros(architecture.spec(&[(cell, units)], format));
    contents.spec.layout = layout;
    randomise(&mut contents, &mut Numbers::new(name));
    Some(contents)
}

/// Rows of noise, for a model whose own data are not at hand.
pub fn noise(inputs: usize, rows: usize) -> Vec<f32> {
    let mut stream = vec![0.0; inputs * rows];
    Numbers::new("noise").fill(&mut stream, -2.0, 2.0);
    stream
}
