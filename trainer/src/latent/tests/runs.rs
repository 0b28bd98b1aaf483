//! Whole runs: they learn what needs latent variables, repeat, and resume.

use std::fs;
use std::path::Path;

use quaver::checkpoint::Target;

use super::{CLEAN, config, dataset, seen_through_noise};
use crate::config::Config;
use crate::data::{Dataset, Rows, Sequence};
use crate::fit::{NoProgress, RunState, RunSummary, TrainOptions};
use crate::latent::{LatentFeed, LatentNets, TrainedLatentModel};
use crate::random::{Purpose, normal, stream, uniform};
use crate::runs::{TrainedState, train};

/// Two keys that always agree, at random. Keys taken one by one are two fair coins: 2 ln 2 nats. Together
/// they are one.
fn twins(seed: u64, count: usize, steps: usize) -> Vec<Sequence> {
    let mut rng = stream(seed, Purpose::Initialisation);
    let mut toss = || f32::from(uniform(&mut rng) < 0.5);
    let mut sequence = || (0..steps).flat_map(|_| [toss(); 2]).collect();
    (0..count).map(|_| Sequence::next(Rows { channels: 2, values: sequence() })).collect()
}

fn coins() -> Dataset {
    dataset(twins(1, 24, 40), twins(2, 8, 40))
}

const STORN: &str = "latent = { family = \"storn\", latents = 1, warm_up = 5 }\n\
    [model]\ncell = \"tanh\"\nlayers = [6]\nlikelihood = \"bernoulli\"\n\
    [training]\nbatch = 8\nchunk = 20\nlearning_rate = 0.03\nepochs = 3\n";

const VOSP: &str = "latent = { family = \"vosp\", latents = 1, warm_up = 5 }\n\
    [model]\ncell = \"dense-tanh\"\nlayers = [6]\nlikelihood = \"bernoulli\"\n[recognition]\ncell = \"tanh\"\n\
    [training]\nbatch = 8\nchunk = 20\nlearning_rate = 0.03\nepochs = 3\n";

const VRAE: &str = "latent = { family = \"vrae\", latents = 1, warm_up = 5 }\n\
    [model]\ncell = \"tanh\"\nlayers = [6]\nlikelihood = \"bernoulli\"\n\
    [training]\nbatch = 8\nchunk = 20\nlearning_rate = 0.03\nepochs = 3\n";

fn run(config: &Config, data: &Dataset, out: &Path, resume: bool) -> RunSummary {
    train(config, data, out, TrainOptions::resuming(resume), &mut NoProgress).unwrap()
}

fn best(out: &Path) -> RunState<LatentNets> {
    RunState::load(&out.join("best.state")).unwrap()
}

#[test]
fn every_family_learns_that_two_keys_agree() {
    for lines in [STORN, VOSP, VRAE] {
        let place = tempfile::tempdir().unwrap();
        let data = coins();
        let overrides = ["training.epochs=40", "training.patience=0"];
        let summary = run(&config(lines, &overrides), &data, place.path(), false);
        let apart = 2.0 * 2.0_f64.ln();
        let bound = summary.best.unwrap().valid_nll;
        assert!(bound < apart - 0.25, "{lines}: {bound} against {apart} for keys on their own");
        let model = TrainedLatentModel::new(&best(place.path()));
        let sampled = model.importance(&data.valid, 50, 1).unwrap();
        assert!(sampled.nll < bound + 3.0 * sampled.standard_error, "{sampled:?} against {bound}");
        // Nothing can be better than the true distribution: ln 2 nats, which 320 tosses meet to three
        // standard deviations of their mean.
        assert!(sampled.nll > 2.0_f64.ln() - 0.01, "{sampled:?}");
    }
}

#[test]
fn carried_variance_learns_too() {
    let place = tempfile::tempdir().unwrap();
    let noise = "recognition.noise={ recurrent_keep = 0.9, output_keep = 0.9, input_keep = 0.9 }";
    let overrides = ["latent.variance=propagated", noise, "training.epochs=40", "training.patience=0"];
    let summary = run(&config(STORN, &overrides), &coins(), place.path(), false);
    let bound = summary.best.unwrap().valid_nll;
    assert!(bound < 2.0 * 2.0_f64.ln() - 0.2, "{bound}");
    let state = best(place.path());
    let keep = state.parameters.get("recognition.output.logit").unwrap().values[0];
    assert!((keep - 9.0_f32.ln()).abs() > 0.05, "the keep probability has moved: {keep}");
}

fn files(folder: &Path) -> Vec<Vec<u8>> {
    ["last.state", "best.state", "metrics.csv", "metrics.jsonl"]
        .map(|name| fs::read(folder.join(name)).unwrap())
        .to_vec()
}

