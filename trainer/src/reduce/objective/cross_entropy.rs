//! Cross entropy of a softmax layer behind the embedding.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Tensor, TensorData};

use super::shrunk;
use crate::nn::net::MomentTensors;

/// −ln p of the class of every embedding, averaged over those that have one, and their number; nothing if
/// there is none. `weight` is [classes, components].
pub fn cross_entropy(
    embeddings: MomentTensors,
    weight: Tensor<2>,
    bias: Tensor<1>,
    labels: &[Option<usize>],
) -> Option<(Tensor<1>, usize)> {
    let counted = labels.iter().flatten().count();
    if counted == 0 {
        return None;
    }
    let [classes, _] = weight.dims();
    let device = weight.device();
    let var = embeddings.var.map(|var| var.matmul((weight.clone() * weight.clone()).transpose()));
    let mean = embeddings.mean.matmul(weight.transpose()) + bias.unsqueeze();
    let logits = log_softmax(shrunk(MomentTensors { mean, var }), 1);
    let chosen = |label: &Option<usize>| {
        let label = *label;
        (0..classes).map(move |class| if label == Some(class) { -1.0 / counted as f32 } else { 0.0 })
    };
    let targets: Vec<f32> = labels.iter().flat_map(chosen).collect();
    let targets = Tensor::<2>::from_data(TensorData::new(targets, [labels.len(), classes]), &device);
    Some(((logits * targets).sum(), counted))
}
