//! The interface between the training loop and what it trains.

use std::fmt::Debug;

use anyhow::{Context as _, Result, ensure};
use quaver::checkpoint::{ModelSpec, Target};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::bayes_by_backprop::{draw_weights, loss_and_gradient_of_draws};
use super::memory_estimate::TrainedNetwork;
use super::noise_init::{begin_with, init_noise};
use super::noise_refit::refit_noise;
use super::step::{BatchContext, LossAndGradient, evaluate, loss_and_gradient_with};
use crate::config::Config;
use crate::data::batch::{Batch, Batches};
use crate::data::{Dataset, LinearPart, MOST_LINEAR_VALUES, Scaling};
use crate::nn::{Parameters, TrainingMethod, WeightPosterior, predictor_spec};
use crate::random::{Purpose, stream};

/// Steps of a stream that a pass without gradients reads at once. No result depends on it.
pub const STREAM_WINDOW: usize = 256;

/// An architecture whose parameters a run trains: a predictor, or the two networks of a latent model.
pub trait Architecture: Clone + Debug + PartialEq + Serialize + DeserializeOwned {
    /// First bytes of its state files: kind, and version of the layout.
    const MAGIC: &'static [u8; 8];

    /// Whether the data of a split are one long stream, which is cut into lanes with carried state for
    /// training and read in windows with carried state for validation.
    const STREAM: bool = false;

    /// Whether sequences have a class each, so that batches are composed by class.
    const LABELLED: bool = false;

    /// The architecture that a config describes.
    ///
    /// # Errors
    /// When the data do not suit it.
    fn from_config(config: &Config, data: &Dataset) -> Result<Self>;

    /// Standardisation of inputs and targets, with the density of the inputs where missing ones are imputed
    /// by it, and with the linear part of the model if it has one.
    ///
    /// # Errors
    /// When the data do not determine it.
    fn scaling(&self, config: &Config, data: &Dataset) -> Result<Scaling>;

    /// Initial parameters.
    fn init_parameters(&self, config: &Config, data: &Dataset, scaling: &Scaling) -> Parameters;

    /// Whether these are its parameters.
    fn fits(&self, parameters: &Parameters) -> bool;

    /// Its networks, for an estimate of the memory that training takes.
    fn networks(&self) -> Vec<TrainedNetwork<'_>>;

    /// Whether there is a network to train; otherwise a run ends before its first epoch.
    fn has_network(&self) -> bool {
        true
    }

    /// Numbers of input and target channels, hence of names.
    fn channels(&self) -> [usize; 2];

    /// Numbers of values in a row of inputs and of targets, which are standardised.
    fn row_widths(&self) -> [usize; 2] {
        self.channels()
    }

    /// Units of the layers whose states may be carried from chunk to chunk.
    fn carried_units(&self) -> Vec<usize>;

    /// Observations in the training data, whose likelihood the divergence of the weights counts against:
    /// steps with at least one target.
    fn observations(data: &Dataset) -> usize {
        let rows = data.train.iter().flat_map(|sequence| sequence.targets.iter());
        rows.filter(|row| row.iter().any(|value| !value.is_nan())).count()
    }

    /// Loss and gradient of a batch; nothing if all targets are masked.
    fn loss_and_gradient(&self, parameters: &Parameters, step: &StepContext<'_>) -> Option<LossAndGradient>;

    /// Refits the noise variance to validation data, for the state that is evaluated and exported. Latent
    /// models, whose noise is learned or searched in other ways, keep theirs.
    fn refit_noise(&self, _parameters: &mut Parameters, _batches: Batches<'_>) {}

    /// The validation loss after an epoch; nothing if all targets are masked. Parameters that are fitted to
    /// validation data rather than learned are set first.
    fn validate<'b>(
        &self,
        config: &Config,
        parameters: &mut Parameters,
        batches: &dyn Fn() -> Batches<'b>,
    ) -> Option<ValidationLoss>;

    /// Like [`validate`](Self::validate), for architectures whose validation needs the training data, whole
    /// sequences as they are.
    fn validate_by_training<'b>(
        &self,
        config: &Config,
        parameters: &mut Parameters,
        valid: &dyn Fn() -> Batches<'b>,
        _train: &dyn Fn() -> Batches<'b>,
    ) -> Option<ValidationLoss> {
        self.validate(config, parameters, valid)
    }
}