#[test]
fn a_resumed_run_ends_with_the_same_bits_and_another_seed_does_not() {
    let fixed = ["model.likelihood=gaussian", "latent.noise=fixed", "latent.draws=2"];
    for (lines, overrides) in [(STORN, &fixed[..]), (VRAE, &["latent.prior=wiener"])] {
        let places: Vec<_> = (0..3).map(|_| tempfile::tempdir().unwrap()).collect();
        let with = |more: &[&str]| config(lines, &[overrides, more].concat());
        run(&with(&[]), &coins(), places[0].path(), false);
        run(&with(&["training.epochs=2"]), &coins(), places[1].path(), false);
        run(&with(&[]), &coins(), places[1].path(), true);
        run(&with(&["seed=4"]), &coins(), places[2].path(), false);
        assert_eq!(files(places[0].path()), files(places[1].path()));
        assert_ne!(files(places[0].path()), files(places[2].path()));
        let csv = fs::read_to_string(places[0].path().join("metrics.csv")).unwrap();
        assert!(
            csv.starts_with("epoch,") && csv.lines().next().unwrap().ends_with(",valid_kl,skipped"),
            "{csv}"
        );
        let state = TrainedState::load(&places[0].path().join("last.state")).unwrap();
        assert!(matches!(&state, TrainedState::Latent(_)) && state.epochs() == 3);
    }
}

#[test]
fn a_noise_found_on_validation_data_is_the_size_of_the_errors() {
    let steady = |seed: u64| -> Vec<Sequence> {
        let mut rng = stream(seed, Purpose::Initialisation);
        let mut row = |t: usize| (t as f64 * 0.7).sin() as f32 + 0.1 * normal(&mut rng) as f32;
        (0..8)
            .map(|_| Sequence::next(Rows { channels: 1, values: (0..40).map(&mut row).collect() }))
            .collect()
    };
    let data = dataset(steady(1), steady(2));
    let place = tempfile::tempdir().unwrap();
    let overrides =
        ["model.likelihood=gaussian", "latent.noise=fixed", "training.epochs=30", "training.patience=0"];
    let bound = run(&config(STORN, &overrides), &data, place.path(), false).best.unwrap().valid_nll;
    let state = best(place.path());
    let log_noise = state.parameters.get("generative.output.log_noise").unwrap().values[0];
    // Knowing nothing leaves a variance of 1, standardised; learning with a noise of 1 must leave far less to
    // be found.
    assert!(log_noise < -1.0, "{log_noise}");
    let mut with_one = state.clone();
    with_one.parameters.get_mut("generative.output.log_noise").unwrap().values[0] = 0.0;
    let worse = TrainedLatentModel::new(&with_one).bound(&data.valid, 1, 3).unwrap();
    assert!(bound < worse.reconstruction + worse.divergence - 0.1, "{bound} against {worse:?}");
}

/// Rows independent of the past, with noise of half their standard deviation.
fn unforeseen() -> Dataset {
    let rows = |seed: u64, count: usize| -> Vec<Sequence> {
        let mut rng = stream(seed, Purpose::Initialisation);
        let mut values = || (0..30).map(|_| normal(&mut rng) as f32).collect();
        let clean: Vec<_> =
            (0..count).map(|_| Sequence::next(Rows { channels: 1, values: values() })).collect();
        seen_through_noise(&clean, 0.5)
    };
    Dataset { target: Target::Columns, ..dataset(rows(1, 24), rows(2, 8)) }
}

#[test]
fn a_whole_divergence_never_pays_for_a_noisy_row_and_a_part_of_it_does() {
    let data = unforeseen();
    let learned = |weight: &str| {
        let place = tempfile::tempdir().unwrap();
        let more = ["model.likelihood=gaussian", "training.epochs=60", "training.patience=0", weight];
        run(&config(VOSP, &[&CLEAN[..], &more].concat()), &data, place.path(), false);
        let model = TrainedLatentModel::new(&best(place.path()));
        assert_eq!(model.scaling.inputs, model.scaling.targets, "one scaler for inputs and outputs");
        let prediction = model.reconstruct(&data.valid, LatentFeed::Moments);
        let errors = data.valid.iter().zip(&prediction).flat_map(|(of, prediction)| {
            of.targets.values.iter().zip(&prediction.mean.values).map(|(x, y)| f64::from((x - y).powi(2)))
        });
        let squares: Vec<f64> = errors.collect();
        let error = squares.iter().sum::<f64>() / squares.len() as f64;
        (error, model.bound(&data.valid, 1, 3).unwrap().divergence)
    };
    // I(z; x) ≤ I(z; x̃), so that z costs more than it earns: what is left is the variance of the rows.
    let (error, divergence) = learned("latent.divergence_weight=1");
    assert!(error > 0.8 && divergence < 0.1, "{error}, {divergence}");
    // The best estimate, x̃/(1 + ¼), leaves 0.2.
    let (error, divergence) = learned("latent.divergence_weight=0.05");
    assert!(error < 0.3 && divergence > 0.5, "{error}, {divergence}");
}

#[test]
fn data_of_other_columns_are_refused() {
    let text = "seed = 3\ndata = { train = \"none.csv\", targets = \"c0\" }\nlatent = { family = \"storn\", latents = 1 }";
    let error = Config::parse("test.toml", text, &[]).unwrap_err().to_string();
    assert!(error.contains("`data.targets` must be \"next\" with `[latent]`"), "{error}");
}
