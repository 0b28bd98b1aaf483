//! The two halves of a step that every model takes: layers, then outputs in raw units.

use super::input::RawRow;
use super::likelihood::{bernoulli_output, categorical, from_last, gaussian_output, noise_of};
use super::model::Model;
#[cfg(feature = "plain")]
use super::network;
use super::outputs::Places;
#[cfg(feature = "packed")]
use super::packed;
use super::prediction::Output;
use crate::checkpoint::{Cursor, Likelihood, Target};
use crate::moments::Moments;

impl<'m> Model<'m> {
    /// Brings the layers one sample forward, from pairs of standardised `inputs`. Returns the payload after the layers.
    pub(super) fn recur(
        &self,
        recurrent: &mut [f32],
        scratch: &mut [f32],
        mut inputs: impl Iterator<Item = [Moments; 2]>,
    ) -> Cursor<'m> {
        let (spec, mut weights) = (self.spec(), self.weights);
        match spec.layout.runs_packed() {
            #[cfg(feature = "packed")]
            true => packed::recur(spec, &mut weights, scratch, recurrent, &mut inputs),
            #[cfg(feature = "plain")]
            false => network::recur(spec, &mut weights, scratch, recurrent, &mut inputs),
            #[cfg(not(all(feature = "packed", feature = "plain")))]
            _ => &[],
        };
        weights
    }

    /// Writes what the outputs are, in raw units, after [`recur`](Self::recur) has brought the layers forward from `row`.
    #[inline(never)] // a step is short of stack, not of calls
    pub(super) fn emit(
        &self,
        mut weights: Cursor<'m>,
        recurrent: &[f32],
        scratch: &mut [f32],
        row: Option<RawRow<'_>>,
        mut places: Places<'_>,
    ) {
        let spec = self.spec();
        let below = recurrent.get(spec.last_units()).unwrap_or_default();
        let [noise_var, calibration] = weights.last_vectors(spec);
        let mut channel = 0;
        let mut held = None;
        let each = |y: Moments| {
            let (y, noise) = match (spec.likelihood, held.take()) {
                // The row of the mean waits for that of the noise.
                (Likelihood::Heteroscedastic, None) => {
                    held = Some(y);
                    return;
                }
                (Likelihood::Heteroscedastic, Some(mean)) => (mean, noise_of(y)),
                _ => (y, noise_var.at(channel)),
            };
            let y = match spec.target {
                // The prediction that was made for the row is still in its place.
                Target::Change => {
                    from_last(self.input(row, channel, places.each_ref().map(|list| &**list)), y)
                }
                Target::Next | Target::Columns => y,
            };
            let (raw_mean, raw_std) = (self.output_mean.at(channel), self.output_std.at(channel));
            let output = match spec.likelihood {
                Likelihood::Gaussian | Likelihood::Heteroscedastic => {
                    gaussian_output(y, raw_mean, raw_std, noise, calibration.at(channel))
                }
                Likelihood::Bernoulli => bernoulli_output(y),
                // Logits for now: probabilities need all of them.
                Likelihood::Categorical => Output::of(y.mean, y.var, 0.0),
            };
            for (places, part) in places.iter_mut().zip([output.mean, output.epistemic, output.aleatoric]) {
                if let Some(place) = places.get_mut(channel) {
                    *place = part;
                }
            }
            channel += 1;
        };
        match spec.layout.runs_packed() {
            #[cfg(feature = "packed")]
            true => packed::output_step(spec, &mut weights, scratch, below, each),
            #[cfg(feature = "plain")]
            false => network::output_step(spec, &mut weights, scratch, below, each),
            #[cfg(not(all(feature = "packed", feature = "plain")))]
            _ => {}
        }
        if spec.likelihood == Likelihood::Categorical {
            let [mean, epistemic, aleatoric] = places;
            categorical(mean, epistemic, aleatoric);
        }
    }
}
