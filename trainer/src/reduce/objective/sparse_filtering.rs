//! Sparse filtering (Ngiam et al. 2011; Bayer 2015, thesis, 3.5.1.4).

use burn::tensor::Tensor;

use crate::config::SparseNorm;

/// Added to squares before their root, so that the derivative is finite at zero.
const EPSILON: f32 = 1e-8;

/// The sparsity of embeddings [points, components], per point.
///
/// Each component is first normalised over the batch, ẽ_c = e_c/√(Σ_j e_jc²) (the thesis prints it without
/// the root). With the first norm, each point is normalised as well and the loss is Σ_i ‖ẽ_i/‖ẽ_i‖₂‖₁, as
/// published by Ngiam et al. The thesis prints the 2-norm there, which is 1 for every unit vector, and says
/// that it is used on purpose: with [`SparseNorm::L2`], the points are not normalised and the loss is Σ_i
/// ‖ẽ_i‖₂, which is small if each component is active for few points.
pub fn sparse_filtering(embeddings: Tensor<2>, norm: SparseNorm) -> Tensor<1> {
    let [count, _] = embeddings.dims();
    let root = |squares: Tensor<2>| (squares + EPSILON).sqrt();
    let over_batch = root((embeddings.clone() * embeddings.clone()).sum_dim(0));
    let scaled = embeddings / over_batch;
    let squares = scaled.clone() * scaled;
    let lengths = root(squares.clone().sum_dim(1));
    let total = match norm {
        SparseNorm::L1 => (root(squares) / lengths).sum(),
        SparseNorm::L2 => lengths.sum(),
    };
    total / count as f32
}
