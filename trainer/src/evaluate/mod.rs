//! How good is a model? Forecasts from the trained net or from the runtime, the scores they earn, and what a forecast
//! that needs no net would have earned on the same rows.

mod baselines;
mod calibration;
mod forecast;
mod latent;
mod recalibrate;
mod scores;
mod tally;
mod value;

pub use baselines::{Baseline, baselines};
pub use calibration::CalibrationPoint;
pub(crate) use forecast::enter;
pub use forecast::{Forecast, from_network, from_runtime};
pub use latent::{LatentScores, Nats, OneStep, latent_scores};
pub use recalibrate::variance_factors;
pub use scores::{OutputScores, Scores, scores, standardised_residuals};
pub use value::central_probability;
