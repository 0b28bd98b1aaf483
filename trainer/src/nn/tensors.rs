//! Parameters as Burn tensors, for the duration of one step.

use burn::tensor::activation::sigmoid;
use burn::tensor::{Device, Gradients, Tensor, TensorData};
use quaver::checkpoint::{CellKind, LayerSpec, ModelSpec, UnitNoise};
use quaver::noise::NoiseCoefficients;

use super::method::{TrainingMethod, WeightNoise};
use super::net::MomentTensors;
use super::noise_layer::{NoiseLayer, VarianceScale};
use super::parameters::{NamedTensor, Parameters, have_shapes, shapes};
use super::posterior_tensors::{NormalPrior, PosteriorTensors, Posteriors};
use super::weight_posterior::WeightPrior;

/// Moments of the weights and biases of one affine map, including noise on weights.
#[derive(Clone, Debug)]
pub struct AffineTensors {
    /// Means of the weights, [rows, columns].
    pub weight: Tensor<2>,
    /// Means of the biases, `[rows]`, or more if a cell has more biases than rows per unit.
    pub bias: Tensor<1>,
    /// Variances of the weights; `None` if all are zero.
    pub weight_var: Option<Tensor<2>>,
    /// Variances of the biases; `None` if all are zero.
    pub bias_var: Option<Tensor<1>>,
}

impl AffineTensors {
    /// The input's share of a layer's map: the columns of its inputs, and a bias for each row.
    pub fn from_input(&self, cell: CellKind, inputs: usize) -> AffineTensors {
        let (bias, bias_var) = self.input_bias(cell);
        AffineTensors {
            weight: columns(&self.weight, 0..inputs),
            weight_var: self.weight_var.as_ref().map(|var| columns(var, 0..inputs)),
            bias,
            bias_var,
        }
    }

    /// A bias for each row of a layer's map, and their variances unless all are zero.
    pub(super) fn input_bias(&self, cell: CellKind) -> (Tensor<1>, Option<Tensor<1>>) {
        let biases = |biases| bias_columns(biases, cell, 0..cell.gates());
        (biases(&self.bias), self.bias_var.as_ref().map(biases))
    }

    /// The state's share, [rows, units]: the columns behind those of the inputs, and one more row if it has
    /// biases of its own; means, then variances unless all are zero.
    pub fn from_state(&self, cell: CellKind, inputs: usize) -> Tensor<2> {
        let [_, end] = self.weight.dims();
        let own = cell.gates()..cell.biases();
        let row = |biases: &Tensor<1>| {
            (!own.is_empty())
                .then(|| bias_columns(biases, cell, own.clone()).reshape([own.len(), end - inputs]))
        };
        let mut parts = vec![columns(&self.weight, inputs..end)];
        parts.extend(row(&self.bias));
        if let Some(var) = &self.weight_var {
            parts.push(columns(var, inputs..end));
            parts.extend(row(self.bias_var.as_ref().unwrap_or(&self.bias.zeros_like())));
        }
        Tensor::cat(parts, 0)
    }
}

fn columns(matrix: &Tensor<2>, range: std::ops::Range<usize>) -> Tensor<2> {
    matrix.clone().slice([0..matrix.dims()[0], range])
}

/// Some of the biases of each unit, still unit by unit.
fn bias_columns(biases: &Tensor<1>, cell: CellKind, range: std::ops::Range<usize>) -> Tensor<1> {
    if range.len() == cell.biases() {
        return biases.clone();
    }
    let units = biases.dims()[0] / cell.biases();
    let count = units * range.len();
    biases.clone().reshape([units, cell.biases()]).slice([0..units, range]).reshape([count])
}

/// The tensors of a layer.
#[derive(Clone, Debug)]
pub struct LayerTensors {
    /// Its affine map, columns [x, h].
    pub affine: AffineTensors,
    /// Noise on its input.
    pub input_noise: NoiseLayer,
    /// Noise on its own last state.
    pub recurrent_noise: NoiseLayer,
    /// Factor on the variance of its state.
    pub scale: VarianceScale,
}

