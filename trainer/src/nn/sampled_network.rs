//! A network of which every random quantity is drawn: weights once, noise on units at every step.
//!
//! Written on plain numbers from the equations of the cells, without moments: what variance propagation
//! approximates.

use burn::tensor::Device;
use quaver::checkpoint::{Activation, CellKind, LayerSpec, ModelSpec, OutputMode, UnitNoise};
use rand_core::Rng;

use super::method::{TrainingMethod, WeightNoise};
use super::net::BatchPrediction;
use super::observation_head::predict_outputs;
use super::parallel;
use super::parameters::Parameters;
use super::tensors::{AffineTensors, ParameterTensors, to_vec};
use crate::data::batch::{Batch, OutputMoments};
use crate::random::{normal, uniform};

/// A network with weights drawn from their distribution.
#[derive(Clone, Debug)]
pub struct SampledNetwork {
    spec: ModelSpec,
    layers: Vec<SampledAffine>,
    output: SampledAffine,
}

/// An affine map with drawn weights, column by column.
#[derive(Clone, Debug)]
struct SampledAffine {
    weights: Vec<f32>,
    biases: Vec<f32>,
    rows: usize,
}

impl SampledNetwork {
    /// Draws all weights: from their posterior, then noise on them.
    ///
    /// # Panics
    /// If the parameters are not those of such a network.
    pub fn draw(spec: &ModelSpec, parameters: &Parameters, rng: &mut impl Rng) -> Self {
        let noise = parameters.method.weight_noise;
        // Noise on weights is drawn here instead of added to their moments.
        let method = TrainingMethod { weight_noise: WeightNoise::None, ..parameters.method };
        let parameters = Parameters { method, tensors: parameters.tensors.clone() };
        let tensors = ParameterTensors::new(spec, &parameters, &Device::flex());
        let mut affine = |name: &str, affine: AffineTensors| {
            let kept = parameters.get(&format!("{name}.weight")).and_then(|list| list.kept.as_deref());
            SampledAffine::draw(affine, noise, rng).without_pruned(kept)
        };
        let layers = tensors.layers.into_iter().enumerate();
        SampledNetwork {
            layers: layers.map(|(index, layer)| affine(&format!("layer{index}"), layer.affine)).collect(),
            output: affine("output", tensors.output.affine),
            spec: parameters.resolved(spec),
        }
    }

    /// Predictions of a batch by the likelihood of the outputs; `noise_var` as given by
    /// [`Parameters::noise_var`], and a generator for each sequence.
    pub fn predict<R: Rng>(
        &self,
        noise_var: &[f32],
        batch: &Batch,
        rng: impl Fn(usize) -> R + Sync,
    ) -> BatchPrediction {
        let mut lanes = vec![Vec::new(); batch.rows];
        let tasks = lanes.iter_mut().enumerate();
        parallel::for_each(parallel::default_threads(), tasks, |(lane, outputs)| {
            *outputs = self.run(batch, lane, &mut rng(lane));
        });
        let rows = usize::from(self.spec.outputs) * self.spec.likelihood.rows();
        let places =
            (0..batch.steps).flat_map(|step| lanes.iter().map(move |lane| &lane[step * rows..][..rows]));
        let mean: Vec<f32> = places.flatten().copied().collect();
        let var = vec![0.0; mean.len()];
        predict_outputs(&self.spec, noise_var, mean, var)
    }

