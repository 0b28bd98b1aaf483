//! Properties of streams, of predictors and of latent models.

mod any_input;
mod batch;
mod latent;
mod predictor;
mod rollouts;
mod stream;
