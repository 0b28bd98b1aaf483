//! Predictions and scores in raw units.

use rand_core::Rng;

use super::classes::{class_at, draw_class_at};
use super::implausible::ImplausibleChannels;
use crate::anomaly::Anomaly;
use crate::likelihood::Variances;
use crate::moments::{Scalar, at_most};
use crate::random::uniform;

/// Mean and variance of one output in raw units. Printed as "51.7 ± 4.7".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Output {
    /// Expected value; the probability of a one for a Bernoulli output.
    pub mean: f32,
    /// Total predictive variance: `epistemic + aleatoric`.
    pub variance: f32,
    /// The part propagated through the network: uncertain inputs, states and weights.
    pub epistemic: f32,
    /// The part that more knowledge does not remove: the noise of the likelihood.
    pub aleatoric: f32,
}

impl Output {
    pub(super) fn new(mean: f32, variances: Variances) -> Self {
        let Variances { epistemic, aleatoric } = variances;
        Output { mean, variance: at_most(epistemic + aleatoric, f32::MAX), epistemic, aleatoric }
    }

    /// Standard deviation: the error bar.
    pub fn std_dev(&self) -> f32 {
        Scalar::sqrt(self.variance)
    }

    /// Both ends of the interval of `quantile` standard deviations around the mean.
    pub(super) fn interval(&self, quantile: f32) -> [f32; 2] {
        let half = quantile * self.std_dev();
        [self.mean - half, self.mean + half]
    }
}

/// Outputs from slices of their parts.
pub(super) fn outputs<'s>(
    mean: &'s [f32],
    epistemic: &'s [f32],
    aleatoric: &'s [f32],
) -> impl ExactSizeIterator<Item = Output> + 's {
    mean.iter()
        .zip(epistemic.iter().zip(aleatoric))
        .map(|(mean, (&epistemic, &aleatoric))| Output::new(*mean, Variances { epistemic, aleatoric }))
}

/// Score of the sample just read against the prediction made before it. Printed as "4.2 nats (z = 0.3,
/// missing)".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surprise<'s> {
    /// Negative log-likelihood of the observed channels in nats, densities in raw units.
    pub nll: f32,
    /// Residual of each channel in predicted standard deviations; NaN where the channel was missing.
    pub z: &'s [f32],
    /// What is most suspicious about the sample; see [`Prediction::anomaly`].
    pub anomaly: Option<Anomaly>,
}

impl Surprise<'_> {
    /// Whether the sample exceeds the limit that was chosen for a rate of false alarms when the model was
    /// exported; `false` for a model without limits.
    pub fn is_anomalous(&self) -> bool {
        self.anomaly.is_some_and(|anomaly| anomaly.is_anomalous())
    }
}

/// How unusual the sample just read was: its squared Mahalanobis distance from the training rows, per channel
/// that is present. About 1 for ordinary rows.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Novelty {
    /// Squared distance per present channel.
    pub distance: f32,
    /// Distance up to which a row counts as familiar, chosen when the model was exported.
    pub familiar: f32,
}

impl Novelty {
    /// Whether the model has not seen rows like this.
    pub fn is_novel(&self) -> bool {
        self.distance > self.familiar
    }
}

/// Prediction of a stream after a step, in raw units. Printed as its outputs: "51.7 ± 4.7, 0.120 ± 0.015".
#[derive(Clone, Copy, Debug)]
pub struct Prediction<'s> {
    mean: &'s [f32],
    epistemic: &'s [f32],
    aleatoric: &'s [f32],
    pub(super) surprise: Option<Surprise<'s>>,
    pub(super) novelty: Option<Novelty>,
    pub(super) anomaly: Option<Anomaly>,
    pub(super) implausible: ImplausibleChannels<'s>,
}

impl<'s> Prediction<'s> {
    /// A prediction without scores of the sample just read.
    pub(super) fn new([mean, epistemic, aleatoric]: [&'s [f32]; 3]) -> Self {
        let implausible = ImplausibleChannels::default();
        Prediction { mean, epistemic, aleatoric, surprise: None, novelty: None, anomaly: None, implausible }
    }

    /// Expected values.
    pub fn mean(&self) -> &'s [f32] {
        self.mean
    }

    /// Propagated part of each variance.
    pub fn epistemic(&self) -> &'s [f32] {
        self.epistemic
    }

    /// Noise part of each variance.
    pub fn aleatoric(&self) -> &'s [f32] {
        self.aleatoric
    }

    /// The outputs in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Output> + 's {
        outputs(self.mean, self.epistemic, self.aleatoric)
    }

    /// Output `index`, if there is one.
    pub fn get(&self, index: usize) -> Option<Output> {
        self.iter().nth(index)
    }

    /// Draws a class by the probabilities of a categorical model: the index of an output, and of the next
    /// token in a model of text. Takes one number of the generator.
    pub fn draw_class(&self, rng: &mut (impl Rng + ?Sized)) -> usize {
        class_at(self.mean.iter().copied(), uniform(rng))
    }

    /// Like [`draw_class`](Self::draw_class), with probabilities in proportion to p^(1/`temperature`): below
    /// 1 likely classes become more likely, above 1 less. At 1 the bits of `draw_class`; 0, or less, gives
    /// the most probable class. Always takes one number of the generator.
    pub fn draw_class_at(&self, temperature: f32, rng: &mut (impl Rng + ?Sized)) -> usize {
        draw_class_at(self.mean, temperature, rng)
    }

    /// Score of the sample just read, for models that predict their own next input; `None` for others, before
    /// the first sample, and for a sample without observed channels.
    pub fn surprise(&self) -> Option<Surprise<'s>> {
        self.surprise
    }

    /// How unusual the sample just read was; `None` without an input density in the checkpoint, and before
    /// the first sample.
    pub fn novelty(&self) -> Option<Novelty> {
        self.novelty
    }

    /// What is most suspicious about the sample just read and those before it; `None` without limits in the
    /// checkpoint (`quaver export --false-alarms`), before the first sample, and for a sample without
    /// observed channels. A missing channel is no anomaly; an [implausible](Self::implausible) one is.
    pub fn anomaly(&self) -> Option<Anomaly> {
        self.anomaly
    }

    /// Channels of the sample just read whose values were outside of the checkpoint's plausible ranges, in
    /// order: they were treated as missing. Infinities are among them, NaN and channels beyond the end of a
    /// short row are not. None without [ranges](crate::checkpoint::Extensions::ranges) in the checkpoint.
    pub fn implausible(&self) -> impl Iterator<Item = usize> + 's {
        self.implausible.iter()
    }

    /// Whether the score of the sample just read exceeds its limit.
    pub fn is_anomalous(&self) -> bool {
        self.anomaly.is_some_and(|anomaly| anomaly.is_anomalous())
    }
}
