//! From an uncertain embedding to classes: distances, kernels and logits that take its variance into account.
//!
//! An embedding e ~ N(m, diag v) is compared with prototypes p, or goes through an affine map:
//!
//! - expected squared distance: `E‖e − p‖² = Σ(mᵢ − pᵢ)² + Σvᵢ`;
//! - expected kernel: `E[exp(−β‖e − p‖²)] = Π(1 + 2βvᵢ)^(−½) · exp(−β Σ(mᵢ − pᵢ)²/(1 + 2βvᵢ))`, in closed
//!   form because e is normal. A class has the share of its prototypes in the sum of all kernels: that of the
//!   neighbourhood component analysis that trains such embeddings (Goldberger et al. 2005), for an uncertain
//!   point. The more uncertain a component, the less its differences count;
//! - logits: a = (We + b)/T has moments Wm + b and Σw²v; probabilities are those of
//!   [`likelihood::softmax`](crate::likelihood::softmax), which shrinks uncertain logits.

mod linear;
mod nearest;

pub use linear::{energy, logit};
pub use nearest::{KernelSums, Votes, kernel_log_scale, kernel_precision};

#[cfg(test)]
mod tests;
