//! From rows of the output map to outputs in raw units.

use super::input::ResidualBase;
use super::linear_part::{LinearPart, RowRing};
use super::outputs::OutputSlices;
use super::parts::{Known, Network};
use super::prediction::Output;
use crate::likelihood::{Variances, bernoulli_variances, categorical_moments, expected_noise};
use crate::likelihood::{normal_variances, residual_sum};
use crate::moments::Moments;
use crate::spec::{Likelihood, Target};

/// Writes the outputs of one step, row after row of the output map.
pub(super) struct Emitter<'e, 'p, K> {
    pub(super) model: &'e K,
    /// The outputs; until one is written, its prediction by the step before.
    pub(super) slices: OutputSlices<'p>,
    /// Factor on variances.
    pub(super) widening: f32,
    /// Factors on the variances of single outputs; empty if the model does not follow the truth.
    pub(super) scales: &'e [f32],
    /// The linear part, and the rows that it reads.
    pub(super) linear: Option<(&'e LinearPart<'e>, &'e RowRing<'e>)>,
    /// The output that comes next.
    channel: usize,
    /// A heteroscedastic mean whose noise row comes next.
    pending: Option<Moments>,
}

impl<'e, 'p, K: Known> Emitter<'e, 'p, K> {
    pub(super) fn new(model: &'e K, slices: OutputSlices<'p>) -> Self {
        Emitter { model, slices, widening: 1.0, scales: &[], linear: None, channel: 0, pending: None }
    }

    /// Means and the two parts of variances, as they are now.
    pub(super) fn outputs(&self) -> [&[f32]; 3] {
        self.slices.each_ref().map(|list| &**list)
    }

    /// Takes the moments of the next row, and writes an output once all its rows are there. A residual is
    /// added to `base`.
    #[inline(never)] // once in flash, and its registers are free again for the next rows
    pub(super) fn add(&mut self, row: Moments, base: ResidualBase<'_>) {
        let (model, channel) = (self.model, self.channel);
        let (y, noise_var) = match (model.spec().likelihood, self.pending.take()) {
            (Likelihood::Heteroscedastic, None) => {
                self.pending = Some(row);
                return;
            }
            (Likelihood::Heteroscedastic, Some(mean)) => (mean, expected_noise(row.mean, row.var)),
            _ => (row, model.parts().noise_var.at(channel)),
        };
        let y = match model.spec().target {
            Target::ResidualNext | Target::ResidualSame => {
                self.bounded(base, residual_sum(self.base(base), y))
            }
            Target::Next | Target::Columns => match self.linear {
                Some((linear, ring)) if model.parts().linear.is_some() => {
                    residual_sum(linear.moments(model.spec(), ring, channel), y)
                }
                _ => y,
            },
        };
        let output = self.output(y, noise_var);
        for (list, part) in self.slices.iter_mut().zip([output.mean, output.epistemic, output.aleatoric]) {
            if let Some(target) = list.get_mut(channel) {
                *target = part;
            }
        }
        self.channel = channel + 1;
    }

    /// The output in raw units. Those of a categorical likelihood are logits until [`finish`](Self::finish).
    fn output(&self, y: Moments, noise_var: f32) -> Output {
        let (model, channel) = (self.model, self.channel);
        match model.spec().likelihood {
            Likelihood::Gaussian | Likelihood::Heteroscedastic => {
                let parts = model.parts();
                let (mean, std_dev) = (parts.output_mean.at(channel), parts.output_std_dev.at(channel));
                let scale = self.widening * parts.calibration.at(channel) * (std_dev * std_dev);
                let scale = self.scales.get(channel).map_or(scale, |factor| scale * factor);
                let variances = normal_variances(y.var, noise_var, scale, f32::MAX.into());
                Output::new(y.mean * std_dev + mean, variances)
            }
            Likelihood::Bernoulli => Output::new(y.mean, bernoulli_variances(y.mean, y.var)),
            Likelihood::Categorical => Output::new(y.mean, Variances { epistemic: y.var, aleatoric: 0.0 }),
        }
    }

    /// Moments of the channel that a residual is added to. A gap in it is imputed by its prediction, which is
    /// still in its place.
    fn base(&self, base: ResidualBase<'_>) -> Moments {
        match base {
            ResidualBase::Raw(None, _) => Moments { mean: 0.0, var: 1.0 },
            ResidualBase::Raw(row, imputed) => self.model.input(row, self.channel, imputed, self.outputs()),
            ResidualBase::Standardised { mean, var } => {
                let at = |list: &[f32]| list.get(self.channel).copied().unwrap_or(0.0);
                Moments { mean: at(mean), var: at(var) }
            }
        }
    }

    /// The sum of a residual and its base. If the base was imputed, it stays in the range of the training
    /// rows: residuals of a channel that is missing for long would add up.
    fn bounded(&self, base: ResidualBase<'_>, sum: Moments) -> Moments {
        match (base, &self.model.parts().density) {
            (ResidualBase::Raw(Some(row), _), Some(density)) if row.reading(self.channel).is_none() => {
                density.within_range(self.model, self.channel, sum)
            }
            _ => sum,
        }
    }

    /// Turns the logits of a categorical likelihood into probabilities, which need all of them.
    pub(super) fn finish(self) {
        if self.model.spec().likelihood == Likelihood::Categorical {
            let [mean, epistemic, aleatoric] = self.slices;
            softmax(mean, epistemic, aleatoric);
        }
    }
}

#[inline(never)] // its stack is free again after it
fn softmax(mean: &mut [f32], epistemic: &mut [f32], aleatoric: &mut [f32]) {
    categorical_moments(mean, epistemic, aleatoric);
}
