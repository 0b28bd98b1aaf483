//! The learned correction of a model's outputs.

use super::covariance::{Covariance, Factors, at_least};
use super::options::AdaptOptions;
use crate::arena::ArenaSplitter;
use crate::backend;
use crate::likelihood::Z_LIMIT;
use crate::limits::{UNIT_LIMIT, WEIGHT_LIMIT};
use crate::models::model::Model;
use crate::models::state::State;
use crate::moments::at_most;
use crate::spec::{AnyArchitecture, ModelSpec};

/// Independent labels that the exported noise variance counts for, when it is compared with the errors.
const NOISE_PRIOR: f32 = 2.0;

/// Words of memory for a readout of a network with this many outputs and units in its last layer.
pub(crate) const fn readout_words(outputs: usize, units: usize, covariance: Covariance) -> usize {
    let features = units + 1;
    features + outputs * (features + 2) + Factors::words(covariance, features)
}

/// Features of a readout: the units of the last layer, and one.
pub(super) fn features(spec: &ModelSpec) -> usize {
    spec.layers.last().map_or(0, |layer| usize::from(layer.units)) + 1
}

/// A correction wᵀφ of each output, with φ = (E[h], 1) of the last layer's units h, in units of the output's
/// training standard deviation. The exported output map is the prior mean: w starts at zero.
///
/// What is uncertain about w adds σ²φᵀPφ to the epistemic variance, where σ² is the output's aleatoric
/// variance (Bishop 2006, eq. 3.59). Both variances are multiplied by a factor c ≥ 1: the mean square of past
/// errors in predicted standard deviations, the mean of a scaled inverse χ² posterior of the noise (Gelman et
/// al. 2013, section 2.6), but never below the exported noise: the first labels of a stream are often those
/// of a person at rest.
#[derive(Debug)]
pub(super) struct Readout<'a> {
    pub(super) options: AdaptOptions,
    /// φ.
    features: &'a mut [f32],
    /// w, output after output.
    pub(super) weights: &'a mut [f32],
    /// For each output the weighted sum of squared errors, and the sum of weights.
    pub(super) noise: &'a mut [f32],
    pub(super) factors: Factors<'a>,
    /// Whether the last prediction has not been learned from yet.
    pub(super) fresh: bool,
}

impl<'a> Readout<'a> {
    /// A readout that has learned nothing, in the words of [`readout_words`].
    pub(super) fn carve(spec: &ModelSpec, words: &'a mut [f32], options: AdaptOptions) -> Option<Self> {
        let (mut words, features) = (ArenaSplitter::new(words), features(spec));
        let outputs = usize::from(spec.outputs);
        let mut readout = Readout {
            options,
            features: words.carve(features)?,
            weights: words.carve(outputs * features)?,
            noise: words.carve(2 * outputs)?,
            factors: Factors::carve(&mut words, features, &options)?,
            fresh: false,
        };
        readout.forget();
        Some(readout)
    }

    /// Forgets what was learned.
    pub(super) fn forget(&mut self) {
        self.weights.fill(0.0);
        self.noise.fill(0.0);
        self.factors.forget();
    }

    /// Reads the units of the last layer.
    #[inline(never)] // once in flash, not once per caller
    pub(super) fn read_features(&mut self, spec: &ModelSpec, state: &State<'_>) {
        // The gain is free until the next update; variances of units are not used.
        backend::read_units::<AnyArchitecture>(spec, state.recurrent, self.features, self.factors.gain);
        if let Some(one) = self.features.last_mut() {
            *one = 1.0;
        }
        self.factors.set_features(self.features);
    }

    /// Corrects the outputs that the model has just written.
    pub(super) fn correct(&mut self, model: &Model<'_>, state: &mut State<'_>) {
        self.read_features(model.spec(), state);
        let count = self.features.len();
        let rows = self.weights.chunks_exact(count.max(1)).zip(self.noise.as_chunks().0);
        let [means, epistemic, aleatoric] = state.outputs.slices();
        let outputs = means.iter_mut().zip(epistemic.iter_mut().zip(aleatoric));
        let scales = model.held.parts.output_std_dev.iter();
        for (((mean, (epistemic, aleatoric)), std_dev), (weights, noise)) in outputs.zip(scales).zip(rows) {
            let correction = weights.iter().zip(&*self.features).fold(0.0, |sum, (w, x)| sum + w * x);
            let corrected = *mean + std_dev * correction;
            *mean = if corrected.is_finite() { corrected } else { *mean };
            let scale = noise_scale(*noise);
            *epistemic = at_most((*epistemic + *aleatoric * self.factors.variance) * scale, f32::MAX);
            *aleatoric = at_most(*aleatoric * scale, f32::MAX);
        }
        self.fresh = true;
    }

    /// Learns from the labels of the last prediction; `false` if there was nothing to learn.
    #[inline(never)]
    pub(super) fn learn(&mut self, model: &Model<'_>, state: &State<'_>, truth: &[f32]) -> bool {
        let outputs = usize::from(model.spec().outputs);
        let labels = truth.iter().take(outputs).filter(|label| label.is_finite()).count();
        if labels == 0 || !self.fresh {
            return false;
        }
        // One covariance for all outputs: it shrinks only if all of them have learned.
        if !self.factors.update(self.features, self.options.forgetting, labels < outputs) {
            return false;
        }
        self.fresh = false;
        let rows = self.weights.chunks_exact_mut(self.features.len().max(1));
        let rows = rows.zip(self.noise.as_chunks_mut().0).zip(model.held.parts.output_std_dev.iter());
        let predicted = state.outputs.prediction();
        for ((label, output), ((weights, noise), std_dev)) in truth.iter().zip(predicted.iter()).zip(rows) {
            if !label.is_finite() {
                continue;
            }
            let error = limited((label - output.mean) / std_dev, UNIT_LIMIT);
            for (weight, gain) in weights.iter_mut().zip(&*self.factors.gain) {
                *weight = limited(*weight + gain * error, WEIGHT_LIMIT);
            }
            let z = limited((label - output.mean) / output.std_dev(), Z_LIMIT as f32);
            count_error(noise, z, &self.options);
        }
        true
    }
}

/// Adds an error of z predicted standard deviations to the sums of an output.
fn count_error(noise: &mut [f32; 2], z: f32, options: &AdaptOptions) {
    // The prediction was already scaled by what is known so far.
    let squared = z * z * noise_scale(*noise);
    let [sum, count] = noise;
    *sum = at_most(options.forgetting * *sum + squared / options.correlation, NOISE_LIMIT);
    *count = at_most(options.forgetting * *count + 1.0 / options.correlation, NOISE_LIMIT);
}

/// Largest sum of squared errors.
pub(super) const NOISE_LIMIT: f32 = 1e24;

/// Factor on variances that past errors suggest.
fn noise_scale([sum, count]: [f32; 2]) -> f32 {
    let scale = (NOISE_PRIOR + sum) / (NOISE_PRIOR + count);
    at_least(scale, 1.0)
}

/// The value inside ±`limit`, and zero for NaN.
fn limited(value: f32, limit: f32) -> f32 {
    if value.is_nan() { 0.0 } else { at_least(at_most(value, limit), -limit) }
}
