//! The posterior of the latent variables: q(z_{1:T} | x_{1:T}) = Π N(μ_t, σ_t²).

use burn::tensor::Tensor;
use quaver::checkpoint::Likelihood;
use quaver::likelihood::LOG_NOISE_LIMIT;

use super::nets::{LatentNet, LatentNets};
use super::tensors::LatentTensors;
use crate::data::batch::Batch;
use crate::nn::bidirectional::Lengths;
use crate::nn::net::{MomentTensors, moments};
use crate::nn::parallel;
use crate::nn::parameters::IMPLICIT_NOISE;

/// Means and variances of the latent variables, [steps × lanes, latents].
#[derive(Clone, Debug)]
pub struct PosteriorTensors {
    /// Means μ.
    pub mean: Tensor<2>,
    /// Variances σ², none of which is zero.
    pub var: Tensor<2>,
}

/// The posterior, and the states of the recognition network's last layer.
#[derive(Clone, Debug)]
pub struct RecognitionOutput {
    /// The posterior.
    pub posterior: PosteriorTensors,
    /// States of the last layer.
    pub hidden: MomentTensors,
}

/// Steps of each lane of a batch.
pub(super) fn lengths(batch: &Batch) -> Vec<usize> {
    batch.chunks.iter().map(|chunk| chunk.len).collect()
}

/// Runs the recognition network on the observed rows of a batch, including noise; the targets of the
/// generative network are those of the batch.
pub fn recognise(nets: &LatentNets, tensors: &LatentTensors, batch: &Batch) -> RecognitionOutput {
    let device = tensors.recognition.forward_net.output.affine.bias.device();
    let lengths = lengths(batch);
    let (mean, var) = batch.observed();
    let rows = moments(&mean, &var, nets.channels(), &device);
    let net = &nets.recognition;
    let pass = tensors.recognition.forward(&net.spec, rows, &Lengths(&lengths), parallel::default_threads());
    RecognitionOutput { posterior: of_output(net, pass.output), hidden: pass.hidden }
}

/// The posterior from the rows of the output map: the mean, and the total variance, which the network
/// predicts (σ² = V[y] + E[eˢ] with outputs y and s) or propagates (σ² = V[y]; Bayer 2015, thesis, 2.6.1 and
/// 4.4).
pub(super) fn of_output(net: &LatentNet, output: MomentTensors) -> PosteriorTensors {
    let var = output.var.unwrap_or_else(|| output.mean.zeros_like());
    if net.spec.likelihood != Likelihood::Heteroscedastic {
        return PosteriorTensors { mean: output.mean, var: var + IMPLICIT_NOISE };
    }
    let log_noise = column(&output.mean, 1) + column(&var, 1) * 0.5;
    let noise = log_noise.clamp(-LOG_NOISE_LIMIT, LOG_NOISE_LIMIT).exp();
    PosteriorTensors { mean: column(&output.mean, 0), var: column(&var, 0) + noise }
}

/// Every other column, starting with `first`.
fn column(pairs: &Tensor<2>, first: usize) -> Tensor<2> {
    let [rows, columns] = pairs.dims();
    let pairs = pairs.clone().reshape([rows, columns / 2, 2]);
    pairs.slice([0..rows, 0..columns / 2, first..first + 1]).reshape([rows, columns / 2])
}
