//! Multinomial logistic regression on uncertain embeddings.

use crate::likelihood::shrunk_logit;
use crate::moments::Scalar;

/// Mean and variance of (wᵀe + b)/T for a row of weights and an embedding, by its components' mean and
/// variance.
#[inline]
pub fn logit<S: Scalar>(
    weights: impl Iterator<Item = S>,
    components: impl Iterator<Item = [S; 2]>,
    bias: S,
    temperature: S,
) -> [S; 2] {
    let (mut mean, mut var) = (bias, S::ZERO);
    for (weight, [m, v]) in weights.zip(components) {
        mean = mean + weight * m;
        var = var + weight * weight * v;
    }
    [mean / temperature, (var / (temperature * temperature)).at_most(f32::MAX.into())]
}

/// −ln Σ exp(κa) over the shrunk logits of all classes (Liu et al. 2020, "Energy-based out-of-distribution
/// detection", eq. 4): high for a point on which no class insists.
#[inline]
pub fn energy<S: Scalar>(mean: &[S], var: &[S]) -> S {
    let logits = || mean.iter().zip(var).map(|(mean, var)| shrunk_logit(*mean, *var));
    let largest = logits().fold(S::constant(f32::MIN.into()), |largest, logit| largest.greater(logit));
    let total = logits().fold(S::ZERO, |sum, logit| sum + (logit - largest).exp());
    -(largest + total.ln())
}
