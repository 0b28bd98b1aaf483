//! Evaluation: scores of predictions by the trained network or the runtime, and of baselines without a
//! network on the same rows.

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
mod score_totals;
mod scores;
mod snr;

pub use baselines::{Baseline, baselines};
pub use calibration::CalibrationPoint;
pub use denoising::{Denoising, denoising};
pub use gaps::{GapScores, gap_scores};
pub use held_out::{GapFilling, HeldOutGap};
pub use latent::{FeedScores, LatentScores, Nats, latent_scores};
pub use latent_runtime::{LatentStreamPrediction, predict_latent_by_runtime};
pub use notes::{NoteDenoising, NoteEstimates, NoteScores, note_denoising};
pub use recalibrate::variance_factors;
pub use scores::{OutputScores, Scores, scores, standardised_residuals};
pub use snr::{ChannelSnr, DenoisedSequence, SignalToNoise, signal_to_noise};
