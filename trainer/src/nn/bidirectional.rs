//! Bidirectional networks (Bayer 2015, thesis, 1.3.5).

use burn::tensor::{Device, Gradients, Int, Tensor, TensorData};
use quaver::checkpoint::ModelSpec;

use super::Parameters;
use super::net::{ForwardOptions, ForwardPass, LayerPass, MomentTensors, forward_moments, output_map, sum};
use super::tensors::{LayerStack, LayerTensors, ParameterTensors};

/// The tensors of a network, and those of the layers that read the sequence backwards, if it has any.
#[derive(Clone, Debug)]
pub struct Bidirectional {
    /// Reads from the first step to the last, and has the output map.
    pub forward_net: ParameterTensors,
    /// Reads from the last step to the first.
    pub backward_layers: Option<LayerStack>,
}

impl Bidirectional {
    /// Copies parameters to a device; gradients are tracked if the device supports autodiff.
    ///
    /// # Panics
    /// If the parameters are not those of such a network.
    pub fn new(
        spec: &ModelSpec,
        forward_net: &Parameters,
        backward_layers: Option<&Parameters>,
        device: &Device,
    ) -> Self {
        Bidirectional {
            forward_net: ParameterTensors::new(spec, forward_net, device),
            backward_layers: backward_layers
                .map(|backward_layers| LayerStack::new(spec, backward_layers, device)),
        }
    }

    /// The gradient of each parameter: those of the forward network, then those of the backward layers.
    pub fn gradients(&self, gradients: &mut Gradients) -> Vec<Vec<f32>> {
        let mut all = self.forward_net.gradients(gradients);
        all.extend(
            self.backward_layers.iter().flat_map(|backward_layers| backward_layers.gradients(gradients)),
        );
        all
    }

    /// A forward pass from zero states. The two directions are added after every layer, ẏ_t = →y_t + ←y_t,
    /// and both read ẏ_t in the next layer (Bayer 2015, thesis, 1.3.5).
    pub fn forward(
        &self,
        spec: &ModelSpec,
        input: MomentTensors,
        lengths: &Lengths<'_>,
        threads: usize,
    ) -> ForwardPass {
        let lanes = lengths.0.len();
        let Some(backward_layers) = &self.backward_layers else {
            return forward_moments(
                spec,
                &self.forward_net,
                input,
                ForwardOptions { lanes, threads, start: None },
            );
        };
        let order = lengths.reversal(input.mean.dims()[0] / lanes, &input.mean.device());
        let mut signal = input;
        for (index, layer) in spec.layers.iter().enumerate() {
            let run = |tensors: &LayerTensors, input| {
                LayerPass { form: spec.moment_form, layer, tensors, lanes, threads }.run(input, None).0
            };
            let behind = run(&backward_layers.layers[index], rearranged(signal.clone(), &order));
            let behind = rearranged(behind, &order);
            let forward_net = run(&self.forward_net.layers[index], signal);
            signal =
                MomentTensors { mean: forward_net.mean + behind.mean, var: sum(forward_net.var, behind.var) };
        }
        ForwardPass {
            output: output_map(spec, &self.forward_net, signal.clone()),
            hidden: signal,
            states: Vec::new(),
        }
    }
}

/// Steps of each lane; padding follows them.
#[derive(Clone, Copy, Debug)]
pub struct Lengths<'a>(pub &'a [usize]);

impl Lengths<'_> {
    /// Whether a step of a lane is part of its sequence.
    pub fn holds(&self, step: usize, lane: usize) -> bool {
        step < self.0[lane]
    }

    /// Source row of each row of [steps × lanes] when every lane is reversed within its length; padding stays
    /// in place. Reversing twice changes nothing.
    fn reversal(&self, steps: usize, device: &Device) -> Tensor<1, Int> {
        let lanes = self.0.len();
        let source = |row: usize| {
            let (step, lane) = (row / lanes, row % lanes);
            let step = if self.holds(step, lane) { self.0[lane] - 1 - step } else { step };
            (step * lanes + lane) as i64
        };
        let rows = steps * lanes;
        Tensor::from_data(TensorData::new((0..rows).map(source).collect(), [rows]), device)
    }
}

