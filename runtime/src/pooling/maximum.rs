//! The largest of values, by Clark's formula.

use super::{Pool, distribution_and_density};
use crate::moments::Scalar;

/// Standard deviations of the difference beyond which the larger value is taken as it is: the other would
/// change it by less than 10⁻⁹ of them.
const FAR: f64 = 6.0;

/// Mean and variance of the larger of two normal values with correlation ρ between their noise (Clark 1961,
/// "The greatest of a finite set of random variables", eqs. 2 to 4).
///
/// With θ² = v₁ + v₂ − 2ρσ₁σ₂, α = (m₁ − m₂)/θ, Φ = Φ(α) and φ = φ(α):
/// `E = m₂ + θ(αΦ + φ)` and `V = v₁Φ + v₂(1 − Φ) + θ²(α²Φ(1 − Φ) + αφ(1 − 2Φ) − φ²)`,
/// which is Clark's second moment less the square of the mean without their cancellation. Exact for two; of
/// more, one after the other, the running maximum is taken as normal.
#[inline]
pub fn larger<S: Scalar>(a: [S; 2], b: [S; 2], correlation: S) -> [S; 2] {
    // In order of their means, so that α is not negative and Φ at least a half.
    let ([m1, v1], [m2, v2]) = if a[0].is_less(b[0]) { (b, a) } else { (a, b) };
    let one = S::constant(1.0);
    let product = v1 * v2;
    let covariance = if S::ZERO.is_less(product) { correlation * product.sqrt() } else { S::ZERO };
    let theta_squared = v1 + v2 - (covariance + covariance);
    let difference = m1 - m2;
    let far = S::constant(FAR * FAR) * theta_squared;
    // Also if both are deterministic or their noise is the same.
    if !S::ZERO.is_less(theta_squared) || far.is_less(difference * difference) {
        return [m1, v1];
    }
    let theta = theta_squared.sqrt();
    let alpha = difference / theta;
    let [above, density] = distribution_and_density(alpha);
    let below = one - above;
    let curvature = alpha * (alpha * above * below + density * (below - above)) - density * density;
    let var = v1 * above + v2 * below + theta_squared * curvature;
    [m1 + theta * (density - alpha * below), if S::ZERO.is_less(var) { var } else { S::ZERO }]
}

/// Running maximum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Maximum<S> {
    mean: S,
    var: S,
}

impl<S: Scalar> Pool<S, 2> for Maximum<S> {
    #[inline(always)]
    fn of(mean: S, var: S) -> Self {
        Maximum { mean, var }
    }

    #[inline(always)]
    fn merged(self, later: Self, _: S, correlation: S) -> Self {
        let [mean, var] = larger(self.words(), later.words(), correlation);
        Maximum { mean, var }
    }

    #[inline(always)]
    fn faded(self, keep: S, _: S, newest: Self) -> Self {
        let rest = S::constant(1.0) - keep;
        Maximum {
            mean: newest.mean + keep * (self.mean - newest.mean),
            var: keep * keep * self.var + rest * rest * newest.var,
        }
    }

    #[inline(always)]
    fn moments(self, _: S) -> [S; 2] {
        self.words()
    }

    #[inline(always)]
    fn words(self) -> [S; 2] {
        [self.mean, self.var]
    }

    #[inline(always)]
    fn of_words([mean, var]: [S; 2]) -> Self {
        Maximum { mean, var }
    }
}
