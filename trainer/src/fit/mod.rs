//! Training: loss, optimisers, the loop over epochs, and the run folder that allows resuming.
//!
//! A run is [`train_as`]. It leaves a folder with the config, the metrics of every epoch ([`metrics`]), and
//! the best and the last [`state`]; [`folder`] defines the files.

pub mod architecture;
pub mod average;
mod batches_ahead;
pub(crate) mod bayes_by_backprop;
mod begun_run;
mod class_lanes;
pub(crate) mod class_loss;
mod class_weights;
mod data_check;
pub(crate) mod drawn_weights;
pub mod dynamic;
pub mod folder;
mod head_losses;
pub mod likelihood;
pub mod loss;
pub mod memory_estimate;
pub mod metrics;
pub mod nesterov;
pub(crate) mod noise_init;
mod noise_refit;
pub mod optimiser;
pub mod progress;
pub(crate) mod row_nll;
mod run;
pub mod schedule;
pub(crate) mod sharpened_bound;
mod start;
pub mod state;
pub(crate) mod step;
pub(crate) mod truncated_bptt;
pub(crate) mod weight_divergence;

#[cfg(test)]
mod tests;

pub use architecture::{Architecture, StepContext, ValidationLoss};
pub use average::ParameterAverage;
pub use bayes_by_backprop::{WeightDraw, loss_and_gradient_of_draws};
pub(crate) use begun_run::check_network;
pub use begun_run::{create_begun_run, prune_state};
pub use dynamic::{DynamicOptions, DynamicPrediction, predict_dynamically};
pub use folder::RunFolder;
pub use metrics::EpochMetrics;
pub use progress::{NoProgress, Progress, RunPlan, StepReport};
pub(crate) use run::fit_noise;
pub use run::{RunSummary, StopReason, evaluated_state};
pub use sharpened_bound::{SharpenedBound, sharpened_bound};
pub(crate) use start::first_state;
pub use start::{TrainOptions, train_as};
pub use state::{BestEpoch, RunState};
pub use step::{BatchContext, LossAndGradient, evaluate, loss_and_gradient, loss_and_gradient_with};
