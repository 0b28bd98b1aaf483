//! Models of text: a network that reads tokens and predicts the next one.
//!
//! [`TokenModel`] is the architecture: a network whose inputs are one-hot rows that are never built, or an
//! embedding and a network behind it. [`fold`] makes it an ordinary predictor, which is what is exported.

mod dynamic;
mod fold;
mod model;
mod sampling;
mod scores;
mod sharpened;
mod stream;

#[cfg(test)]
mod drawn_tests;
#[cfg(test)]
mod tests;

pub use dynamic::dynamic_nll;
pub use fold::fold;
pub use model::TokenModel;
pub use sampling::TokenStream;
pub use scores::{drawn_networks, token_scores};
pub use sharpened::sharpened_token_bound;
pub use stream::{mean_nll, token_nlls};
