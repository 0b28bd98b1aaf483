//! Weights drawn from their posterior, and the gradient with respect to the parameters of the posterior.
//!
//! A drawn network is one of point weights. From its gradient those with respect to μ, ρ and r follow weight
//! by weight (Fortunato, Blundell and Vinyals 2017, fig. 1), in one pass over plain numbers: networks of
//! words have millions of weights, and as tensor operations these few formulas would take longer than the
//! network itself.

use std::collections::BTreeMap;
use std::f32::consts::TAU;

use super::step::LossAndGradient;
use super::weight_divergence::{MixtureDensity, closed_form_gradient};
use crate::nn::parameters::RATE_SUFFIX;
use crate::nn::vectorised::{self, Kernel, Processor};
use crate::nn::weight_spread::{WeightSpread, softplus_and_slope};
use crate::nn::{NamedTensor, Parameters, SharpenedSample, WeightPrior, WeightSample};

/// One draw of all weights.
#[derive(Clone, Debug)]
pub(crate) struct DrawnWeights<'a> {
    parameters: &'a Parameters,
    sample: WeightSample,
    lists: Vec<DrawnList>,
}

/// A list of weights: σ, dσ/dρ and φ = μ + σε.
#[derive(Clone, Debug)]
struct DrawnList {
    std_dev: Vec<f32>,
    slope: Vec<f32>,
    first: Vec<f32>,
}

impl<'a> DrawnWeights<'a> {
    /// φ = μ + σ∘ε; noise is in the order of [`Parameters::weight_lists`].
    ///
    /// # Panics
    /// If the posterior is not that of Bayes by Backprop.
    pub(crate) fn new(parameters: &'a Parameters, noise: Vec<Vec<f32>>) -> Self {
        let lists = parameters.weight_lists().zip(&noise).map(|(mean, noise)| {
            let mut list = DrawnList {
                std_dev: vec![0.0; noise.len()],
                slope: vec![0.0; noise.len()],
                first: vec![0.0; noise.len()],
            };
            let stored = own_list(parameters, &mean.name, WeightSpread::Softplus.suffix());
            vectorised::run(Draw { mean: &mean.values, stored, noise, list: &mut list });
            list
        });
        let lists = lists.collect();
        DrawnWeights { parameters, sample: WeightSample { noise, sharpened: None }, lists }
    }

    /// The same φ, and θ around φ − η∘g_φ, where η = rσ₀².
    pub(crate) fn sharpened(mut self, sharpened: SharpenedSample) -> Self {
        self.sample.sharpened = Some(sharpened);
        self
    }

    /// The random numbers, and g_φ.
    #[cfg(test)]
    pub(crate) fn sample(&self) -> &WeightSample {
        &self.sample
    }

    /// The network of the weights that were drawn: θ = φ, or φ − η∘g_φ + σ₀ε₀.
    pub(crate) fn points(&self) -> Parameters {
        let lists = self.parameters.weight_lists();
        let weights = lists.enumerate().map(|(index, NamedTensor { name, kept, .. })| {
            let mut weights = self.lists[index].first.clone();
            if let Some(SharpenedSample { shift, noise, std_dev }) = &self.sample.sharpened {
                let shifts = own_list(self.parameters, name, RATE_SUFFIX).iter().zip(&shift[index]);
                for ((weight, (rate, shift)), noise) in weights.iter_mut().zip(shifts).zip(&noise[index]) {
                    *weight += std_dev * noise - rate * shift;
                }
            }
            if let Some(kept) = kept {
                weights
                    .iter_mut()
                    .zip(kept)
                    .filter(|(_, kept)| !**kept)
                    .for_each(|(weight, _)| *weight = 0.0);
            }
            weights
        });
        self.parameters.with_point_weights(weights)
    }

    /// KL(q(θ | φ, (x, y)) ‖ p(θ | φ)) = Σ (η g_φ)² / 2σ₀² of a sharpened posterior, in nats: both are normal
    /// with the standard deviation σ₀ (Fortunato, Blundell and Vinyals 2017, eqs. 7 and 9, section 6.1).
    pub(crate) fn sharpening_divergence(&self) -> f64 {
        let Some(SharpenedSample { shift, std_dev, .. }) = &self.sample.sharpened else { return 0.0 };
        let list = |(mean, shift): (&NamedTensor, &Vec<f32>)| -> f64 {
            let rates = own_list(self.parameters, &mean.name, RATE_SUFFIX);
            rates.iter().zip(shift).map(|(rate, shift)| f64::from(rate * shift).powi(2)).sum()
        };
        let squares: f64 = self.parameters.weight_lists().zip(shift).map(list).sum();
        squares / (2.0 * f64::from(*std_dev).powi(2))
    }

