//! The architecture of a reducer.

use std::ops::Range;

use anyhow::Result;
use burn::tensor::{Device, Tensor};
use quaver::checkpoint::{ModelSpec, Target};
use serde::{Deserialize, Serialize};

use super::classifier::validation_loss;
use super::embed::embed_batches;
use super::objective::{
    cross_entropy, mutual_information, nca, nca_log, next_row, sparse_filtering, squared_parameters,
};
use super::pool::pool;
use crate::config::{Config, ObjectiveName, PoolOverName, PoolingName, ReduceConfig};
use crate::data::batch::{Batch, Batches, Chunk};
use crate::data::labelled::class_of_target;
use crate::data::{Dataset, Scaler, Scaling};
use crate::fit::bayes_by_backprop::{average_over_draws, draw_weights};
use crate::fit::memory_estimate::TrainedNetwork;
use crate::fit::step::{penalty, scalar};
use crate::fit::{Architecture, BatchContext, LossAndGradient, StepContext, ValidationLoss};
use crate::nn::net::{
    FirstInput, ForwardOptions, MomentTensors, forward_layers, forward_moments, moments, output_map,
};
use crate::nn::tensors::ParameterTensors;
use crate::nn::{NamedTensor, Parameters, TrainingMethod, WeightPosterior, model_spec, parallel};
use crate::random::{Purpose, normal, stream};

/// Prefix of the names of the parameters of a softmax layer behind the embedding.
pub(super) const HEAD: &str = "head.";

/// A network whose units or outputs are pooled over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReduceModel {
    /// The network. Its outputs are pooled, or predict the next row, or are not used.
    pub network: ModelSpec,
    /// The pooling operator.
    pub pooling: PoolingName,
    /// What is pooled.
    pub over: PoolOverName,
    /// What training minimises. For cross entropy there is a softmax layer behind the embedding, the last of
    /// the parameters: `head.map` [classes, components] and `head.offset`, points in any case.
    pub objective: ObjectiveName,
    /// Number of classes.
    pub classes: u16,
}

impl ReduceModel {
    /// Components of an embedding.
    pub fn dimensions(&self) -> usize {
        match self.over {
            PoolOverName::Units => self.network.layers.last().map_or(0, |layer| layer.units.into()),
            PoolOverName::Outputs => self.network.outputs.into(),
        }
    }

    /// The parameters of the network alone.
    pub fn network_parameters(&self, parameters: &Parameters) -> Parameters {
        let own = |named: &&NamedTensor| !named.name.starts_with(HEAD);
        let tensors = parameters.tensors.iter().filter(own).cloned().collect();
        Parameters { method: parameters.method, tensors }
    }

    fn zeros(&self, method: TrainingMethod) -> Parameters {
        let mut parameters = Parameters::zeros_for(&self.network, method);
        if self.objective == ObjectiveName::CrossEntropy {
            let (classes, components) = (usize::from(self.classes), self.dimensions());
            for (name, shape) in [("map", vec![classes, components]), ("offset", vec![classes])] {
                parameters.tensors.push(NamedTensor::zeros(format!("{HEAD}{name}"), &shape));
            }
        }
        parameters
    }

    /// Embeddings of a batch, on the device of the parameters, for independent noise.
    pub(super) fn forward(&self, tensors: &ParameterTensors, batch: &Batch) -> MomentTensors {
        pool(self.pooling, self.pooled_rows(tensors, batch), &spans(batch))
    }

    /// What is pooled, after every step, [steps × lanes, components].
    pub(super) fn pooled_rows(&self, tensors: &ParameterTensors, batch: &Batch) -> MomentTensors {
        let (input, options) = self.input(tensors, batch);
        let (hidden, _) = forward_layers(&self.network, tensors, FirstInput::Units(input), options);
        match self.over {
            PoolOverName::Units => hidden,
            PoolOverName::Outputs => output_map(&self.network, tensors, hidden),
        }
    }

