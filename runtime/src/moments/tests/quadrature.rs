//! Moments of f(a), a ~ N(m, v), and their derivatives, in double precision.

/// Moments and derivatives to test against.
pub(crate) struct Exact {
    pub(crate) mean: f64,
    pub(crate) var: f64,
    pub(crate) mean_by_mean: f64,
    pub(crate) mean_by_var: f64,
    pub(crate) var_by_mean: f64,
    pub(crate) var_by_var: f64,
}

/// An exact function of mean and variance.
pub(crate) type Reference = fn(f64, f64) -> Exact;

/// By the trapezoidal rule, which converges exponentially for analytic integrands: with steps of at most ⅓
/// standard deviation and at most ½ in x (σ has poles at ±iπ) its error is below e⁻³⁹.
pub(crate) fn sigmoid(mean: f64, var: f64) -> Exact {
    let s = var.sqrt();
    let step = (1.0f64 / 3.0).min(0.5 / s.max(1e-9));
    let half = (14.0 / step) as i64;
    let (mut shift, mut square) = (0.0, 0.0);
    // E[σ′], E[σ″], and the same for σ².
    let (mut slope, mut bend, mut square_slope, mut square_bend) = (0.0, 0.0, 0.0, 0.0);
    for t in (-half..=half).map(|i| i as f64 * step) {
        let weight = step * density(t);
        let rise = logistic_rise(mean, s * t);
        let f = logistic(mean + s * t);
        let f1 = f * logistic(-mean - s * t);
        let f2 = f1 * (1.0 - 2.0 * f);
        shift += weight * rise;
        square += weight * rise * rise;
        slope += weight * f1;
        bend += weight * f2;
        square_slope += weight * 2.0 * f * f1;
        square_bend += weight * 2.0 * (f1 * f1 + f * f2);
    }
    let total = logistic(mean) + shift;
    Exact {
        mean: total,
        var: square - shift * shift,
        mean_by_mean: slope,
        mean_by_var: 0.5 * bend,
        var_by_mean: square_slope - 2.0 * total * slope,
        var_by_var: 0.5 * square_bend - total * bend,
    }
}

pub(crate) fn tanh(mean: f64, var: f64) -> Exact {
    let s = sigmoid(2.0 * mean, 4.0 * var);
    Exact {
        mean: 2.0 * s.mean - 1.0,
        var: 4.0 * s.var,
        mean_by_mean: 4.0 * s.mean_by_mean,
        mean_by_var: 8.0 * s.mean_by_var,
        var_by_mean: 8.0 * s.var_by_mean,
        var_by_var: 16.0 * s.var_by_var,
    }
}

/// By Simpson's rule on the part of the Gaussian that passes, where the integrand is smooth.
pub(crate) fn relu(mean: f64, var: f64) -> Exact {
    let s = var.sqrt();
    if s == 0.0 {
        let passes = if mean > 0.0 { 1.0 } else { 0.0 };
        return Exact {
            mean: passes * mean,
            var: 0.0,
            mean_by_mean: passes,
            mean_by_var: 0.0,
            var_by_mean: 0.0,
            var_by_var: passes,
        };
    }
    let start = (-mean / s).max(-12.0);
    let passed =
        |f: &dyn Fn(f64) -> f64| simpson(start, start.max(0.0) + 12.0, |t| f(mean + s * t) * density(t));
    let first = passed(&|x| x);
    let passing = passed(&|_| 1.0);
    let stopped = if mean > 0.0 { simpson(mean / s, mean / s + 12.0, density) } else { 1.0 - passing };
    // What is stopped sits at zero.
    let spread = passed(&|x| (x - first) * (x - first)) + stopped * first * first;
    let at_kink = density(mean / s) / s;
    Exact {
        mean: first,
        var: spread,
        mean_by_mean: passing,
        mean_by_var: 0.5 * at_kink,
        var_by_mean: 2.0 * first * stopped,
        var_by_var: passing - first * at_kink,
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// σ(m + d) − σ(m) = σ(m + d)·σ(−m)·(1 − e⁻ᵈ), without cancellation where it is small.
fn logistic_rise(m: f64, d: f64) -> f64 {
    if d > 0.0 {
        -logistic(m + d) * logistic(-m) * (-d).exp_m1()
    } else {
        logistic(-m - d) * logistic(m) * d.exp_m1()
    }
}

fn density(t: f64) -> f64 {
    (-0.5 * t * t).exp() / std::f64::consts::TAU.sqrt()
}

fn simpson(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    const INTERVALS: usize = 400;
    let step = (high - low) / INTERVALS as f64;
    let inner: f64 =
        (1..INTERVALS).map(|i| if i % 2 == 1 { 4.0 } else { 2.0 } * f(low + step * i as f64)).sum();
    (f(low) + inner + f(high)) * step / 3.0
}