    /// The rows of the output map at every step of one sequence of a batch, [steps, rows of the map]. Inputs
    /// with a variance are drawn as well.
    fn run(&self, batch: &Batch, lane: usize, rng: &mut impl Rng) -> Vec<f32> {
        let spec = &self.spec;
        let inputs = usize::from(spec.inputs);
        let residual_var = batch.residual_var();
        let mut states: Vec<UnitState> = spec.layers.iter().map(UnitState::zero).collect();
        let mut outputs = Vec::new();
        for step in 0..batch.steps {
            let at = (step * batch.rows + lane) * inputs;
            let places = at..at + inputs;
            let input: Vec<f32> = places
                .clone()
                .map(|place| draw(batch.inputs_mean[place], batch.inputs_var[place], rng))
                .collect();
            let mut signal = input.clone();
            for ((layer, affine), state) in spec.layers.iter().zip(&self.layers).zip(&mut states) {
                state.step(layer, affine, &signal, rng);
                signal.clone_from(&state.hidden);
            }
            let mut output = self.outputs(signal, rng);
            if spec.target.is_residual() {
                // A start row is exact for the network, but uncertain as a prediction of the first row.
                let own = places.zip(&input).map(|(place, input)| {
                    input + draw(0.0, residual_var[place] - batch.inputs_var[place], rng)
                });
                output.iter_mut().step_by(spec.likelihood.rows()).zip(own).for_each(|(y, x)| *y += x);
            }
            if let Some(OutputMoments { mean, var }) = &batch.linear {
                // Independent of the draws above, as in the propagated moments.
                let at = (step * batch.rows + lane) * usize::from(spec.outputs);
                let means = output.iter_mut().step_by(spec.likelihood.rows()).enumerate();
                means.for_each(|(output, y)| *y += draw(mean[at + output], var[at + output], rng));
            }
            outputs.extend(output);
        }
        outputs
    }

    fn outputs(&self, mut signal: Vec<f32>, rng: &mut impl Rng) -> Vec<f32> {
        if self.spec.output.mode == OutputMode::Propagating {
            disturb(&mut signal, self.spec.output.noise, rng);
        }
        let mut output = self.output.biases.clone();
        self.output.add(&mut output, 0, &signal);
        output
    }
}

impl SampledAffine {
    fn draw(affine: AffineTensors, noise: WeightNoise, rng: &mut impl Rng) -> Self {
        let rows = affine.weight.dims()[0];
        // Transposed, so that the inner loop of a sum runs over rows.
        let columns = |matrix: burn::tensor::Tensor<2>| to_vec(matrix.transpose());
        let (means, vars) = (columns(affine.weight), affine.weight_var.map(columns));
        let weights =
            draw_all(means, vars, rng).into_iter().map(|weight| noisy_weight(weight, noise, rng)).collect();
        let biases = draw_all(to_vec(affine.bias), affine.bias_var.map(to_vec), rng);
        SampledAffine { weights, biases, rows }
    }

    /// Sets pruned weights to zero, which noise may have moved; `kept` is row by row.
    fn without_pruned(mut self, kept: Option<&[bool]>) -> Self {
        let Some(kept) = kept else { return self };
        let (rows, columns) = (self.rows, kept.len() / self.rows);
        let is_kept = |place: usize| kept[place % rows * columns + place / rows];
        let weights = self.weights.iter_mut().enumerate().filter(|(place, _)| !is_kept(*place));
        weights.for_each(|(_, weight)| *weight = 0.0);
        self
    }

    /// Adds the products of `signal` with the columns from `first` on.
    fn add(&self, sums: &mut [f32], first: usize, signal: &[f32]) {
        for (column, value) in self.weights[first * self.rows..].chunks_exact(self.rows).zip(signal) {
            sums.iter_mut().zip(column).for_each(|(sum, weight)| *sum += weight * value);
        }
    }
}

/// The state of a layer.
#[derive(Clone, Debug)]
struct UnitState {
    hidden: Vec<f32>,
    /// c of an LSTM.
    cell: Vec<f32>,
}

impl UnitState {
    fn zero(layer: &LayerSpec) -> Self {
        let zeros = vec![0.0; layer.units.into()];
        UnitState { hidden: zeros.clone(), cell: zeros }
    }