/// The tensors of the output map.
#[derive(Clone, Debug)]
pub struct OutputTensors {
    /// Its affine map.
    pub affine: AffineTensors,
    /// Noise on the last state before it.
    pub noise: NoiseLayer,
    /// Factor on the variance of the outputs.
    pub scale: VarianceScale,
}

/// The parameters of a network as tensors on a device.
#[derive(Clone, Debug)]
pub struct ParameterTensors {
    /// The parameters themselves, in their order.
    leaves: Vec<Tensor<1>>,
    /// The layers.
    pub layers: Vec<LayerTensors>,
    /// The output map.
    pub output: OutputTensors,
    /// Logarithm of each output's noise variance, for a Gaussian likelihood with learned noise.
    pub log_noise: Option<Tensor<1>>,
    /// The posterior distributions, if variances of weights are learned.
    pub posteriors: Option<Posteriors>,
    /// How the network is trained.
    pub method: TrainingMethod,
}

impl ParameterTensors {
    /// Copies parameters to a device; gradients are tracked if the device is one with autodiff. Weights have
    /// the moments of their posterior.
    ///
    /// # Panics
    /// If the parameters are not those of such a network.
    pub fn new(spec: &ModelSpec, parameters: &Parameters, device: &Device) -> Self {
        Self::from_lists(spec, parameters.method, parameters.tensors.iter().collect(), device)
    }

    /// The same from lists that may be part of a longer one.
    pub(super) fn from_lists(
        spec: &ModelSpec,
        method: TrainingMethod,
        lists: Vec<&NamedTensor>,
        device: &Device,
    ) -> Self {
        assert!(have_shapes(&lists, &shapes(spec, method)), "parameters of another network");
        let leaves = Leaves::from_lists(method, lists, device).with_posteriors();
        let output = OutputTensors {
            affine: leaves.affine("output"),
            noise: leaves.noise_layer("output.logit", spec.output.noise),
            scale: leaves.scale("output", spec.output.variance_scale),
        };
        ParameterTensors {
            layers: leaves.layers(spec),
            output,
            log_noise: leaves.get("output.log_noise"),
            method,
            posteriors: leaves.posteriors,
            leaves: leaves.tensors,
        }
    }

    /// Takes out the gradient of each parameter, in the order of [`Parameters`].
    pub fn gradients(&self, gradients: &mut Gradients) -> Vec<Vec<f32>> {
        self.leaves.iter().map(|leaf| gradient(leaf, gradients)).collect()
    }
}

/// The posteriors of weights and the parameters that they depend on, without a network.
pub(crate) struct PosteriorLeaves {
    leaves: Vec<Tensor<1>>,
    /// The posteriors of all weights.
    pub(crate) posteriors: Posteriors,
}

impl PosteriorLeaves {
    /// Copies parameters to a device; nothing if weights are points.
    pub(crate) fn new(parameters: &Parameters, device: &Device) -> Option<Self> {
        let leaves = Leaves::new(parameters, device);
        let posteriors = leaves.posteriors()?;
        Some(PosteriorLeaves { leaves: leaves.tensors, posteriors })
    }

    /// Like [`ParameterTensors::gradients`].
    pub(crate) fn gradients(&self, gradients: &mut Gradients) -> Vec<Vec<f32>> {
        self.leaves.iter().map(|leaf| gradient(leaf, gradients)).collect()
    }
}

/// The layers of a network without its output map, as tensors on a device: the backward half of a
/// bidirectional network.
#[derive(Clone, Debug)]
pub struct LayerStack {
    leaves: Vec<Tensor<1>>,
    /// The layers.
    pub layers: Vec<LayerTensors>,
}

impl LayerStack {
    /// Copies parameters to a device; gradients are tracked if the device is one with autodiff.
    ///
    /// # Panics
    /// If the parameters are not those of such layers.
    pub fn new(spec: &ModelSpec, parameters: &Parameters, device: &Device) -> Self {
        assert!(parameters.fits_layers(spec), "parameters of other layers");
        let leaves = Leaves::new(parameters, device).with_posteriors();
        LayerStack { layers: leaves.layers(spec), leaves: leaves.tensors }
    }

