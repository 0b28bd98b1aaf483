//! Minimisation of a smooth convex function: limited-memory BFGS (Nocedal 1980; Nocedal and Wright 2006, alg.
//! 7.4 and 7.5).

use std::collections::VecDeque;

use nalgebra::DVector;

/// Pairs of steps and changes of the gradient that are kept.
const MEMORY: usize = 10;

/// Most iterations.
const ITERATIONS: usize = 300;

/// Largest component of the gradient, per unit, at which the search ends.
const TOLERANCE: f64 = 1e-6;

/// The place of the minimum of `function`, which returns value and gradient.
pub(super) fn minimise(
    start: DVector<f64>,
    function: impl Fn(&DVector<f64>) -> (f64, DVector<f64>),
) -> DVector<f64> {
    let mut place = start;
    let (mut value, mut gradient) = function(&place);
    let mut kept: VecDeque<(DVector<f64>, DVector<f64>)> = VecDeque::new();
    for _ in 0..ITERATIONS {
        if gradient.amax() < TOLERANCE {
            break;
        }
        let mut direction = -newton_like(&gradient, &kept);
        if direction.dot(&gradient) >= 0.0 {
            kept.clear();
            direction = -&gradient;
        }
        // Before there is any curvature, a step of length 1 at most.
        let first = if kept.is_empty() { 1.0 / gradient.norm().max(1.0) } else { 1.0 };
        let slope = direction.dot(&gradient);
        let Some((step, next_value, next_gradient)) =
            search(&place, &direction, value, slope, first, &function)
        else {
            break;
        };
        let (moved, change) = (&direction * step, &next_gradient - &gradient);
        if moved.dot(&change) > 1e-12 * moved.norm() * change.norm() {
            kept.push_back((moved.clone(), change));
            if kept.len() > MEMORY {
                kept.pop_front();
            }
        }
        place += moved;
        (value, gradient) = (next_value, next_gradient);
    }
    place
}

/// The product of the approximate inverse Hessian and a gradient, by two loops over the kept pairs.
fn newton_like(gradient: &DVector<f64>, kept: &VecDeque<(DVector<f64>, DVector<f64>)>) -> DVector<f64> {
    let mut q = gradient.clone();
    let mut shares = Vec::with_capacity(kept.len());
    for (moved, change) in kept.iter().rev() {
        let share = moved.dot(&q) / moved.dot(change);
        q.axpy(-share, change, 1.0);
        shares.push(share);
    }
    if let Some((moved, change)) = kept.back() {
        q *= moved.dot(change) / change.norm_squared();
    }
    for ((moved, change), share) in kept.iter().zip(shares.into_iter().rev()) {
        let back = change.dot(&q) / moved.dot(change);
        q.axpy(share - back, moved, 1.0);
    }
    q
}

/// A step length that decreases the function enough (Armijo's condition), by halving.
fn search(
    place: &DVector<f64>,
    direction: &DVector<f64>,
    value: f64,
    slope: f64,
    first: f64,
    function: &impl Fn(&DVector<f64>) -> (f64, DVector<f64>),
) -> Option<(f64, f64, DVector<f64>)> {
    let mut step = first;
    for _ in 0..40 {
        let (next, gradient) = function(&(place + direction * step));
        if next <= value + 1e-4 * step * slope {
            return Some((step, next, gradient));
        }
        step *= 0.5;
    }
    None
}
