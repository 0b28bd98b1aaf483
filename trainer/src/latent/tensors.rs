//! The parameters of both networks as tensors, for the duration of one step.

use burn::tensor::{Device, Gradients};

use super::nets::{LatentNet, LatentNets, PREFIXES};
use crate::nn::Parameters;
use crate::nn::bidirectional::Bidirectional;

/// Both networks on a device.
#[derive(Clone, Debug)]
pub struct LatentTensors {
    /// From observations to latent variables.
    pub recognition: Bidirectional,
    /// From latent variables to observations.
    pub generative: Bidirectional,
}

impl LatentTensors {
    /// Copies parameters to a device; gradients are tracked if the device supports autodiff.
    ///
    /// # Panics
    /// If the parameters are not those of such a model.
    pub fn new(nets: &LatentNets, parameters: &Parameters, device: &Device) -> Self {
        let tensors = |net: &LatentNet, (prefix, backward): (&str, &str)| {
            let backward_layers = net.bidirectional.then(|| parameters.part(backward, net.method));
            Bidirectional::new(
                &net.spec,
                &parameters.part(prefix, net.method),
                backward_layers.as_ref(),
                device,
            )
        };
        let [recognition, generative] = PREFIXES;
        LatentTensors {
            recognition: tensors(&nets.recognition, recognition),
            generative: tensors(&nets.generative, generative),
        }
    }

    /// The gradient of each parameter, in the order of the parameters.
    pub fn gradients(&self, gradients: &mut Gradients) -> Vec<Vec<f32>> {
        let mut all = self.recognition.gradients(gradients);
        all.extend(self.generative.gradients(gradients));
        all
    }
}
