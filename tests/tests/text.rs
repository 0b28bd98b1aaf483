//! Tokens and draws of them: the bits of one-hot rows, and frequencies that follow the probabilities.

use proptest::prelude::*;
use quaver::Predictor;
use quaver_tests::fingerprint::words;
use quaver_tests::numbers::Numbers;
use quaver_tests::{Case, golden_text, replay};

fn arena(case: &Case) -> Vec<f32> {
    vec![0.0; replay::words(&case.model, case.task).expect("a case loads")[0]]
}

fn bits(prediction: &quaver::Prediction<'_>) -> Vec<u32> {
    words(prediction).map(f32::to_bits).collect()
}

proptest! {
    /// Every backend; indices beyond the vocabulary are missing tokens.
    #[test]
    fn a_token_is_its_one_hot_row_bit_for_bit(tokens in prop::collection::vec(0_usize..14, 1..40)) {
        for case in golden_text::cases() {
            let (mut one, mut other) = (arena(&case), arena(&case));
            let mut by_token = Predictor::load_in(&case.model, &mut one).unwrap();
            let mut by_row = Predictor::load_in(&case.model, &mut other).unwrap();
            for &token in &tokens {
                let known = token < case.inputs;
                let value = |channel: usize| match known {
                    true => f32::from(u8::from(channel == token)),
                    false => f32::NAN,
                };
                let row: Vec<f32> = (0..case.inputs).map(value).collect();
                prop_assert_eq!(bits(&by_token.step_token(token)), bits(&by_row.step(&row)), "{}", &case.name);
            }
        }
    }
}

/// A hundred thousand draws: each frequency within four standard deviations, of which one in 16,000 would not
/// be.
#[test]
fn draws_follow_the_probabilities_at_every_temperature() {
    let case = &golden_text::cases()[0];
    let mut memory = arena(case);
    let mut predictor = Predictor::load_in(&case.model, &mut memory).unwrap();
    let mut rng = Numbers::new("frequencies");
    predictor.step_token(3);
    for temperature in [1.0, 0.5, 2.0] {
        let prediction = predictor.prediction();
        let powers: Vec<f64> =
            prediction.mean().iter().map(|p| f64::from(*p).powf(1.0 / f64::from(temperature))).collect();
        let total: f64 = powers.iter().sum();
        let mut counts = vec![0.0; powers.len()];
        for _ in 0..100_000 {
            let class = match temperature {
                1.0 => prediction.draw_class(&mut rng),
                _ => prediction.draw_class_at(temperature, &mut rng),
            };
            counts[class] += 1.0;
        }
        for (power, count) in powers.iter().zip(counts) {
            let p = power / total;
            let std_dev = (p * (1.0 - p) * 1e5).sqrt();
            assert!((count - p * 1e5).abs() < 4.0 * std_dev + 1.0, "{temperature}: {count} of {}", p * 1e5);
        }
    }
}
