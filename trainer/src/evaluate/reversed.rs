//! Recordings played backwards: does the model notice?

use quaver::checkpoint::Likelihood;
use serde::Serialize;

use super::auroc::auroc;
use crate::data::Sequence;
use crate::prediction::{ScoredValue, SequencePrediction, StepScore};

/// Scores of recordings as they are and backwards, in nats per time step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReversedScores {
    /// The recordings as they are.
    pub regular: DirectionScores,
    /// The same recordings backwards.
    pub reversed: DirectionScores,
    /// Entropy of the reversed recordings minus that of the regular ones (Fortunato, Blundell and Vinyals
    /// 2017, eq. 20). A model that notices that time runs backwards is less certain.
    pub entropy_gap: f64,
    /// Time steps of a window.
    pub window: usize,
    /// Windows in each direction; they do not overlap.
    pub windows: usize,
    /// Probability that a reversed window has a larger mean entropy than a regular one.
    pub auroc_entropy: Option<f64>,
    /// Probability that a reversed window has a larger mean NLL than a regular one.
    pub auroc_nll: Option<f64>,
}

/// Means over the time steps of recordings in one direction, in nats, summed over outputs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DirectionScores {
    /// Entropy of the predictive distribution.
    pub entropy: f64,
    /// Negative log-likelihood of what followed.
    pub nll: f64,
    /// Time steps with at least one observed target.
    pub n: usize,
}

/// Compares predictions of `[regular, reversed]` recordings, window by window of `window` steps.
pub fn reversed_scores(
    likelihood: Likelihood,
    [regular, reversed]: [(&[Sequence], &[SequencePrediction]); 2],
    window: usize,
) -> ReversedScores {
    let [regular, reversed] = [regular, reversed].map(|(sequences, predictions)| {
        let scored = sequences.iter().zip(predictions);
        scored.map(|(sequence, prediction)| steps(likelihood, sequence, prediction)).collect::<Vec<_>>()
    });
    compare_directions([&regular, &reversed], window)
}

/// Compares the scores of every step of `[regular, reversed]` recordings, sequence by sequence.
pub fn compare_directions([regular, reversed]: [&[Vec<StepScore>]; 2], window: usize) -> ReversedScores {
    let [regular_windows, reversed_windows] = [regular, reversed].map(|steps| windows(steps, window));
    let area = |part: fn(&StepScore) -> f64| {
        let column = |windows: &[StepScore]| -> Vec<f32> { windows.iter().map(|w| part(w) as f32).collect() };
        let mut ascending = column(&regular_windows);
        ascending.sort_unstable_by(f32::total_cmp);
        auroc(&ascending, &column(&reversed_windows))
    };
    let (auroc_entropy, auroc_nll) = (area(|score| score.entropy), area(|score| score.nll));
    let (regular, reversed) = (DirectionScores::new(regular), DirectionScores::new(reversed));
    ReversedScores {
        entropy_gap: reversed.entropy - regular.entropy,
        regular,
        reversed,
        window,
        windows: regular_windows.len(),
        auroc_entropy,
        auroc_nll,
    }
}

impl DirectionScores {
    fn new(sequences: &[Vec<StepScore>]) -> Self {
        let StepScore { entropy, nll } = sequences.iter().flatten().sum();
        let n: usize = sequences.iter().map(Vec::len).sum();
        DirectionScores { entropy: entropy / n as f64, nll: nll / n as f64, n }
    }
}

/// The scored steps of a sequence: those after the burn-in with at least one observed target.
fn steps(likelihood: Likelihood, sequence: &Sequence, prediction: &SequencePrediction) -> Vec<StepScore> {
    let step = |step: usize| {
        let observed = sequence.targets.row(step).iter().enumerate().filter(|(_, value)| !value.is_nan());
        let score = |(output, value): (usize, &f32)| {
            let value = ScoredValue::at(prediction, step, output, *value);
            StepScore { entropy: value.entropy(likelihood), nll: value.nll(likelihood) }
        };
        let scores: Vec<StepScore> = observed.map(score).collect();
        (!scores.is_empty()).then(|| scores.iter().sum())
    };
    (sequence.burn_in..sequence.len()).filter_map(step).collect()
}

/// Sums over windows of `window` steps that do not overlap; what is left at the end of a sequence is omitted.
fn windows(sequences: &[Vec<StepScore>], window: usize) -> Vec<StepScore> {
    sequences.iter().flat_map(|steps| steps.chunks_exact(window)).map(|steps| steps.iter().sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;

    /// A prediction of N(0, `variances[t]`) at step t.
    fn prediction(variances: &[f32]) -> SequencePrediction {
        let mut prediction = SequencePrediction::zeros(variances.len(), 1);
        variances.iter().enumerate().for_each(|(step, var)| prediction.set(step, 0, 0.0, *var, 0.0));
        prediction
    }

    fn recording(values: &[f32], burn_in: usize) -> Sequence {
        Sequence { burn_in, ..Sequence::next(Rows { channels: 1, values: values.to_vec() }) }
    }

    #[test]
    fn twice_the_standard_deviation_is_a_gap_of_ln_2() {
        let recordings = [recording(&[9.0, 1.0, f32::NAN, 2.0, 3.0, 4.0], 1)];
        let backwards = recordings.clone().map(|recording| recording.reversed());
        assert_eq!(backwards[0].targets.values[..2], [4.0, 3.0]);
        let (narrow, wide) = ([prediction(&[1.0; 6])], [prediction(&[4.0; 6])]);
        let found = reversed_scores(Likelihood::Gaussian, [(&recordings, &narrow), (&backwards, &wide)], 2);
        assert!((found.entropy_gap - 2.0_f64.ln()).abs() < 1e-12, "{found:?}");
        // Five rows are left without the first, one of them without a target.
        assert_eq!((found.regular.n, found.reversed.n, found.windows), (4, 4, 2));
        assert_eq!(found.auroc_entropy, Some(1.0));
        // ½ (ln 2π + x²): the values 1, 2, 3, 4 have a mean square of 7.5.
        assert!((found.regular.nll - 0.5 * (std::f64::consts::TAU.ln() + 7.5)).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn without_a_whole_window_there_is_no_area() {
        let recordings = [recording(&[1.0, 2.0, 3.0], 0)];
        let predictions = [prediction(&[1.0; 3])];
        let both = [(&recordings[..], &predictions[..]); 2];
        let found = reversed_scores(Likelihood::Gaussian, both, 4);
        assert_eq!((found.windows, found.auroc_entropy, found.auroc_nll), (0, None, None));
        assert_eq!(found.entropy_gap, 0.0);
    }
}
