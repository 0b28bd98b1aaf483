//! A trained reducer with its classifier as a checkpoint, and the cost of quantization.

use anyhow::{Result, anyhow, ensure};
use quaver::checkpoint::{
    ClassifierSpec, DensitySpec, Imputation, Layout, NoveltyScore, PoolOver, Pooling, ReducerContents,
    ReducerSpec, WeightFormat, Window, write_reducer,
};
use quaver::export::GramMatrices;
use quaver::{Reducer, ReducerModel};
use serde::Serialize;

use super::contents::contents;
use super::density::write_density;
use super::gram::{InputRows, gram_matrices_of};
use super::ranges::InputRanges;
use crate::config::{NoveltyName, PoolOverName, PoolingName};
use crate::data::Sequence;
use crate::data::labelled::class_of;
use crate::reduce::FittedReducer;
use crate::reduce::classifier::Classifier;

/// Sequences whose rows guide rounding; spread over all of them.
const GRAM_SEQUENCES: usize = 200;

/// What a checkpoint gets beyond the trained network and its classifier; nothing by default.
#[derive(Clone, Debug, Default)]
pub struct ReducerEncoding {
    /// Gram matrices of the affine maps, which guide rounding.
    pub gram_matrices: Vec<GramMatrices>,
    /// Plausible ranges of the inputs.
    pub ranges: Option<InputRanges>,
    /// Threshold for "none of these", in place of the one found with the network in f32.
    pub threshold: Option<f32>,
}

impl ReducerEncoding {
    /// Gram matrices of training rows.
    ///
    /// # Errors
    /// When the network cannot be stored.
    pub fn with_gram_matrices(
        self,
        fitted: &FittedReducer,
        input_names: &[String],
        train: &[Sequence],
    ) -> Result<Self> {
        let contents = reducer_contents(fitted, input_names, WeightFormat::F32, Layout::Float, &self)?;
        let some = train.iter().step_by(train.len().div_ceil(GRAM_SEQUENCES).max(1));
        let rows: Vec<InputRows<'_>> =
            some.map(|sequence| InputRows { mean: &sequence.inputs, var: None }).collect();
        Ok(ReducerEncoding { gram_matrices: gram_matrices_of(&contents.network, &rows)?, ..self })
    }
}

/// A fitted reducer as the bytes of a checkpoint.
///
/// # Errors
/// When the layout does not support the network, or a number cannot be stored.
pub fn encode_reducer(
    fitted: &FittedReducer,
    input_names: &[String],
    format: WeightFormat,
    layout: Layout,
    encoding: &ReducerEncoding,
) -> Result<Vec<u8>> {
    let contents = reducer_contents(fitted, input_names, format, layout, encoding)?;
    write_reducer(&contents).map_err(|error| anyhow!("the model cannot be stored: {error}"))
}

fn reducer_contents(
    fitted: &FittedReducer,
    input_names: &[String],
    format: WeightFormat,
    layout: Layout,
    encoding: &ReducerEncoding,
) -> Result<ReducerContents> {
    let (model, scaling) = (&fitted.model, &fitted.scaling);
    let parameters = model.network_parameters(&fitted.parameters);
    let outputs: Vec<String> = (1..=model.network.outputs).map(|output| format!("e{output}")).collect();
    let mut network_scaling = scaling.clone();
    network_scaling.targets = crate::data::Scaler::identity(outputs.len());
    let mut network = contents(&model.network, format, &parameters, &network_scaling, input_names, &outputs);
    network.spec.layout = layout;
    if let Some(density) = &scaling.density {
        let spec = DensitySpec { imputation: Imputation::Conditional, familiar: 1e6, widening: 0.0 };
        write_density(&mut network, density, spec);
    }
    if let Some(ranges) = &encoding.ranges {
        ranges.add_to(&mut network);
    }
    let mut contents = ReducerContents::new(spec(fitted, encoding)?, network);
    contents.network.gram.clone_from(&encoding.gram_matrices);
    contents.class_names.clone_from(&fitted.classes);
    match &fitted.classifier {
        Classifier::Nearest(nearest) => {
            contents.labels = nearest.labels.iter().map(|class| *class as u16).collect();
            contents.prototypes.clone_from(&nearest.prototypes);
        }
        Classifier::Linear(linear) => {
            contents.weight.clone_from(&linear.weight);
            contents.bias.clone_from(&linear.bias);
            contents.centres.clone_from(&linear.centres);
            contents.precision.clone_from(&linear.precision);
        }
    }
    Ok(contents)
}

fn spec(fitted: &FittedReducer, encoding: &ReducerEncoding) -> Result<ReducerSpec> {
    let reduce = &fitted.reduce;
    let classifier = match &fitted.classifier {
        Classifier::Nearest(nearest) => {
            let prototypes = u16::try_from(nearest.labels.len()).map_err(|_| {
                anyhow!(
                    "{} prototypes; a checkpoint holds at most {}: set reduce.prototypes",
                    nearest.labels.len(),
                    u16::MAX
                )
            })?;
            let beta = (nearest.beta as f32).clamp(1e-12, 1e6);
            ClassifierSpec::Nearest { prototypes, beta, neighbours: nearest.neighbours }
        }
        Classifier::Linear(linear) => ClassifierSpec::Linear {
            temperature: (linear.temperature as f32).clamp(1e-3, 1e3),
            centres: true,
        },
    };
    let window = match (reduce.forgetting, reduce.ring) {
        (Some(rows), _) => Window::Forgetting { rows },
        (None, Some([pools, rows])) => Window::Ring { pools, rows },
        (None, None) => Window::Sequence,
    };
    Ok(ReducerSpec {
        correlation: fitted.correlation,
        window,
        classes: u16::try_from(fitted.classes.len())?,
        classifier,
        novelty: match reduce.novelty {
            NoveltyName::Distance => NoveltyScore::Distance,
            NoveltyName::Energy => NoveltyScore::Energy,
        },
        threshold: encoding.threshold.or(fitted.calibration.threshold.map(|threshold| threshold as f32)),
        ..ReducerSpec::new(pooling(fitted.model.pooling), over(fitted.model.over))
    })
}