    /// Loss and gradient of the posterior, given those of [`DrawnWeights::points`] without any divergence.
    /// With a `share`, the divergence from the prior counts with this weight in the loss of a time step; a
    /// sharpened posterior belongs to its batch alone, so that its own divergence counts in full against the
    /// steps of the batch (Fortunato, Blundell and Vinyals 2017, eq. 9).
    pub(crate) fn pull_back(&self, found: LossAndGradient, share: Option<f32>) -> LossAndGradient {
        let names = self.parameters.point_lists().map(|list| list.name.clone());
        let mut gradients: BTreeMap<String, Vec<f32>> = names.zip(found.gradients).collect();
        let mut divergence = 0.0;
        for (index, NamedTensor { name, kept, .. }) in self.parameters.weight_lists().enumerate() {
            let mut by_weight = gradients.remove(name).expect("a gradient for every weight");
            if self.sample.sharpened.is_some() {
                let by_rate = self.by_rate(index, name, &by_weight, share.map(|_| found.steps));
                gradients.insert(format!("{name}{RATE_SUFFIX}"), by_rate);
            }
            let (by_stored, nats) =
                self.by_posterior(index, kept.as_deref(), &mut by_weight, share.unwrap_or(0.0));
            gradients.insert(format!("{name}{}", WeightSpread::Softplus.suffix()), by_stored);
            gradients.insert(name.clone(), by_weight);
            divergence += nats;
        }
        let in_order = |named: &NamedTensor| {
            // The prior, if it is learned, has no part in the likelihood.
            gradients.remove(&named.name).unwrap_or_else(|| vec![0.0; named.values.len()])
        };
        let mut gradients: Vec<Vec<f32>> = self.parameters.tensors.iter().map(in_order).collect();
        if let (Some(share), Some(WeightPrior::Learned)) = (share, self.parameters.method.posterior.prior()) {
            divergence = closed_form_gradient(self.parameters, share, &mut gradients);
        }
        let sharpening = self.sharpening_divergence() / found.steps as f64;
        let divergence = share.map_or(0.0, |share| f64::from(share) * divergence + sharpening);
        LossAndGradient { gradients, divergence, ..found }
    }

    /// By r, with s = σ₀²g_φ: −g_θ s, and r s²/σ₀² of the divergence, which counts against `steps` if it
    /// counts at all.
    fn by_rate(&self, index: usize, name: &str, by_weight: &[f32], steps: Option<usize>) -> Vec<f32> {
        let Some(SharpenedSample { shift, std_dev, .. }) = &self.sample.sharpened else {
            return Vec::new();
        };
        let factor = steps.map_or(0.0, |steps| 1.0 / (std_dev * std_dev * steps as f32));
        let rates = own_list(self.parameters, name, RATE_SUFFIX).iter();
        let terms = rates.zip(&shift[index]).zip(by_weight);
        terms.map(|((rate, shift), by_weight)| shift * (factor * rate * shift - by_weight)).collect()
    }

    /// Turns the gradient by θ into that by μ, and returns the one by ρ, with the estimate of the divergence
    /// from a mixture prior. Pruned weights have neither: they are no longer random.
    fn by_posterior(
        &self,
        index: usize,
        kept: Option<&[bool]>,
        by_weight: &mut [f32],
        share: f32,
    ) -> (Vec<f32>, f64) {
        let (list, noise) = (&self.lists[index], &self.sample.noise[index][..]);
        let Some(kept) = kept else { return self.by_list(list, noise, by_weight, share) };
        let DrawnList { std_dev, slope, first } = list;
        let list =
            DrawnList { std_dev: left(std_dev, kept), slope: left(slope, kept), first: left(first, kept) };
        let mut by_left = left(by_weight, kept);
        let (by_stored, nats) = self.by_list(&list, &left(noise, kept), &mut by_left, share);
        by_weight.copy_from_slice(&with_zeros(&by_left, kept));
        (with_zeros(&by_stored, kept), nats)
    }

