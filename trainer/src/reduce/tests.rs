//! Pooling against the runtime, gradients against differences, and runs of every objective.

mod gradients;
mod runs;

use burn::tensor::{Device, Tensor, TensorData};

use super::embed::pooled;
use super::pool::pool;
use crate::config::{Config, PoolingName};
use crate::data::{Dataset, Rows, Sequence};
use crate::nn::net::MomentTensors;
use crate::nn::tensors::to_vec;
use crate::random::{Purpose, normal, stream};

const POOLINGS: [PoolingName; 4] =
    [PoolingName::Mean, PoolingName::Sum, PoolingName::Max, PoolingName::Stochastic];

/// Normal numbers from a seed.
fn numbers(seed: u64, count: usize) -> Vec<f32> {
    let mut rng = stream(seed, Purpose::Initialisation);
    (0..count).map(|_| normal(&mut rng) as f32).collect()
}

/// A config of labelled data in memory.
fn config(overrides: &[&str]) -> Config {
    let text = "seed = 3\n[data]\ntrain = 'none.csv'\ntargets = 'labels'\n[model]\ncell = 'gru'\nlayers = [8]\n\
                [reduce]\ndimension = 4\nprototypes = 12\n\
                [training]\nbatch = 20\nchunk = 0\nlearning_rate = 0.01\nepochs = 4\n";
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    Config::parse("test.toml", text, &overrides).unwrap()
}

/// A sequence of two channels whose class is the frequency of a sine in the first, of a length of its own.
fn sequence(class: usize, seed: u64) -> Sequence {
    let drawn = numbers(seed, 80);
    let steps = 20 + (drawn[0].abs() * 10.0) as usize % 18;
    let values: Vec<f32> = (0..steps)
        .flat_map(|step| {
            let wave = (step as f32 * [0.4, 0.9, 1.6][class] + 3.0 * drawn[1]).sin();
            [wave + 0.1 * drawn[2 + step], 0.5 * drawn[40 + step]]
        })
        .collect();
    let targets = Rows { channels: 1, values: vec![class as f32; steps] };
    Sequence::columns(Rows { channels: 2, values }, targets)
}

fn dataset() -> Dataset {
    let split =
        |seed: u64, count: u64| (0..count).map(|index| sequence(index as usize % 3, seed + index)).collect();
    let classes = ["slow", "medium", "fast"].map(String::from).to_vec();
    let data = Dataset::of([split(0, 60), split(1000, 30), split(2000, 30)], &["a", "b"]);
    Dataset { target_names: classes, target: quaver::checkpoint::Target::Columns, ..data }
}

/// The tensors' pooling agrees with the runtime's, for lanes of different spans: what lies outside of the
/// span of a lane must not count.
#[test]
fn tensors_pool_as_the_runtime_does() {
    let (spans, steps, components) = ([0..5, 0..1, 1..4], 5, 2);
    let count = steps * spans.len() * components;
    let mean = numbers(1, count);
    let var: Vec<f32> = numbers(2, count).iter().map(|draw| 0.2 * draw * draw).collect();
    let tensor = |values: &[f32]| -> Tensor<2> {
        let shape = [steps * spans.len(), components];
        Tensor::from_data(TensorData::new(values.to_vec(), shape), &Device::flex())
    };
    for pooling in POOLINGS {
        for uncertain in [false, true] {
            let moments = MomentTensors { mean: tensor(&mean), var: uncertain.then(|| tensor(&var)) };
            let found = pool(pooling, moments, &spans);
            assert_eq!(found.var.is_some(), uncertain);
            let (found, found_var) = (to_vec(found.mean), found.var.map_or_else(|| vec![0.0; 6], to_vec));
            for (place, span) in (0..6).map(|place| (place, spans[place / components].clone())) {
                let values = span.map(|step| {
                    let index = step * spans.len() * components + place;
                    [mean[index], if uncertain { var[index] } else { 0.0 }]
                });
                let expected = pooled(pooling, values, 0.0);
                // Sums in another order, in f32.
                assert!((found[place] - expected[0]).abs() < 1e-5, "{pooling:?} {place}");
                assert!((found_var[place] - expected[1]).abs() < 1e-5, "{pooling:?} {place}");
            }
        }
    }
}
