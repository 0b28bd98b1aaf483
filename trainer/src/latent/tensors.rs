//! The numbers of both networks as tensors, for the time of one step.

use burn::tensor::{Device, Gradients};

use super::nets::{LatentNets, Net, PREFIXES};
use crate::nn::Parameters;
use crate::nn::both_ways::BothWays;

/// Both networks on a device.
#[derive(Clone, Debug)]
pub struct LatentTensors {
    /// From observations to latent variables.
    pub recognition: BothWays,
    /// From latent variables to observations.
    pub generating: BothWays,
}

impl LatentTensors {
    /// Copies parameters to a device; gradients are tracked if the device is one with autodiff.
    ///
    /// # Panics
    /// If the parameters are not those of such a model.
    pub fn new(nets: &LatentNets, parameters: &Parameters, device: &Device) -> Self {
        let tensors = |net: &Net, (prefix, backward): (&str, &str)| {
            let back = net.bidirectional.then(|| parameters.part(backward, net.method));
            BothWays::new(&net.spec, &parameters.part(prefix, net.method), back.as_ref(), device)
        };
        let [recognition, generating] = PREFIXES;
        LatentTensors {
            recognition: tensors(&nets.recognition, recognition),
            generating: tensors(&nets.generating, generating),
        }
    }

    /// Takes the gradient of each parameter out of `gradients`, in the order of the parameters.
    pub fn gradients(&self, gradients: &Gradients) -> Vec<Vec<f32>> {
        let mut all = self.recognition.gradients(gradients);
        all.extend(self.generating.gradients(gradients));
        all
    }
}
