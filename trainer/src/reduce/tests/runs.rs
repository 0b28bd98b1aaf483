//! Whole runs: they learn, resume with the same bits, and export what the trainer computed.

use std::path::Path;

use quaver::checkpoint::{Layout, WeightFormat};

use super::{config, dataset};
use crate::config::Config;
use crate::data::batch::evaluation;
use crate::data::{Dataset, Sequence};
use crate::export::{ReducerEncoding, encode_reducer, run_reducer};
use crate::fit::{Architecture, NoProgress, RunFolder, TrainOptions};
use crate::reduce::embed::embed_batches;
use crate::reduce::{FittedReducer, ReduceModel, embed, fit};
use crate::runs::{TrainedState, train};

fn trained(config: &Config, data: &Dataset, out: &Path) -> FittedReducer {
    train(config, data, out, TrainOptions::default(), &mut NoProgress).unwrap();
    match TrainedState::load(&RunFolder::new(out).best_state()).unwrap() {
        TrainedState::Reduce(state) => fit(&state, config, data).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn test_error(fitted: &FittedReducer, test: &[Sequence]) -> f64 {
    let found = fitted.embed(test);
    let wrong = |index: &usize| Some(fitted.classify(found.point(*index)).class) != found.labels[*index];
    (0..found.len()).filter(wrong).count() as f64 / found.len() as f64
}

/// Sines of three frequencies: chance is an error of two thirds.
#[test]
fn every_objective_trains_and_classifies() {
    let data = dataset();
    let unsupervised = ["reduce.classifier=logistic", "reduce.pooling=stochastic", "reduce.over=units"];
    for (objective, more, most) in [
        ("nca", &["reduce.neighbours=3"][..], 0.1),
        ("nca-log", &["reduce.neighbours=3"], 0.1),
        ("cross-entropy", &["reduce.classifier=logistic"], 0.1),
        ("random", &unsupervised, 0.45),
        ("next", &unsupervised, 0.45),
        ("rim", &unsupervised, 0.45),
        ("sparse-filtering", &unsupervised, 0.45),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let objective_key = format!("reduce.objective={objective}");
        let set = [&[objective_key.as_str(), "training.epochs=12", "model.layers=[16]"][..], more].concat();
        let config = config(&set);
        let fitted = trained(&config, &data, folder.path());
        let error = test_error(&fitted, &data.test);
        assert!(error <= most, "{objective}: {error}");
        assert!(fitted.calibration.threshold.is_some() && fitted.calibration.nll < 1.5, "{objective}");
    }
}

#[test]
fn a_resumed_run_ends_with_the_same_bits() {
    let data = dataset();
    let [whole, resumed] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    train(&config(&[]), &data, whole.path(), TrainOptions::default(), &mut NoProgress).unwrap();
    let first = config(&["training.epochs=2"]);
    train(&first, &data, resumed.path(), TrainOptions::default(), &mut NoProgress).unwrap();
    train(&config(&[]), &data, resumed.path(), TrainOptions::resuming(true), &mut NoProgress).unwrap();
    let last = |folder: &Path| std::fs::read(RunFolder::new(folder).last_state()).unwrap();
    assert_eq!(last(whole.path()), last(resumed.path()));
}

/// Sequences of very different length: neighbours in a batch, hence padding, change nothing.
#[test]
fn embeddings_do_not_depend_on_padding() {
    let data = dataset();
    for pooling in ["mean", "sum", "max", "stochastic"] {
        let config = config(&[&format!("reduce.pooling={pooling}"), "noise.recurrent_keep=0.8"]);
        let model = ReduceModel::from_config(&config, &data).unwrap();
        let scaling = model.scaling(&config, &data).unwrap();
        let parameters = model.init_parameters(&config, &data, &scaling);
        let mut sequences = data.train[..4].to_vec();
        sequences[1] = sequences[1].slice(0..2);
        let together = embed(&model, &parameters, &scaling, &sequences, 0.0);
        let alone = embed_batches(&model, &parameters, evaluation(&sequences, &scaling, 1), 0.0);
        assert_eq!(together.labels, alone.labels);
        let close = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(close(&together.mean, &alone.mean) && close(&together.var, &alone.var), "{pooling}");
        assert!(together.var.iter().any(|var| *var > 0.0));
    }
}

#[test]
fn the_runtime_computes_what_the_trainer_does() {
    let data = dataset();
    for (pooling, more) in [
        ("mean", ["reduce.classifier=logistic", "reduce.objective=cross-entropy", "reduce.over=outputs"]),
        ("sum", ["reduce.classifier=nearest", "reduce.objective=nca", "reduce.over=outputs"]),
        ("max", ["reduce.neighbours=0", "reduce.objective=next", "reduce.over=units"]),
        ("stochastic", ["reduce.thinning=condense", "reduce.novelty=energy", "reduce.over=units"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let pooling_key = format!("reduce.pooling={pooling}");
        let set = [&[pooling_key.as_str(), "noise.recurrent_keep=0.9"][..], &more[..]].concat();
        let fitted = trained(&config(&set), &data, folder.path());
        let found = fitted.embed(&data.test);
        let encoding = ReducerEncoding::default();
        for (format, tolerance) in [(WeightFormat::F32, 2e-3), (WeightFormat::Int8, 0.2)] {
            let bytes = encode_reducer(&fitted, &data.input_names, format, Layout::Float, &encoding).unwrap();
            let results = run_reducer(&bytes, &data.test).unwrap();
            for index in 0..data.test.len() {
                let expected = fitted.classify(found.point(index));
                let pairs = results.probabilities[index].iter().zip(&expected.probabilities);
                let worst = pairs.map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max);
                assert!(worst < tolerance, "{pooling} {format:?}: {worst}");
            }
        }
    }
}

/// Ten rows that warm the network up and twenty that are pooled: a ring of four sub-pools of five rows holds
/// exactly these.
#[test]
fn rows_before_a_window_are_read_but_not_pooled() {
    let mut data = dataset();
    let windows = |sequences: &[Sequence]| -> Vec<Sequence> {
        let long = sequences.iter().filter(|sequence| sequence.len() >= 30);
        long.map(|sequence| {
            let mut targets = sequence.targets.slice(0..30);
            targets.values[..10].fill(f32::NAN);
            Sequence::columns(sequence.inputs.slice(0..30), targets)
        })
        .collect()
    };
    (data.train, data.valid, data.test) = (windows(&data.train), windows(&data.valid), windows(&data.test));
    assert!(data.test.len() > 3);
    let folder = tempfile::tempdir().unwrap();
    for pooling in ["mean", "max"] {
        let pooling_key = format!("reduce.pooling={pooling}");
        let config = config(&[&pooling_key, "reduce.ring=[4, 5]", "training.epochs=1"]);
        let fitted = trained(&config, &data, &folder.path().join(pooling));
        let found = fitted.embed(&data.test);
        let encoding = ReducerEncoding::default();
        let bytes =
            encode_reducer(&fitted, &data.input_names, WeightFormat::F32, Layout::Float, &encoding).unwrap();
        let results = run_reducer(&bytes, &data.test).unwrap();
        let whole: Vec<Sequence> = data.test.iter().map(|sequence| sequence.slice(10..30)).collect();
        let without = fitted.embed(&whole);
        for (index, [mean, _]) in results.embeddings.iter().enumerate() {
            let distance =
                |other: &[f32]| mean.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            // Rounding in f32.
            assert!(distance(found.point(index)[0]) < 1e-4, "{pooling}");
            assert!(
                distance(without.point(index)[0]) > 1e-4,
                "{pooling}: the rows before make no difference"
            );
        }
    }
}
