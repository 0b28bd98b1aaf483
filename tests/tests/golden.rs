//! The host arrives at the golden fingerprints, and the golden cases cover what they claim to.

use std::collections::{BTreeMap, BTreeSet};

use quaver::Model;
use quaver::checkpoint::{
    Activation, CellKind, LayerSpec, Layout, Likelihood, ModelSpec, MomentForm, OutputMode, Target,
    UnitNoise, WeightFormat,
};
use quaver_tests::{
    Case, golden, golden_adaptive, golden_latent, golden_pruned, golden_reducer, golden_text, replay,
};

const GOLDEN: &str = include_str!("../golden/streams.txt");

fn every_case() -> Vec<Case> {
    let networks = golden::cases().into_iter().chain(golden_latent::cases()).chain(golden_adaptive::cases());
    let others = golden_text::cases().into_iter().chain(golden_reducer::cases());
    networks.chain(golden_pruned::cases()).chain(others).collect()
}

#[test]
fn the_host_arrives_at_the_golden_fingerprints() {
    let computed: Vec<String> = every_case().iter().map(golden::replay).collect();
    let expected: Vec<&str> = GOLDEN.lines().filter(|line| !line.starts_with('#')).collect();
    let differing: Vec<_> = computed.iter().filter(|line| !expected.contains(&line.as_str())).collect();
    assert!(
        differing.is_empty() && computed.len() == expected.len(),
        "{} golden lines, {} cases, not golden: {differing:#?}; if the change is meant: cargo xtask qemu --overwrite",
        expected.len(),
        computed.len(),
    );
}

#[test]
fn every_case_has_its_own_name_and_every_model_its_own_answer() {
    let lines: Vec<String> = every_case().iter().map(golden::replay).collect();
    let names: BTreeSet<&str> = lines.iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names.len(), lines.len());
    // A model without variance predicts the same in every quantized layout, but no other model does.
    let mut models: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, hash) in lines.iter().filter_map(|line| line.split_once(" steps=")) {
        let model = name.rsplit_once('-').map_or(name, |(model, _)| model);
        assert_eq!(models.insert(hash, model).unwrap_or(model), model, "{hash}");
    }
}

/// The size of an arena as a constant of the bytes is the one that a loaded model reports.
#[test]
fn arenas_have_the_size_that_their_bytes_imply() {
    for case in every_case() {
        let loaded = replay::words(&case.model, case.task).expect("a case loads")[0];
        let constant = match case.task.adaptation() {
            Some(options) => quaver::adaptive_arena_words(&case.model, options.covariance),
            None => quaver::arena_words(&case.model),
        };
        assert_eq!(constant, loaded, "{}", case.name);
    }
}

/// Every choice that a model makes, by name. A kind that is new to a description does not compile here until
/// it has one.
fn choices(spec: &ModelSpec) -> Vec<String> {
    let target = match spec.target {
        Target::Next => "next",
        Target::Columns => "columns",
        Target::ResidualNext => "residual-next",
        Target::ResidualSame => "residual-same",
    };
    let likelihood = match spec.likelihood {
        Likelihood::Gaussian => "gaussian",
        Likelihood::Bernoulli => "bernoulli",
        Likelihood::Heteroscedastic => "heteroscedastic",
        Likelihood::Categorical => "categorical",
    };
    let form = match spec.moment_form {
        MomentForm::Accurate => "accurate",
        MomentForm::Paper => "paper",
    };
    let storage = match (spec.weight_format, spec.layout) {
        (WeightFormat::F32, _) => "f32",
        (WeightFormat::Int8, Layout::Float) => "int8",
        (WeightFormat::Int8, Layout::Small) => "small",
        (WeightFormat::Int8, Layout::Fast) => "fast",
        (WeightFormat::Int8, Layout::Mean) => "mean",
        (WeightFormat::Int8, Layout::Sparse) => "sparse",
    };
    let mode = match spec.output.mode {
        OutputMode::Propagating => "propagating",
        OutputMode::MeanOnly => "mean-only",
    };
    let scale = if spec.output.variance_scale == 1.0 { "unscaled" } else { "scaled" };
    let layers = spec.layers.iter().flat_map(layer_choices);
    let whole = [format!("{likelihood} {target}"), form.into(), storage.into(), mode.into(), scale.into()];
    layers.chain(whole).chain([format!("{} on the output", noise(spec.output.noise))]).collect()
}

fn layer_choices(layer: &LayerSpec) -> [String; 4] {
    let activation = |activation| match activation {
        Activation::Tanh => "tanh",
        Activation::Sigmoid => "sigmoid",
        Activation::Relu => "relu",
    };
    let cell = match layer.cell {
        CellKind::Elman(of) => format!("elman {}", activation(of)),
        CellKind::Dense(of) => format!("dense {}", activation(of)),
        CellKind::Lstm => "lstm".into(),
        CellKind::Gru => "gru".into(),
    };
    let weights = if layer.weight_variance { "random" } else { "fixed" };
    [
        format!("{cell} of {weights} weights"),
        cell,
        format!("{} on inputs", noise(layer.input_noise)),
        format!("{} on states", noise(layer.recurrent_noise)),
    ]
}

fn noise(noise: UnitNoise) -> &'static str {
    match noise {
        UnitNoise::None => "no noise",
        UnitNoise::Dropout { .. } => "dropout",
        UnitNoise::Multiplicative { .. } => "multiplicative noise",
        UnitNoise::Additive { .. } => "additive noise",
    }
}

#[test]
fn the_cases_hold_every_kind_that_a_model_can_be_of() {
    let cases: Vec<Case> = golden::cases().into_iter().chain(golden_pruned::cases()).collect();
    let specs = cases.iter().map(|case| Model::load(&case.model).expect("a valid case").spec().clone());
    let held: BTreeSet<String> = specs.flat_map(|spec| choices(&spec)).collect();
    let cells = ["lstm", "gru", "elman tanh", "elman sigmoid", "elman relu"];
    let dense = ["dense tanh", "dense sigmoid", "dense relu"];
    let random = ["lstm", "gru", "elman tanh", "dense relu"].map(|cell| format!("{cell} of random weights"));
    let likelihoods = ["gaussian", "bernoulli", "heteroscedastic", "categorical"]
        .into_iter()
        .flat_map(|likelihood| ["next", "columns"].map(|target| format!("{likelihood} {target}")));
    let noises = ["no noise", "dropout", "multiplicative noise", "additive noise"]
        .into_iter()
        .flat_map(|noise| ["inputs", "states", "the output"].map(|place| format!("{noise} on {place}")));
    let others = [
        "accurate",
        "paper",
        "f32",
        "int8",
        "small",
        "fast",
        "mean",
        "sparse",
        "propagating",
        "mean-only",
        "scaled",
        "gaussian residual-next",
        "gaussian residual-same",
    ];
    let named = cells.into_iter().chain(dense).chain(others).map(String::from);
    let wanted = named.chain(random).chain(likelihoods).chain(noises);
    let missing: Vec<String> = wanted.filter(|choice| !held.contains(choice)).collect();
    assert!(missing.is_empty(), "no golden case has {missing:?}");
}