    fn input<'a>(&self, tensors: &ParameterTensors, batch: &Batch) -> (MomentTensors, ForwardOptions<'a>) {
        let device = tensors.output.affine.bias.device();
        let input = moments(&batch.inputs_mean, &batch.inputs_var, self.network.inputs.into(), &device);
        let options = ForwardOptions { lanes: batch.rows, threads: parallel::default_threads(), start: None };
        (input, options)
    }

    /// The objective of a batch, and the sequences or steps that it is a mean over.
    fn objective(
        &self,
        reduce: &ReduceConfig,
        (tensors, head): (&ParameterTensors, &[Tensor<1>]),
        batch: &Batch,
    ) -> Option<(Tensor<1>, usize)> {
        let labels = labels(batch);
        match self.objective {
            ObjectiveName::Nca => nca(self.forward(tensors, batch), &labels),
            ObjectiveName::NcaLog => nca_log(self.forward(tensors, batch), &labels),
            ObjectiveName::CrossEntropy => {
                let [weight, bias] = [head[0].clone(), head[1].clone()];
                let weight = weight.reshape([usize::from(self.classes), self.dimensions()]);
                cross_entropy(self.forward(tensors, batch), weight, bias, &labels)
            }
            ObjectiveName::Next => {
                let (input, options) = self.input(tensors, batch);
                next_row(forward_moments(&self.network, tensors, input, options).output, batch)
            }
            ObjectiveName::Rim => {
                let penalty = squared_parameters(tensors, self.over == PoolOverName::Outputs);
                let information = mutual_information(self.forward(tensors, batch));
                Some((information + penalty * reduce.penalty as f32, batch.rows))
            }
            ObjectiveName::SparseFiltering => {
                Some((sparse_filtering(self.forward(tensors, batch).mean, reduce.norm), batch.rows))
            }
            ObjectiveName::Random => None,
        }
    }

    /// Loss and gradient by the moments of the weights.
    pub(super) fn differentiate(
        &self,
        parameters: &Parameters,
        reduce: &ReduceConfig,
        batch: &Batch,
        context: BatchContext<'_>,
    ) -> Option<LossAndGradient> {
        let device = Device::flex().autodiff();
        let network = self.network_parameters(parameters);
        let tensors = ParameterTensors::new(&self.network, &network, &device);
        let head: Vec<Tensor<1>> = parameters.tensors[network.tensors.len()..]
            .iter()
            .map(|named| Tensor::from_floats(named.values.as_slice(), &device).require_grad())
            .collect();
        let (loss, steps) = self.objective(reduce, (&tensors, &head), batch)?;
        let penalty = penalty(&tensors, context);
        let total = penalty.iter().fold(loss.clone(), |sum, penalty| sum + penalty.clone());
        let mut found = total.backward();
        let mut gradients = tensors.gradients(&mut found);
        gradients.extend(head.iter().map(|leaf| {
            let none = || vec![0.0; leaf.shape().num_elements()];
            leaf.grad(&found).map_or_else(none, crate::nn::tensors::to_vec)
        }));
        let divergence = penalty.map_or(0.0, scalar);
        Some(LossAndGradient { nll: scalar(loss), divergence, steps, gradients, states: Vec::new() })
    }
}

/// The class of every lane of a batch, that of its last row.
pub(super) fn labels(batch: &Batch) -> Vec<Option<usize>> {
    let last = |(lane, chunk): (usize, &Chunk)| (chunk.len.saturating_sub(1)) * batch.rows + lane;
    batch.chunks.iter().enumerate().map(|lane| class_of_target(batch.targets[last(lane)])).collect()
}

/// The steps of every lane that are pooled: all that it has but those that only warm the network up, whose
/// target is missing.
pub(super) fn spans(batch: &Batch) -> Vec<Range<usize>> {
    let span = |(lane, chunk): (usize, &Chunk)| {
        let first = (0..chunk.len).position(|step| batch.mask[step * batch.rows + lane] > 0.0);
        first.unwrap_or(0)..chunk.len
    };
    batch.chunks.iter().enumerate().map(span).collect()
}

impl Architecture for ReduceModel {
    const MAGIC: &'static [u8; 8] = b"QVREDUC1";
    const LABELLED: bool = true;