    /// The same of a list none of which was pruned. The divergence is Σ ln N(φ | μ, σ²) − ln p(φ), whose
    /// first term is −½ε² − ln σ − ½ ln 2π, so that its derivatives by φ and by μ cancel.
    fn by_list(&self, list: &DrawnList, noise: &[f32], by_weight: &mut [f32], share: f32) -> (Vec<f32>, f64) {
        let mut by_stored = vec![0.0; noise.len()];
        let Some(WeightPrior::Mixture(mixture)) = self.parameters.method.posterior.prior() else {
            let slopes = noise.iter().zip(&list.slope);
            for ((to, by), (noise, slope)) in by_stored.iter_mut().zip(by_weight).zip(slopes) {
                *to = *by * noise * slope;
            }
            return (by_stored, 0.0);
        };
        let mut nats = 0.0;
        vectorised::run(PullBack {
            list,
            noise,
            prior: MixtureDensity::new(mixture),
            share,
            by_weight,
            by_stored: &mut by_stored,
            nats: &mut nats,
        });
        (by_stored, nats)
    }
}

/// The values of weights that pruning has left.
fn left(values: &[f32], kept: &[bool]) -> Vec<f32> {
    values.iter().zip(kept).filter(|(_, kept)| **kept).map(|(value, _)| *value).collect()
}

/// Values of the weights that are left, with zeros for pruned ones.
fn with_zeros(values: &[f32], kept: &[bool]) -> Vec<f32> {
    let mut values = values.iter();
    kept.iter().map(|kept| if *kept { values.next().copied().unwrap_or(0.0) } else { 0.0 }).collect()
}

/// The list of a posterior with this suffix.
fn own_list<'a>(parameters: &'a Parameters, name: &str, suffix: &str) -> &'a [f32] {
    let list = parameters.get(&format!("{name}{suffix}")).expect("the lists of Bayes by Backprop");
    &list.values
}

/// σ, its slope, and φ of a list.
struct Draw<'a> {
    mean: &'a [f32],
    stored: &'a [f32],
    noise: &'a [f32],
    list: &'a mut DrawnList,
}

impl Kernel for Draw<'_> {
    #[inline(always)]
    fn run<P: Processor>(self) {
        let Draw { mean, stored, noise, list: DrawnList { std_dev, slope, first } } = self;
        for (stored, (std_dev, slope)) in stored.iter().zip(std_dev.iter_mut().zip(slope)) {
            [*std_dev, *slope] = softplus_and_slope(*stored);
        }
        for ((first, mean), (noise, std_dev)) in first.iter_mut().zip(mean).zip(noise.iter().zip(std_dev)) {
            *first = mean + *std_dev * noise;
        }
    }
}

/// Weights that are handled together: the sum of as many logarithms is one of a product in f64, which does
/// not leave its range.
const BLOCK: usize = 8;

struct PullBack<'a> {
    list: &'a DrawnList,
    noise: &'a [f32],
    prior: MixtureDensity,
    share: f32,
    by_weight: &'a mut [f32],
    by_stored: &'a mut [f32],
    nats: &'a mut f64,
}

impl Kernel for PullBack<'_> {
    #[inline(always)]
    fn run<P: Processor>(self) {
        let PullBack { list: DrawnList { std_dev, slope, first }, noise, prior, share, .. } = self;
        // −½ε² − ln p(φ).
        let mut logs = vec![0.0_f32; noise.len()];
        // Zipped, so that no index has to be checked and the loop is one of vectors.
        let constants = noise.iter().zip(first).zip(std_dev.iter().zip(slope));
        let written = logs.iter_mut().zip(self.by_weight.iter_mut().zip(self.by_stored));
        for ((log, (by_weight, by_stored)), ((noise, first), (std_dev, slope))) in written.zip(constants) {
            let [log_density, by_first] = prior.log_density(*first);
            *log = -0.5 * noise * noise - log_density;
            *by_weight -= share * by_first;
            *by_stored = (*by_weight * noise - share / std_dev) * slope;
        }
        let log_std_devs = std_dev
            .chunks(BLOCK)
            .map(|block| libm::log(block.iter().map(|std_dev| f64::from(*std_dev)).product()));
        let constants = noise.len() as f64 * 0.5 * f64::from(TAU).ln();
        *self.nats =
            logs.iter().map(|log| f64::from(*log)).sum::<f64>() - log_std_devs.sum::<f64>() - constants;
    }
}

#[cfg(test)]
mod tests;
