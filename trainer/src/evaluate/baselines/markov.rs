//! Persistence of targets of 0 and 1: their transition frequencies.

use super::constant::Constant;
use super::memory::Memory;
use crate::data::Sequence;
use crate::prediction::SequencePrediction;

/// A Markov chain of two states for every output.
#[derive(Clone, Debug)]
pub(super) struct Markov<'a> {
    memory: Memory<'a>,
    /// Prediction before the first observation.
    start: &'a Constant,
    /// Probability of a one after a zero and after a one.
    one_after: Vec<[f64; 2]>,
}

impl<'a> Markov<'a> {
    pub(super) const DETAIL: &'static str =
        "each output on its own, with its frequency in training after the same last value";

    pub(super) fn fit(train: &[Sequence], start: &'a Constant, memory: Memory<'a>) -> Self {
        // One pseudo-observation with the overall frequency avoids probabilities of zero.
        let mut counts: Vec<[(f64, f64); 2]> = start.mean.iter().map(|&p| [(p, 1.0); 2]).collect();
        for sequence in train {
            memory.for_each_change(sequence, |output, last, value| {
                let (ones, n) = &mut counts[output][usize::from(last == 1.0)];
                *ones += value;
                *n += 1.0;
            });
        }
        let one_after = counts.iter().map(|states| states.map(|(ones, n)| ones / n)).collect();
        Markov { memory, start, one_after }
    }

    pub(super) fn prediction(&self, sequence: &Sequence) -> SequencePrediction {
        let mut prediction = self.start.prediction(sequence);
        self.memory.for_each(sequence, |step, output, last| {
            let p = self.one_after[output][usize::from(last == 1.0)];
            prediction.set(step, output, p as f32, 0.0, (p * (1.0 - p)) as f32);
        });
        prediction
    }
}
