//! The last prediction of a stream and the score of the sample after it, in the caller's memory.

use rand_core::Rng;

use super::classes::class_at;
use super::implausible::Implausible;
use super::input::{RawRow, Reading};
use super::parts::{Known, Network};
use super::prediction::{Novelty, Output, Prediction, Surprise, outputs};
use crate::anomaly::Anomaly;
use crate::arena::{ArenaSplitter, copy};
use crate::likelihood::{Variances, score};
use crate::random::{normal, uniform};
use crate::spec::Likelihood;

/// Means and the two parts of variances, one list each.
pub(super) type OutputSlices<'p> = [&'p mut [f32]; 3];

/// The last prediction of a stream, and the score of the sample just read.
#[derive(Debug, Default)]
pub(super) struct Outputs<'a> {
    /// The prediction in raw units.
    pub(super) mean: &'a mut [f32],
    pub(super) epistemic: &'a mut [f32],
    pub(super) aleatoric: &'a mut [f32],
    /// Standardised residuals of the sample just read; NaN where it was missing.
    z: &'a mut [f32],
    /// Negative log-likelihood of the sample just read.
    nll: Option<f32>,
    /// Distance of the sample just read from the training rows.
    pub(super) novelty: Option<Novelty>,
    /// What is most suspicious about the sample just read.
    pub(super) anomaly: Option<Anomaly>,
    /// Values outside of their plausible ranges.
    pub(super) implausible: Implausible<'a>,
}

/// Channel `channel` of a prediction, mean and variance, in place of a missing reading.
pub(super) fn impute(parts: [&[f32]; 3], channel: usize) -> Option<Reading> {
    let [Some(mean), Some(epistemic), Some(aleatoric)] = parts.map(|list| list.get(channel).copied()) else {
        return None;
    };
    Reading::new(mean, Output::new(mean, Variances { epistemic, aleatoric }).variance)
}

impl<'a> Outputs<'a> {
    /// Takes lists of `count` words, and `implausible` words for implausible values.
    pub(super) fn carve(words: &mut ArenaSplitter<'a>, count: u16, implausible: usize) -> Option<Self> {
        let mut list = || words.carve(count.into());
        let [mean, epistemic, aleatoric, z] = [list()?, list()?, list()?, list()?];
        Some(Outputs {
            mean,
            epistemic,
            aleatoric,
            z,
            implausible: Implausible::carve(words, implausible)?,
            nll: None,
            novelty: None,
            anomaly: None,
        })
    }

    /// The prediction of channel `channel`, in place of a missing reading.
    pub(super) fn impute(&self, channel: usize) -> Option<Reading> {
        impute(self.parts(), channel)
    }

    /// Means and the two parts of variances, as they are now.
    pub(super) fn parts(&self) -> [&[f32]; 3] {
        [self.mean, self.epistemic, self.aleatoric]
    }

    /// Slices that a network writes its outputs to.
    pub(super) fn slices(&mut self) -> OutputSlices<'_> {
        [self.mean, self.epistemic, self.aleatoric]
    }

    /// The numbers of the prediction that are saved.
    pub(super) fn saved(&self) -> impl Iterator<Item = f32> + '_ {
        [&*self.mean, &*self.epistemic, &*self.aleatoric].into_iter().flatten().copied()
    }

    /// Takes over a saved prediction.
    pub(super) fn restore(&mut self, saved: &[f32]) {
        let words = self.slices().into_iter().flatten();
        words.zip(saved).for_each(|(word, value)| *word = *value);
        self.forget_surprise();
    }

    /// Copies the prediction and score of another stream of the same model.
    pub(super) fn copy_from(&mut self, other: &Outputs<'_>) {
        let lists = [&*other.mean, other.epistemic, other.aleatoric];
        self.slices().into_iter().zip(lists).for_each(|(target, source)| copy(target, source));
        copy(self.z, other.z);
        self.implausible.copy_from(&other.implausible);
        (self.nll, self.novelty, self.anomaly) = (other.nll, other.novelty, other.anomaly);
    }

    /// Replaces the means by a draw from the predictive distribution.
    pub(super) fn draw(&mut self, likelihood: Likelihood, rng: &mut (impl Rng + ?Sized)) {
        match likelihood {
            Likelihood::Gaussian | Likelihood::Heteroscedastic => {
                let parts = self.epistemic.iter().zip(&*self.aleatoric);
                for (value, (epistemic, aleatoric)) in self.mean.iter_mut().zip(parts) {
                    let variances = Variances { epistemic: *epistemic, aleatoric: *aleatoric };
                    *value += Output::new(*value, variances).std_dev() * normal(rng);
                }
            }
            Likelihood::Bernoulli => {
                self.mean.iter_mut().for_each(|p| *p = if uniform(rng) < *p { 1.0 } else { 0.0 });
            }
            Likelihood::Categorical => {
                let drawn = class_at(self.mean.iter().copied(), uniform(rng));
                self.mean
                    .iter_mut()
                    .enumerate()
                    .for_each(|(class, p)| *p = if class == drawn { 1.0 } else { 0.0 });
            }
        }
    }

    /// Scores a row against the prediction made before it.
    #[inline(never)] // its stack is free again for what comes after
    pub(super) fn score(&mut self, model: &impl Known, row: &RawRow<'_>) {
        let likelihood = model.spec().likelihood;
        let predicted = outputs(self.mean, self.epistemic, self.aleatoric);
        let mut total = None;
        for (channel, (z, output)) in self.z.iter_mut().zip(predicted).enumerate() {
            let scored = row
                .reading(channel)
                .map(|reading| score(likelihood, output.mean, output.variance, reading.value()));
            *z = scored.as_ref().map_or(f32::NAN, |score| score.z);
            if let Some(score) = scored {
                total = Some(total.unwrap_or(0.0) + score.nll);
            }
        }
        self.nll = total;
    }

    /// Standardised residual of a channel of the sample just read; `None` where it was not predicted or not
    /// observed.
    pub(super) fn residual(&self, channel: usize) -> Option<f32> {
        self.z.get(channel).copied().filter(|z| !z.is_nan())
    }

    /// Mean of the squared residuals of the sample just read, over the observed channels.
    pub(super) fn mean_square(&self) -> Option<f32> {
        let observed = self.z.iter().filter(|z| !z.is_nan());
        let (sum, count) = observed.fold((0.0, 0.0), |(sum, count), z| (sum + z * z, count + 1.0));
        (count > 0.0).then(|| sum / count)
    }

    /// The outputs of the prediction.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = Output> + '_ {
        outputs(self.mean, self.epistemic, self.aleatoric)
    }

    pub(super) fn forget_surprise(&mut self) {
        self.z.fill(f32::NAN);
        self.implausible.forget_row();
        (self.nll, self.novelty, self.anomaly) = (None, None, None);
    }

    /// The prediction with its score.
    pub(super) fn prediction(&self) -> Prediction<'_> {
        let surprise = self.nll.map(|nll| Surprise { nll, z: self.z, anomaly: self.anomaly });
        let mut prediction = Prediction::new([self.mean, self.epistemic, self.aleatoric]);
        (prediction.surprise, prediction.novelty, prediction.anomaly) =
            (surprise, self.novelty, self.anomaly);
        prediction.implausible = self.implausible.channels();
        prediction
    }
}
