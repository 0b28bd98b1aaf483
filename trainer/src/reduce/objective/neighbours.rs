//! Neighbourhood component analysis (Goldberger et al. 2005; Bayer 2015, thesis, 3.4.1).

use burn::tensor::activation::softmax;
use burn::tensor::{Device, Tensor, TensorData};

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
    let pairs = Pairs::new(labels)?;
    let device = embeddings.mean.device();
    let probabilities = softmax(pairs.excluded(&device) - distances(embeddings), 1);
    let correct = (probabilities * pairs.same(&device)).sum();
    Some(((correct * -1.0 + pairs.points as f32) / pairs.points as f32, pairs.points))
}

/// The mean of −ln of the probability that the neighbour of a point is of its class, over the points that
/// [`nca`] counts, and their number.
pub fn nca_log(embeddings: MomentTensors, labels: &[Option<usize>]) -> Option<(Tensor<1>, usize)> {
    let pairs = Pairs::new(labels)?;
    let device = embeddings.mean.device();
    let logits = pairs.excluded(&device) - distances(embeddings);
    let same = pairs.same(&device);
    let counts = same.clone().max_dim(1);
    // As logarithms, so that a point far from its class still has a gradient.
    let nll = log_sum_exp(logits.clone()) - log_sum_exp(logits + (same - 1.0) * -NEVER);
    Some(((nll * counts).sum() / pairs.points as f32, pairs.points))
}

/// ln Σ_b exp(x_ab), [points, 1].
fn log_sum_exp(values: Tensor<2>) -> Tensor<2> {
    let largest = values.clone().detach().max_dim(1);
    (values - largest.clone()).exp().sum_dim(1).log() + largest
}

/// Which points may be neighbours, and which are of the same class.
struct Pairs<'a> {
    labels: &'a [Option<usize>],
    /// Points with a class of which there is another point.
    points: usize,
}

impl<'a> Pairs<'a> {
    /// Nothing if no two points are of the same class.
    fn new(labels: &'a [Option<usize>]) -> Option<Self> {
        let found = Pairs { labels, points: 0 };
        let count = 0..labels.len();
        let points = count.clone().filter(|a| count.clone().any(|b| found.partner(*a, b))).count();
        (points > 0).then_some(Pairs { points, ..found })
    }

    fn partner(&self, a: usize, b: usize) -> bool {
        a != b && self.labels[a].is_some() && self.labels[a] == self.labels[b]
    }

    /// 1 for pairs of the same class, [points, points].
    fn same(&self, device: &Device) -> Tensor<2> {
        self.tensor(device, |a, b| if self.partner(a, b) { 1.0 } else { 0.0 })
    }

    /// Logits of pairs that cannot be neighbours, 0 for the others.
    fn excluded(&self, device: &Device) -> Tensor<2> {
        self.tensor(device, |a, b| if a == b || self.labels[b].is_none() { NEVER } else { 0.0 })
    }

    fn tensor(&self, device: &Device, value: impl Fn(usize, usize) -> f32) -> Tensor<2> {
        let count = self.labels.len();
        let values: Vec<f32> = (0..count * count).map(|place| value(place / count, place % count)).collect();
        Tensor::from_data(TensorData::new(values, [count, count]), device)
    }
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
