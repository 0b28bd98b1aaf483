//! The whole network on a batch: noise, affine maps, recurrences, outputs.

use burn::tensor::{Device, Tensor, TensorData};
use quaver::checkpoint::{LayerSpec, ModelSpec, MomentForm, OutputMode};

use super::host_node::{apply3, apply4};
use super::layer_function::{DenseFunction, RecurrentFunction};
use super::linear;
use super::noise_layer::{NoiseLayer, VarianceScale};
use super::observation_head::predict_outputs;
use super::parallel;
use super::parameters::Parameters;
use super::recurrence::{LayerState, Recurrence};
use super::tensors::{AffineTensors, LayerTensors, ParameterTensors, to_vec};
use crate::data::batch::{Batch, OutputMoments};
use quaver::noise::NoiseCoefficients;

/// Means and variances of [steps × lanes, channels], time-major. A lane is one sequence of a batch.
#[derive(Clone, Debug)]
pub struct MomentTensors {
    /// Means.
    pub mean: Tensor<2>,
    /// Variances; `None` if all are zero.
    pub var: Option<Tensor<2>>,
}

/// Predictions for a batch, in standardised units, [steps, rows of the batch, outputs].
#[derive(Clone, Debug, PartialEq)]
pub struct BatchPrediction {
    /// `E[y]`: a probability for Bernoulli and categorical likelihoods.
    pub mean: Vec<f32>,
    /// Propagated part of `V[y]`.
    pub var: Vec<f32>,
    /// The likelihood's noise variance.
    pub noise: Vec<f32>,
}

/// The result of a forward pass: moments of the output map and of the last layer, and the final states.
#[derive(Clone, Debug)]
pub struct ForwardPass {
    /// Outputs before the likelihood: rows of the output map, of which a likelihood may use several per
    /// output.
    pub output: MomentTensors,
    /// States of the last layer after every step.
    pub hidden: MomentTensors,
    /// Final states of every layer; empty unless states are carried.
    pub states: Vec<LayerState>,
}

/// Predicts a batch without recording gradients.
pub fn predict(spec: &ModelSpec, parameters: &Parameters, batch: &Batch) -> BatchPrediction {
    let device = Device::flex();
    let tensors = ParameterTensors::new(spec, parameters, &device);
    let output = forward(spec, &tensors, batch, parallel::default_threads());
    to_prediction(spec, &parameters.noise_var(spec), output)
}

/// Applies the likelihood to the moments of the output map; `noise_var` as given by
/// [`Parameters::noise_var`].
pub(crate) fn to_prediction(spec: &ModelSpec, noise_var: &[f32], output: MomentTensors) -> BatchPrediction {
    let mean = to_vec(output.mean);
    let var = output.var.map_or_else(|| vec![0.0; mean.len()], to_vec);
    predict_outputs(spec, noise_var, mean, var)
}

/// Moments of the output map, before the likelihood, on the device of the parameters.
pub fn forward(
    spec: &ModelSpec,
    parameters: &ParameterTensors,
    batch: &Batch,
    threads: usize,
) -> MomentTensors {
    forward_from(spec, parameters, batch, threads, None).output
}

/// Like [`forward`], starting from given states, one per layer; returns the final states as well.
pub fn forward_from(
    spec: &ModelSpec,
    parameters: &ParameterTensors,
    batch: &Batch,
    threads: usize,
    start: Option<&[LayerState]>,
) -> ForwardPass {
    let device = parameters.output.affine.bias.device();
    let input = moments(&batch.inputs_mean, &batch.inputs_var, spec.inputs.into(), &device);
    let options = ForwardOptions { lanes: batch.rows, threads, start };
    let mut pass = forward_moments(spec, parameters, input, options);
    if spec.target.is_residual() {
        pass.output = add_residual(pass.output, spec, &residual_base(batch, &device));
    }
    if let Some(OutputMoments { mean, var }) = &batch.linear {
        let linear = moments(mean, var, spec.outputs.into(), &device);
        pass.output = add_to_means(pass.output, spec.likelihood.rows(), &linear);
    }
    pass
}

/// Options of a forward pass.
#[derive(Clone, Copy, Debug)]
pub struct ForwardOptions<'a> {
    /// Number of sequences in the batch.
    pub lanes: usize,
    /// Threads to use.
    pub threads: usize,
    /// Initial states of the layers, if states are carried; zero otherwise.
    pub start: Option<&'a [LayerState]>,
}

/// A forward pass on inputs that are moments on the device, such as outputs of another network. Gradients
/// propagate back into them.
pub fn forward_moments(
    spec: &ModelSpec,
    parameters: &ParameterTensors,
    input: MomentTensors,
    options: ForwardOptions<'_>,
) -> ForwardPass {
    let (hidden, states) = forward_layers(spec, parameters, FirstInput::Units(input), options);
    ForwardPass { output: output_map(spec, parameters, hidden.clone()), hidden, states }
}

