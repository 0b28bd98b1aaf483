//! All trainable parameters, as named lists of numbers.

use std::borrow::Borrow;

use quaver::checkpoint::{Likelihood, ModelSpec, UnitNoise};
use serde::{Deserialize, Serialize};

use super::method::TrainingMethod;
use super::weight_posterior::{WeightPosterior, WeightPrior};
use super::weight_spread::WeightSpread;

/// Limit of the absolute logarithm of a noise variance, in standardised units.
///
/// Without it, a target that can be predicted exactly would drive the logarithm to −∞. The limit lies well
/// within what a checkpoint can hold.
const LOG_NOISE_LIMIT: f32 = quaver::likelihood::LOG_NOISE_LIMIT as f32;

/// Limit of the absolute value of: the logarithm of the prior variance and of β − β_min, and the logit of a
/// keep probability. Far beyond any effect, and within what a checkpoint can hold.
const LOG_LIMIT: f32 = 14.0;

/// What is appended to the name of a list of means for that of η, the rates of a sharpened posterior.
pub(crate) const RATE_SUFFIX: &str = "_rate";

/// Noise variance of outputs with implicit variance, in standardised units: a floor only.
pub const IMPLICIT_NOISE: f32 = 1e-6;

/// All trainable parameters of a network, in an order determined by its [`ModelSpec`] and [`TrainingMethod`].
///
/// For each layer k `layer{k}.weight` `[rows, columns]` with columns [x, h] and `layer{k}.bias` `[rows]`, or
/// more; then `output.weight` `[rows, units]`, `output.bias` `[rows]` (two rows per output of a
/// heteroscedastic likelihood, mean and log-variance, one row otherwise) and, for a Gaussian likelihood,
/// `output.log_noise` `[outputs]`: the logarithm of the noise variance of each output in standardised units.
/// An LSTM has four rows per unit, one after the other: input gate, forget gate, cell input, output gate. A
/// GRU has three, reset gate, update gate, candidate, but four biases per unit, b_r, b_z, b_nx, b_nh: the
/// candidate's product with h, which the reset gate multiplies, has one of its own. Weights that PyTorch
/// calls `weight_ih`, `weight_hh`, `bias_ih`, `bias_hh` (rows r, z, n) go there as they are but for b_r and
/// b_z, which are sums of both.
///
/// A training method appends lists. If weights have variances τ = σ²: `{part}.weight_log_var` and
/// `{part}.bias_log_var`, their logarithms, or for Bayes by Backprop `{part}.weight_rho` and
/// `{part}.bias_rho`, σ = softplus(ρ), for every layer and the output; then, for a sharpened posterior,
/// `{part}.weight_rate` and `{part}.bias_rate`, η, and for a learned prior `prior.mean` and `prior.log_var`.
/// If β is learned: `{part}.log_scale`, ln(β − β_min). If keep probabilities are learned:
/// `layer{k}.input_logit`, `layer{k}.recurrent_logit` and `output.logit` where there is dropout. The lists of
/// the prior, of β and of keep probabilities have one number each.
///
/// A pruned weight ([`NamedTensor::kept`]) is zero, and what is stored for its variance has no effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// The training method that determines the lists.
    pub method: TrainingMethod,
    /// The lists, in order.
    pub tensors: Vec<NamedTensor>,
}

/// A list of numbers with its name and shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedTensor {
    /// Its name.
    pub name: String,
    /// Size of each dimension.
    pub shape: Vec<usize>,
    /// Values, last dimension fastest.
    pub values: Vec<f32>,
    /// Whether pruning has left each value; `None` if nothing was pruned. Only lists of weights have one. Not
    /// part of the encoding: the state of a run stores it apart.
    #[serde(skip)]
    pub kept: Option<Vec<bool>>,
}

impl NamedTensor {
    pub(crate) fn zeros(name: String, shape: &[usize]) -> Self {
        NamedTensor { name, shape: shape.to_vec(), values: vec![0.0; shape.iter().product()], kept: None }
    }

    /// Its name without that of the layer or other part.
    fn last_name(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or_default()
    }

    /// One for every value that pruning has left and zero for the others; nothing if nothing was pruned.
    pub(super) fn mask(&self) -> Option<Vec<f32>> {
        let kept = self.kept.as_ref()?;
        Some(kept.iter().map(|kept| f32::from(u8::from(*kept))).collect())
    }

    /// Whether these are weights or biases, or the means of them.
    pub(crate) fn is_weight(&self) -> bool {
        matches!(self.last_name(), "weight" | "bias")
    }

