//! Fans: many futures of a sampler that stays where it is.

use quaver::{FeedMode, Rollouts};
use quaver_tests::numbers::Numbers;

use crate::stream::{bits, samplers, whole_run, with_sampler};

#[test]
fn a_look_ahead_changes_nothing() {
    for case in samplers() {
        let expected = whole_run(&case);
        with_sampler(&case, |sampler| {
            let mut futures = vec![f32::NAN; 4 * sampler.model().future_words()];
            let mut chance = Numbers::new("look ahead");
            for (row, expected) in case.stream.chunks(case.inputs).zip(&expected) {
                assert_eq!(bits(&sampler.observe(row)), *expected, "{}", case.name);
                let mut fan = Rollouts::<4>::new_in(sampler, &mut futures).expect("enough words");
                fan.advance(&mut chance, FeedMode::Draw);
                fan.advance(&mut chance, FeedMode::Mean);
                assert_eq!(bits(&sampler.prediction()), *expected, "{}, after a fan", case.name);
            }
        });
    }
}

/// The fan and the sampler go the same way, given the same draws.
#[test]
fn a_fan_of_one_is_the_sampler() {
    for case in samplers() {
        with_sampler(&case, |sampler| {
            case.stream.chunks(case.inputs).for_each(|row| _ = sampler.observe(row));
            let mut futures = vec![f32::NAN; sampler.model().future_words()];
            let (mut chance, channels) = (Numbers::new("one future"), sampler.model().channels());
            let mut fan = Rollouts::<1>::new_in(sampler, &mut futures).expect("enough words");
            let futures: Vec<Vec<f32>> = (0..5)
                .map(|_| {
                    fan.advance(&mut chance, FeedMode::Draw);
                    (0..channels).flat_map(|channel| fan.values(channel)).collect()
                })
                .collect();
            assert_eq!(fan.std_dev(0), Some(0.0));
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
            let mut fan = Rollouts::<K>::new_in(sampler, &mut futures).expect("enough words");
            assert_eq!(
                (fan.mean(0), fan.quantile(0, 0.5), fan.horizon()),
                (None, None, 0),
                "nothing drawn yet"
            );
            let mut chance = Numbers::new("quantiles");
            (0..3).for_each(|_| fan.advance(&mut chance, FeedMode::Draw));
            for channel in 0..3 {
                let mut sorted: Vec<f32> = fan.values(channel).collect();
                assert_eq!(sorted.len(), K);
                sorted.sort_by(f32::total_cmp);
                for q in [0.0, 0.001, 0.1, 0.25, 0.5, 0.77, 0.999, 1.0] {
                    let place = q * (K - 1) as f32;
                    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
                    let expected = low + (high - low) * place.fract();
                    assert_eq!(fan.quantile(channel, q), Some(expected), "{}, q = {q}", case.name);
                }
            }
            assert_eq!(
                (fan.mean(3), fan.std_dev(3), fan.quantile(3, 0.5)),
                (None, None, None),
                "no such channel"
            );
        });
    }
}