/// What the first layer reads.
pub(crate) enum FirstInput {
    /// Moments of its inputs.
    Units(MomentTensors),
    /// Moments of the inputs' share of its pre-activations, biases included.
    PreActivations(MomentTensors),
}

/// All layers without the output map: the states of the last layer after every step, and the final states of
/// every layer if states are carried.
pub(crate) fn forward_layers(
    spec: &ModelSpec,
    parameters: &ParameterTensors,
    input: FirstInput,
    options: ForwardOptions<'_>,
) -> (MomentTensors, Vec<LayerState>) {
    let ForwardOptions { lanes, threads, start } = options;
    let mut signal = input;
    let mut states = Vec::new();
    for (index, (layer, tensors)) in spec.layers.iter().zip(&parameters.layers).enumerate() {
        let start = start.map(|states| states[index].clone());
        let carries = start.is_some();
        let pass = LayerPass { form: spec.moment_form, layer, tensors, lanes, threads };
        let (next, state) = match signal {
            FirstInput::Units(input) => pass.run(input, start),
            FirstInput::PreActivations(pre) => pass.run_from(pre, spec.inputs.into(), start),
        };
        signal = FirstInput::Units(next);
        states.extend(state.filter(|_| carries));
    }
    let (FirstInput::Units(hidden) | FirstInput::PreActivations(hidden)) = signal;
    (hidden, states)
}

/// The output map applied to the states of the last layer.
pub(crate) fn output_map(
    spec: &ModelSpec,
    parameters: &ParameterTensors,
    hidden: MomentTensors,
) -> MomentTensors {
    if spec.layers.is_empty() {
        // No units: biases alone.
        let [count, _] = hidden.mean.dims();
        let affine = &parameters.output.affine;
        let spread = |bias: &Tensor<1>| -> Tensor<2> { bias.clone().unsqueeze::<2>().repeat_dim(0, count) };
        return MomentTensors { mean: spread(&affine.bias), var: affine.bias_var.as_ref().map(spread) };
    }
    match spec.output.mode {
        OutputMode::Propagating => {
            map(hidden, &parameters.output.noise, &parameters.output.affine, &parameters.output.scale)
        }
        OutputMode::MeanOnly => {
            let deterministic = MomentTensors { mean: hidden.mean, var: None };
            map(
                deterministic,
                &NoiseLayer::Fixed(NoiseCoefficients::none()),
                &parameters.output.affine,
                &VarianceScale::Fixed(1.0),
            )
        }
    }
}

/// One layer, to be run over all steps of all lanes.
pub(super) struct LayerPass<'a> {
    pub(super) form: MomentForm,
    pub(super) layer: &'a LayerSpec,
    pub(super) tensors: &'a LayerTensors,
    pub(super) lanes: usize,
    pub(super) threads: usize,
}

impl LayerPass<'_> {
    /// The layer's states, and the final state if an initial state was given.
    pub(super) fn run(
        &self,
        input: MomentTensors,
        start: Option<LayerState>,
    ) -> (MomentTensors, Option<LayerState>) {
        let LayerTensors { affine, input_noise, .. } = self.tensors;
        let [_, inputs] = input.mean.dims();
        let affine = affine.from_input(self.layer.cell, inputs);
        self.run_from(map(input, input_noise, &affine, &VarianceScale::Fixed(1.0)), inputs, start)
    }

    /// Like [`run`](Self::run), given the share of `inputs` inputs in the pre-activations.
    fn run_from(
        &self,
        pre: MomentTensors,
        inputs: usize,
        start: Option<LayerState>,
    ) -> (MomentTensors, Option<LayerState>) {
        let (cell, [count, _]) = (self.layer.cell, pre.mean.dims());
        let recurrence =
            self.recurrence(pre.var.is_none() && start.as_ref().is_none_or(LayerState::is_certain));
        let pre_var = pre.var.unwrap_or_else(|| pre.mean.zeros_like());
        let certain = recurrence.certain;
        if !cell.is_recurrent() {
            let states = apply3(DenseFunction(recurrence), pre.mean, pre_var, self.coefficients());
            return (self.states(&states, count, certain), start);
        }
        let weights = self.tensors.affine.from_state(cell, inputs);
        let function = RecurrentFunction { recurrence, lanes: self.lanes, start };
        let carries = function.start.is_some();
        let states: Tensor<3> = apply4(function, pre.mean, pre_var, weights, self.coefficients());
        let end = carries.then(|| self.end(&states, count));
        (self.states(&states, count, certain), end)
    }

    /// The recurrence, without the noise and scale that the coefficients will fill in. Pre-activations and
    /// initial states have no variance if they are `certain`.
    fn recurrence(&self, certain: bool) -> Recurrence {
        let LayerTensors { affine, recurrent_noise, scale, .. } = self.tensors;
        Recurrence {
            cell: self.layer.cell,
            units: self.layer.units.into(),
            noise: NoiseCoefficients::none(),
            form: self.form,
            variance_scale: 1.0,
            learned: recurrent_noise.is_learned() || scale.is_learned(),
            // The printed form of the moments has a variance even where there is none in.
            certain: certain
                && affine.weight_var.is_none()
                && recurrent_noise.is_none()
                && self.form == MomentForm::Accurate,
            threads: self.threads,
        }
    }

    /// The coefficients of the recurrent noise, then the variance scale, [5].
    fn coefficients(&self) -> Tensor<1> {
        let device = self.tensors.affine.bias.device();
        let noise = self.tensors.recurrent_noise.coefficients(&device);
        Tensor::cat(vec![noise, self.tensors.scale.coefficient(&device)], 0)
    }

    /// Rows of the means (`index` 0) or variances (1).
    fn plane(&self, states: &Tensor<3>, index: usize, rows: std::ops::Range<usize>) -> Tensor<2> {
        let (count, units) = (rows.len(), usize::from(self.layer.units));
        states.clone().slice([index..index + 1, rows, 0..units]).reshape([count, units])
    }

    fn states(&self, states: &Tensor<3>, rows: usize, certain: bool) -> MomentTensors {
        let var = (!certain).then(|| self.plane(states, 1, 0..rows));
        MomentTensors { mean: self.plane(states, 0, 0..rows), var }
    }

    /// The final state of the layer: its last state, and its memory, which follows the states.
    fn end(&self, states: &Tensor<3>, rows: usize) -> LayerState {
        let lanes = self.lanes;
        let both = |rows: std::ops::Range<usize>| {
            let plane = |index| to_vec(self.plane(states, index, rows.clone()));
            [plane(0), plane(1)].concat()
        };
        LayerState { state: both(rows - lanes..rows), memory: both(rows..rows + lanes) }
    }
}