    /// Whether a network of point weights does not have it: variances of weights, rates of sharpening, the
    /// prior.
    fn is_of_posterior(&self) -> bool {
        let of_weights = ["weight_", "bias_"].iter().any(|prefix| self.last_name().starts_with(prefix));
        of_weights || self.name.starts_with("prior.")
    }
}

impl Parameters {
    /// All parameters zero, for a network with point weights.
    pub fn zeros(spec: &ModelSpec) -> Self {
        Parameters::zeros_for(spec, TrainingMethod::default())
    }

    /// All parameters zero.
    pub fn zeros_for(spec: &ModelSpec, method: TrainingMethod) -> Self {
        let zeros = |(name, shape): (String, Vec<usize>)| NamedTensor::zeros(name, &shape);
        Parameters { method, tensors: shapes(spec, method).into_iter().map(zeros).collect() }
    }

    /// Lists that belong to no particular network.
    #[cfg(test)]
    pub(crate) fn of(tensors: Vec<NamedTensor>) -> Self {
        Parameters { method: TrainingMethod::default(), tensors }
    }

    /// The list with this name, if the network has it.
    pub fn get(&self, name: &str) -> Option<&NamedTensor> {
        self.tensors.iter().find(|tensor| tensor.name == name)
    }

    /// Like [`Parameters::get`], mutable.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut NamedTensor> {
        self.tensors.iter_mut().find(|tensor| tensor.name == name)
    }

    /// The means of all weights and biases, list by list.
    pub fn weight_lists(&self) -> impl Iterator<Item = &NamedTensor> {
        self.tensors.iter().filter(|tensor| tensor.is_weight())
    }

    /// The lists of the network with point weights.
    pub(crate) fn point_lists(&self) -> impl Iterator<Item = &NamedTensor> {
        self.tensors.iter().filter(|tensor| !tensor.is_of_posterior())
    }

    /// The network with these point weights, list by list in the order of [`Parameters::weight_lists`].
    pub(crate) fn with_point_weights(&self, weights: impl IntoIterator<Item = Vec<f32>>) -> Self {
        let mut weights = weights.into_iter();
        let list = |named: &NamedTensor| {
            let values = if named.is_weight() { weights.next()? } else { named.values.clone() };
            Some(NamedTensor { values, ..named.clone() })
        };
        let tensors = self.point_lists().filter_map(list).collect();
        Parameters { method: TrainingMethod { posterior: WeightPosterior::Point, ..self.method }, tensors }
    }

    /// These parameters for the method of `initial`. A posterior that was not sharpened so far has the rates
    /// of `initial`; nothing if the methods differ in anything else.
    pub(crate) fn sharpened_like(mut self, initial: &Parameters) -> Option<Self> {
        if self.method == initial.method {
            return Some(self);
        }
        let posterior = initial.method.posterior.without_sharpening();
        if self.method != (TrainingMethod { posterior, ..initial.method }) {
            return None;
        }
        let is_rate = |named: &&NamedTensor| named.name.ends_with(RATE_SUFFIX);
        for (place, rates) in initial.tensors.iter().enumerate().filter(|(_, named)| is_rate(named)) {
            self.tensors.insert(place.min(self.tensors.len()), rates.clone());
        }
        self.method = initial.method;
        Some(self)
    }

    /// Noise variance of each output in standardised units; empty unless the likelihood is Gaussian.
    pub fn noise_var(&self, spec: &ModelSpec) -> Vec<f32> {
        if spec.likelihood == Likelihood::Gaussian && self.method.implicit_variance {
            return vec![IMPLICIT_NOISE; spec.outputs.into()];
        }
        let log_noise = self.get("output.log_noise").map_or(&[][..], |tensor| &tensor.values);
        log_noise.iter().map(|log| libm::expf(*log)).collect()
    }

    /// The architecture with learned keep probabilities and variance scales filled in.
    pub fn resolved(&self, spec: &ModelSpec) -> ModelSpec {
        let mut spec = spec.clone();
        let number = |name: String| self.get(&name).and_then(|tensor| tensor.values.first().copied());
        let noise = |name: String, noise: &mut UnitNoise| {
            if let Some(logit) = number(name) {
                *noise = UnitNoise::Dropout { keep: 1.0 / (1.0 + libm::expf(-logit)) };
            }
        };
        let scale = |name: String, scale: &mut f32| {
            if let Some((log, least)) = number(name).zip(self.method.scale_min) {
                *scale = least + libm::expf(log);
            }
        };
        for (index, layer) in spec.layers.iter_mut().enumerate() {
            noise(format!("layer{index}.input_logit"), &mut layer.input_noise);
            noise(format!("layer{index}.recurrent_logit"), &mut layer.recurrent_noise);
            scale(format!("layer{index}.log_scale"), &mut layer.variance_scale);
        }
        noise("output.logit".into(), &mut spec.output.noise);
        scale("output.log_scale".into(), &mut spec.output.variance_scale);
        spec
    }

    /// Whether these are the parameters of such a network: every name and shape in its place.
    pub fn fits(&self, spec: &ModelSpec) -> bool {
        have_shapes(&self.tensors, &shapes(spec, self.method))
    }

    /// Whether these are the parameters of such layers, without an output map.
    pub fn fits_layers(&self, spec: &ModelSpec) -> bool {
        let mut shapes = shapes(spec, self.method);
        shapes.retain(|(name, _)| !is_of_output(name));
        have_shapes(&self.tensors, &shapes)
    }

    /// Whether names and shapes equal those of `expected`.
    pub(crate) fn has_shapes_of(&self, expected: &Parameters) -> bool {
        let shape = |list: &NamedTensor| (list.name.clone(), list.shape.clone());
        have_shapes(&self.tensors, &expected.tensors.iter().map(shape).collect::<Vec<_>>())
    }

    /// The parameters without those of the output map.
    pub fn without_output(mut self) -> Self {
        self.tensors.retain(|tensor| !is_of_output(&tensor.name));
        self
    }

    /// The parameters of several networks as one list, each name with the prefix of its network. The method
    /// of the joined list is the default; the caller keeps the method of each network.
    pub fn joined(parts: impl IntoIterator<Item = (&'static str, Parameters)>) -> Self {
        let prefixed = |(prefix, part): (&str, Parameters)| -> Vec<NamedTensor> {
            let rename =
                |named: NamedTensor| NamedTensor { name: format!("{prefix}{}", named.name), ..named };
            part.tensors.into_iter().map(rename).collect()
        };
        let tensors = parts.into_iter().flat_map(prefixed).collect();
        Parameters { method: TrainingMethod::default(), tensors }
    }

    /// The parameters of one network in [`Parameters::joined`], by its prefix.
    pub fn part(&self, prefix: &str, method: TrainingMethod) -> Self {
        let own = |named: &NamedTensor| {
            let name = named.name.strip_prefix(prefix)?;
            let whole = name.split('.').count() == 2;
            whole.then(|| NamedTensor { name: name.to_string(), ..named.clone() })
        };
        Parameters { method, tensors: self.tensors.iter().filter_map(own).collect() }
    }

    /// Writes back changed values of [`Parameters::part`].
    pub fn put_part(&mut self, prefix: &str, part: Parameters) {
        for NamedTensor { name, values, .. } in part.tensors {
            if let Some(own) = self.get_mut(&format!("{prefix}{name}")) {
                own.values = values;
            }
        }
    }

    /// The largest absolute value; NaN if any parameter is NaN.
    pub fn largest(&self) -> f32 {
        let magnitudes = self.tensors.iter().flat_map(|tensor| &tensor.values).map(|value| value.abs());
        magnitudes.fold(0.0, |largest, value| if value > largest || value.is_nan() { value } else { largest })
    }

    /// Clamps parameters that the optimiser has moved out of their range, pruned weights to zero.
    pub fn clamp_to_limits(&mut self) {
        for NamedTensor { name, values, kept, .. } in &mut self.tensors {
            if let Some(kept) = kept {
                values.iter_mut().zip(kept).filter(|(_, kept)| !**kept).for_each(|(value, _)| *value = 0.0);
            }
            let [low, high] = match name.rsplit('.').next() {
                Some("log_noise") => [-LOG_NOISE_LIMIT, LOG_NOISE_LIMIT],
                Some("weight_log_var" | "bias_log_var") => WeightSpread::LogVar.limits(),
                Some("weight_rho" | "bias_rho") => WeightSpread::Softplus.limits(),
                Some("log_var" | "log_scale") => [-LOG_LIMIT, LOG_LIMIT],
                Some("input_logit" | "recurrent_logit" | "logit") => [-LOG_LIMIT, LOG_LIMIT],
                _ => continue,
            };
            values.iter_mut().for_each(|value| *value = value.clamp(low, high));
        }
    }
}

