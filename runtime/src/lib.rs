//! Recurrent networks that know how sure they are, one sample at a time, in fixed memory.
//!
//! A sensor row goes in; a mean *and a variance* for every output come out. No heap, no panics, the same bits
//! on a laptop and on a Cortex-M. Models are trained and exported by the command line `quaver` (crate
//! `quaver-trainer`).
//!
//! ```
//! use quaver::{Arena, Predictor};
//!
//! static MODEL: &[u8] = quaver::include_checkpoint!("../examples/grip_force.qvr"); // stays in flash
//!
//! let mut arena = Arena::<{ quaver::arena_words(MODEL) }>::new(); // all the RAM of the stream
//! let mut predictor = Predictor::load(MODEL, &mut arena)?; // validates the whole checkpoint
//!
//! // Eight EMG channels; the third is missing. A step cannot fail.
//! let prediction = predictor.step(&[14.0, 9.5, f32::NAN, 4.25, 6.0, 11.5, 20.25, 17.0]);
//! println!("{prediction} N"); // "51.7 ± 4.7 N"
//! # assert!(prediction.iter().all(|force| force.mean.is_finite() && force.variance > 0.0));
//! # Ok::<(), quaver::Error>(())
//! ```
//!
//! # Predictions
//!
//! Per [`Output`]: the mean, the total variance, and its two parts. The *epistemic* part is propagated
//! through the network: it grows when inputs are uncertain or missing, with noise on units (fast dropout),
//! and with learned weight variances. The *aleatoric* part is the noise of the likelihood, which more
//! knowledge does not remove. A model that predicts its own next input also returns a [`Surprise`] for the
//! sample just read.
//!
//! # Models that are part of the program
//!
//! `quaver export` also writes the model as a type ([`embed_model!`]). It is known while compiling: there
//! is nothing to load and nothing that can fail, a damaged file does not compile, and cells, likelihoods
//! and optional parts that it does not use take no flash. Predictions have the same bits. The same holds for
//! denoisers and samplers ([`embed_denoiser!`], [`embed_sampler!`]).
//!
//! ```ignore
//! mod model; // written by `quaver export`
//!
//! let mut arena = model::Embedded::arena();
//! let mut predictor = model::Embedded::start(&mut arena);
//! ```
//!
//! # Many streams of one model
//!
//! A [`Model`] is immutable and borrows its weights; a [`State`] is the memory of one stream:
//!
//! ```
//! use quaver::{Arena, Model};
//! # static MODEL: &[u8] = quaver::include_checkpoint!("../examples/grip_force.qvr");
//!
//! let model = Model::load(MODEL)?;
//! let mut arenas = [Arena::<142>::new(), Arena::new()];
//! let [mut left, mut right] = arenas.each_mut().map(|arena| model.start(arena).expect("142 words"));
//! model.step(&mut left, &[10.0; 8]);
//! model.step(&mut right, &[20.0; 8]);
//!
//! let mut saved = [0.0; 100]; // `model.spec().saved_words()`
//! model.save(&left, &mut saved)?;
//! model.restore(&mut right, &saved)?; // the right hand continues from the left one's state
//! # assert_eq!(model.spec().saved_words(), saved.len());
//! # assert_eq!(model.prediction(&left).mean(), model.prediction(&right).mean());
//! # Ok::<(), quaver::Error>(())
//! ```
//!
//! On a host, [`Model::step_batch`] reads a row for each of many streams in less time, with the same bits.
//!
//! # Learning on the device
//!
//! An [`AdaptivePredictor`] is a [`Predictor`] whose output layer learns from labelled samples: `step(&row)`,
//! then `learn(&truth)`. The layers stay as exported; memory is fixed.
//!
//! # Denoising and sampling
//!
//! Models with latent variables are two networks in one checkpoint. A [`Denoiser`] removes noise from rows as
//! they arrive; a [`Sampler`] follows rows, predicts the next one and samples continuations; [`Rollouts`] are
//! many sampled futures at once. Draws take one number each from any generator of [`rand_core`]:
//!
//! ```
//! use quaver::{Arena, Denoiser, FeedMode, Sampler};
//! use rand_xoshiro::{Xoroshiro128PlusPlus, rand_core::SeedableRng};
//! # static DENOISER: &[u8] = quaver::include_checkpoint!("../examples/denoiser.qvr");
//! # static SAMPLER: &[u8] = quaver::include_checkpoint!("../examples/sampler.qvr");
//!
//! let mut arena = Arena::<{ quaver::arena_words(DENOISER) }>::new();
//! let mut denoiser = Denoiser::load(DENOISER, &mut arena)?;
//! let angles = denoiser.step(&[12.5, f32::NAN, 3.0]).mean(); // hip, knee and ankle; the knee is imputed
//!
//! let mut arena = Arena::<{ quaver::arena_words(SAMPLER) }>::new();
//! let mut sampler = Sampler::load(SAMPLER, &mut arena)?;
//! sampler.observe(angles);
//! let next = sampler.sample(&mut Xoroshiro128PlusPlus::seed_from_u64(7), FeedMode::Draw);
//! # assert!(next.iter().all(|angle| angle.is_finite()));
//! # Ok::<(), quaver::Error>(())
//! ```
//!
//! # From sequences to points
//!
//! A [`Reducer`] pools the units or outputs of a network over time: a sequence of any length, or the last
//! rows of a stream, becomes one vector with a mean and a variance for each component, and that a class with
//! probabilities, or none of those that it knows. New classes are taught on the device by examples.
//!
//! # Modules
//!
//! - [`checkpoint`]: files, and the architecture of a model. The format is specified in `SPEC.md` next to it.
//! - [`moments`], [`noise`], [`likelihood`]: the mathematics, generic over the scalar, for programs that
//!   train or evaluate models with the formulas of the runtime.
//! - [`pooling`], [`classifier`]: sequences reduced to uncertain points, and those to classes
//!   ([`Reducer`]).
//! - [`density`]: the normal density of input rows, by which missing channels are imputed.
//! - [`conformal`]: intervals from quantiles of residuals, and error bars whose width follows the truth
//!   ([`Predictor::observe`]).
//! - [`anomaly`]: statistics that gather evidence of faulty channels ([`Prediction::anomaly`]).
//! - `signed`: envelopes with a signature around checkpoints (feature `signed`).
//!
//! # Features
//!
//! A model runs in floating point or in integers, as its layout determines ([`checkpoint::Layout`]). Both
//! backends are built in by default; a board with a fixed model leaves one out with `default-features =
//! false` and saves flash. A model whose backend is missing is refused when it is loaded
//! ([`Error::NotBuiltIn`]).
//!
//! - `float` (default): the layout `float`, in floating point.
//! - `quantized` (default): the layouts `fast`, `small`, `mean` and `sparse`, in integers.
//! - `vectors`: vector units of a host, detected at run time, without the standard library. The bits stay the
//!   same.
//! - `std`: the standard library. Enables `vectors`.
//! - `write`: making checkpoints ([`checkpoint::write`]), on a host. Enables `float`, `quantized` and `std`.
//! - `small-code`: smaller and slower code: sums in kernels with DSP instructions are not unrolled, and
//!   complete rows take the path of incomplete ones. The bits stay the same.
//! - `signed`: signatures around checkpoints, verified before a model is loaded (module `signed`).
//! - `serde`: `Serialize` and `Deserialize` for architectures.
//! - `defmt`: `defmt::Format` for errors, architectures, predictions and scores.
//! - `kernel-portable`, `kernel-baseline`, `kernel-mainline`, `kernel-dsp`, `kernel-helium`, `kernel-riscv`:
//!   see below.
//!
//! # Kernels
//!
//! Quantized layouts have kernels in assembler, chosen by the target for which the crate is built:
//!
//! | target | kernels |
//! |---|---|
//! | `thumbv6m`, `thumbv8m.base` (Cortex-M0, M0+, M23) | `baseline`: whole layers, except GRUs |
//! | `thumbv7m` (M3) | `mainline`: whole layers |
//! | `thumbv7em` (M4, M7) | `dsp`: whole layers, with DSP instructions |
//! | `thumbv8m.main` (M33) | `mainline`; `dsp` if the compiler knows that the core has DSP instructions |
//! | `thumbv8m.main` (M55, M85) | `helium`, with vector instructions, if the compiler knows that the core has them |
//! | `riscv32im*` (ESP32-C3, RP2350's Hazard3, CH32V2 and V3) | `riscv`: whole layers, except GRUs |
//! | any other | `portable` |
//!
//! DSP instructions are optional in Armv8-M. For a core that has them (nRF53, nRF91, STM32H5, STM32U5,
//! RP2350, any M55 or M85), declare them in `.cargo/config.toml` or enable the feature `kernel-dsp`; a step
//! then takes 2.5 times fewer instructions:
//!
//! ```toml
//! [target.thumbv8m.main-none-eabihf]
//! rustflags = ["-C", "target-cpu=cortex-m33"]
//! ```
//!
//! For an M55 or M85 with Helium (MVE), `kernel-helium` or `target-cpu=cortex-m55` takes 2.5 times fewer
//! again. Startup code must have enabled coprocessors 10 and 11 in CPACR before the first step, as for
//! floating point: `cortex-m-rt` does so for targets that end in `hf`. The vectors are of integers, so that
//! an M55 without floating-point unit will do. With `target-cpu=cortex-m55` the compiler itself makes vectors
//! of floating point, which flush subnormal numbers to zero: for the bits of other cores in the layout
//! `float`, build for `cortex-m33` and enable `kernel-helium`.
//!
//! A feature `kernel-*` forces kernels. Of several the most modest wins, so that `--all-features` builds for
//! every target. Kernels that the target cannot run are an error; under an operating system, where build
//! scripts and tests of firmware run with its features, they are ignored. All kernels give the same bits.
//! They need a checkpoint at an address that is a multiple of four, which [`include_checkpoint!`] provides
//! and [`Model::is_accelerated`] reports.
#![no_std]
#![warn(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(any(feature = "std", test))]
extern crate std;

