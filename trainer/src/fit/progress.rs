//! What a run tells while it is running.

use super::metrics::EpochMetrics;

/// Something that follows a run: a progress bar, a log, a test. Every method may be left out.
pub trait Progress {
    /// Training is about to begin.
    fn start(&mut self, _plan: &RunPlan) {}

    /// A step of the optimiser is done.
    fn step(&mut self, _step: &StepReport) {}

    /// An epoch is done and saved; `seconds` is how long it took.
    fn epoch(&mut self, _metrics: &EpochMetrics, _seconds: f64) {}
}

/// Follows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {}

/// What a run is going to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunPlan {
    /// Epochs that are done already.
    pub done: usize,
    /// Epochs after which the run ends at the latest.
    pub epochs: usize,
    /// Steps of the optimiser per epoch.
    pub steps_per_epoch: usize,
    /// Numbers that are trained.
    pub parameters: usize,
    /// What the loss is: `"NLL"`, or the `"bound"` on it that a latent model has.
    pub loss: &'static str,
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
