//! The values of a trial.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use toml::Value;

use crate::config::{Distribution, SearchConfig, renamed};
use crate::random::{normal, uniform};

/// The values of trial `index` of a search, by key.
///
/// A value depends only on the seed, the trial and its key: more trials leave the first ones unchanged, and
/// another key changes none of the others. A renamed key counts under its original name.
pub fn values(search: &SearchConfig, seed: u64, index: usize) -> Vec<(String, Value)> {
    let draw = |(key, distribution): (&String, &Distribution)| {
        (key.clone(), draw(distribution, &mut stream(seed, index, key)))
    };
    search.space.iter().map(draw).collect()
}

/// A number between 0 and 1 for a trial and a key, independent of the key's value.
pub fn share(seed: u64, index: usize, key: &str) -> f64 {
    uniform(&mut stream(seed, index, &format!("share of {key}")))
}

fn stream(seed: u64, index: usize, key: &str) -> Xoshiro256PlusPlus {
    // The odd factor spreads small numbers over all bits; the generator's own seeding mixes the sum further.
    let place = seed.wrapping_add((index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    Xoshiro256PlusPlus::seed_from_u64(place ^ hash(renamed::original(key)))
}

/// 64-bit FNV-1a (Fowler, Noll and Vo): the same on every machine and in every version of Rust.
pub(super) fn hash(key: &str) -> u64 {
    key.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

/// A draw from a distribution.
pub fn draw(distribution: &Distribution, rng: &mut impl Rng) -> Value {
    let between = |[low, high]: [f64; 2], share: f64| low + (high - low) * share;
    match distribution {
        Distribution::Uniform(ends) => real(between(*ends, uniform(rng))),
        Distribution::LogUniform(ends) => real(libm::exp(between(ends.map(libm::log), uniform(rng)))),
        Distribution::UniformVariance(ends) => real(libm::sqrt(between(*ends, uniform(rng)))),
        Distribution::Normal([mean, std_dev]) => real(mean + std_dev * normal(rng)),
        Distribution::Integer([low, high]) => {
            let count = (high - low + 1) as f64;
            Value::Integer((low + (count * uniform(rng)) as i64).min(*high))
        }
        Distribution::LogInteger([low, high]) => {
            // Half a step beyond both ends, so that rounding reaches them as often as their neighbours.
            let ends = [*low as f64 - 0.5, *high as f64 + 0.5].map(libm::log);
            let drawn = libm::round(libm::exp(between(ends, uniform(rng)))) as i64;
            Value::Integer(drawn.clamp(*low, *high))
        }
        Distribution::Choice(values) => {
            let index = (uniform(rng) * values.len() as f64) as usize;
            values[index.min(values.len() - 1)].clone()
        }
        Distribution::List(parts) => Value::Array(parts.iter().map(|part| draw(part, rng)).collect()),
    }
}

/// A number with four significant digits, easy to read and to repeat.
fn real(value: f64) -> Value {
    Value::Float(format!("{value:.3e}").parse().unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(distribution: &Distribution) -> Vec<f64> {
        let mut rng = stream(1, 0, "key");
        let number =
            |value: Value| value.as_float().or(value.as_integer().map(|whole| whole as f64)).unwrap();
        (0..20_000).map(|_| number(draw(distribution, &mut rng))).collect()
    }

    /// Shares of the draws up to each limit against what they should be; 0.015 is four standard deviations.
    fn assert_quantiles(distribution: &Distribution, quantiles: &[(f64, f64)]) {
        let draws = draws(distribution);
        for (limit, expected) in quantiles {
            let share = draws.iter().filter(|draw| *draw <= limit).count() as f64 / draws.len() as f64;
            assert!((share - expected).abs() < 0.015, "{distribution:?} up to {limit}: {share}");
        }
    }

    #[test]
    fn every_distribution_has_its_quantiles() {
        assert_quantiles(&Distribution::Uniform([2.0, 4.0]), &[(1.99, 0.0), (2.5, 0.25), (4.0, 1.0)]);
        assert_quantiles(&Distribution::LogUniform([1e-4, 1.0]), &[(1e-3, 0.25), (1e-2, 0.5), (1.0, 1.0)]);
        assert_quantiles(&Distribution::UniformVariance([0.0, 4.0]), &[(1.0, 0.25), (2.0, 1.0)]);
        assert_quantiles(&Distribution::Normal([1.0, 2.0]), &[(-1.0, 0.1587), (1.0, 0.5), (3.0, 0.8413)]);
        assert_quantiles(
            &Distribution::Integer([-1, 2]),
            &[(-2.0, 0.0), (-1.0, 0.25), (0.0, 0.5), (2.0, 1.0)],
        );
        // ln(1.5/0.5) of ln(8.5/0.5) for the first of eight.
        assert_quantiles(&Distribution::LogInteger([1, 8]), &[(0.0, 0.0), (1.0, 0.3878), (8.0, 1.0)]);
        let choice = Distribution::Choice(vec![Value::Integer(5), Value::Integer(7)]);
        assert_quantiles(&choice, &[(4.0, 0.0), (5.0, 0.5), (7.0, 1.0)]);
    }

    #[test]
    fn lists_are_drawn_entry_by_entry() {
        let list = Distribution::List(vec![Distribution::Integer([1, 9]), Distribution::Integer([20, 29])]);
        let value = draw(&list, &mut stream(1, 0, "layers"));
        let entries: Vec<i64> = value.as_array().unwrap().iter().filter_map(Value::as_integer).collect();
        assert!((1..=9).contains(&entries[0]) && (20..=29).contains(&entries[1]), "{value}");
    }

    #[test]
    fn values_depend_on_seed_trial_and_key_alone() {
        let uniform = || Distribution::Uniform([0.0, 1.0]);
        let search = |keys: &[&str]| SearchConfig {
            space: keys.iter().map(|key| (key.to_string(), uniform())).collect(),
            ..SearchConfig::default()
        };
        let (two, three) = (search(&["b", "d"]), search(&["a", "b", "d"]));
        assert_eq!(values(&two, 3, 5), values(&three, 3, 5)[1..]);
        assert_ne!(values(&two, 3, 5), values(&two, 3, 6));
        assert_ne!(values(&two, 3, 5), values(&two, 4, 5));
        let drawn = values(&two, 3, 5);
        assert_ne!(drawn[0].1, drawn[1].1);
    }

    #[test]
    fn real_numbers_have_four_digits() {
        assert_eq!(real(0.012_345_678), Value::Float(0.01235));
        assert_eq!(real(123_456.0), Value::Float(123_500.0));
    }
}