    /// Like [`ParameterTensors::gradients`].
    pub fn gradients(&self, gradients: &mut Gradients) -> Vec<Vec<f32>> {
        self.leaves.iter().map(|leaf| gradient(leaf, gradients)).collect()
    }
}

/// The posterior distributions of all weights and biases; nothing if weights are points.
pub(super) fn posteriors(parameters: &Parameters) -> Option<Posteriors> {
    Leaves::new(parameters, &Device::flex()).posteriors()
}

/// The parameters on a device, each a flat list, accessible by name.
struct Leaves<'a> {
    method: TrainingMethod,
    lists: Vec<&'a NamedTensor>,
    tensors: Vec<Tensor<1>>,
    /// Of the lists of means, in their order, if their variances are learned.
    posteriors: Option<Posteriors>,
}

impl<'a> Leaves<'a> {
    fn new(parameters: &'a Parameters, device: &Device) -> Self {
        Self::from_lists(parameters.method, parameters.tensors.iter().collect(), device)
    }

    fn from_lists(method: TrainingMethod, lists: Vec<&'a NamedTensor>, device: &Device) -> Self {
        let tensors = lists.iter().map(|named| leaf(named.values.clone(), device)).collect();
        Leaves { method, lists, tensors, posteriors: None }
    }

    /// Adds the posteriors of the weights.
    fn with_posteriors(mut self) -> Self {
        self.posteriors = self.posteriors();
        self
    }

    /// Nothing if weights are points.
    fn posteriors(&self) -> Option<Posteriors> {
        let posterior = self.method.posterior;
        let spread = posterior.spread()?;
        let required =
            |name: &str, suffix: &str| self.get(&format!("{name}{suffix}")).expect("the lists of the method");
        let prior = match posterior.prior()? {
            WeightPrior::Learned => {
                let (mean, log_var) = (required("prior.mean", ""), required("prior.log_var", ""));
                Some(NormalPrior { mean, log_var })
            }
            WeightPrior::Mixture(_) => None,
        };
        let list = |named: &NamedTensor| {
            let name = &named.name;
            let (mean, stored) = (required(name, ""), required(name, spread.suffix()));
            (name.clone(), PosteriorTensors::new(mean, stored, spread).masked(self.mask(named)))
        };
        let weights = self.lists.iter().copied().filter(|named| named.is_weight());
        Some(Posteriors { weights: weights.map(list).collect(), prior })
    }

    fn find(&self, name: &str) -> Option<(&'a NamedTensor, Tensor<1>)> {
        let index = self.lists.iter().position(|named| named.name == name)?;
        Some((self.lists[index], self.tensors[index].clone()))
    }

    fn get(&self, name: &str) -> Option<Tensor<1>> {
        self.find(name).map(|(_, tensor)| tensor)
    }

    fn layers(&self, spec: &ModelSpec) -> Vec<LayerTensors> {
        let layer = |(index, layer): (usize, &LayerSpec)| {
            let part = format!("layer{index}");
            LayerTensors {
                affine: self.affine(&part),
                input_noise: self.noise_layer(&format!("{part}.input_logit"), layer.input_noise),
                recurrent_noise: self.noise_layer(&format!("{part}.recurrent_logit"), layer.recurrent_noise),
                scale: self.scale(&part, layer.variance_scale),
            }
        };
        spec.layers.iter().enumerate().map(layer).collect()
    }

    /// The affine map of a layer or of the output.
    fn affine(&self, part: &str) -> AffineTensors {
        let (weight, weight_var) = self.weights(part);
        let (bias, bias_var) = self.weight_moments(&format!("{part}.bias"));
        AffineTensors { weight, bias, weight_var, bias_var }
    }

