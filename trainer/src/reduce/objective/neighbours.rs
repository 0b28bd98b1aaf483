//! Neighbourhood component analysis (Goldberger et al. 2005; Bayer 2015, thesis, 3.4.1).

use burn::tensor::activation::softmax;
use burn::tensor::{Tensor, TensorData};

use crate::nn::net::MomentTensors;

/// Logit of a point that cannot be a neighbour.
const NEVER: f32 = -1e9;

/// The expected share of points whose neighbour is of another class, and the number of points that count:
/// those with a class of which there is another point. Nothing if there is none.
///
/// The neighbour of a is b with probability p_ab ∝ exp(−‖e_a − e_b‖²), p_aa = 0. For an uncertain point a it
/// is the expected kernel, exp(−Σ_i (m_ai − m_bi)²/(1 + 2v_ai)) up to a factor that cancels, as in the
/// classifier of the runtime with β = 1 ([`quaver::classifier`]); the neighbours are taken at their means, as
/// prototypes are. Points without a class are nobody's neighbours.
pub fn nca(embeddings: MomentTensors, labels: &[Option<usize>]) -> Option<(Tensor<1>, usize)> {
    let count = labels.len();
    let device = embeddings.mean.device();
    let partner = |a: usize, b: usize| a != b && labels[a].is_some() && labels[a] == labels[b];
    let counts: Vec<f32> =
        (0..count).map(|a| if (0..count).any(|b| partner(a, b)) { 1.0 } else { 0.0 }).collect();
    let points = counts.iter().filter(|counts| **counts > 0.0).count();
    if points == 0 {
        return None;
    }
    let pairs = |value: &dyn Fn(usize, usize) -> f32| -> Tensor<2> {
        let values: Vec<f32> =
            (0..count).flat_map(|a| (0..count).map(move |b| (a, b))).map(|(a, b)| value(a, b)).collect();
        Tensor::from_data(TensorData::new(values, [count, count]), &device)
    };
    let same = pairs(&|a, b| if partner(a, b) { counts[a] } else { 0.0 });
    let excluded = pairs(&|a, b| if a == b || labels[b].is_none() { NEVER } else { 0.0 });
    let probabilities = softmax(excluded - distances(embeddings), 1);
    let correct = (probabilities * same).sum();
    Some(((correct * -1.0 + points as f32) / points as f32, points))
}

/// Σ_i (m_ai − m_bi)²/(1 + 2v_ai), [points, points].
fn distances(embeddings: MomentTensors) -> Tensor<2> {
    let MomentTensors { mean, var } = embeddings;
    let [count, _] = mean.dims();
    // Differences do not depend on the origin; near the points, products of large numbers do not cancel.
    let mean = mean.clone() - mean.detach().mean_dim(0);
    let square = mean.clone() * mean.clone();
    match var {
        Some(var) => {
            let precision = (var * 2.0 + 1.0).recip();
            let own = (precision.clone() * square.clone()).sum_dim(1);
            let product = (precision.clone() * mean.clone()).matmul(mean.transpose());
            own - product * 2.0 + precision.matmul(square.transpose())
        }
        None => {
            let own: Tensor<2> = square.sum_dim(1);
            own.clone() - mean.clone().matmul(mean.transpose()) * 2.0 + own.reshape([1, count])
        }
    }
}
