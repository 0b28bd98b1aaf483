//! The architecture of a model of text.

use std::sync::Arc;

use anyhow::Result;
use burn::tensor::Device;
use quaver::checkpoint::{ModelSpec, Target};
use serde::{Deserialize, Serialize};

use super::stream::{mean_nll, token_scaling};
use crate::config::Config;
use crate::data::batch::{Batch, Batches};
use crate::data::{Dataset, Scaling};
use crate::fit::bayes_by_backprop::{average_over_draws, draw_weights};
use crate::fit::class_loss::class_loss;
use crate::fit::loss::Loss;
use crate::fit::memory_estimate::TrainedNetwork;
use crate::fit::step::{penalty, scalar};
use crate::fit::{Architecture, BatchContext, LossAndGradient, StepContext, ValidationLoss};
use crate::nn::net::ForwardOptions;
use crate::nn::parameters::RATE_SUFFIX;
use crate::nn::token_net::{NONE, TokenTensors};
use crate::nn::{
    NamedTensor, Parameters, TrainingMethod, WeightPosterior, WeightPrior, model_spec, parallel,
};
use crate::random::{Purpose, normal, stream};

/// A network that predicts the next token from the tokens so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenModel {
    /// The network behind the embedding; without one, its inputs are the tokens. Its outputs are the tokens.
    pub network: ModelSpec,
    /// Whether there is an embedding, with a row of as many numbers as the network has inputs for each token:
    /// `embedding.weight` [tokens, inputs], behind the parameters of the network, then what its posterior
    /// has: `embedding.weight_log_var`, or `embedding.weight_rho` and, if that is sharpened,
    /// `embedding.weight_rate`.
    pub embedding: bool,
}

impl TokenModel {
    /// Size of the vocabulary.
    pub fn tokens(&self) -> usize {
        self.network.outputs.into()
    }

    /// Loss and gradient of a batch with the moments of the weights, or with point weights; nothing if all
    /// targets are masked.
    pub(super) fn differentiate(
        &self,
        parameters: &Parameters,
        batch: &Batch,
        context: BatchContext<'_>,
    ) -> Option<LossAndGradient> {
        let [inputs, targets] = batch_tokens(batch);
        let device = Device::flex().autodiff();
        // The divergence from a learned prior is that of all tokens' rows.
        let prior = context.divergence_share.and(parameters.method.posterior.prior());
        let tensors = match prior {
            Some(WeightPrior::Learned) => TokenTensors::new(&self.network, parameters, &device),
            _ => TokenTensors::for_tokens(&self.network, parameters, &inputs, &device),
        };
        let (lanes, threads) = (batch.rows, parallel::default_threads());
        let options = ForwardOptions { lanes, threads, start: context.start };
        let (hidden, states) = tensors.forward(&self.network, &inputs, options);
        let Loss { value: nll, steps } = class_loss(&self.network, &tensors.network, hidden, &targets)?;
        let penalty = penalty(&tensors.network, context);
        let objective = penalty.iter().fold(nll.clone(), |sum, penalty| sum + penalty.clone());
        Some(LossAndGradient {
            gradients: tensors.gradients(&mut objective.backward()),
            nll: scalar(nll),
            divergence: penalty.map_or(0.0, scalar),
            steps,
            states,
        })
    }

    /// All parameters zero.
    fn zeros(&self, method: TrainingMethod) -> Parameters {
        let mut parameters = Parameters::zeros_for(&self.network, method);
        let mut add = |name: &str| {
            let shape = [self.tokens(), self.network.inputs.into()];
            parameters.tensors.push(NamedTensor::zeros(format!("embedding.{name}"), &shape));
        };
        if self.embedding {
            add("weight");
            if let Some(spread) = method.posterior.spread() {
                add(&format!("weight{}", spread.suffix()));
            }
            if method.posterior.sharpening().is_some() {
                add(&format!("weight{RATE_SUFFIX}"));
            }
        }
        parameters
    }
}

/// The tokens that a batch feeds to the network and those that it predicts, time-major. [`NONE`] is the start
/// of a stream among the inputs, and padding among the targets.
pub(super) fn batch_tokens(batch: &Batch) -> [Arc<[u32]>; 2] {
    let mut inputs: Vec<u32> = batch.inputs_mean.iter().map(|index| *index as u32).collect();
    batch.starts.iter().for_each(|start| inputs[*start] = NONE);
    let target = |(index, mask): (&f32, &f32)| if *mask == 0.0 { NONE } else { *index as u32 };
    [inputs.into(), batch.targets.iter().zip(&batch.mask).map(target).collect()]
}

impl Architecture for TokenModel {
    const MAGIC: &'static [u8; 8] = b"QVTOKEN1";
    const STREAM: bool = true;

    fn from_config(config: &Config, data: &Dataset) -> Result<Self> {
        let tokens = u16::try_from(data.target_names.len())?;
        let embedding = config.model.embedding;
        let inputs = if embedding == 0 { tokens } else { embedding };
        let network = model_spec(&config.network(), inputs, tokens, Target::Next);
        Ok(TokenModel { network, embedding: embedding > 0 })
    }

    fn scaling(&self, _config: &Config, _data: &Dataset) -> Result<Scaling> {
        Ok(token_scaling())
    }

    /// The numbers of an embedding are normal with variance 1/N, so that its rows have length 1.
    fn init_parameters(&self, config: &Config, _data: &Dataset, _scaling: &Scaling) -> Parameters {
        let method = TrainingMethod::from(&config.network());
        let mut parameters = self.zeros(method);
        let network = config.init.parameters_for(&self.network, method, config.seed);
        let count = network.tensors.len();
        parameters.tensors[..count].clone_from_slice(&network.tensors);
        let mut rng = stream(config.seed, Purpose::Embedding);
        let inputs = f64::from(self.network.inputs);
        if let [means, others @ ..] = &mut parameters.tensors[count..] {
            means.values.fill_with(|| (normal(&mut rng) / inputs.sqrt()) as f32);
            if let (Some(spread), [stored, rates @ ..]) = (method.posterior.spread(), others) {
                let std_dev = config.init.weight_std_dev;
                stored.values.fill(spread.stored(std_dev * std_dev / f32::from(self.network.inputs)));
                rates.iter_mut().for_each(|rates| rates.values.fill(config.init.sharpen_rate));
            }
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
        [self.tokens(); 2]
    }

    fn row_widths(&self) -> [usize; 2] {
        [1; 2]
    }

    fn carried_units(&self) -> Vec<usize> {
        self.network.carried_units()
    }

    fn loss_and_gradient(&self, parameters: &Parameters, step: &StepContext<'_>) -> Option<LossAndGradient> {
        let WeightPosterior::Bbb(_) = parameters.method.posterior else {
            return self.differentiate(parameters, step.batch, step.context);
        };
        let draws = draw_weights(parameters, &step.config.weights, &mut step.draws());
        average_over_draws(parameters, step.context, &draws, |points, context| {
            self.differentiate(points, step.batch, context)
        })
    }

    fn validate<'b>(
        &self,
        _config: &Config,
        parameters: &mut Parameters,
        batches: &dyn Fn() -> Batches<'b>,
    ) -> Option<ValidationLoss> {
        mean_nll(self, parameters, batches()).map(|nll| ValidationLoss { nll, kl: None })
    }
}
