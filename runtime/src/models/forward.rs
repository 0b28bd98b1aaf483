//! The two halves of a step that every model takes: layers, then outputs in raw units.

use core::iter::repeat;

use super::likelihood::{categorical, noise_of};
use super::model::Model;
use super::network::{self, bernoulli_output, gaussian_output};
use super::outputs::Places;
use super::packed;
use super::prediction::Output;
use crate::checkpoint::{Cursor, Likelihood, Vector};
use crate::moments::Moments;

impl<'m> Model<'m> {
    /// Brings the layers one sample forward, from standardised `inputs`. Returns the payload after the layers.
    pub(super) fn recur(
        &self,
        recurrent: &mut [f32],
        scratch: &mut [f32],
        inputs: impl Iterator<Item = Moments>,
    ) -> Cursor<'m> {
        let (spec, mut weights) = (self.spec(), self.weights);
        if spec.layout.is_packed() {
            packed::recur(spec, &mut weights, scratch, recurrent, inputs);
        } else {
            network::recur(spec, &mut weights, scratch, recurrent, inputs);
        }
        weights
    }

    /// Writes what the outputs are, in raw units, after [`recur`](Self::recur) has brought the layers forward.
    #[inline(never)] // a step is short of stack, not of calls
    pub(super) fn emit(
        &self,
        mut weights: Cursor<'m>,
        recurrent: &[f32],
        scratch: &mut [f32],
        [mean, epistemic, aleatoric]: Places<'_>,
    ) {
        let spec = self.spec();
        let below = recurrent.get(spec.last_units()).unwrap_or_default();
        let mut after_output = weights;
        after_output.skip(spec.output_shape());
        let noise_var = after_output.vector(Vector::NoiseVar, spec);
        let calibration = after_output.vector(Vector::Calibration, spec);
        let units = self.output_mean.iter().zip(self.output_std.iter());
        let noises = noise_var.iter().chain(repeat(0.0)).zip(calibration.iter().chain(repeat(1.0)));
        let places = mean.iter_mut().zip(epistemic.iter_mut().zip(aleatoric.iter_mut()));
        let mut channels = places.zip(units.zip(noises));
        let mut held = None;
        let each = |y: Moments| {
            let (y, noise) = match (spec.likelihood, held.take()) {
                // The row of the mean waits for that of the noise.
                (Likelihood::Heteroscedastic, None) => {
                    held = Some(y);
                    return;
                }
                (Likelihood::Heteroscedastic, Some(mean)) => (mean, noise_of(y)),
                _ => (y, 0.0),
            };
            if let Some(((mean, (epistemic, aleatoric)), ((raw_mean, raw_std), (noise_var, calibration)))) =
                channels.next()
            {
                let output = match spec.likelihood {
                    Likelihood::Gaussian => gaussian_output(y, raw_mean, raw_std, noise_var, calibration),
                    Likelihood::Bernoulli => bernoulli_output(y),
                    Likelihood::Heteroscedastic => gaussian_output(y, raw_mean, raw_std, noise, calibration),
                    // Logits for now: probabilities need all of them.
                    Likelihood::Categorical => Output::of(y.mean, y.var, 0.0),
                };
                (*mean, *epistemic, *aleatoric) = (output.mean, output.epistemic, output.aleatoric);
            }
        };
        if spec.layout.is_packed() {
            packed::output_step(spec, &mut weights, scratch, below, each);
        } else {
            network::output_step(spec, &mut weights, scratch, below, each);
        }
        if spec.likelihood == Likelihood::Categorical {
            categorical(mean, epistemic, aleatoric);
        }
    }
}