fn pooling(name: PoolingName) -> Pooling {
    match name {
        PoolingName::Mean => Pooling::Mean,
        PoolingName::Sum => Pooling::Sum,
        PoolingName::Max => Pooling::Max,
        PoolingName::Stochastic => Pooling::Stochastic,
    }
}

fn over(name: PoolOverName) -> PoolOver {
    match name {
        PoolOverName::Units => PoolOver::Units,
        PoolOverName::Outputs => PoolOver::Outputs,
    }
}

/// What the runtime says about labelled sequences.
#[derive(Clone, Debug, PartialEq)]
pub struct ReducerResults {
    /// Embeddings: mean and variance of each.
    pub embeddings: Vec<[Vec<f32>; 2]>,
    /// Class of each.
    pub classes: Vec<usize>,
    /// Probabilities of the classes for each.
    pub probabilities: Vec<Vec<f32>>,
    /// Score for "none of these".
    pub novelty: Vec<f32>,
    /// Share of the sequences with a class that are classified wrongly.
    pub error: f64,
    /// Negative log-likelihood of their classes, in nats per sequence.
    pub nll: f64,
}

/// Smallest probability in a log-likelihood.
const LEAST: f64 = 1e-12;

/// Classifies whole sequences with the runtime.
///
/// # Errors
/// If the bytes are not the checkpoint of a reducer with a classifier.
pub fn run_reducer(bytes: &[u8], sequences: &[Sequence]) -> Result<ReducerResults> {
    let mut words = vec![0.0; ReducerModel::load(bytes)?.arena_words()];
    let mut reducer = Reducer::load_in(bytes, &mut words)?;
    let mut results = ReducerResults {
        embeddings: Vec::new(),
        classes: Vec::new(),
        probabilities: Vec::new(),
        novelty: Vec::new(),
        error: 0.0,
        nll: 0.0,
    };
    let (mut wrong, mut nll, mut count) = (0, 0.0, 0);
    for sequence in sequences {
        reducer.begin();
        sequence.inputs.iter().for_each(|row| reducer.step(row));
        let embedding = reducer.embedding().map(|found| [found.mean.to_vec(), found.var.to_vec()]);
        results.embeddings.push(embedding.ok_or_else(|| anyhow!("a sequence without rows"))?);
        let found = reducer.classify().ok_or_else(|| anyhow!("the checkpoint has no classifier"))?;
        if let Some(label) = class_of(sequence) {
            ensure!(label < found.probabilities.len(), "a class that the checkpoint does not have");
            count += 1;
            wrong += usize::from(found.class != label);
            nll -= f64::from(found.probabilities[label]).max(LEAST).ln();
        }
        results.classes.push(found.class);
        results.probabilities.push(found.probabilities.to_vec());
        results.novelty.push(found.novelty);
    }
    let of_all = |sum: f64| sum / f64::max(f64::from(count), 1.0);
    (results.error, results.nll) = (of_all(f64::from(wrong as u32)), of_all(nll));
    Ok(results)
}

/// A checkpoint compared with the same reducer in f32, on the same sequences, both by the runtime.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ReducerCost {
    /// Share of the sequences that the checkpoint classifies wrongly.
    pub error: f64,
    /// Increase of that share.
    pub error_increase: f64,
    /// Negative log-likelihood in nats per sequence.
    pub nll: f64,
    /// Increase of the NLL.
    pub nll_increase: f64,
    /// Root mean square of the shift of embeddings, as a fraction of their standard deviation.
    pub embedding_shift: f64,
}

/// Compares a checkpoint with the same reducer in f32.
///
/// # Errors
/// As [`run_reducer`].
pub fn reducer_cost(sequences: &[Sequence], f32_bytes: &[u8], exported_bytes: &[u8]) -> Result<ReducerCost> {
    let (full, exported) = (run_reducer(f32_bytes, sequences)?, run_reducer(exported_bytes, sequences)?);
    Ok(ReducerCost {
        error: exported.error,
        error_increase: exported.error - full.error,
        nll: exported.nll,
        nll_increase: exported.nll - full.nll,
        embedding_shift: shift(&full.embeddings, &exported.embeddings),
    })
}

fn shift(full: &[[Vec<f32>; 2]], exported: &[[Vec<f32>; 2]]) -> f64 {
    let dimensions = full.first().map_or(0, |[mean, _]| mean.len());
    let count = full.len().max(1) as f64;
    let (mut shift, mut spread) = (0.0, 0.0);
    for component in 0..dimensions {
        let values = || full.iter().map(|[mean, _]| f64::from(mean[component]));
        let mean = values().sum::<f64>() / count;
        spread += values().map(|value| (value - mean).powi(2)).sum::<f64>();
        let moved =
            values().zip(exported).map(|(value, [exported, _])| value - f64::from(exported[component]));
        shift += moved.map(|difference| difference * difference).sum::<f64>();
    }
    if spread > 0.0 { (shift / spread).sqrt() } else { 0.0 }
}
