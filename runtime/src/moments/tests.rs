//! What the tests of the moments share: the functions by name, and where to try them.

use super::{Jacobian, Moments, gradient, identity, paper, relu, sigmoid, tanh};
use std::vec::Vec;

mod accuracy;
mod derivatives;
mod limits;
mod published;
pub(crate) mod quadrature;
mod wide;

type Function = fn(Moments) -> Moments;
type Gradient = fn(Moments) -> (Moments, Jacobian);

const ALL: [(&str, Function); 6] = [
    ("identity", identity),
    ("relu", relu),
    ("sigmoid", sigmoid),
    ("tanh", tanh),
    ("paper::sigmoid", paper::sigmoid),
    ("paper::tanh", paper::tanh),
];

const GRADIENTS: [(&str, Function, Gradient); 5] = [
    ("relu", relu, gradient::relu),
    ("sigmoid", sigmoid, gradient::sigmoid),
    ("tanh", tanh, gradient::tanh),
    ("paper::sigmoid", paper::sigmoid, gradient::paper_sigmoid),
    ("paper::tanh", paper::tanh, gradient::paper_tanh),
];

fn moments(mean: f64, std_dev: f64) -> Moments {
    Moments { mean: mean as f32, var: (std_dev * std_dev) as f32 }
}

/// Evenly spaced values from 0 to `end`, both included.
pub(crate) fn steps(end: f64, count: usize) -> impl Iterator<Item = f64> + Clone {
    (0..=count).map(move |i| end * i as f64 / count as f64)
}

/// Standard deviations up to 8: fine ones, and coarse ones down to 10⁻⁶.
fn std_devs() -> Vec<f64> {
    let tiny = (-24..0).map(|power| 10f64.powf(f64::from(power) / 4.0));
    tiny.chain(steps(8.0, 160)).collect()
}
