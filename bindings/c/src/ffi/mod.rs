//! The functions of the interface. Each checks its arguments and calls the runtime; none can fail in any
//! other way than by its status.
//!
//! `unsafe` in here are the names alone, which must be unique in a program: all begin with `quaver_`.

#![allow(unsafe_code)]

mod adaptive;
mod denoiser;
mod library;
mod model;
mod predictor;
mod random;
mod rollouts;
mod sampler;
