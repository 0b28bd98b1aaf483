//! Models of typical sizes, to count what a step costs.

use quaver::checkpoint::{CellKind, Contents, Target, Transfer, WeightFormat, write};

use crate::Case;
use crate::golden::{Architecture, randomise};
use crate::numbers::Numbers;

/// Rows in a benchmark's stream: enough to average over what depends on the data.
const ROWS: usize = 16;

/// The model called `CELL-INPUTS-UNITS-FORMAT`, for example `lstm-16-64-int8`, with a stream to run it on.
///
/// It predicts its own next input, with fast dropout on every connection: the most that a step can be asked.
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
    let format = match next()? {
        "f32" => WeightFormat::F32,
        "int8" => WeightFormat::Int8,
        _ => return None,
    };
    let spec = Architecture { inputs, outputs: inputs, target: Target::Next, ..Architecture::default() }
        .spec(&[(cell, units)], format);
    let mut contents = Contents::zeros(spec);
    randomise(&mut contents, &mut Numbers::new(name));
    Some(Case {
        name: name.into(),
        model: write(&contents).ok()?,
        inputs: inputs.into(),
        stream: noise(inputs.into(), ROWS),
    })
}

/// Rows of noise, for a model whose own data are not at hand.
pub fn noise(inputs: usize, rows: usize) -> Vec<f32> {
    let mut stream = vec![0.0; inputs * rows];
    Numbers::new("noise").fill(&mut stream, -2.0, 2.0);
    stream
}
