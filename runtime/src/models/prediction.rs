//! What a step tells.

use crate::moments::at_most;

/// Mean and variance of one output in raw units.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Output {
    /// Expected value; the probability of a one for a Bernoulli output.
    pub mean: f32,
    /// Total predictive variance: `epistemic + aleatoric`.
    pub variance: f32,
    /// The part that was propagated through the net: uncertain inputs, states and weights.
    pub epistemic: f32,
    /// The part that remains however well the net knows: the noise of the likelihood.
    pub aleatoric: f32,
}

impl Output {
    pub(super) fn of(mean: f32, epistemic: f32, aleatoric: f32) -> Self {
        Output { mean, variance: at_most(epistemic + aleatoric, f32::MAX), epistemic, aleatoric }
    }

    /// Standard deviation: the error bar.
    pub fn std_dev(&self) -> f32 {
        libm::sqrtf(self.variance)
    }
}

/// Outputs whose parts lie in three lists.
pub(super) fn outputs<'s>(
    mean: &'s [f32],
    epistemic: &'s [f32],
    aleatoric: &'s [f32],
) -> impl ExactSizeIterator<Item = Output> + 's {
    mean.iter()
        .zip(epistemic.iter().zip(aleatoric))
        .map(|(mean, (epistemic, aleatoric))| Output::of(*mean, *epistemic, *aleatoric))
}

/// How surprising the sample just seen was to the prediction made before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surprise<'s> {
    /// Negative log-likelihood of the observed channels in nats, densities in raw units.
    pub nll: f32,
    /// Residual of each channel in predicted standard deviations; NaN where the channel was missing.
    pub z: &'s [f32],
}

/// The prediction that a stream holds after a step, in raw units.
#[derive(Clone, Copy, Debug)]
pub struct Prediction<'s> {
    mean: &'s [f32],
    epistemic: &'s [f32],
    aleatoric: &'s [f32],
    surprise: Option<Surprise<'s>>,
}

impl<'s> Prediction<'s> {
    pub(super) fn new(
        mean: &'s [f32],
        epistemic: &'s [f32],
        aleatoric: &'s [f32],
        surprise: Option<Surprise<'s>>,
    ) -> Self {
        Prediction { mean, epistemic, aleatoric, surprise }
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

    /// Score of the sample just seen, for models that predict their own next input; `None` for others, before the
    /// first sample, and for a sample of which nothing was observed.
    pub fn surprise(&self) -> Option<Surprise<'s>> {
        self.surprise
    }
}
