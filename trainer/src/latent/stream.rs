//! A causal latent model that processes several lanes row by row.

use burn::tensor::{Device, Tensor};
use quaver::checkpoint::{ModelSpec, Prior};

use super::bound::concat_columns;
use super::model::{LatentFeed, TrainedLatentModel, decoder_input};
use super::posterior::{PosteriorTensors, of_output};
use crate::config::LatentFamily;
use crate::nn::net::{ForwardOptions, ForwardPass, MomentTensors, add_residual, forward_moments};
use crate::nn::parallel;
use crate::nn::recurrence::LayerState;
use crate::nn::tensors::ParameterTensors;

/// The state of the lanes. All rows are standardised, [lanes, channels].
#[derive(Clone, Debug)]
pub(super) struct LatentStream<'a> {
    model: &'a TrainedLatentModel,
    lanes: usize,
    recognition: Vec<LayerState>,
    generative: Vec<LayerState>,
    /// What the generative network reads besides z: the last row, or the last layer of the recognition
    /// network.
    past: MomentTensors,
    /// Posterior of the latent variables of the last row.
    last: Option<PosteriorTensors>,
}

impl<'a> LatentStream<'a> {
    /// All lanes before their first row.
    ///
    /// # Panics
    /// If the model is not causal.
    pub(super) fn new(model: &'a TrainedLatentModel, lanes: usize) -> Self {
        assert!(model.nets.is_causal(), "a bidirectional network cannot process a stream");
        let width = match model.nets.family {
            LatentFamily::Storn | LatentFamily::Vrae => model.nets.channels(),
            LatentFamily::Vosp => {
                model.nets.recognition.spec.layers.last().map_or(0, |layer| layer.units.into())
            }
        };
        LatentStream {
            model,
            lanes,
            recognition: beginning(&model.nets.recognition.spec, lanes),
            generative: beginning(&model.nets.generative.spec, lanes),
            past: MomentTensors { mean: Tensor::zeros([lanes, width], &Device::flex()), var: None },
            last: None,
        }
    }

    /// The distribution of the latent variables of the next row before it is observed.
    pub(super) fn prior(&self) -> PosteriorTensors {
        let size = [self.lanes, self.model.nets.latents()];
        let (zero, one) = (Tensor::zeros(size, &Device::flex()), Tensor::ones(size, &Device::flex()));
        match (&self.last, self.model.nets.prior) {
            (Some(last), Prior::Wiener) => {
                PosteriorTensors { mean: last.mean.clone(), var: last.var.clone() + one }
            }
            _ => PosteriorTensors { mean: zero, var: one },
        }
    }

    /// Output of the generative network for the next row, given its latent variables, of which there may be a
    /// multiple of the stream's lanes. The stream does not change.
    pub(super) fn look_ahead(&self, latent: MomentTensors) -> MomentTensors {
        self.generated(latent).output
    }

    /// Runs the recognition network on the next row.
    pub(super) fn recognise(&mut self, row: MomentTensors) -> PosteriorTensors {
        let net = &self.model.nets.recognition;
        let tensors = &self.model.tensors.recognition.forward_net;
        let pass = step(&net.spec, tensors, row, &self.recognition, self.lanes);
        self.recognition = pass.states;
        if self.model.nets.family == LatentFamily::Vosp {
            self.past = pass.hidden;
        }
        of_output(net, pass.output)
    }

    /// Advances past the next row, given its latent variables, inferred or drawn. `feed` is how a recurrent
    /// generative network reads them; for draws it reads the mean.
    pub(super) fn advance(&mut self, row: MomentTensors, latent: PosteriorTensors, feed: LatentFeed) {
        if self.model.nets.family == LatentFamily::Storn {
            let feed = if let LatentFeed::Draws(_) = feed { LatentFeed::Mean } else { feed };
            self.generative = self.generated(decoder_input(latent.clone(), feed)).states;
            self.past = row;
        }
        self.last = Some(latent);
    }

    /// One step of the generative network.
    fn generated(&self, latent: MomentTensors) -> ForwardPass {
        let lanes = latent.mean.dims()[0];
        let times = lanes / self.lanes;
        let repeat = |values: &Tensor<2>| values.clone().repeat_dim(0, times);
        let past = MomentTensors { mean: repeat(&self.past.mean), var: self.past.var.as_ref().map(repeat) };
        let start: Vec<LayerState> = self.generative.iter().map(|state| repeated(state, times)).collect();
        let (net, tensors) = (&self.model.nets.generative.spec, &self.model.tensors.generative.forward_net);
        let pass = step(net, tensors, concat_columns(past.clone(), latent), &start, lanes);
        ForwardPass { output: add_residual(pass.output, net, &past), ..pass }
    }
}

fn beginning(spec: &ModelSpec, lanes: usize) -> Vec<LayerState> {
    let zeros = |units: u16| vec![0.0; 2 * lanes * usize::from(units)];
    let layer = |units: u16| LayerState { state: zeros(units), memory: zeros(units) };
    spec.layers.iter().map(|spec| layer(spec.units)).collect()
}

/// One row of every lane.
fn step(
    spec: &ModelSpec,
    tensors: &ParameterTensors,
    input: MomentTensors,
    start: &[LayerState],
    lanes: usize,
) -> ForwardPass {
    let options = ForwardOptions { lanes, threads: parallel::default_threads(), start: Some(start) };
    forward_moments(spec, tensors, input, options)
}

/// The lanes of a state `times` times, one set after the other, for means and variances.
fn repeated(state: &LayerState, times: usize) -> LayerState {
    let repeat = |values: &[f32]| {
        let (mean, var) = values.split_at(values.len() / 2);
        [mean.repeat(times), var.repeat(times)].concat()
    };
    LayerState { state: repeat(&state.state), memory: repeat(&state.memory) }
}
