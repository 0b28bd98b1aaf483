//! Evaluation: scores of predictions by the trained network or the runtime, and of baselines without a
//! network on the same rows.

mod auroc;
mod baselines;
mod block_length;
mod bootstrap;
mod calibration;
mod classification;
mod classifiers;
mod comparison;
mod conformal;
mod coverage_steps;
mod denoising;
mod faults;
pub mod filters;
mod gaps;
mod held_out;
mod jacobian;
mod latent;
mod latent_runtime;
mod missing;
mod monte_carlo;
mod notes;
mod novel_rows;
mod perturbed_recordings;
mod plane;
mod pruning;
mod recalibrate;
mod reversed;
mod row_scores;
mod run_summary;
mod score_totals;
mod scores;
mod selected_scores;
mod snr;

pub use baselines::{Baseline, BaselinePrediction, baseline_predictions, baselines};
pub use bootstrap::{TrialSteps, frequency_std_error};
pub use calibration::{CalibrationPoint, calibration_error};
pub use classification::{
    ClassScore, ClassificationScores, Classified, ConfusionMatrix, KnownScores, PROBABILITY_FLOOR,
    RejectionPoint, Reliability, ReliabilityBin, class_nlls, known_scores, most_probable, rejection_curve,
    reliability, row_class_scores,
};
pub use classifiers::{
    Classification, ClassifierBaseline, ClassifierOptions, LabelledRows, classifier_baselines,
};
pub use comparison::{PairedDifference, step_nlls};
pub use conformal::{CONFORMAL_LEVELS, OutputQuantiles, conformal_quantile, conformal_quantiles};
pub use denoising::{Denoising, denoising};
pub use faults::{
    AlarmThreshold, Detection, FAULTS, Fault, FaultEvaluation, FaultOutcome, FaultScores,
    MOST_FAULTY_CHANNELS, SPIKE_EVERY, ScoreThreshold, ThresholdSource, alarm_threshold,
};
pub use gaps::{GapScores, gap_scores};
pub use held_out::{GapFilling, HeldOutGap};
pub use jacobian::sequential_jacobian;
pub use latent::{FeedScores, LatentScores, Nats, latent_scores};
pub use latent_runtime::{LatentStreamPrediction, SurpriseScores, predict_latent_by_runtime};
pub use missing::{BURST_DRAWS, BurstChannels, MOST_SUBSETS, MissingCase, MissingEvaluation, MissingScores};
pub use monte_carlo::{MonteCarloMixture, PredictionScores};
pub use notes::{NoteDenoising, NoteEstimates, NoteScores, note_denoising};
pub use novel_rows::{NovelRows, novel_rows};
pub use perturbed_recordings::PerturbedRecordings;
pub use plane::Plane;
pub use pruning::{PrunableModel, PruningPoint, pruning_curve, pruning_point};
pub use recalibrate::variance_factors;
pub use reversed::{DirectionScores, ReversedScores, compare_directions, reversed_scores};
pub use row_scores::{ROW_SCORES, ReadRow, RowScore, ScoredRun, predict_and_score};
pub use run_summary::{NamedScores, RunSummary, ValueGroup};
pub use scores::{OutputScores, Scores, UncertaintyScores, scores, standardised_residuals};
pub use selected_scores::{SelectedOutput, SelectedScores};
pub use snr::{ChannelSnr, DenoisedSequence, SignalToNoise, signal_to_noise};
