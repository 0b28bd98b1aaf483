//! Training: loss, optimiser, the loop over epochs, and the run folder that lets it continue.
//!
//! A run is [`train`]. It leaves a folder with the config as run, the metrics of every epoch ([`metrics`]), and the
//! best and the last [`state`]; [`folder`] knows which file is where.

pub mod architecture;
pub mod average;
pub(crate) mod divergence;
pub mod folder;
mod heads;
pub mod likelihood;
pub mod loss;
pub mod metrics;
pub mod nesterov;
pub(crate) mod noise_init;
pub mod optimiser;
pub mod progress;
pub(crate) mod rows;
mod run;
pub mod schedule;
mod start;
pub mod state;
mod step;
mod truncated_bptt;

#[cfg(test)]
mod tests;

pub use architecture::{Architecture, StepContext, ValidationLoss};
pub use average::Average;
pub use folder::RunFolder;
pub use metrics::EpochMetrics;
pub use progress::{Plan, Progress, Silent, StepReport};
pub use run::{Stop, Summary};
pub use start::train_as;
pub use state::{Best, RunState};
pub use step::{Context, LossAndGradient, evaluate, loss_and_gradient_in, slope};
