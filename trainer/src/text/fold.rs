//! A model of text as an ordinary predictor: its inputs are one-hot rows of tokens.

use burn::tensor::{Device, Tensor};
use quaver::checkpoint::{ModelSpec, UnitNoise};
use quaver::noise::NoiseCoefficients;

use super::model::TokenModel;
use crate::nn::tensors::{AffineTensors, to_vec};
use crate::nn::token_net::TokenTensors;
use crate::nn::{Parameters, TrainingMethod, WeightPosterior};

/// The predictor that gives the predictions of a model of text, with point weights or weights with variances.
///
/// The embedding e of a token and the input weights w of the first layer become one column: E = Σ_k m̃_k μ_k
/// and V = Σ_k ṽ_k (μ_k² + τ_k) + m̃_k² τ_k, where m̃ and ṽ are the moments of e_k after noise. For a one-hot
/// input, with m = 1 and v = 0, V is the weight variance τ of that column (Bayer 2015, thesis, eqs. 17 and
/// 18). Without an embedding the network is one already.
pub fn fold(model: &TokenModel, parameters: &Parameters) -> (ModelSpec, Parameters) {
    if !model.embedding {
        return (model.network.clone(), parameters.clone());
    }
    let tensors = TokenTensors::new(&model.network, parameters, &Device::flex());
    let network = &tensors.network;
    let mut maps: Vec<FlatMap> = network
        .layers
        .iter()
        .map(|layer| &layer.affine)
        .chain([&network.output.affine])
        .map(FlatMap::new)
        .collect();
    let mut spec = parameters.resolved(&model.network);
    let noise = NoiseCoefficients::from(spec.layers[0].input_noise);
    maps[0] = maps[0].with_columns(model, &tensors, noise);
    spec.inputs = spec.outputs;
    spec.layers[0].input_noise = UnitNoise::None;
    let flags = spec.layers.iter_mut().map(|layer| &mut layer.weight_variance);
    flags
        .chain([&mut spec.output.weight_variance])
        .zip(&maps)
        .for_each(|(flag, map)| *flag = map.var.is_some());
    let variance = maps.iter().any(|map| map.var.is_some());
    let posterior = if variance { WeightPosterior::Ropd } else { WeightPosterior::Point };
    let mut folded = Parameters::zeros_for(&spec, TrainingMethod { posterior, ..TrainingMethod::default() });
    let names = (0..spec.layers.len()).map(|index| format!("layer{index}")).chain(["output".to_string()]);
    for (name, map) in names.zip(maps) {
        map.write(&name, &mut folded);
    }
    (spec, folded)
}

/// The moments of an affine map as numbers.
struct FlatMap {
    columns: usize,
    weight: Vec<f32>,
    bias: Vec<f32>,
    /// Of weights and of biases.
    var: Option<[Vec<f32>; 2]>,
}

impl FlatMap {
    fn new(affine: &AffineTensors) -> Self {
        let AffineTensors { weight, bias, weight_var, bias_var } = affine.clone();
        let zeros = || bias.zeros_like();
        let biases = |var: Option<Tensor<1>>| to_vec(var.unwrap_or_else(zeros));
        let var = weight_var.map(|weight_var| [to_vec(weight_var), biases(bias_var)]);
        FlatMap { columns: weight.dims()[1], weight: to_vec(weight), bias: to_vec(bias), var }
    }

    /// The first layer's map with a column per token in place of a column per input.
    fn with_columns(&self, model: &TokenModel, tensors: &TokenTensors, noise: NoiseCoefficients) -> Self {
        let (inputs, tokens) = (usize::from(model.network.inputs), model.tokens());
        let embedded = tensors.embedded(noise);
        let columns = tokens + self.columns - inputs;
        let rows = self.weight.len() / self.columns;
        let (mut weight, mut var) = (Vec::with_capacity(rows * columns), Vec::with_capacity(rows * columns));
        for row in 0..rows {
            let own = row * self.columns..(row + 1) * self.columns;
            let means = &self.weight[own.clone()];
            let vars = self.var.as_ref().map(|[vars, _]| &vars[own]);
            for token in embedded.chunks_exact(inputs) {
                let (mut mean, mut variance) = (0.0_f64, 0.0_f64);
                for (index, &[m, v]) in token.iter().enumerate() {
                    let mu = f64::from(means[index]);
                    let tau = vars.map_or(0.0, |vars| f64::from(vars[index]));
                    mean += m * mu;
                    variance += v * (mu * mu + tau) + m * m * tau;
                }
                weight.push(mean as f32);
                var.push(variance as f32);
            }
            weight.extend(&means[inputs..]);
            match vars {
                Some(vars) => var.extend(&vars[inputs..]),
                None => var.extend(std::iter::repeat_n(0.0, self.columns - inputs)),
            }
        }
        let biases =
            self.var.as_ref().map_or_else(|| vec![0.0; self.bias.len()], |[_, biases]| biases.clone());
        let var = (self.var.is_some() || var.iter().any(|var| *var != 0.0)).then_some([var, biases]);
        FlatMap { columns, weight, bias: self.bias.clone(), var }
    }

    /// Writes the map to the lists of a network. A variance of zero is the logarithm −∞.
    fn write(self, name: &str, parameters: &mut Parameters) {
        let [weight_var, bias_var] =
            self.var.unwrap_or_else(|| [vec![0.0; self.weight.len()], vec![0.0; self.bias.len()]]);
        let log = |values: Vec<f32>| values.into_iter().map(libm::logf).collect();
        let lists = [
            ("weight", self.weight),
            ("bias", self.bias),
            ("weight_log_var", log(weight_var)),
            ("bias_log_var", log(bias_var)),
        ];
        for (list, values) in lists {
            if let Some(named) = parameters.get_mut(&format!("{name}.{list}")) {
                named.values = values;
            }
        }
    }
}
