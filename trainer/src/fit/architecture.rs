//! What a run can train, as far as the training loop has to know.

use std::fmt::Debug;

use anyhow::Result;
use quaver::checkpoint::{ModelSpec, Target};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::noise_init::init_noise;
use super::step::{BatchContext, LossAndGradient, evaluate, loss_and_gradient_with};
use crate::config::Config;
use crate::data::batch::{Batch, Batches};
use crate::data::{Dataset, Scaling};
use crate::nn::{Parameters, TrainingMethod, predictor_spec};

/// An architecture whose parameters a run adjusts: a predictor, or the two nets of a latent model.
pub trait Architecture: Clone + Debug + PartialEq + Serialize + DeserializeOwned {
    /// First bytes of its state files: what they are, and the version of their layout.
    const MAGIC: &'static [u8; 8];

    /// What its loss is called where it is printed.
    const LOSS: &'static str;

    /// The architecture that a config asks for.
    ///
    /// # Errors
    /// When the data do not suit it.
    fn from_config(config: &Config, data: &Dataset) -> Result<Self>;

    /// From raw to standardised units.
    fn scaling(&self, data: &Dataset) -> Scaling;

    /// Where training begins.
    fn init_parameters(&self, config: &Config, data: &Dataset, scaling: &Scaling) -> Parameters;

    /// Whether these are its parameters.
    fn fits(&self, parameters: &Parameters) -> bool;

    /// Channels that it reads and channels that it explains.
    fn channels(&self) -> [usize; 2];

    /// Units of the layers whose states may go on from chunk to chunk.
    fn carried_units(&self) -> Vec<usize>;

    /// Loss and gradient of a batch, or nothing if no target of it counts.
    fn loss_and_gradient(
        &self,
        parameters: &Parameters,
        batch: &Batch,
        step: &StepContext<'_>,
    ) -> Option<LossAndGradient>;

    /// How good the parameters are after an epoch, or nothing if no target counts. What is not learned but found on
    /// validation data is put in its place first.
    fn validate<'b>(
        &self,
        config: &Config,
        parameters: &mut Parameters,
        batches: &dyn Fn() -> Batches<'b>,
    ) -> Option<ValidationLoss>;
}

/// When and how a batch is learned from.
#[derive(Clone, Copy, Debug)]
pub struct StepContext<'a> {
    /// The whole config.
    pub config: &'a Config,
    /// What the batch is part of.
    pub context: BatchContext<'a>,
    /// The epoch, counted from 1.
    pub epoch: usize,
    /// Which batch of the epoch, counted from 0.
    pub batch: usize,
    /// Epochs done once this batch is learned, a fraction included.
    pub epochs: f64,
}

/// The loss on validation data, in nats per time step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValidationLoss {
    /// The loss: a negative log-likelihood, or a bound on it.
    pub nll: f64,
    /// The part of it that is a divergence of latent variables from their prior.
    pub kl: Option<f64>,
}

impl Architecture for ModelSpec {
    const MAGIC: &'static [u8; 8] = b"QVSTATE3";
    const LOSS: &'static str = "NLL";

    fn from_config(config: &Config, data: &Dataset) -> Result<Self> {
        predictor_spec(config, data.input_names.len(), data.target_names.len())
    }

    fn scaling(&self, data: &Dataset) -> Scaling {
        let mut scaling = Scaling::fit(&data.train);
        if self.target == Target::ResidualSame {
            // What is added to an input is in its units.
            scaling.targets = scaling.inputs.clone();
        }
        scaling
    }

    fn init_parameters(&self, config: &Config, data: &Dataset, scaling: &Scaling) -> Parameters {
        let mut parameters =
            config.init.parameters_for(self, TrainingMethod::from(&config.network()), config.seed);
        init_noise(self, &data.train, scaling, &mut parameters);
        parameters
    }

    fn fits(&self, parameters: &Parameters) -> bool {
        parameters.fits(self)
    }

    fn channels(&self) -> [usize; 2] {
        [self.inputs.into(), self.outputs.into()]
    }

    fn carried_units(&self) -> Vec<usize> {
        self.layers.iter().map(|layer| layer.units.into()).collect()
    }

    fn loss_and_gradient(
        &self,
        parameters: &Parameters,
        batch: &Batch,
        step: &StepContext<'_>,
    ) -> Option<LossAndGradient> {
        loss_and_gradient_with(self, parameters, batch, step.context)
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
