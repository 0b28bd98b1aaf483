//! Moments of max(a, 0), in closed form.

use super::scalar::Scalar;
use super::{Jacobian, Moments};
use core::f32::consts::FRAC_1_SQRT_2;

/// Standard deviations beyond which a Gaussian's tail underflows in f32: φ(14) < 10⁻⁴³.
const FAR: f32 = 14.0;

/// Moments of max(a, 0) for a ~ N(m, v).
///
/// With r = m/√v: E = mΦ(r) + √v φ(r), V = (m² + v)Φ(r) + m√v φ(r) − E² (Bayer 2015, thesis, 2.3.4, whose
/// last term is misprinted as the square of the input's mean). As v → 0 this is (m, v) for m > 0
/// and (0, 0) below.
#[inline]
pub fn relu(a: Moments) -> Moments {
    let a = a.sanitized();
    match Clipped::of(a) {
        Some(clipped) => clipped.moments(a),
        None => unclipped(a),
    }
}

/// [`relu`] and its derivatives: E[f′] = Φ(r), ½E[f″] = φ(r)/(2√v) for the mean (Bonnet, Price), and
/// those of E[f²] less E² for the variance.
pub(super) fn relu_gradient(a: Moments) -> (Moments, Jacobian) {
    let a = a.sanitized();
    match Clipped::of(a) {
        Some(clipped) => {
            let y = clipped.moments(a);
            (y, clipped.jacobian(a, y))
        }
        None => (unclipped(a), Jacobian::deterministic(if a.mean > 0.0 { 1.0 } else { 0.0 })),
    }
}

/// The input practically never crosses zero: it passes unchanged or not at all.
fn unclipped(a: Moments) -> Moments {
    if a.mean > 0.0 { a } else { Moments::default() }
}

/// Moments of the smaller side of zero, for a Gaussian with unit variance and mean ±t, t = |r|.
///
/// The formulas are arranged around that side, because adding it to the larger one cancels nothing.
struct Clipped {
    std_dev: f32,
    /// φ(t).
    density: f32,
    /// Φ(−t), the probability of the smaller side.
    tail: f32,
    /// E[max(x, 0)] for x ~ N(−t, 1).
    mean: f32,
    /// V[max(x, 0)] for x ~ N(−t, 1).
    var: f32,
}

impl Clipped {
    /// `None` when the smaller side is empty.
    #[inline]
    fn of(a: Moments) -> Option<Clipped> {
        let std_dev = Scalar::sqrt(a.var);
        let t = a.mean.abs() / std_dev;
        // A deterministic zero makes 0/0.
        if t.is_nan() || t > FAR {
            return None;
        }
        let density = 0.398_942_3 * libm::expf(-0.5 * t * t);
        let tail = 0.5 * libm::erfcf(t * FRAC_1_SQRT_2);
        let mean = (density - t * tail).at_least(0.0);
        let second = (tail - t * mean).at_least(0.0);
        Some(Clipped { std_dev, density, tail, mean, var: (second - mean * mean).at_least(0.0) })
    }

    #[inline]
    fn moments(&self, a: Moments) -> Moments {
        let below = Moments { mean: self.std_dev * self.mean, var: a.var * self.var };
        if a.mean > 0.0 {
            // max(a, 0) = a + max(−a, 0), and Cov[a, max(−a, 0)] = −vΦ(−t) by Stein's lemma.
            let var = a.var * ((1.0 - 2.0 * self.tail) + self.var);
            Moments { mean: a.mean + below.mean, var }.sanitized()
        } else {
            below
        }
    }

    fn jacobian(&self, a: Moments, y: Moments) -> Jacobian {
        let passing = if a.mean > 0.0 { 1.0 - self.tail } else { self.tail };
        let stopping = if a.mean > 0.0 { self.tail } else { 1.0 - self.tail };
        let density = self.density / self.std_dev;
        Jacobian {
            mean_by_mean: passing,
            mean_by_var: 0.5 * density,
            var_by_mean: 2.0 * y.mean * stopping,
            var_by_var: passing - y.mean * density,
        }
        .sanitized()
    }
}
