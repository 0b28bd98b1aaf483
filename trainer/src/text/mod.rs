//! Models of text: a network that reads tokens and predicts the next one.
//!
//! [`TokenModel`] is the architecture: a network whose inputs are one-hot rows that are never built, or an
//! embedding and a network behind it. [`fold`] makes it an ordinary predictor, which is what is exported.

mod fold;
mod model;
mod sampling;
mod stream;

#[cfg(test)]
mod tests;

pub use fold::fold;
pub use model::TokenModel;
pub use sampling::TokenStream;
pub use stream::{mean_nll, token_nlls};