    fn step(&mut self, layer: &LayerSpec, affine: &SampledAffine, input: &[f32], rng: &mut impl Rng) {
        let mut noisy = input.to_vec();
        disturb(&mut noisy, layer.input_noise, rng);
        let mut by_input = vec![0.0; affine.rows];
        affine.add(&mut by_input, 0, &noisy);
        let mut by_state = vec![0.0; affine.rows];
        if layer.cell.is_recurrent() {
            let mut noisy = self.hidden.clone();
            disturb(&mut noisy, layer.recurrent_noise, rng);
            affine.add(&mut by_state, input.len(), &noisy);
        }
        let (gates, count) = (layer.cell.gates(), layer.cell.biases());
        for unit in 0..self.hidden.len() {
            let row = |gate: usize| [by_input[unit * gates + gate], by_state[unit * gates + gate]];
            let bias = &affine.biases[unit * count..][..count];
            let sum = |gate: usize| row(gate)[0] + row(gate)[1] + bias[gate];
            self.hidden[unit] = match layer.cell {
                CellKind::Elman(activation) | CellKind::Dense(activation) => activate(activation, sum(0)),
                CellKind::Lstm => {
                    // Fortunato, Blundell and Vinyals 2017, A.2.
                    let [input, forget, output] = [0, 1, 3].map(|gate| sigmoid(sum(gate)));
                    self.cell[unit] = forget * self.cell[unit] + input * libm::tanhf(sum(2));
                    output * libm::tanhf(self.cell[unit])
                }
                CellKind::Gru => {
                    // Cho et al. 2014, reset gate after the recurrent product.
                    let [reset, update] = [0, 1].map(|gate| sigmoid(sum(gate)));
                    let candidate = libm::tanhf(row(2)[0] + bias[2] + reset * (row(2)[1] + bias[3]));
                    (1.0 - update) * candidate + update * self.hidden[unit]
                }
            };
        }
    }
}

fn activate(activation: Activation, x: f32) -> f32 {
    match activation {
        Activation::Tanh => libm::tanhf(x),
        Activation::Sigmoid => sigmoid(x),
        Activation::Relu => x.max(0.0),
    }
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-x))
}

/// A draw from N(mean, var); the mean itself if there is no variance.
fn draw(mean: f32, var: f32, rng: &mut impl Rng) -> f32 {
    if var > 0.0 { mean + var.sqrt() * normal(rng) as f32 } else { mean }
}

fn draw_all(means: Vec<f32>, vars: Option<Vec<f32>>, rng: &mut impl Rng) -> Vec<f32> {
    match vars {
        Some(vars) => means.into_iter().zip(vars).map(|(mean, var)| draw(mean, var, rng)).collect(),
        None => means,
    }
}

/// Noise on a weight, drawn once (Bayer 2015, thesis, 2.7).
fn noisy_weight(weight: f32, noise: WeightNoise, rng: &mut impl Rng) -> f32 {
    match noise {
        WeightNoise::None => weight,
        WeightNoise::Gaussian { var } => draw(weight, var, rng),
        WeightNoise::DropConnect { keep } => {
            if uniform(rng) < keep.into() {
                weight
            } else {
                0.0
            }
        }
    }
}

/// Noise on units, drawn for every unit and step: variance propagation takes it as independent from step to
/// step (Bayer 2015, thesis, 2.3.4 and 2.5).
fn disturb(units: &mut [f32], noise: UnitNoise, rng: &mut impl Rng) {
    match noise {
        UnitNoise::None => {}
        UnitNoise::Dropout { keep } => {
            units.iter_mut().filter(|_| uniform(rng) >= keep.into()).for_each(|unit| *unit = 0.0);
        }
        UnitNoise::Multiplicative { var } => {
            units.iter_mut().for_each(|unit| *unit *= draw(1.0, var, rng));
        }
        UnitNoise::Additive { var } => units.iter_mut().for_each(|unit| *unit = draw(*unit, var, rng)),
    }
}

#[cfg(test)]
mod tests;
