//! Draws of a class by inversion of the distribution function: one uniform number, no memory, the same bits
//! everywhere.

use rand_core::Rng;

use crate::random::uniform;

/// Draws a class with probabilities in proportion to p^(1/`temperature`); see
/// [`Prediction::draw_class_at`](super::Prediction::draw_class_at).
pub(crate) fn draw_class_at(probabilities: &[f32], temperature: f32, rng: &mut (impl Rng + ?Sized)) -> usize {
    class_at_temperature(probabilities, temperature, uniform(rng))
}

/// The class whose share of [0, 1) holds `point`.
pub(super) fn class_at(probabilities: impl ExactSizeIterator<Item = f32>, point: f32) -> usize {
    let last = probabilities.len().saturating_sub(1);
    let mut left = point;
    for (class, p) in probabilities.enumerate() {
        if left < p {
            return class;
        }
        left -= p;
    }
    // Rounding may leave a remainder beyond the last share.
    last
}

/// The same for probabilities in proportion to p^(1/T), relative to the largest one, so that no power
/// underflows for all classes.
fn class_at_temperature(probabilities: &[f32], temperature: f32, point: f32) -> usize {
    if temperature == 1.0 {
        return class_at(probabilities.iter().copied(), point);
    }
    let (mut most_probable, mut largest) = (0, 0.0);
    for (class, p) in probabilities.iter().enumerate() {
        if *p > largest {
            (most_probable, largest) = (class, *p);
        }
    }
    // NaN is not above zero either.
    if !(temperature > 0.0 && largest > 0.0) {
        return most_probable;
    }
    let power = 1.0 / temperature;
    let weights = probabilities.iter().map(|p| libm::powf(p / largest, power));
    let mut total = 0.0;
    weights.clone().for_each(|weight| total += weight);
    class_at(weights, point * total)
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: [f32; 4] = [0.25, 0.0, 0.5, 0.25];

    #[test]
    fn each_class_is_drawn_on_its_share_of_the_unit_interval() {
        let class = |point: f32| class_at(P.into_iter(), point);
        assert_eq!(class(0.0), 0);
        assert_eq!(class(0.25), 2, "a class of probability 0 is never drawn");
        assert_eq!(class(0.7499), 2);
        assert_eq!(class(0.75), 3);
        assert_eq!(class(1.0), 3, "the remainder of rounding goes to the last");
        assert_eq!(class_at([].into_iter(), 0.5), 0);
    }

    /// Squares of the probabilities are in proportion 1 : 0 : 4 : 1.
    #[test]
    fn a_temperature_is_a_power() {
        let class = |point: f32| class_at_temperature(&P, 0.5, point);
        assert_eq!([class(0.0), class(0.16), class(0.17), class(0.83), class(0.84)], [0, 0, 2, 2, 3]);
        let flat = |point: f32| class_at_temperature(&P, f32::INFINITY, point);
        assert_eq!([flat(0.2), flat(0.3), flat(0.6), flat(0.9)], [0, 1, 2, 3], "p⁰ = 1, even of zero");
        for point in [0.0, 0.3, 0.99] {
            assert_eq!(class_at_temperature(&P, 1.0, point), class_at(P.into_iter(), point));
            for temperature in [0.0, -1.0, f32::NAN, 1e-30] {
                assert_eq!(class_at_temperature(&P, temperature, point), 2, "{temperature}");
            }
        }
        assert_eq!(class_at_temperature(&[f32::NAN; 3], 0.5, 0.5), 0);
    }
}
