//! Moments through activation functions, in any number.

use std::f64::consts::{PI, SQRT_2, TAU};

use quaver::checkpoint::Activation;
use quaver::moments::{Moments, gradient};

use super::Pair;
use super::number::{Number, Recorded};

/// The moments of f(a), given those of a.
pub(crate) type MomentsOfActivation<N> = fn(Activation, Pair<N>) -> Pair<N>;

/// The closed forms that are printed: sigmoid and tanh approximately, the relu exactly (Bayer 2015, thesis,
/// 2.3.4; the squares that are subtracted are of the outgoing mean).
pub(crate) fn printed<N: Number>(activation: Activation, (m, v): Pair<N>) -> Pair<N> {
    match activation {
        Activation::Sigmoid => printed_sigmoid(m, v),
        Activation::Tanh => {
            let (mean, var) = printed_sigmoid(m * N::constant(2.0), v * N::constant(4.0));
            (mean * N::constant(2.0) - N::constant(1.0), var * N::constant(4.0))
        }
        Activation::Relu => relu(m, v),
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
fn relu<N: Number>(m: N, v: N) -> Pair<N> {
    let std_dev = v.clone().sqrt();
    let r = m.clone() / std_dev.clone();
    let density = (r.clone().squared() * N::constant(-0.5)).exp() / N::constant(TAU.sqrt());
    let (passing, edge) = (r.below(), std_dev * density);
    let mean = m.clone() * passing.clone() + edge.clone();
    let second = (m.clone().squared() + v) * passing + m * edge;
    (mean.clone(), second - mean.squared())
}

/// The fitted forms, by the runtime's own values and derivatives at this point: what is tested is everything
/// around them. That the derivatives are those of the values is tested in the runtime.
pub(crate) fn fitted(activation: Activation, (m, v): Pair<Recorded>) -> Pair<Recorded> {
    let at = Moments { mean: m.value(), var: v.value() };
    let (value, jacobian) = match activation {
        Activation::Sigmoid => gradient::sigmoid(at),
        Activation::Tanh => gradient::tanh(at),
        Activation::Relu => gradient::relu(at),
    };
    let constant = |value: f32| Recorded::constant(value.into());
    let (by_mean, by_var) = (m - constant(at.mean), v - constant(at.var));
    let linear = |value: f32, by_mean_value: f32, by_var_value: f32| {
        constant(value) + by_mean.clone() * constant(by_mean_value) + by_var.clone() * constant(by_var_value)
    };
    (
        linear(value.mean, jacobian.mean_by_mean, jacobian.mean_by_var),
        linear(value.var, jacobian.var_by_mean, jacobian.var_by_var),
    )
}
