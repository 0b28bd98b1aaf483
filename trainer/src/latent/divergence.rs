//! The divergence of the posterior of latent sequences from their prior.

use burn::tensor::{Tensor, TensorData};
use quaver::checkpoint::Prior;

use super::posterior::PosteriorTensors;
use crate::nn::bidirectional::Lengths;

/// KL(q ‖ p) in nats, summed over components, steps and lanes, without padding. One element.
///
/// White prior: ½ Σ_t [σ_t² + μ_t² − 1 − ln σ_t²] per component.
///
/// Wiener prior (Bayer and Osendorfer 2014, 3.3): the increments of z are a linear map of z with determinant
/// 1, hence ½ Σ_t [σ_t² + σ_{t−1}² + (μ_t − μ_{t−1})² − 1 − ln σ_t²] with μ_0 = σ_0 = 0. The increments are
/// not independent under q, hence the last term is ln σ_t². With ln(σ_t² + σ_{t−1}²) the sum would be no
/// divergence, and the loss no bound.
pub fn divergence(prior: Prior, posterior: &PosteriorTensors, lengths: &Lengths<'_>) -> Tensor<1> {
    let PosteriorTensors { mean, var } = posterior;
    let lanes = lengths.0.len();
    let [rows, latents] = mean.dims();
    let spread = match prior {
        Prior::White => var.clone() + mean.clone() * mean.clone(),
        Prior::Wiener => {
            let step = mean.clone() - delayed(mean, lanes);
            var.clone() + delayed(var, lanes) + step.clone() * step
        }
    };
    let counts = |row: usize| if lengths.holds(row / lanes, row % lanes) { 1.0_f32 } else { 0.0 };
    let counts = TensorData::new((0..rows).map(counts).collect(), [rows, 1]);
    let counts = Tensor::<2>::from_data(counts, &mean.device()).expand([rows, latents]);
    ((spread - var.clone().log() - 1.0) * counts).sum() * 0.5
}

/// The values of the previous step, zero before the first; [steps × lanes, width].
pub(super) fn delayed(values: &Tensor<2>, lanes: usize) -> Tensor<2> {
    let [rows, width] = values.dims();
    let start = Tensor::zeros([lanes, width], &values.device());
    Tensor::cat(vec![start, values.clone().slice([0..rows - lanes, 0..width])], 0)
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;
    use nalgebra::{DMatrix, DVector};

    use super::*;
    use crate::nn::tensors::to_vec;
    use crate::random::{Purpose, normals, stream};

    const LANES: usize = 3;
    const LATENTS: usize = 2;
    const STEPS: usize = 6;

    /// KL between N(μ, diag σ²) and N(0, Σ): ½ [ln |Σ| − ln |diag σ²| − T + tr(Σ⁻¹ diag σ²) + μᵀΣ⁻¹μ].
    fn multivariate(mean: &[f64], var: &[f64], prior: &DMatrix<f64>) -> f64 {
        let inverse = prior.clone().try_inverse().unwrap();
        let mean = DVector::from_column_slice(mean);
        let logs = prior.determinant().ln() - var.iter().map(|var| var.ln()).sum::<f64>();
        let trace: f64 = var.iter().enumerate().map(|(t, var)| inverse[(t, t)] * var).sum();
        0.5 * (logs - var.len() as f64 + trace + (mean.transpose() * inverse * &mean)[0])
    }

    fn covariance(prior: Prior, steps: usize) -> DMatrix<f64> {
        match prior {
            Prior::White => DMatrix::identity(steps, steps),
            // Cov(z_s, z_t) = min(s, t) of a Wiener process.
            Prior::Wiener => DMatrix::from_fn(steps, steps, |s, t| (s.min(t) + 1) as f64),
        }
    }

    #[test]
    fn both_are_those_of_the_multivariate_normal() {
        for (seed, lengths) in [(1, [6, 6, 6]), (2, [6, 1, 4]), (3, [2, 6, 3])] {
            let mut rng = stream(seed, Purpose::Initialisation);
            let count = STEPS * LANES * LATENTS;
            let mean = normals(&mut rng, count);
            let var: Vec<f32> = normals(&mut rng, count).iter().map(|draw| draw.exp()).collect();
            for prior in [Prior::White, Prior::Wiener] {
                let mut expected = 0.0;
                for (lane, latent) in (0..LANES).flat_map(|lane| (0..LATENTS).map(move |k| (lane, k))) {
                    let of = |values: &[f32]| -> Vec<f64> {
                        let at = |t: usize| f64::from(values[(t * LANES + lane) * LATENTS + latent]);
                        (0..lengths[lane]).map(at).collect()
                    };
                    expected += multivariate(&of(&mean), &of(&var), &covariance(prior, lengths[lane]));
                }
                let tensor = |values: &[f32]| {
                    let data = TensorData::new(values.to_vec(), [STEPS * LANES, LATENTS]);
                    Tensor::from_data(data, &Device::flex())
                };
                let posterior = PosteriorTensors { mean: tensor(&mean), var: tensor(&var) };
                let found = f64::from(to_vec(divergence(prior, &posterior, &Lengths(&lengths)))[0]);
                assert!((found - expected).abs() < 1e-5 * expected, "{prior:?}: {found} against {expected}");
            }
        }
    }
}