    fn from_config(config: &Config, data: &Dataset) -> Result<Self> {
        let reduce = config.reduce.clone().unwrap_or_default();
        let inputs = u16::try_from(data.input_names.len())?;
        let outputs = match (reduce.objective, reduce.over) {
            (ObjectiveName::Next, _) => inputs,
            (_, PoolOverName::Outputs) => reduce.dimension,
            // Not used, and not stored.
            (_, PoolOverName::Units) => 1,
        };
        Ok(ReduceModel {
            network: model_spec(&config.network(), inputs, outputs, Target::Columns),
            pooling: reduce.pooling,
            over: reduce.over,
            objective: reduce.objective,
            classes: u16::try_from(data.target_names.len())?,
        })
    }

    fn scaling(&self, _config: &Config, data: &Dataset) -> Result<Scaling> {
        let scaling = Scaling::fit(&data.train).with_density(&data.train, &data.valid);
        // The only target of a row is the index of a class.
        Ok(Scaling { targets: Scaler::identity(1), ..scaling })
    }

    /// The weights of a softmax layer are normal with variance 1/N for N components.
    fn init_parameters(&self, config: &Config, _data: &Dataset, _scaling: &Scaling) -> Parameters {
        let method = TrainingMethod::from(&config.network());
        let mut parameters = self.zeros(method);
        let network = config.init.parameters_for(&self.network, method, config.seed);
        let count = network.tensors.len();
        parameters.tensors[..count].clone_from_slice(&network.tensors);
        if let Some(weight) = parameters.get_mut("head.map") {
            let mut rng = stream(config.seed, Purpose::Embedding);
            let scale = (self.dimensions() as f64).sqrt();
            weight.values.fill_with(|| (normal(&mut rng) / scale) as f32);
        }
        parameters
    }

    fn fits(&self, parameters: &Parameters) -> bool {
        parameters.has_shapes_of(&self.zeros(parameters.method))
    }

    fn networks(&self) -> Vec<TrainedNetwork<'_>> {
        vec![(&self.network, 1)]
    }

    fn channels(&self) -> [usize; 2] {
        [self.network.inputs.into(), self.classes.into()]
    }

    fn row_widths(&self) -> [usize; 2] {
        [self.network.inputs.into(), 1]
    }

    fn carried_units(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Sequences, each of which has one class.
    fn observations(data: &Dataset) -> usize {
        data.train.len()
    }

    fn loss_and_gradient(&self, parameters: &Parameters, step: &StepContext<'_>) -> Option<LossAndGradient> {
        let reduce = step.config.reduce.clone().unwrap_or_default();
        if self.objective == ObjectiveName::Random {
            let gradients = parameters.tensors.iter().map(|named| vec![0.0; named.values.len()]).collect();
            let steps = step.batch.rows;
            return Some(LossAndGradient { nll: 0.0, divergence: 0.0, steps, gradients, states: Vec::new() });
        }
        let WeightPosterior::Bbb(_) = parameters.method.posterior else {
            return self.differentiate(parameters, &reduce, step.batch, step.context);
        };
        let draws = draw_weights(parameters, &step.config.weights, &mut step.draws());
        average_over_draws(parameters, step.context, &draws, |points, context| {
            self.differentiate(points, &reduce, step.batch, context)
        })
    }

    /// Never called: see [`validate_by_training`](Self::validate_by_training).
    fn validate<'b>(
        &self,
        _config: &Config,
        _parameters: &mut Parameters,
        _batches: &dyn Fn() -> Batches<'b>,
    ) -> Option<ValidationLoss> {
        None
    }

    /// The loss on validation data of a classifier that is fitted to the training data.
    fn validate_by_training<'b>(
        &self,
        config: &Config,
        parameters: &mut Parameters,
        valid: &dyn Fn() -> Batches<'b>,
        train: &dyn Fn() -> Batches<'b>,
    ) -> Option<ValidationLoss> {
        let reduce = config.reduce.clone().unwrap_or_default();
        let embedded = |batches: Batches<'b>| embed_batches(self, parameters, batches, 0.0);
        let nll = validation_loss(self, parameters, &reduce, &embedded(train()), &embedded(valid()))?;
        Some(ValidationLoss { nll, kl: None })
    }
}
