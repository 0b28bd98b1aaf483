//! What training minimises: functions of the embeddings of a batch, or of the network's outputs.
//!
//! Embeddings are moments. Where an objective has an exact or an established form for uncertain points, that
//! of the classifier in the runtime, it is used: expected kernels for neighbours, shrunk logits for classes.
//! Sparse filtering reads means only.

mod cross_entropy;
mod information;
mod neighbours;
mod next_row;
mod sparse_filtering;

pub use cross_entropy::cross_entropy;
pub use information::{mutual_information, squared_parameters};
pub use neighbours::{nca, nca_log};
pub use next_row::next_row;
pub use sparse_filtering::sparse_filtering;

use burn::tensor::Tensor;

use crate::nn::net::MomentTensors;

/// κm with κ = 1/√(1 + πv/8), as [`quaver::likelihood::shrunk_logit`].
fn shrunk(logits: MomentTensors) -> Tensor<2> {
    match logits.var {
        Some(var) => logits.mean / (var * std::f32::consts::FRAC_PI_8 + 1.0).sqrt(),
        None => logits.mean,
    }
}
