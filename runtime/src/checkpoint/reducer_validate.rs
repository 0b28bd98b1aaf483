//! Checks that a network, a pooling operator and a classifier make a reducer, so that a step and a
//! classification have nothing left to check.

use super::Checkpoint;
use super::latent_validate::unscaled;
use super::reducer::ClassifierNumbers;
use crate::format::{Error, F32s, Part, Vector, check};
use crate::limits::{EMBEDDING_LIMIT, WEIGHT_LIMIT};
use crate::spec::{
    ClassifierSpec, Extensions, Imputation, Likelihood, MAX_NEIGHBOURS, MAX_POOLS, MAX_WIDTH, NoveltyScore,
    PoolOver, ReducerSpec, Target, Window,
};

/// Smallest β of a kernel, and largest temperature.
const SMALLEST_BETA: f32 = 1e-12;
const TEMPERATURES: core::ops::RangeInclusive<f32> = 1e-3..=1e3;

/// Pooling, window and classifier.
pub(super) fn spec(spec: &ReducerSpec) -> Result<(), Error> {
    let part = Part::Reducer;
    check((0.0..=1.0).contains(&spec.correlation), part, "correlation", "from 0 to 1")?;
    match spec.window {
        Window::Sequence => {}
        Window::Forgetting { rows } => {
            check((1.0..=1e6).contains(&rows), part, "rows", "from 1 to 1e6")?;
        }
        Window::Ring { pools, rows } => {
            check((1..=MAX_POOLS).contains(&pools), part, "pools", "1 to 256")?;
            check(rows > 0, part, "rows", "at least 1")?;
        }
    }
    check(spec.threshold.is_none_or(f32::is_finite), Part::Classifier, "threshold", "finite")?;
    classifier(spec)
}

fn classifier(spec: &ReducerSpec) -> Result<(), Error> {
    let part = Part::Classifier;
    let classes = |smallest: u16, allowed| {
        check((smallest..=MAX_WIDTH).contains(&spec.classes), part, "classes", allowed)
    };
    match spec.classifier {
        ClassifierSpec::None => {
            check(spec.classes == 0, part, "classes", "0 without a classifier")?;
            check(spec.threshold.is_none(), part, "threshold", "none without a classifier")?;
            check(spec.novelty == NoveltyScore::Distance, part, "novelty", "distance without a classifier")
        }
        ClassifierSpec::Nearest { prototypes, beta, neighbours } => {
            let smallest = if prototypes > 0 { 1 } else { 0 };
            classes(smallest, "1 to 4096, or 0 without prototypes")?;
            check((SMALLEST_BETA..=WEIGHT_LIMIT).contains(&beta), part, "beta", "from 1e-12 to 1e6")?;
            check(neighbours <= MAX_NEIGHBOURS, part, "neighbours", "0 to 16")
        }
        ClassifierSpec::Linear { temperature, centres } => {
            classes(2, "2 to 4096")?;
            check(TEMPERATURES.contains(&temperature), part, "temperature", "from 1e-3 to 1e3")?;
            let measured = centres || spec.novelty == NoveltyScore::Energy;
            check(measured, part, "novelty", "energy without class centres")
        }
    }
}

/// The network pools its units, or an affine map without scales and likelihood.
pub(super) fn network(spec: &ReducerSpec, network: &Checkpoint<'_>) -> Result<(), Error> {
    let part = Part::Network;
    let model = network.spec();
    check(model.target == Target::Columns, part, "target", "columns")?;
    check(model.likelihood == Likelihood::Gaussian, part, "likelihood", "Gaussian")?;
    let Extensions { density, ranges, .. } = model.extensions;
    let allowed = Extensions { density, ranges, ..Extensions::default() };
    check(model.extensions == allowed, part, "extensions", "none but an input density and ranges")?;
    let conditional = density.is_none_or(|density| density.imputation == Imputation::Conditional);
    check(conditional, part, "imputation", "conditional in a reducer")?;
    let unused = spec.over == PoolOver::Outputs || model.outputs == 1;
    check(unused, part, "outputs", "1 when units are pooled")?;
    unscaled(network, [Vector::OutputMean, Vector::OutputStdDev], 0, part)?;
    let [noise_var, calibration, ..] = network.cursor().last_vectors(model);
    check(noise_var.iter().all(|var| var == 1.0), part, Vector::NoiseVar.name(), "1 in a reducer")?;
    check(calibration.iter().all(|factor| factor == 1.0), part, Vector::Calibration.name(), "1 in a reducer")
}

/// Numbers of the classifier.
pub(super) fn numbers(spec: &ReducerSpec, numbers: &ClassifierNumbers<'_>) -> Result<(), Error> {
    let part = Part::Classifier;
    let within = |list: F32s<'_>, limit: f32, field| {
        check(list.iter().all(|number| number.abs() <= limit), part, field, "finite and within its limit")
    };
    within(numbers.prototypes, EMBEDDING_LIMIT, "prototypes")?;
    within(numbers.weight, WEIGHT_LIMIT, "weight")?;
    within(numbers.bias, WEIGHT_LIMIT, "bias")?;
    within(numbers.centres, EMBEDDING_LIMIT, "centres")?;
    let factor = |number: f32| (0.0..=WEIGHT_LIMIT).contains(&number);
    check(numbers.precision.iter().all(factor), part, "precision", "from 0 to 1e6")?;
    let known = |label: &[u8; 2]| u16::from_le_bytes(*label) < spec.classes;
    check(numbers.labels.iter().all(known), part, "labels", "below the number of classes")
}