    /// Moments of the weights of a map, including noise on them; zero where they are pruned.
    fn weights(&self, part: &str) -> (Tensor<2>, Option<Tensor<2>>) {
        let (named, list) = self.find(&format!("{part}.weight")).expect("every map has weights");
        if named.values.is_empty() {
            // The output map of a model without layers. Tensors have no empty dimension: a column of zeros.
            return (Tensor::zeros([named.shape[0], 1], &list.device()), None);
        }
        let matrix = |list: Tensor<1>| list.reshape([named.shape[0], named.shape[1]]);
        let (weight, weight_var) = self.weight_moments(&format!("{part}.weight"));
        let noise = self.method.weight_noise;
        let (weight, weight_var) = noisy_weights(matrix(weight), weight_var.map(matrix), noise);
        masked(weight, weight_var, self.mask(named).map(matrix))
    }

    /// One for every weight that pruning has left; nothing if none was pruned.
    fn mask(&self, named: &NamedTensor) -> Option<Tensor<1>> {
        named.mask().map(|mask| constant(mask, &self.tensors[0].device()))
    }

    /// Means and variances of a list of weights.
    fn weight_moments(&self, name: &str) -> (Tensor<1>, Option<Tensor<1>>) {
        let posterior = self.posteriors.as_ref().and_then(|posteriors| posteriors.get(name));
        match posterior {
            Some(posterior) => (posterior.mean(), Some(posterior.var_in_network())),
            None => (self.get(name).expect("every map has weights and biases"), None),
        }
    }

    fn noise_layer(&self, logit: &str, noise: UnitNoise) -> NoiseLayer {
        self.get(logit).map_or_else(
            || NoiseLayer::Fixed(noise.into()),
            |logit| NoiseLayer::Dropout(sigmoid(logit).into()),
        )
    }

    fn scale(&self, part: &str, fixed: f32) -> VarianceScale {
        let learned = self.get(&format!("{part}.log_scale")).zip(self.method.scale_min);
        learned.map_or(VarianceScale::Fixed(fixed), |(log, least)| {
            VarianceScale::Learned((log.exp() + least).into())
        })
    }
}

/// Numbers on a device whose gradient is not tracked.
pub(super) fn constant(values: Vec<f32>, device: &Device) -> Tensor<1> {
    let shape = [values.len()];
    Tensor::from_data(TensorData::new(values, shape), device)
}

/// Numbers on a device; their gradient is tracked if the device is one with autodiff.
pub(super) fn leaf(values: Vec<f32>, device: &Device) -> Tensor<1> {
    let tensor = constant(values, device);
    if device.is_autodiff() { tensor.require_grad() } else { tensor }
}

/// Moments of weights after noise on them (Bayer 2015, thesis, 2.7).
pub(super) fn noisy_weights(
    mean: Tensor<2>,
    var: Option<Tensor<2>>,
    noise: WeightNoise,
) -> (Tensor<2>, Option<Tensor<2>>) {
    let coefficients = match noise {
        WeightNoise::None => NoiseCoefficients::none(),
        WeightNoise::Gaussian { var } => NoiseCoefficients::additive(var),
        WeightNoise::DropConnect { keep } => NoiseCoefficients::dropout(keep),
    };
    let MomentTensors { mean, var } = NoiseLayer::Fixed(coefficients).apply(MomentTensors { mean, var });
    (mean, var)
}

/// Moments of weights, zero where they are pruned: noise on weights has no effect there.
pub(super) fn masked(
    mean: Tensor<2>,
    var: Option<Tensor<2>>,
    mask: Option<Tensor<2>>,
) -> (Tensor<2>, Option<Tensor<2>>) {
    match mask {
        Some(mask) => (mean * mask.clone(), var.map(|var| var * mask)),
        None => (mean, var),
    }
}

/// The gradient of a parameter, taken out so that it need not be copied; zero if the loss does not depend on
/// it.
pub(super) fn gradient(parameter: &Tensor<1>, gradients: &mut Gradients) -> Vec<f32> {
    match parameter.grad_remove(gradients) {
        Some(gradient) => to_vec(gradient),
        None => vec![0.0; parameter.shape().num_elements()],
    }
}

/// The values of a tensor.
pub(crate) fn to_vec<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec().expect("every tensor of the network holds f32")
}