#[cfg(not(any(feature = "float", feature = "quantized")))]
compile_error!("quaver without the features `float` and `quantized` can run no model: enable one of them");

pub mod anomaly;
mod arena;
mod backend;
pub mod checkpoint;
pub mod classifier;
pub mod conformal;
pub mod density;
#[cfg(feature = "write")]
mod encode;
#[cfg(feature = "write")]
#[doc(hidden)]
pub mod export {
    //! What the exporter of `quaver-trainer` needs beyond [`checkpoint`](crate::checkpoint). No part of the
    //! stable interface: it may change in any version.

    pub use crate::encode::GramMatrices;
    #[cfg(feature = "quantized")]
    pub use crate::format::StoredBlocks;

    /// The block of four rows and two columns of every weight, row by row: of the layers' maps, then of the
    /// output map's. Blocks of a map are numbered from 0; the layout `sparse` stores each or leaves it out.
    #[cfg(feature = "quantized")]
    pub fn blocks_of_weights(spec: &crate::checkpoint::ModelSpec) -> std::vec::Vec<std::vec::Vec<usize>> {
        spec.shapes().map(crate::quantized::blocks_of_weights).collect()
    }

    /// Draws a class as [`Prediction::draw_class_at`](crate::Prediction::draw_class_at) does.
    pub fn draw_class_at(
        probabilities: &[f32],
        temperature: f32,
        rng: &mut (impl rand_core::Rng + ?Sized),
    ) -> usize {
        crate::models::draw_class_at(probabilities, temperature, rng)
    }

