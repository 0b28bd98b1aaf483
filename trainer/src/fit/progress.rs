//! Progress of a run.

use super::metrics::EpochMetrics;

/// An observer of a run: a progress bar, a log, a test. All methods are optional.
pub trait Progress {
    /// Something that the user should know, in one line, before training starts.
    fn notice(&mut self, _line: &str) {}

    /// Training is about to start.
    fn start(&mut self, _plan: &RunPlan) {}

    /// A step of the optimiser is done.
    fn step(&mut self, _step: &StepReport) {}

    /// An epoch is completed and saved; `seconds` is its duration.
    fn epoch(&mut self, _metrics: &EpochMetrics, _seconds: f64) {}
}

/// Observes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {}

/// The extent of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunPlan {
    /// Epochs already completed.
    pub done: usize,
    /// Maximum number of epochs.
    pub epochs: usize,
    /// Steps of the optimiser per epoch.
    pub steps_per_epoch: usize,
    /// Number of parameters.
    pub parameters: usize,
    /// Name of the loss, such as `"standardised NLL"`, or `"bound"` for a latent model.
    pub loss: &'static str,
    /// Whether a time step is a token, so that e to the loss is a perplexity.
    pub per_token: bool,
}

/// One step of the optimiser.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepReport {
    /// The epoch, counted from 1.
    pub epoch: usize,
    /// The step within the epoch, counted from 1.
    pub step: usize,
    /// Mean loss of the epoch so far, in nats per time step.
    pub train_nll: f64,
}
