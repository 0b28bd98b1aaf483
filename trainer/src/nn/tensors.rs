//! Parameters as Burn tensors, for the time of one step.

use burn::tensor::{Device, Gradients, Tensor, TensorData};
use quaver::checkpoint::ModelSpec;

use super::parameters::{Named, Parameters};

/// Weights and biases of one affine map.
#[derive(Clone, Debug)]
pub struct Affine {
    /// [rows, columns].
    pub weight: Tensor<2>,
    /// [rows].
    pub bias: Tensor<1>,
}

/// The parameters of a network as tensors on a device.
#[derive(Clone, Debug)]
pub struct ParameterTensors {
    /// The recurrent layers, columns [x, h].
    pub layers: Vec<Affine>,
    /// The output map.
    pub output: Affine,
    /// Logarithm of each output's noise variance, for a Gaussian likelihood.
    pub log_noise: Option<Tensor<1>>,
}

impl ParameterTensors {
    /// Copies parameters to a device; gradients are tracked if the device is one with autodiff.
    ///
    /// # Panics
    /// If the parameters are not those of such a network.
    pub fn new(spec: &ModelSpec, parameters: &Parameters, device: &Device) -> Self {
        assert!(parameters.fits(spec), "parameters of another network");
        let mut tensors = parameters.tensors.iter();
        let mut affine = || {
            let (weight, bias) = tensors.next().zip(tensors.next()).expect("parameters fit the network");
            Affine { weight: tensor(weight, device), bias: tensor(bias, device) }
        };
        let layers = spec.layers.iter().map(|_| affine()).collect();
        let output = affine();
        ParameterTensors { layers, output, log_noise: tensors.next().map(|noise| tensor(noise, device)) }
    }

    /// Takes the gradient of each parameter out of `gradients`, in the order of [`Parameters`].
    pub fn gradients(&self, gradients: &Gradients) -> Vec<Vec<f32>> {
        let affine = self.layers.iter().chain([&self.output]);
        let mut found: Vec<Vec<f32>> = affine
            .flat_map(|map| [gradient(&map.weight, gradients), gradient(&map.bias, gradients)])
            .collect();
        found.extend(self.log_noise.iter().map(|noise| gradient(noise, gradients)));
        found
    }
}

fn tensor<const D: usize>(named: &Named, device: &Device) -> Tensor<D> {
    let data = TensorData::new(named.values.clone(), named.shape.clone());
    let tensor = Tensor::from_data(data, device);
    if device.is_autodiff() { tensor.require_grad() } else { tensor }
}

/// The gradient of a parameter; zero if the loss does not depend on it.
fn gradient<const D: usize>(parameter: &Tensor<D>, gradients: &Gradients) -> Vec<f32> {
    match parameter.grad(gradients) {
        Some(gradient) => to_vec(gradient),
        None => vec![0.0; parameter.shape().num_elements()],
    }
}

/// The values of a tensor.
pub(crate) fn to_vec<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec().expect("every tensor of the network holds f32")
}
