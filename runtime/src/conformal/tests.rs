use std::vec::Vec;

use super::*;
use crate::random::normal_of;

const RATE: f32 = 0.02;
const MISS_RATE: f32 = 0.1;
const BOUND: f32 = 6.9;
const STEPS: usize = 20_000;

/// A stream: gets the step, its uniform bits and the current interval's half width; returns the truth around
/// a mean of 0.
type Stream = fn(usize, u32, f32) -> f32;

/// Numbers that do not repeat (Weyl sequence, mixed).
fn bits(step: usize) -> u32 {
    let mut bits = (step as u32).wrapping_mul(0x9E37_79B9);
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x85EB_CA6B);
    bits ^ (bits >> 13)
}

/// Runs a stream against a model that claims a unit variance. Misses and logarithms θ of all steps.
fn run(stream: Stream) -> Vec<(bool, f64)> {
    let tracker = ScaleTracker::new(RATE, MISS_RATE, BOUND);
    let quantile = normal_quantile(1.0 - MISS_RATE);
    let mut scale = 1.0_f32;
    let step = |step| {
        let half_width = quantile * scale.sqrt();
        let missed = is_missed(0.0, scale, stream(step, bits(step), half_width), quantile);
        scale = tracker.next(scale, missed);
        (missed, 0.5 * f64::from(scale).ln())
    };
    (0..STEPS).map(step).collect()
}

/// Streams whose truth is bounded: intervals can become wide enough for them.
const STREAMS: [(&str, Stream); 8] = [
    ("as claimed", |_, bits, _| normal_of(bits)),
    ("variance jumps ×100", |step, bits, _| normal_of(bits) * if step / 500 % 2 == 0 { 1.0 } else { 10.0 }),
    ("drift", |step, bits, _| normal_of(bits) + step as f32 * 1e-3),
    ("constant truth", |_, _, _| 0.0),
    ("heavy tails", |_, bits, _| 0.2 * normal_of(bits) / (0.01 + normal_of(bits.rotate_left(9)).abs())),
    ("just outside, just inside, in turn", |step, _, half| {
        (half * if step % 2 == 0 { 1.001 } else { 0.999 }).min(50.0)
    }),
    ("just outside whenever the interval is narrow", |_, _, half| if half < 1.0 { 1.01 * half } else { 0.0 }),
    ("misses in bursts", |step, _, half| if step % 1000 < 100 { 2.0 * half } else { 0.5 * half }),
];

/// The bound of the module's documentation holds on every prefix before θ first reaches ±B. The rounding of
/// products is 2⁻²³ per step; 2⁻²³/γ is below 10⁻⁵.
#[test]
fn the_miss_rate_stays_within_its_bound_on_any_stream() {
    for (name, stream) in STREAMS {
        let (mut misses, mut inside) = (0.0, 0);
        for (step, (missed, theta)) in run(stream).into_iter().enumerate() {
            misses += f64::from(u8::from(missed));
            if theta.abs() > f64::from(BOUND) - 1e-4 {
                break;
            }
            let count = step as f64 + 1.0;
            let bound = f64::from(BOUND + RATE) / (f64::from(RATE) * count) + 1e-5;
            let error = (misses / count - f64::from(MISS_RATE)).abs();
            assert!(error <= bound, "{name}: {error} after {count} steps, bound {bound}");
            inside = step + 1;
        }
        // No interval is too wide for a truth that is always at the mean.
        let expected = if name == "constant truth" { 3_000 } else { STEPS };
        assert!(inside >= expected, "{name}: at the bound after {inside} steps");
    }
}

/// An adversary that sees every interval and has no bound of its own drives θ to its bound; until then the
/// promise holds, and then the factor stays there.
#[test]
fn an_unbounded_adversary_reaches_the_bound_and_no_more() {
    let [_, largest] = ScaleTracker::new(RATE, MISS_RATE, BOUND).bounds();
    let steps = run(|_, _, half| 1.001 * half);
    let first = steps.iter().position(|(_, theta)| *theta > f64::from(BOUND) - 1e-4);
    // Each miss adds γ (1 − α) = 0.018: 6.9/0.018 = 383.3.
    assert_eq!(first, Some(383));
    assert!(steps.iter().all(|(missed, _)| *missed));
    let last = steps.last().map(|(_, theta)| *theta);
    assert_eq!(last, Some(0.5 * f64::from(largest).ln()));
}