fn rearranged(moments: MomentTensors, order: &Tensor<1, Int>) -> MomentTensors {
    let rearrange = |tensor: Tensor<2>| tensor.select(0, order.clone());
    MomentTensors { mean: rearrange(moments.mean), var: moments.var.map(rearrange) }
}

#[cfg(test)]
mod tests {
    use quaver::checkpoint::{Activation, CellKind, UnitNoise};

    use super::*;
    use crate::config::InitConfig;
    use crate::nn::net::moments;
    use crate::nn::tensors::to_vec;
    use crate::nn::test_spec;
    use crate::random::{Purpose, normals, stream};

    const LANES: usize = 3;
    const STEPS: usize = 5;
    const LENGTHS: [usize; LANES] = [5, 2, 4];

    fn input(seed: u64) -> Vec<f32> {
        normals(&mut stream(seed, Purpose::Initialisation), STEPS * LANES * 2)
    }

    fn run(nets: &Bidirectional, spec: &ModelSpec, input: &[f32]) -> Vec<f32> {
        let input = moments(input, &vec![0.0; input.len()], 2, &Device::flex());
        to_vec(nets.forward(spec, input, &Lengths(&LENGTHS), 1).output.mean)
    }

    fn net() -> (ModelSpec, Parameters, Parameters) {
        let layers = [(CellKind::Lstm, 3), (CellKind::Gru, 3), (CellKind::Elman(Activation::Tanh), 4)];
        let mut spec = test_spec(2, 1, &layers);
        for layer in [1, 2] {
            spec.layers[layer].recurrent_noise = UnitNoise::Dropout { keep: 0.7 };
        }
        (
            spec.clone(),
            InitConfig::default().parameters(&spec, 1),
            InitConfig::default().parameters(&spec, 2).without_output(),
        )
    }

    /// Every lane of [steps × lanes, width] turned round within its length.
    fn reversed(values: &[f32], width: usize) -> Vec<f32> {
        let mut turned = values.to_vec();
        for (lane, length) in LENGTHS.iter().enumerate() {
            for step in 0..*length {
                let (from, to) = ((length - 1 - step) * LANES + lane, step * LANES + lane);
                turned[to * width..][..width].copy_from_slice(&values[from * width..][..width]);
            }
        }
        turned
    }

    #[test]
    fn swapping_directions_is_turning_the_sequence_round() {
        let (spec, mut one, mut other) = net();
        let nets = |one: &Parameters, other: &Parameters| {
            Bidirectional::new(&spec, one, Some(other), &Device::flex())
        };
        let plain = run(&nets(&one, &other), &spec, &input(1));
        for (forward_net, backward_layers) in one.tensors.iter_mut().zip(&mut other.tensors) {
            assert_eq!(forward_net.name, backward_layers.name);
            std::mem::swap(&mut forward_net.values, &mut backward_layers.values);
        }
        let turned = run(&nets(&one, &other), &spec, &reversed(&input(1), 2));
        for (step, lane) in (0..STEPS).flat_map(|step| (0..LANES).map(move |lane| (step, lane))) {
            let row = step * LANES + lane;
            if Lengths(&LENGTHS).holds(step, lane) {
                let found = reversed(&turned, 1)[row];
                assert!((found - plain[row]).abs() < 1e-6, "{found} against {}", plain[row]);
            }
        }
    }

    #[test]
    fn the_last_step_reaches_the_first_and_padding_reaches_nothing() {
        let (spec, one, other) = net();
        let nets = Bidirectional::new(&spec, &one, Some(&other), &Device::flex());
        let plain = run(&nets, &spec, &input(1));
        let with = |step: usize, lane: usize| {
            let mut changed = input(1);
            changed[2 * (step * LANES + lane)] += 1.0;
            run(&nets, &spec, &changed)
        };
        assert_ne!(with(4, 0)[0], plain[0], "lane 0 is five steps long");
        assert_eq!(with(3, 1)[1], plain[1], "lane 1 ends after two");
        assert_eq!(with(4, 0)[1], plain[1], "lanes never meet");
    }
}
