//! Latent models against what can be computed by hand, by finite differences, or exactly.

mod exact;
mod gradients;
mod runs;
mod uses;

use quaver::checkpoint::Target;

use super::nets::LatentNets;
use crate::config::{Config, Init};
use crate::data::batch::{Batch, Chunk};
use crate::data::{Dataset, Rows, Scaling, Sequence};
use crate::nn::Parameters;
use crate::nn::random::{Purpose, normals, stream};

/// A config of a small model; `lines` come first, so that sections may follow in them.
fn config(lines: &str, overrides: &[&str]) -> Config {
    let text = format!("seed = 3\ndata = {{ train = \"none.csv\", targets = \"next\" }}\n{lines}");
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    Config::parse("test.toml", &text, &overrides).unwrap()
}

/// The nets of a config for so many channels, with parameters to begin with.
fn nets(config: &Config, channels: usize) -> (LatentNets, Parameters) {
    let nets = LatentNets::new(config, config.latent.as_ref().unwrap(), channels).unwrap();
    let parameters = nets.draw(&Init { output_bias: 0.1, ..config.init.clone() }, 5);
    assert!(nets.fits(&parameters));
    (nets, parameters)
}

/// Sequences of normal numbers of these lengths.
fn sequences(lengths: &[usize], channels: usize) -> Vec<Sequence> {
    let mut rng = stream(11, Purpose::Initialisation);
    let mut sequence =
        |steps: &usize| Sequence::next(Rows { channels, values: normals(&mut rng, steps * channels) });
    lengths.iter().map(&mut sequence).collect()
}

/// All sequences side by side.
fn whole(sequences: &[Sequence]) -> (Batch, Scaling) {
    let scaling = Scaling::fit(sequences);
    let chunk = |(sequence, of): (usize, &Sequence)| Chunk { sequence, start: 0, len: of.len() };
    let chunks: Vec<Chunk> = sequences.iter().enumerate().map(chunk).collect();
    (Batch::new(sequences, &scaling, &chunks), scaling)
}

fn dataset(train: Vec<Sequence>, valid: Vec<Sequence>) -> Dataset {
    let names: Vec<String> = (0..train[0].targets.channels).map(|c| format!("c{c}")).collect();
    Dataset {
        train,
        valid,
        test: Vec::new(),
        input_names: names.clone(),
        target_names: names,
        target: Target::Next,
        validation: String::new(),
        augmentation: None,
        fresh_noise: None,
    }
}