/// Long-run rates: T = 20,000 leaves the bound at 1.7 points; a fixed scale misses most of a wide stream.
#[test]
fn the_long_run_miss_rate_is_what_was_asked_for() {
    let bound = f64::from(BOUND + RATE) / (f64::from(RATE) * STEPS as f64);
    assert!(bound < 0.0175);
    for (name, stream) in STREAMS.into_iter().filter(|(name, _)| *name != "constant truth") {
        let rate = run(stream).iter().filter(|(missed, _)| *missed).count() as f64 / STEPS as f64;
        assert!((rate - f64::from(MISS_RATE)).abs() < bound, "{name}: {rate}");
    }
}

/// The factor after n misses and k hits is exp(2γ (n (1 − α) − kα)), up to n + k roundings of 2⁻²³.
#[test]
fn the_factor_is_the_exponential_of_the_update_in_the_papers() {
    let tracker = ScaleTracker::new(RATE, MISS_RATE, BOUND);
    let (mut scale, mut theta) = (1.0, 0.0_f64);
    for step in 0..1000 {
        let missed = step % 7 == 0;
        scale = tracker.next(scale, missed);
        theta += f64::from(RATE) * (f64::from(u8::from(missed)) - f64::from(MISS_RATE));
        let expected = (2.0 * theta).exp();
        assert!((f64::from(scale) / expected - 1.0).abs() < 2.0 * 1.2e-7 * (step as f64 + 1.0), "{step}");
    }
}

#[test]
fn the_factor_stays_within_its_bounds_whatever_happens() {
    let tracker = ScaleTracker::new(1.0, 0.5, 2.0);
    let [smallest, largest] = tracker.bounds();
    assert!((smallest * largest - 1.0).abs() < 1e-6 && (largest.ln() - 4.0).abs() < 1e-6);
    let repeated = |missed| (0..100).fold(1.0, |scale, _| tracker.next(scale, missed));
    assert_eq!([repeated(false), repeated(true)], [smallest, largest]);
    // What no state should hold leaves the bounds neither.
    for scale in [f32::NAN, f32::INFINITY, -1.0, 0.0, f32::MAX] {
        assert!((smallest..=largest).contains(&tracker.next(scale, true)), "{scale}");
    }
}

#[test]
fn extreme_observations_are_hits_or_misses_but_never_lost() {
    for (mean, variance, observed, missed) in [
        (f32::MAX, 1.0, f32::MIN, true),
        // Both squares leave the range of f32: nothing is known, so nothing is missed.
        (0.0, f32::MAX, 1e30, false),
        (0.0, f32::MAX, 1.0, false),
        (1.0, 0.0, 1.0, false),
        (1.0, 0.0, 1.0 + f32::EPSILON, true),
    ] {
        assert_eq!(is_missed(mean, variance, observed, 1.645), missed, "{mean} {variance} {observed}");
    }
}

/// Against the distribution function: Φ(q) − Φ(−q) = erf(q/√2). PPND7 has seven digits.
#[test]
fn normal_quantiles_invert_the_distribution_function() {
    for level in [0.01_f32, 0.25, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999] {
        let inside = libm::erf(f64::from(normal_quantile(level)) / core::f64::consts::SQRT_2);
        assert!((inside - f64::from(level)).abs() < 5e-7, "{level}: {inside}");
    }
    for level in [f32::NAN, -1.0, 0.0, 1.0, 2.0, f32::INFINITY] {
        assert!((0.0..6.0).contains(&normal_quantile(level)), "{level}");
    }
    assert_eq!(LEVELS.map(|level| stored_level(1.0 - (1.0 - level))), [0, 1, 2, 3].map(Some));
    assert_eq!(stored_level(0.7), None);
}

#[test]
fn stored_quantiles_are_kept_and_interpolated_between_their_levels() {
    let stored = [0.4, 1.5, 2.2, 3.1];
    let at = |level| interval_quantile(|index| stored[index], level);
    assert_eq!(LEVELS.map(at), stored);
    let mut last = 0.0;
    for percent in 1..100 {
        let quantile = at(percent as f32 / 100.0);
        assert!(quantile > last, "{percent} %: {quantile} after {last}");
        last = quantile;
    }
    // Twice the normal quantiles stay that at any level, to the seven digits of a quantile.
    for level in [0.1, 0.6, 0.85, 0.92, 0.99] {
        let doubled = interval_quantile(|index| 2.0 * normal_quantile(LEVELS[index]), level);
        assert!((doubled / normal_quantile(level) - 2.0).abs() < 1e-5, "{level}");
    }
    assert!(at(f32::NAN) == 0.0 && at(2.0).is_finite() && at(-1.0) == 0.0);
}
