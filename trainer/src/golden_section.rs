//! Golden-section search (Kiefer 1953).

/// The position of the minimum of a unimodal function within an interval, after this number of steps, each of
/// which keeps 0.618 of the interval.
pub(crate) fn minimise([mut low, mut high]: [f64; 2], steps: usize, function: impl Fn(f64) -> f64) -> f64 {
    let ratio = (5.0_f64.sqrt() - 1.0) / 2.0;
    let (mut left, mut right) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_left, mut at_right) = (function(left), function(right));
    for _ in 0..steps {
        if at_left < at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - ratio * (high - low);
            at_left = function(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + ratio * (high - low);
            at_right = function(right);
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vertex_of_a_parabola() {
        let found = minimise([-3.0, 5.0], 40, |x| (x - 1.25).powi(2));
        assert!((found - 1.25).abs() < 1e-6, "{found}");
    }
}
