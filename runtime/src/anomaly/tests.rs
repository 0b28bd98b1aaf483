use std::vec::Vec;

use super::channel::add;
use super::*;
use crate::random::normal_of;

const SMOOTHING: f32 = 1.0 / 32.0;

/// Uniform bits per step.
fn bits(step: usize) -> u32 {
    let mut bits = (step as u32).wrapping_mul(0x9E37_79B9).wrapping_add(77);
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x85EB_CA6B);
    bits ^ (bits >> 13)
}

fn limits() -> ChannelLimits {
    ChannelLimits {
        slack: 0.5,
        increment: 2.0, // of white noise of unit variance
        limits: [Limit { start: 0.0, weight: 1.0 }; STATISTICS],
    }
}

/// Statistics after each of the values of a white channel, which are also its residuals.
fn run(values: impl Iterator<Item = f32>) -> Vec<[f32; STATISTICS]> {
    let limits = limits();
    let mut state = ChannelState::new(&limits);
    let step = |value| {
        let evidence = Evidence { residual: Some(value), neighbour: Some(value), value };
        state.update(&limits, SMOOTHING, Some(evidence));
        state.statistics(&limits)
    };
    values.map(step).collect()
}

/// Mean of a statistic after the first thousand rows.
fn mean(statistics: &[[f32; STATISTICS]], index: usize) -> f64 {
    let tail = &statistics[1000..];
    tail.iter().map(|all| f64::from(all[index])).sum::<f64>() / tail.len() as f64
}

/// Moving averages are unbiased: E[z²] = 1, and the squared increments of white noise are what is expected.
/// Capping z² at 25 loses 10⁻⁵. A moving average of window w over n rows has about 2n/w independent values,
/// here 12,000, each with variance at most 2/(2w)·2: standard errors are below 0.004.
#[test]
fn moving_averages_have_their_expectations_on_white_noise() {
    let statistics = run((0..200_000).map(|step| normal_of(bits(step))));
    for index in [1, 3, 4] {
        assert!((mean(&statistics, index) - 1.0).abs() < 0.015, "{index}: {}", mean(&statistics, index));
    }
}

/// The average run length of a two-sided cumulative sum with slack 0.5 until it exceeds 4 is 168 rows on
/// white noise, and 8.38 after a shift by one standard deviation (Lucas and Crosier 1982, table 1, without a
/// head start). 2,000 runs have a standard error of 2 %.
#[test]
fn cumulative_sums_have_the_published_run_lengths() {
    let mut source = (0..).map(|step| normal_of(bits(step)));
    let mut average_run_length = |shift: f32| {
        let mut total = 0;
        for _ in 0..2000 {
            let mut sums = [0.0; 2];
            while sums[0] <= 4.0 && sums[1] <= 4.0 {
                add(&mut sums, source.next().unwrap_or(0.0) + shift, 0.5);
                total += 1;
            }
        }
        f64::from(total) / 2000.0
    };
    let sound = average_run_length(0.0);
    assert!((sound / 168.0 - 1.0).abs() < 0.08, "{sound}");
    let shifted = average_run_length(1.0);
    assert!((shifted / 8.38 - 1.0).abs() < 0.08, "{shifted}");
}

/// Each fault raises its own statistic far above what a thousand sound rows reach.
#[test]
fn each_fault_is_seen_by_its_statistic() {
    let sound = |step: usize| normal_of(bits(step));
    let highest =
        |index: usize| run((0..1200).map(sound)).iter().map(|all| all[index]).fold(f32::MIN, f32::max);
    type Fault = fn(f32, usize) -> f32;
    let faults: [(usize, Fault); 9] = [
        (0, |x, _| x + 1.5),
        (1, |x, _| 3.0 * x),
        (2, |x, _| 0.2 * x),
        (3, |x, _| 3.0 * x),
        (4, |x, step| if step % 2 == 0 { x + 3.0 } else { x - 3.0 }),
        (5, |_, step| 0.05 * (step % 2) as f32),
        (6, |_, _| 0.3),
        (7, |_, _| 0.3),
        (7, |x, _| x.clamp(-0.5, 0.5)),
    ];
    for (index, fault) in faults {
        let values = (0..1200).map(|step| if step < 1100 { sound(step) } else { fault(sound(step), step) });
        let last = run(values).last().map(|all| all[index]).unwrap_or(0.0);
        assert!(last > 1.5 * highest(index), "{:?}: {last} {}", CHANNEL_KINDS[index], highest(index));
    }
}

