//! Moments through transfer functions, in any number.

use std::f64::consts::{PI, SQRT_2, TAU};

use quaver::checkpoint::Transfer;
use quaver::moments::{Moments, gradient};

use super::Pair;
use super::number::{Number, Recorded};

/// The moments of f(a), given those of a.
pub(crate) type Squash<N> = fn(Transfer, Pair<N>) -> Pair<N>;

/// The closed forms that are printed: sigmoid and tanh approximately, the rectifier exactly (Bayer 2015, thesis, 2.3.4; the
/// squares that are subtracted are of the outgoing mean).
pub(crate) fn printed<N: Number>(transfer: Transfer, (m, v): Pair<N>) -> Pair<N> {
    match transfer {
        Transfer::Sigmoid => printed_sigmoid(m, v),
        Transfer::Tanh => {
            let (mean, var) = printed_sigmoid(m * N::constant(2.0), v * N::constant(4.0));
            (mean * N::constant(2.0) - N::constant(1.0), var * N::constant(4.0))
        }
        Transfer::Rectifier => rectifier(m, v),
    }
}

fn printed_sigmoid<N: Number>(m: N, v: N) -> Pair<N> {
    let steepness = N::constant(4.0 - 2.0 * SQRT_2);
    let shift = N::constant(-(SQRT_2 - 1.0).ln());
    let mean = smoothed(m.clone(), v.clone());
    let second = smoothed(steepness.clone() * (m - shift), steepness.squared() * v);
    (mean.clone(), (second - mean.squared()).positive_part())
}

/// σ(m/√(1 + πv/8)).
fn smoothed<N: Number>(m: N, v: N) -> N {
    let one = N::constant(1.0);
    let flattening = (one.clone() + v * N::constant(PI / 8.0)).sqrt();
    one.clone() / (one + (N::constant(0.0) - m / flattening).exp())
}

/// E = mΦ(r) + √v φ(r), V = (m² + v)Φ(r) + m√v φ(r) − E², r = m/√v.
fn rectifier<N: Number>(m: N, v: N) -> Pair<N> {
    let deviation = v.clone().sqrt();
    let r = m.clone() / deviation.clone();
    let density = (r.clone().squared() * N::constant(-0.5)).exp() / N::constant(TAU.sqrt());
    let (passing, edge) = (r.below(), deviation * density);
    let mean = m.clone() * passing.clone() + edge.clone();
    let second = (m.clone().squared() + v) * passing + m * edge;
    (mean.clone(), second - mean.squared())
}

/// The fitted forms, by the runtime's own values and slopes at this point: what is tested is everything around them. That the
/// slopes are those of the values is for the runtime's tests to say.
pub(crate) fn fitted(transfer: Transfer, (m, v): Pair<Recorded>) -> Pair<Recorded> {
    let at = Moments { mean: m.value(), var: v.value() };
    let (value, slope) = match transfer {
        Transfer::Sigmoid => gradient::sigmoid(at),
        Transfer::Tanh => gradient::tanh(at),
        Transfer::Rectifier => gradient::rectifier(at),
    };
    let constant = |value: f32| Recorded::constant(value.into());
    let (by_mean, by_var) = (m - constant(at.mean), v - constant(at.var));
    let linear = |value: f32, mean_slope: f32, var_slope: f32| {
        constant(value) + by_mean.clone() * constant(mean_slope) + by_var.clone() * constant(var_slope)
    };
    (
        linear(value.mean, slope.mean_by_mean, slope.mean_by_var),
        linear(value.var, slope.var_by_mean, slope.var_by_var),
    )
}
