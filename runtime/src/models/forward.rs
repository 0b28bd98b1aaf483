//! The two halves of a step that every model takes: layers, then outputs in raw units.

use super::input::LastRow;
use super::likelihood::{bernoulli_output, categorical, from_last, gaussian_output, noise_of};
use super::model::Model;
#[cfg(feature = "float")]
use super::network;
use super::outputs::OutputSlices;
use super::prediction::Output;
#[cfg(feature = "quantized")]
use super::quantized;
use crate::cells::InputPairs;
#[cfg(feature = "float")]
use crate::cells::each_pair;
use crate::checkpoint::{Cursor, F32s, Likelihood, Target};
use crate::moments::Moments;

impl<'m> Model<'m> {
    /// Brings the layers one sample forward, from the standardised `inputs`. Returns the payload after the layers.
    pub(super) fn recur(
        &self,
        recurrent: &mut [f32],
        scratch: &mut [f32],
        inputs: &impl InputPairs,
    ) -> Cursor<'m> {
        let (spec, mut weights) = (self.spec(), self.weights);
        match spec.layout.runs_quantized() {
            #[cfg(feature = "quantized")]
            true => quantized::recur(spec, &mut weights, scratch, recurrent, inputs),
            #[cfg(feature = "float")]
            false => {
                let pairs = each_pair(inputs, spec.inputs.into());
                network::recur(spec, &mut weights, scratch, recurrent, pairs);
            }
            #[cfg(not(all(feature = "quantized", feature = "float")))]
            _ => {}
        }
        weights
    }

    /// Writes what the outputs are, in raw units, after [`recur`](Self::recur) has brought the layers forward from `last`.
    #[inline(never)] // a step is short of stack, not of calls
    pub(super) fn emit(
        &self,
        mut weights: Cursor<'m>,
        recurrent: &[f32],
        scratch: &mut [f32],
        last: LastRow<'_>,
        mut places: OutputSlices<'_>,
    ) {
        let spec = self.spec();
        let below = recurrent.get(spec.last_units()).unwrap_or_default();
        let [noise_var, calibration] = weights.last_vectors(spec);
        let mut emission = Emission {
            model: self,
            last,
            places: &mut places,
            noise_var,
            calibration,
            channel: 0,
            held: None,
        };
        let each = |y: Moments| emission.add(y);
        match spec.layout.runs_quantized() {
            #[cfg(feature = "quantized")]
            true => quantized::output_step(spec, &mut weights, scratch, below, each),
            #[cfg(feature = "float")]
            false => network::output_step(spec, &mut weights, scratch, below, each),
            #[cfg(not(all(feature = "quantized", feature = "float")))]
            _ => {}
        }
        if spec.likelihood == Likelihood::Categorical {
            let [mean, epistemic, aleatoric] = places;
            categorical(mean, epistemic, aleatoric);
        }
    }

    /// Moments of a channel of the row that changes, given what was predicted for it.
    fn last(&self, row: LastRow<'_>, channel: usize, predicted: [&[f32]; 3]) -> Moments {
        match row {
            LastRow::Raw(row) => self.input(row, channel, predicted),
            LastRow::Standardised(fed) => fed.at(channel),
        }
    }
}

/// Outputs on their way to raw units, row after row of the output map.
struct Emission<'e, 'p> {
    model: &'e Model<'e>,
    /// The row that outputs are added to, if they are changes.
    last: LastRow<'e>,
    places: &'e mut OutputSlices<'p>,
    noise_var: F32s<'e>,
    calibration: F32s<'e>,
    /// The output that comes next.
    channel: usize,
    /// The row of a mean that waits for that of its noise.
    held: Option<Moments>,
}

impl Emission<'_, '_> {
    /// Takes the moments of the next row, and writes an output when all its rows are there.
    #[inline(never)] // once in flash, and its registers are free again for the next rows
    fn add(&mut self, y: Moments) {
        let (model, channel) = (self.model, self.channel);
        let (y, noise) = match (model.spec().likelihood, self.held.take()) {
            (Likelihood::Heteroscedastic, None) => {
                self.held = Some(y);
                return;
            }
            (Likelihood::Heteroscedastic, Some(mean)) => (mean, noise_of(y)),
            _ => (y, self.noise_var.at(channel)),
        };
        let y = match model.spec().target {
            // The prediction that was made for the row is still in its place.
            Target::ResidualNext | Target::ResidualSame => {
                from_last(model.last(self.last, channel, self.places.each_ref().map(|list| &**list)), y)
            }
            Target::Next | Target::Columns => y,
        };
        let (raw_mean, raw_std) = (model.output_mean.at(channel), model.output_std_dev.at(channel));
        let output = match model.spec().likelihood {
            Likelihood::Gaussian | Likelihood::Heteroscedastic => {
                gaussian_output(y, raw_mean, raw_std, noise, self.calibration.at(channel))
            }
            Likelihood::Bernoulli => bernoulli_output(y),
            // Logits for now: probabilities need all of them.
            Likelihood::Categorical => Output::of(y.mean, y.var, 0.0),
        };
        for (places, part) in self.places.iter_mut().zip([output.mean, output.epistemic, output.aleatoric]) {
            if let Some(place) = places.get_mut(channel) {
                *place = part;
            }
        }
        self.channel = channel + 1;
    }
}
