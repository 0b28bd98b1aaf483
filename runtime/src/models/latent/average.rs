//! Moments of a mixture, gathered one component at a time.

use crate::models::outputs::Outputs;
use crate::models::words::{Words, copy};
use crate::moments::at_most;

/// Mean and variances over the draws so far; empty lists where a model takes no draws.
///
/// By the law of total variance, what is not known of z adds the variance of the means to the epistemic part:
/// V = E[v_k] + V[m_k]. The sums are Welford's (1962), which do not cancel.
#[derive(Debug)]
pub(super) struct Average<'a> {
    mean: &'a mut [f32],
    epistemic: &'a mut [f32],
    aleatoric: &'a mut [f32],
}

impl<'a> Average<'a> {
    pub(super) fn divide(words: &mut Words<'a>, channels: usize) -> Option<Self> {
        let mut list = || words.take(channels);
        Some(Average { mean: list()?, epistemic: list()?, aleatoric: list()? })
    }

    /// Takes in the outputs of draw `draw`, the first being 0.
    pub(super) fn add(&mut self, draw: u16, outputs: &Outputs<'_>) {
        if draw == 0 {
            [&mut *self.mean, self.epistemic, self.aleatoric].into_iter().for_each(|list| list.fill(0.0));
        }
        let weight = 1.0 / (f32::from(draw) + 1.0);
        let averages = self.mean.iter_mut().zip(self.epistemic.iter_mut().zip(self.aleatoric.iter_mut()));
        let drawn = outputs.mean.iter().zip(outputs.epistemic.iter().zip(outputs.aleatoric.iter()));
        for ((mean, (epistemic, aleatoric)), (m, (e, a))) in averages.zip(drawn) {
            let before = m - *mean;
            *mean += weight * before;
            let spread = at_most(e + before * (m - *mean), f32::MAX);
            *epistemic = at_most(*epistemic + weight * (spread - *epistemic), f32::MAX);
            *aleatoric += weight * (a - *aleatoric);
        }
    }

    /// Makes the averages the outputs.
    pub(super) fn finish(&self, outputs: &mut Outputs<'_>) {
        let lists = [&*self.mean, self.epistemic, self.aleatoric];
        outputs.places().into_iter().zip(lists).for_each(|(places, values)| copy(places, values));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_are_the_moments_of_the_mixture() {
        let draws = [(1.0, 0.5, 0.25), (4.0, 0.25, 0.5), (-2.0, 2.0, 0.125)];
        let mut words = [f32::NAN; 4 + 3];
        let mut words = Words::new(&mut words);
        let mut outputs = Outputs::divide(&mut words, 1).expect("four words");
        let mut average = Average::divide(&mut words, 1).expect("three words");
        for (draw, (mean, epistemic, aleatoric)) in draws.into_iter().enumerate() {
            outputs.restore(&[mean, epistemic, aleatoric]);
            average.add(draw as u16, &outputs);
        }
        average.finish(&mut outputs);
        let of = |f: fn((f32, f32, f32)) -> f32| draws.into_iter().map(f).sum::<f32>() / 3.0;
        let (mean, square) = (of(|draw| draw.0), of(|draw| draw.0 * draw.0));
        let expected = [mean, of(|draw| draw.1) + square - mean * mean, of(|draw| draw.2)];
        for (found, expected) in outputs.saved().zip(expected) {
            assert!((found - expected).abs() < 1e-5, "{found} {expected}");
        }
    }
}
