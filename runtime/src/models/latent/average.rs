//! Moments of a mixture, accumulated one component at a time.

use crate::arena::{ArenaSplitter, copy};
use crate::models::outputs::Outputs;
use crate::moments::at_most;

/// Mean and variances over the draws so far; empty slices if the model takes no draws.
///
/// By the law of total variance, V = E[v_k] + V[m_k]: uncertainty about z adds the variance of the means to
/// the epistemic part. The sums are Welford's (1962), which do not cancel.
#[derive(Debug, Default)]
pub(super) struct Average<'a> {
    mean: &'a mut [f32],
    epistemic: &'a mut [f32],
    aleatoric: &'a mut [f32],
}

impl<'a> Average<'a> {
    pub(super) fn carve(words: &mut ArenaSplitter<'a>, channels: usize) -> Option<Self> {
        let mut list = || words.carve(channels);
        Some(Average { mean: list()?, epistemic: list()?, aleatoric: list()? })
    }

    /// Adds the outputs of draw `draw`, counted from 0.
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
            let var = at_most(e + before * (m - *mean), f32::MAX);
            *epistemic = at_most(*epistemic + weight * (var - *epistemic), f32::MAX);
            *aleatoric += weight * (a - *aleatoric);
        }
    }

    /// Copies the averages to the outputs.
    pub(super) fn finish(&self, outputs: &mut Outputs<'_>) {
        let lists = [&*self.mean, self.epistemic, self.aleatoric];
        outputs.slices().into_iter().zip(lists).for_each(|(target, source)| copy(target, source));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_are_the_moments_of_the_mixture() {
        let draws = [(1.0, 0.5, 0.25), (4.0, 0.25, 0.5), (-2.0, 2.0, 0.125)];
        let mut words = [f32::NAN; 4 + 3];
        let mut words = ArenaSplitter::new(&mut words);
        let mut outputs = Outputs::carve(&mut words, 1, 0).expect("four words");
        let mut average = Average::carve(&mut words, 1).expect("three words");
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
