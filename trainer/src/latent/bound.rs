//! The bound on the negative log-likelihood that latent models are trained on.

use burn::tensor::{Tensor, TensorData};
use rand_core::Rng;

use super::divergence::{delayed, divergence};
use super::nets::LatentNets;
use super::posterior::{PosteriorTensors, lengths, recognise};
use super::tensors::LatentTensors;
use crate::config::LatentFamily;
use crate::data::batch::Batch;
use crate::fit::loss::{Loss, Mode, loss};
use crate::nn::bidirectional::Lengths;
use crate::nn::net::{MomentTensors, add_residual, moments};
use crate::nn::parallel;
use crate::random::normals;

/// −ln p(x) ≤ KL(q(z|x) ‖ p(z)) − E_q[ln p(x|z)] (Bayer 2015, thesis, eq. 31), in nats per time step that
/// counts.
///
/// The inequality holds for every q. If a VOSP reads noisy rows x̃ and explains the clean rows x, the sum
/// bounds −ln ∫ Π_t p(x_t | h_{t−1}, z_t) p(z) dz, where h_{t−1} depends on x̃_{1:t−1}: the negative
/// log-likelihood of the clean rows, each *before* it is observed. It does not bound the likelihood of x̃. By
/// Jensen's inequality, the reconstruction alone bounds −ln ∫ Π_t p(x_t | h_{t−1}, z_t) q(z | x̃) dz: the
/// negative log-likelihood of the clean rows given their noisy versions. A divergence is never negative, so
/// the reconstruction plus any fraction of the divergence bounds that too.
#[derive(Clone, Debug)]
pub struct Bound {
    /// −E_q[ln p(x|z)], the mean over draws. One element.
    pub reconstruction: Tensor<1>,
    /// The divergence. One element.
    pub divergence: Tensor<1>,
    /// Steps that count: those with at least one unmasked value.
    pub steps: usize,
}

/// The bound of a batch with `draws` draws per lane; nothing if all values are masked. The recognition
/// network reads `shown`: the batch itself, or the batch with gaps.
///
/// A chunk of a longer sequence counts as a sequence of its own: the prior and both networks start from zero,
/// and only a STORN reads the row before it.
pub fn bound(
    nets: &LatentNets,
    tensors: &LatentTensors,
    shown: &Batch,
    batch: &Batch,
    draws: usize,
    rng: &mut impl Rng,
) -> Option<Bound> {
    let recognition = recognise(nets, tensors, shown);
    let many = repeated(batch, nets.channels(), draws);
    let drawn = draw(&recognition.posterior, batch.rows, draws, rng);
    let prediction = generate(nets, tensors, &many, &recognition.hidden, drawn);
    let generative = &tensors.generative.forward_net;
    let Loss { value, steps } = loss(&nets.generative.spec, generative, prediction, &many, Mode::Train)?;
    let steps = steps / draws;
    let lengths = lengths(batch);
    let divergence = divergence(nets.prior, &recognition.posterior, &Lengths(&lengths));
    Some(Bound { reconstruction: value, divergence: divergence * (1.0 / steps as f32), steps })
}

/// z = μ + σ ε with ε ~ N(0, 1), the reparametrisation trick (Kingma and Welling 2013; Bayer 2015, thesis,
/// 4.3.2), `draws` times per lane.
pub(super) fn draw(
    posterior: &PosteriorTensors,
    lanes: usize,
    draws: usize,
    rng: &mut impl Rng,
) -> MomentTensors {
    let mean = repeated_lanes(&posterior.mean, lanes, draws);
    let std_dev = repeated_lanes(&posterior.var, lanes, draws).sqrt();
    let [rows, latents] = mean.dims();
    let noise = TensorData::new(normals(rng, rows * latents), [rows, latents]);
    let noise = Tensor::from_data(noise, &mean.device());
    MomentTensors { mean: mean + std_dev * noise, var: None }
}

/// Moments of the generative network's output for every row of a batch, given moments of the latent
/// variables. `hidden` is the last layer of the recognition network; several lanes of `batch` may share a
/// lane of it.
pub(super) fn generate(
    nets: &LatentNets,
    tensors: &LatentTensors,
    batch: &Batch,
    hidden: &MomentTensors,
    latent: MomentTensors,
) -> MomentTensors {
    let device = latent.mean.device();
    let last = moments(&batch.inputs_mean, &batch.inputs_var, nets.channels(), &device);
    let input = match nets.family {
        LatentFamily::Storn => concat_columns(last.clone(), latent),
        LatentFamily::Vosp => {
            let lanes = hidden.mean.dims()[0] / batch.steps;
            let before =
                |tensor: &Tensor<2>| repeated_lanes(&delayed(tensor, lanes), lanes, batch.rows / lanes);
            let before = MomentTensors { mean: before(&hidden.mean), var: hidden.var.as_ref().map(before) };
            concat_columns(before, latent)
        }
        LatentFamily::Vrae => latent,
    };
    let lengths = lengths(batch);
    let net = &nets.generative.spec;
    let pass = tensors.generative.forward(net, input, &Lengths(&lengths), parallel::default_threads());
    add_residual(pass.output, net, &last)
}

/// Concatenates columns.
pub(super) fn concat_columns(left: MomentTensors, right: MomentTensors) -> MomentTensors {
    let var = match (left.var, right.var) {
        (None, None) => None,
        (left_var, right_var) => {
            let left_var = left_var.unwrap_or_else(|| left.mean.zeros_like());
            let right_var = right_var.unwrap_or_else(|| right.mean.zeros_like());
            Some(Tensor::cat(vec![left_var, right_var], 1))
        }
    };
    MomentTensors { mean: Tensor::cat(vec![left.mean, right.mean], 1), var }
}

/// All lanes `times` times, one set after the other.
fn repeated_lanes(values: &Tensor<2>, lanes: usize, times: usize) -> Tensor<2> {
    if times == 1 {
        return values.clone();
    }
    let [rows, width] = values.dims();
    let steps = rows / lanes;
    let sets = values.clone().reshape([steps, 1, lanes, width]).expand([steps, times, lanes, width]);
    sets.reshape([rows * times, width])
}

/// The same for a batch of rows with this number of channels.
pub(super) fn repeated(batch: &Batch, channels: usize, times: usize) -> Batch {
    if times == 1 {
        return batch.clone();
    }
    let repeat = |values: &[f32]| -> Vec<f32> {
        values.chunks(batch.rows * channels).flat_map(|step| step.repeat(times)).collect()
    };
    Batch {
        steps: batch.steps,
        rows: batch.rows * times,
        inputs_mean: repeat(&batch.inputs_mean),
        inputs_var: repeat(&batch.inputs_var),
        targets: repeat(&batch.targets),
        mask: repeat(&batch.mask),
        target: batch.target,
        chunks: batch.chunks.repeat(times),
        starts: batch.starts.iter().flat_map(|start| places(*start, batch.rows, times)).collect(),
        linear: None,
    }
}

/// Where the lanes of a row of the arrays are after the lanes have been repeated.
fn places(row: usize, lanes: usize, times: usize) -> impl Iterator<Item = usize> {
    let (step, lane) = (row / lanes, row % lanes);
    (0..times).map(move |set| (step * times + set) * lanes + lane)
}
