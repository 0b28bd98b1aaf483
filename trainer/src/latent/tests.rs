//! Latent models against what can be computed by hand, by finite differences, or exactly.

mod exact;
mod gradients;
mod runs;
mod uses;

use super::nets::LatentNets;
use crate::config::{Config, InitConfig};
use crate::data::batch::{Batch, Chunk};
use crate::data::{Dataset, Rows, Scaling, Sequence};
use crate::nn::Parameters;
use crate::random::{Purpose, normals, stream};

/// A config of a small model; `lines` come first, so that sections may follow in them.
fn config(lines: &str, overrides: &[&str]) -> Config {
    let text = format!("seed = 3\ndata = {{ train = \"none.csv\", targets = \"next\" }}\n{lines}");
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    Config::parse("test.toml", &text, &overrides).unwrap()
}

/// The networks of a config for a number of channels, with initial parameters.
fn nets(config: &Config, channels: usize) -> (LatentNets, Parameters) {
    let nets = LatentNets::new(config, config.latent.as_ref().unwrap(), channels).unwrap();
    let parameters = nets.init_parameters(&InitConfig { output_bias: 0.1, ..config.init.clone() }, 5);
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

/// What makes a config one of a model that learns from the truth.
const CLEAN: [&str; 2] = ["data.targets=clean", "data.noise={ snr_db = 5 }"];

/// The same rows seen with noise of this standard deviation, as targets.
fn seen_through_noise(sequences: &[Sequence], std_dev: f32) -> Vec<Sequence> {
    let mut rng = stream(12, Purpose::Initialisation);
    let mut noisy = |clean: &Sequence| {
        let noise = normals(&mut rng, clean.targets.values.len());
        let values = clean.targets.values.iter().zip(noise).map(|(value, noise)| value + std_dev * noise);
        let noisy = Rows { channels: clean.targets.channels, values: values.collect() };
        let truth = Some(clean.targets.clone());
        Sequence { truth, ..Sequence::columns(noisy, Rows::clone(&clean.targets)) }
    };
    sequences.iter().map(&mut noisy).collect()
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
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Dataset::of([train, valid, Vec::new()], &names)
}
