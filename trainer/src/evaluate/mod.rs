//! How good is a model? Forecasts from the trained net or from the runtime, and the scores they earn.

mod forecast;
mod scores;

pub use forecast::{Forecast, from_network, from_runtime};
pub use scores::{OutputScores, Scores, central_probability, scores};