/// Name and shape of every list of a network, in their order. Without the numbers, which are millions in a
/// network of words: parameters are checked in every step.
pub(super) fn shapes(spec: &ModelSpec, method: TrainingMethod) -> Vec<(String, Vec<usize>)> {
    let affine = |suffix: &str| -> Vec<(String, Vec<usize>)> {
        let lists = |AffineShape { name, rows, columns, biases }: AffineShape| {
            [
                (format!("{name}.weight{suffix}"), vec![rows, columns]),
                (format!("{name}.bias{suffix}"), vec![biases]),
            ]
        };
        maps(spec).flat_map(lists).collect()
    };
    let number = |name: String| (name, vec![1]);
    let mut all = affine("");
    if spec.likelihood == Likelihood::Gaussian && !method.implicit_variance {
        all.push(("output.log_noise".into(), vec![spec.outputs.into()]));
    }
    let spreads = method.posterior.spread().map(WeightSpread::suffix);
    let rates = method.posterior.sharpening().map(|_| RATE_SUFFIX);
    all.extend(spreads.into_iter().chain(rates).flat_map(affine));
    if method.posterior.prior() == Some(WeightPrior::Learned) {
        all.extend(["prior.mean", "prior.log_var"].map(|name| number(name.into())));
    }
    if method.scale_min.is_some() {
        all.extend(maps(spec).map(|map| number(format!("{}.log_scale", map.name))));
    }
    if method.learned_keep {
        let dropouts = noises(spec).filter(|(_, noise)| matches!(noise, UnitNoise::Dropout { .. }));
        all.extend(dropouts.map(|(name, _)| number(name)));
    }
    all
}

