//! Predictions of whole sequences in raw units, from the trained network or from the runtime, and the score of a single
//! predicted value.

mod forecast;
mod value;

pub(crate) use forecast::enter;
pub use forecast::{Forecast, from_network, from_runtime};
pub use value::central_probability;
pub(crate) use value::{Value, is_normal};
