//! Rollouts: many futures of a sampler that stays where it is.

use quaver::{FeedMode, Rollouts};
use quaver_tests::numbers::Numbers;

use crate::stream::{bits, samplers, whole_run, with_sampler};

#[test]
fn a_lookahead_changes_nothing() {
    for case in samplers() {
        let expected = whole_run(&case);
        with_sampler(&case, |sampler| {
            let mut futures = vec![f32::NAN; 4 * sampler.model().future_words()];
            let mut chance = Numbers::new("look ahead");
            for (row, expected) in case.stream.chunks(case.inputs).zip(&expected) {
                assert_eq!(bits(&sampler.observe(row)), *expected, "{}", case.name);
                let mut rollouts = Rollouts::<4>::new_in(sampler, &mut futures).expect("enough words");
                rollouts.advance(&mut chance, FeedMode::Draw);
                rollouts.advance(&mut chance, FeedMode::Mean);
                assert_eq!(bits(&sampler.prediction()), *expected, "{}, after rollouts", case.name);
            }
        });
    }
}

/// A rollout and the sampler are the same, given the same draws.
#[test]
fn one_rollout_is_the_sampler() {
    for case in samplers() {
        with_sampler(&case, |sampler| {
            case.stream.chunks(case.inputs).for_each(|row| _ = sampler.observe(row));
            let mut futures = vec![f32::NAN; sampler.model().future_words()];
            let (mut chance, channels) = (Numbers::new("one future"), sampler.model().channels());
            let mut rollouts = Rollouts::<1>::new_in(sampler, &mut futures).expect("enough words");
            let futures: Vec<Vec<f32>> = (0..5)
                .map(|_| {
                    rollouts.advance(&mut chance, FeedMode::Draw);
                    (0..channels).flat_map(|channel| rollouts.values(channel)).collect()
                })
                .collect();
            assert_eq!(rollouts.std_dev(0), Some(0.0));
            let mut chance = Numbers::new("one future");
            for future in futures {
                assert_eq!(sampler.sample(&mut chance, FeedMode::Draw), future, "{}", case.name);
            }
        });
    }
}

#[test]
fn quantiles_are_those_of_the_sorted_futures() {
    const K: usize = 257;
    for case in samplers() {
        with_sampler(&case, |sampler| {
            let mut futures = vec![f32::NAN; K * sampler.model().future_words()];
            let mut rollouts = Rollouts::<K>::new_in(sampler, &mut futures).expect("enough words");
            assert_eq!(
                (rollouts.mean(0), rollouts.quantile(0, 0.5), rollouts.horizon()),
                (None, None, 0),
                "nothing drawn yet"
            );
            let mut chance = Numbers::new("quantiles");
            (0..3).for_each(|_| rollouts.advance(&mut chance, FeedMode::Draw));
            for channel in 0..3 {
                let mut sorted: Vec<f32> = rollouts.values(channel).collect();
                assert_eq!(sorted.len(), K);
                sorted.sort_by(f32::total_cmp);
                for q in [0.0, 0.001, 0.1, 0.25, 0.5, 0.77, 0.999, 1.0] {
                    let place = q * (K - 1) as f32;
                    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
                    let expected = low + (high - low) * place.fract();
                    assert_eq!(rollouts.quantile(channel, q), Some(expected), "{}, q = {q}", case.name);
                }
            }
            assert_eq!(
                (rollouts.mean(3), rollouts.std_dev(3), rollouts.quantile(3, 0.5)),
                (None, None, None),
                "no such channel"
            );
        });
    }
}