/// A batch and its place in training.
#[derive(Clone, Copy, Debug)]
pub struct StepContext<'a> {
    /// The batch.
    pub batch: &'a Batch,
    /// The whole config.
    pub config: &'a Config,
    /// Settings of the batch.
    pub context: BatchContext<'a>,
    /// The epoch, counted from 1.
    pub epoch: usize,
    /// The batch within the epoch, counted from 0.
    pub index: usize,
    /// Epochs completed after this batch, with a fraction.
    pub epochs: f64,
}

impl StepContext<'_> {
    /// The random numbers of this batch. They depend only on the seed, the epoch and the index of the batch.
    pub(crate) fn draws(&self) -> Xoshiro256PlusPlus {
        let purpose = Purpose::Draws { epoch: self.epoch as u64, batch: self.index as u64 };
        stream(self.config.seed, purpose)
    }
}

/// The loss on validation data, in nats per time step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValidationLoss {
    /// The negative log-likelihood, or a bound on it.
    pub nll: f64,
    /// The part of it that is the divergence of latent variables from their prior.
    pub kl: Option<f64>,
}

impl Architecture for ModelSpec {
    const MAGIC: &'static [u8; 8] = b"QVSTATE3";

    fn from_config(config: &Config, data: &Dataset) -> Result<Self> {
        let [inputs, outputs] = [&data.input_names, &data.target_names].map(Vec::len);
        let (rows, values) = (config.model.linear, usize::from(config.model.linear) * inputs);
        ensure!(
            values <= MOST_LINEAR_VALUES,
            "`model.linear`: {rows} rows of {inputs} inputs are {values} values, and a linear part reads at most \
             {MOST_LINEAR_VALUES}; set it to {} or less, or leave inputs out",
            MOST_LINEAR_VALUES / inputs.max(1)
        );
        predictor_spec(config, inputs, outputs)
    }

    fn scaling(&self, config: &Config, data: &Dataset) -> Result<Scaling> {
        let mut scaling = Scaling::fit(&data.train).with_density(&data.train, &data.valid);
        if self.target == Target::ResidualSame {
            // Residuals are added to inputs, so they share the scale of the inputs.
            scaling.targets = scaling.inputs.clone();
        }
        if config.model.linear > 0 {
            let linear = LinearPart::fit(&data.train, &data.valid, &scaling, config.model.linear.into());
            let problem =
                "`model.linear`: some target has no value in the training data, so there is nothing to fit";
            scaling.linear = Some(linear.context(problem)?);
        }
        Ok(scaling)
    }

    fn init_parameters(&self, config: &Config, data: &Dataset, scaling: &Scaling) -> Parameters {
        let mut parameters =
            config.init.parameters_for(self, TrainingMethod::from(&config.network()), config.seed);
        if let Some(linear) = &scaling.linear {
            begin_with(linear, self, &mut parameters);
        } else {
            init_noise(self, &data.train, scaling, config.init.noise, &mut parameters);
        }
        parameters
    }

    fn fits(&self, parameters: &Parameters) -> bool {
        parameters.fits(self)
    }

    fn networks(&self) -> Vec<TrainedNetwork<'_>> {
        vec![(self, 1)]
    }

    fn has_network(&self) -> bool {
        !self.layers.is_empty()
    }

    fn channels(&self) -> [usize; 2] {
        [self.inputs.into(), self.outputs.into()]
    }

    fn carried_units(&self) -> Vec<usize> {
        self.layers.iter().map(|layer| layer.units.into()).collect()
    }

    fn loss_and_gradient(&self, parameters: &Parameters, step: &StepContext<'_>) -> Option<LossAndGradient> {
        match parameters.method.posterior {
            WeightPosterior::Bbb(_) => {
                let rng = &mut step.draws();
                let samples = draw_weights(parameters, &step.config.weights, rng);
                loss_and_gradient_of_draws(self, parameters, step.batch, step.context, &samples)
            }
            WeightPosterior::Point | WeightPosterior::Ropd | WeightPosterior::Vb => {
                loss_and_gradient_with(self, parameters, step.batch, step.context)
            }
        }
    }

    fn refit_noise(&self, parameters: &mut Parameters, batches: Batches<'_>) {
        refit_noise(self, parameters, batches);
    }

    fn validate<'b>(
        &self,
        _config: &Config,
        parameters: &mut Parameters,
        batches: &dyn Fn() -> Batches<'b>,
    ) -> Option<ValidationLoss> {
        evaluate(self, parameters, batches()).map(|nll| ValidationLoss { nll, kl: None })
    }
}
