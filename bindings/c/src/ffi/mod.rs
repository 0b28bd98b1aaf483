//! The functions of the interface. Each checks its arguments and calls the runtime; none can fail in any
//! other way than by its status. Every kind of stream has its own, written down one by one, because cbindgen
//! does not see what macros make; what they do is in `streams`.
//!
//! `unsafe` in here are the names alone, which must be unique in a program: all begin with `quaver_`.

#![allow(unsafe_code)]

mod adaptive;
mod denoiser;
mod library;
mod model;
mod predictor;
mod random;
mod reducer;
mod rollouts;
mod sampler;
