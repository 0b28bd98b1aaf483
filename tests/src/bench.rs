//! Models of typical sizes, to count what a step costs.

use quaver::checkpoint::{
    CellKind, Contents, LatentSpec, Layout, OutputMode, Target, Transfer, UnitNoise, WeightFormat, write,
};

use crate::Case;
use crate::golden::{Architecture, STORAGES, randomise};
use crate::latent::LatentArchitecture;
use crate::numbers::Numbers;
use crate::replay::Task;

/// Rows in a benchmark's stream: enough to average over what depends on the data.
const ROWS: usize = 16;

/// The model called `CELL-INPUTS-UNITS-WEIGHTS`, for example `lstm-16-64-fast`, with a stream to run it on.
///
/// WEIGHTS is `f32` or `int8` in the plain layout, or `small`, `fast` or `mean`: int8 in that layout. The model reads
/// sensors and estimates one other quantity, with fast dropout on every connection; `mean` has neither noise nor variance.
/// With a further word, `next`, it predicts its own next input instead: the most that a step can be asked.
///
/// CELL may also be a latent model: `vosp`, a denoiser with an LSTM that recognises and a dense layer that generates, or `storn`, a
/// sampler with two LSTMs; INPUTS are its channels, UNITS those of each layer, and it has half as many latents as channels.
pub fn case(name: &str) -> Option<Case> {
    if let Some(case) = latent_case(name) {
        return Some(case);
    }
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

/// A latent model by its name.
fn latent_case(name: &str) -> Option<Case> {
    let words: Vec<&str> = name.split('-').collect();
    let [family, channels, units, storage] = words[..] else { return None };
    let (channels, units): (u16, u16) = (channels.parse().ok()?, units.parse().ok()?);
    let (_, format, layout) = STORAGES.into_iter().find(|(suffix, ..)| *suffix == storage)?;
    let (architecture, cell) = match family {
        "vosp" => (LatentArchitecture::vosp(), CellKind::Dense(Transfer::Tanh)),
        "storn" => (LatentArchitecture::storn(), CellKind::Lstm),
        _ => return None,
    };
    let architecture = LatentArchitecture {
        spec: LatentSpec { latents: channels.div_ceil(2), ..architecture.spec },
        channels,
        recognition: &[(CellKind::Lstm, units)],
        generating: &[(cell, units)],
        ..architecture
    };
    let inputs = usize::from(channels);
    let model = architecture.networks(name, format, layout).write().ok()?;
    Some(Case { name: name.into(), model, inputs, stream: noise(inputs, ROWS), task: Task::Follow })
}

/// Rows of noise, for a model whose own data are not at hand.
pub fn noise(inputs: usize, rows: usize) -> Vec<f32> {
    let mut stream = vec![0.0; inputs * rows];
    Numbers::new("noise").fill(&mut stream, -2.0, 2.0);
    stream
}
