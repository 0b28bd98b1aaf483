//! Embeddings of whole sequences, mean and variance, by the formulas of the runtime.

use burn::tensor::Device;
use quaver::pooling::{Average, Maximum, Pool, SoftmaxAverage};

use super::model::{ReduceModel, labels, spans};
use crate::config::PoolingName;
use crate::data::batch::{self, Batch};
use crate::data::{Scaling, Sequence};
use crate::nn::Parameters;
use crate::nn::tensors::{ParameterTensors, to_vec};

/// Sequences per batch. No result depends on it.
const ROWS: usize = 64;

/// Embeddings of sequences, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Embeddings {
    /// Components of an embedding.
    pub dimensions: usize,
    /// Means, embedding after embedding.
    pub mean: Vec<f32>,
    /// Variances.
    pub var: Vec<f32>,
    /// Classes; nothing for a sequence that belongs to none.
    pub labels: Vec<Option<usize>>,
}

impl Embeddings {
    /// Number of embeddings.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Mean and variance of an embedding.
    pub fn point(&self, index: usize) -> [&[f32]; 2] {
        [&self.mean, &self.var].map(|values| &values[index * self.dimensions..][..self.dimensions])
    }

    /// Whether no embedding has a variance.
    pub fn is_certain(&self) -> bool {
        self.var.iter().all(|var| *var == 0.0)
    }
}

/// The embeddings of sequences for a correlation ρ of the noise of one component at different times; see
/// [`quaver::pooling`].
pub fn embed(
    model: &ReduceModel,
    parameters: &Parameters,
    scaling: &Scaling,
    sequences: &[Sequence],
    correlation: f32,
) -> Embeddings {
    embed_batches(model, parameters, batch::evaluation(sequences, scaling, ROWS), correlation)
}

/// The embeddings of the sequences in batches, in the order of the sequences.
pub(super) fn embed_batches(
    model: &ReduceModel,
    parameters: &Parameters,
    batches: impl Iterator<Item = Batch>,
    correlation: f32,
) -> Embeddings {
    let network = model.network_parameters(parameters);
    let tensors = ParameterTensors::new(&model.network, &network, &Device::flex());
    let dimensions = model.dimensions();
    let mut found: Vec<(usize, Option<usize>, [Vec<f32>; 2])> = Vec::new();
    for batch in batches {
        let rows = model.pooled_rows(&tensors, &batch);
        let mean = to_vec(rows.mean);
        let var = rows.var.map_or_else(|| vec![0.0; mean.len()], to_vec);
        let lanes = batch.chunks.iter().zip(labels(&batch)).zip(spans(&batch));
        for (lane, ((chunk, label), span)) in lanes.enumerate() {
            let column = |component: usize| {
                let place = move |step: usize| (step * batch.rows + lane) * dimensions + component;
                let values = span.clone().map(|step| [mean[place(step)], var[place(step)]]);
                pooled(model.pooling, values, correlation)
            };
            let (means, vars) = (0..dimensions).map(column).map(|[mean, var]| (mean, var)).unzip();
            found.push((chunk.sequence, label, [means, vars]));
        }
    }
    found.sort_by_key(|(sequence, _, _)| *sequence);
    let mut embeddings = Embeddings { dimensions, ..Embeddings::default() };
    for (_, label, [mean, var]) in found {
        embeddings.labels.push(label);
        embeddings.mean.extend(mean);
        embeddings.var.extend(var);
    }
    embeddings
}

/// Mean and variance of the pooled value of moments over time.
pub(super) fn pooled(
    pooling: PoolingName,
    values: impl ExactSizeIterator<Item = [f32; 2]>,
    correlation: f32,
) -> [f32; 2] {
    let count = values.len() as f32;
    match pooling {
        PoolingName::Mean => merge::<Average<f32>, 3>(values, correlation),
        PoolingName::Sum => {
            let [mean, var] = merge::<Average<f32>, 3>(values, correlation);
            [count * mean, count * count * var]
        }
        PoolingName::Max => merge::<Maximum<f32>, 2>(values, correlation),
        PoolingName::Stochastic => merge::<SoftmaxAverage<f32>, 9>(values, correlation),
    }
}

fn merge<P: Pool<f32, WORDS>, const WORDS: usize>(
    values: impl Iterator<Item = [f32; 2]>,
    correlation: f32,
) -> [f32; 2] {
    let pools = values.map(|[mean, var]| P::of(mean, var)).enumerate();
    let whole = pools.reduce(|(_, pool), (index, value)| {
        (index, pool.merged(value, 1.0 / (index + 1) as f32, correlation))
    });
    whole.map_or([0.0; 2], |(_, pool)| pool.moments(correlation))
}