    /// 2ˣ for |x| ≤ 126, within 3·10⁻⁷ of itself, without branches.
    #[inline(always)]
    pub fn exp2(x: f32) -> f32 {
        crate::moments::exp2(x)
    }
}
#[cfg(feature = "float")]
mod float;
mod format;
// Cores with kernels in assembler step streams one by one.
#[cfg_attr(not(any(feature = "float", quaver_kernel = "portable")), allow(dead_code, unused_imports))]
mod lanes;
pub mod likelihood;
mod limits;
pub mod linear;
mod models;
pub mod moments;
pub mod noise;
pub mod pooling;
#[cfg(feature = "quantized")]
mod quantized;
mod random;
#[cfg(feature = "signed")]
#[cfg_attr(docsrs, doc(cfg(feature = "signed")))]
pub mod signed;
mod spec;
mod step_io;

pub use arena::Arena;
pub use checkpoint::Error;
pub use models::{
    AdaptOptions, AdaptivePredictor, Classification, Covariance, Denoiser, Embedding, FeedMode, Futures,
    Known, KnownLatent, LatentModel, Loaded, LoadedLatent, Model, Novelty, Output, Prediction, Predictor,
    Reducer, ReducerModel, Rollouts, Sampler, State, Surprise, WithUnit, adaptive_arena_words, arena_words,
};
#[doc(hidden)] // for what `embed_model!` and its siblings define
pub use models::{Embedded, EmbeddedLatent, is_denoiser, is_predictor, is_sampler, is_sealed};