/// Numbers as moments on a device; variances are omitted if all are zero.
pub(crate) fn moments(mean: &[f32], var: &[f32], channels: usize, device: &Device) -> MomentTensors {
    let tensor = |values: &[f32]| {
        Tensor::from_data(TensorData::new(values.to_vec(), [values.len() / channels, channels]), device)
    };
    let deterministic = var.iter().all(|var| *var == 0.0);
    MomentTensors { mean: tensor(mean), var: (!deterministic).then(|| tensor(var)) }
}

/// The rows that a residual predictor adds its outputs to. (A latent model's start row is exact as a base,
/// too: its latent variables have the variance of a first row.)
fn residual_base(batch: &Batch, device: &Device) -> MomentTensors {
    let channels = batch.inputs_mean.len() / (batch.steps * batch.rows).max(1);
    moments(&batch.inputs_mean, &batch.residual_var(), channels, device)
}

/// Adds the last rows to the outputs of a residual network; returns other outputs unchanged.
pub(crate) fn add_residual(output: MomentTensors, spec: &ModelSpec, last: &MomentTensors) -> MomentTensors {
    if !spec.target.is_residual() {
        return output;
    }
    add_to_means(output, spec.likelihood.rows(), last)
}

/// Adds moments to the outputs, each of which has `rows` rows: the mean is the first, and further rows of the
/// likelihood are unchanged.
fn add_to_means(output: MomentTensors, rows: usize, base: &MomentTensors) -> MomentTensors {
    let spread = |values: &Tensor<2>| -> Tensor<2> {
        let [count, channels] = values.dims();
        let mut parts = vec![values.clone().reshape([count, channels, 1])];
        parts.extend((1..rows).map(|_| parts[0].zeros_like()).collect::<Vec<_>>());
        Tensor::cat(parts, 2).reshape([count, channels * rows])
    };
    let var = sum(output.var, base.var.as_ref().map(spread));
    MomentTensors { mean: output.mean + spread(&base.mean), var }
}

/// Noise, then E[a] = Σ m̃ μ + μ_b and V[a] = β (Σ ṽ (μ² + τ) + m̃² τ + τ_b) (Bayer 2015, thesis, eqs. 17 and
/// 18).
fn map(
    input: MomentTensors,
    noise: &NoiseLayer,
    affine: &AffineTensors,
    scale: &VarianceScale,
) -> MomentTensors {
    let MomentTensors { mean, var } = noise.apply(input);
    let AffineTensors { weight, bias, weight_var, bias_var } = affine.clone();
    let carried = var.map(|var| {
        let square = weight.clone() * weight.clone();
        let square = match &weight_var {
            Some(weight_var) => square + weight_var.clone(),
            None => square,
        };
        linear::product(var, square)
    });
    let made = weight_var.map(|weight_var| linear::product(mean.clone() * mean.clone(), weight_var));
    let var = sum(carried, made).map(|var| match bias_var {
        Some(bias_var) => var + bias_var.unsqueeze(),
        None => var,
    });
    MomentTensors { mean: linear::affine(mean, weight, bias), var: var.map(|var| scale.apply(var)) }
}

/// The sum of two optional tensors, of which `None` is zero.
pub(super) fn sum(a: Option<Tensor<2>>, b: Option<Tensor<2>>) -> Option<Tensor<2>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}