/// Whether lists have these names and shapes.
pub(super) fn have_shapes<T: Borrow<NamedTensor>>(lists: &[T], expected: &[(String, Vec<usize>)]) -> bool {
    let matches = |(list, (name, shape)): (&T, &(String, Vec<usize>))| {
        let list: &NamedTensor = list.borrow();
        list.name == *name && list.shape == *shape && list.values.len() == shape.iter().product::<usize>()
    };
    lists.len() == expected.len() && lists.iter().zip(expected).all(matches)
}

fn is_of_output(name: &str) -> bool {
    name.starts_with("output.")
}

/// The sizes of an affine map.
pub(crate) struct AffineShape {
    /// `layer{k}` or `output`.
    pub(crate) name: String,
    /// Rows of weights.
    pub(crate) rows: usize,
    /// Weights per row.
    pub(crate) columns: usize,
    /// Biases: one per row, and one more per unit of a GRU.
    pub(crate) biases: usize,
}

/// The affine maps of a network: the layers', then the output's.
pub(crate) fn maps(spec: &ModelSpec) -> impl Iterator<Item = AffineShape> + '_ {
    let layers = spec.layers.iter().enumerate().map(|(index, layer)| {
        let units = usize::from(layer.units);
        let own = if layer.cell.is_recurrent() { units } else { 0 };
        AffineShape {
            name: format!("layer{index}"),
            rows: units * layer.cell.gates(),
            columns: layer_inputs(spec, index) + own,
            biases: units * layer.cell.biases(),
        }
    });
    let rows = usize::from(spec.outputs) * spec.likelihood.rows();
    let columns = output_columns(spec);
    layers.chain([AffineShape { name: "output".to_string(), rows, columns, biases: rows }])
}

/// The noise of every affine map, with the name of its logit if that is learned.
pub(crate) fn noises(spec: &ModelSpec) -> impl Iterator<Item = (String, UnitNoise)> + '_ {
    let layers = spec.layers.iter().enumerate().flat_map(|(index, layer)| {
        [
            (format!("layer{index}.input_logit"), layer.input_noise),
            (format!("layer{index}.recurrent_logit"), layer.recurrent_noise),
        ]
    });
    layers.chain([("output.logit".to_string(), spec.output.noise)])
}

/// Columns of the output map: the units of the last layer, or none without layers.
pub(crate) fn output_columns(spec: &ModelSpec) -> usize {
    spec.layers.last().map_or(0, |layer| layer.units.into())
}

/// Inputs of layer `index`.
pub(crate) fn layer_inputs(spec: &ModelSpec, index: usize) -> usize {
    match index.checked_sub(1).map(|below| &spec.layers[below]) {
        Some(below) => below.units.into(),
        None => spec.inputs.into(),
    }
}

#[cfg(test)]
mod tests;
