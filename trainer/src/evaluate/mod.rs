//! How good is a model? Forecasts from the trained net or from the runtime, the scores they earn, and what a forecast
//! that needs no net would have earned on the same rows.

mod baselines;
mod calibration;
mod denoising;
pub mod filters;
mod gaps;
mod held_out;
mod latent;
mod latent_runtime;
mod notes;
mod recalibrate;
mod scores;
mod snr;
mod tally;

pub use baselines::{Baseline, baselines};
pub use calibration::CalibrationPoint;
pub use denoising::{Denoising, denoising};
pub use gaps::{GapScores, gap_scores};
pub use held_out::{Filling, HeldOut};
pub use latent::{LatentScores, Nats, OneWay, latent_scores};
pub use latent_runtime::{Streamed, latent_from_runtime};
pub use notes::{NoteDenoising, NoteEstimates, NoteScores, note_denoising};
pub use recalibrate::variance_factors;
pub use scores::{OutputScores, Scores, scores, standardised_residuals};
pub use snr::{ChannelSnr, Compared, SignalToNoise, signal_to_noise};