#[test]
fn a_recovered_channel_is_soon_free_of_suspicion() {
    // After a fault of any length: a sum falls from its cap of 20 by the slack in each row, on average.
    let values = (0..3000).map(|step| if (500..2500).contains(&step) { 9.0 } else { normal_of(bits(step)) });
    let statistics = run(values);
    assert_eq!(statistics[2400][0], SUM_CAP);
    assert!(statistics[2499 + 120][0] < 5.0, "{}", statistics[2499 + 120][0]);
    assert!(statistics[2499 + 200][1] < 2.0, "{}", statistics[2499 + 200][1]);
    assert_eq!(statistics[2499 + 2][6], 0.0);
    assert!(statistics[2499 + 200][7] < 0.01, "{}", statistics[2499 + 200][7]);
}

/// With λ = 1/32: 0.8 is repeated once, which makes it remembered; the next two rows at 0.8 are returns of
/// weight 0.64, the first of them although it repeats nothing; −0.8 was never repeated.
#[test]
fn returns_are_to_values_that_were_repeated_on_that_side() {
    let returns = |values: &[f32]| run(values.iter().copied()).iter().map(|all| all[7]).collect::<Vec<_>>();
    let found = returns(&[0.8, 0.8, 0.3, 0.8, -0.8, 0.8]);
    let kept = 1.0 - SMOOTHING;
    let mut expected = 0.0;
    for (row, weight) in [0.0, 0.64, 0.0, 0.64, 0.0, 0.64].into_iter().enumerate() {
        expected = kept * expected + SMOOTHING * weight;
        // Rounding of six steps.
        assert!((found[row] - expected).abs() < 1e-6, "row {row}: {} {expected}", found[row]);
    }
    // At the mean a repetition has the least weight, far from it at most 1.
    assert_eq!(returns(&[0.01, 0.01])[1], SMOOTHING / 16.0);
    assert_eq!(returns(&[7.0, 7.0])[1], SMOOTHING);
}

#[test]
fn a_missing_channel_is_no_evidence() {
    let limits = limits();
    let mut state = ChannelState::new(&limits);
    let evidence = |value| Some(Evidence { residual: Some(value), neighbour: None, value });
    [0.3, -0.2, 0.1, 0.1].into_iter().for_each(|value| state.update(&limits, SMOOTHING, evidence(value)));
    let before = state.statistics(&limits);
    for _ in 0..50 {
        state.update(&limits, SMOOTHING, None);
    }
    assert_eq!(before[..6], state.statistics(&limits)[..6]);
    assert_eq!(before[7], state.statistics(&limits)[7]);
    // Nothing is known of the increment over a gap.
    state.update(&limits, SMOOTHING, evidence(0.2));
    assert_eq!(state.statistics(&limits)[4..7], [before[4], before[5], 0.0]);
}

#[test]
fn any_evidence_leaves_the_state_within_its_limits() {
    let limits = limits();
    let mut state = ChannelState::new(&limits);
    let extremes = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e6, -1e6, 0.0, 1e-45];
    for (step, value) in extremes.iter().cycle().take(70).enumerate() {
        let value = value * if step % 3 == 0 { -1.0 } else { 1.0 };
        let evidence =
            Evidence { residual: Some(value), neighbour: Some(value), value: value.clamp(-1e6, 1e6) };
        state.update(&limits, SMOOTHING, Some(evidence));
        for statistic in state.statistics(&limits) {
            assert!((-1.0..=RUN_CAP).contains(&statistic), "{statistic} after {value}");
        }
        assert!(worst_of_channel(0, &state, &limits).is_some_and(|worst| worst.score.is_finite()));
    }
}

#[test]
fn numbers_and_words_survive_the_way_through_a_checkpoint_and_a_saved_state() {
    let numbers: [f32; CHANNEL_NUMBERS] = core::array::from_fn(|index| index as f32);
    assert_eq!(ChannelLimits::of_numbers(numbers).numbers(), numbers);
    let words: [f32; STATE_WORDS] = core::array::from_fn(|index| index as f32);
    assert_eq!(ChannelState::of_words(words).words(), words);
}

#[test]
fn the_worst_statistic_is_named_and_those_without_weight_are_left_out() {
    let mut limits = limits();
    limits.limits = [Limit::default(); STATISTICS];
    let mut state = ChannelState::new(&limits);
    assert_eq!(worst_of_channel(3, &state, &limits), None);
    limits.limits[6] = Limit { start: 1.0, weight: 0.25 };
    for _ in 0..7 {
        state.update(&limits, SMOOTHING, Some(Evidence::default()));
    }
    let worst = worst_of_channel(3, &state, &limits);
    assert_eq!(worst, Some(Anomaly { score: 1.25, channel: Some(3), kind: AnomalyKind::Stuck }));
    assert!(worst.is_some_and(|anomaly| anomaly.is_anomalous()));
    let row = of_row(AnomalyKind::Distant, Some(9.0), Limit { start: 1.0, weight: 0.5 });
    assert_eq!(worse(worst, row), row);
    assert_eq!(worse(row, worst), row);
    assert_eq!(of_row(AnomalyKind::Distant, None, Limit { start: 1.0, weight: 0.5 }), None);
}
