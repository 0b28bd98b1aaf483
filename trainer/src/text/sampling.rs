//! A stream of tokens on the host, one at a time.

use std::sync::Arc;

use burn::tensor::Device;
use quaver::export::draw_class_at;
use rand_core::Rng;

use super::model::TokenModel;
use crate::fit::Architecture;
use crate::nn::Parameters;
use crate::nn::net::{ForwardOptions, output_map, to_prediction};
use crate::nn::recurrence::LayerState;
use crate::nn::token_net::{NONE, TokenTensors};

/// A model with one stream. [`draw`](Self::draw) draws the next token by the prediction of it, and
/// [`step`](Self::step) reads one.
pub struct TokenStream<'a> {
    model: &'a TokenModel,
    tensors: TokenTensors,
    states: Vec<LayerState>,
    probabilities: Vec<f32>,
}

impl<'a> TokenStream<'a> {
    /// The start of a stream, with the prediction of its first token.
    pub fn new(model: &'a TokenModel, parameters: &Parameters) -> Self {
        let tensors = TokenTensors::new(&model.network, parameters, &Device::flex());
        let zeros = |units: usize| LayerState { state: vec![0.0; 2 * units], memory: vec![0.0; 2 * units] };
        let states = model.carried_units().into_iter().map(zeros).collect();
        let mut stream = TokenStream { model, tensors, states, probabilities: Vec::new() };
        stream.read(NONE);
        stream
    }

    /// Reads a token.
    pub fn step(&mut self, token: usize) {
        self.read(token as u32);
    }

    /// Probability of every token to be the next one.
    pub fn probabilities(&self) -> &[f32] {
        &self.probabilities
    }

    /// Draws the next token as [`quaver::Prediction::draw_class_at`] does, without reading it.
    pub fn draw(&self, temperature: f32, rng: &mut impl Rng) -> usize {
        draw_class_at(&self.probabilities, temperature, rng)
    }

    fn read(&mut self, token: u32) {
        let network = &self.model.network;
        let options = ForwardOptions { lanes: 1, threads: 1, start: Some(&self.states) };
        let (hidden, states) = self.tensors.forward(network, &Arc::from([token]), options);
        let output = output_map(network, &self.tensors.network, hidden);
        self.probabilities = to_prediction(network, &[], output).mean;
        self.states = states;
    }
}
