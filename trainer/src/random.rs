//! Reproducible random numbers: the same on every machine.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers for one purpose.
///
/// A stream depends only on the seed and the purpose; no generator is carried from one use to the next. What
/// is drawn in epoch 7 does not depend on epochs 1 to 6, so a resumed run needs no generator state.
pub fn stream(seed: u64, purpose: Purpose) -> Xoshiro256PlusPlus {
    let index = match purpose {
        Purpose::Initialisation => 0,
        Purpose::Shuffle { epoch } => 1 + epoch,
        // Far above the number of any epoch.
        Purpose::Part { index } => (1 << 40) + index,
        Purpose::Embedding => 1 << 41,
        Purpose::Gaps { epoch, sequence } => (1 << 58) + (epoch << 31) + sequence,
        Purpose::Evaluation { index } => (1 << 57) + index,
        Purpose::MonteCarlo { draw, sequence } => (1 << 56) + (draw << 31) + sequence,
        Purpose::Augmentation { epoch, sequence } => (1 << 59) + (epoch << 31) + sequence,
        Purpose::FreshNoise { epoch, sequence } => (1 << 60) + (epoch << 31) + sequence,
        Purpose::AddedNoise { split, sequence } => (1 << 61) + (split << 32) + sequence,
        Purpose::Draws { epoch, batch } => (1 << 62) + (epoch << 31) + batch,
    };
    // The odd factor spreads the index over all bits; the generator's own seeding mixes the sum further.
    Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(index.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
}

/// What random numbers are drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The initial parameters.
    Initialisation,
    /// The order of the training data in an epoch, counted from 1.
    Shuffle {
        /// The epoch.
        epoch: u64,
    },
    /// The seed of one of several networks that are trained together.
    Part {
        /// Index of the network.
        index: u64,
    },
    /// The initial embedding of tokens.
    Embedding,
    /// Gaps and faults put into recordings to evaluate a model with them.
    Evaluation {
        /// Index of the draw.
        index: u64,
    },
    /// Noise on the units of a network in a Monte Carlo evaluation.
    MonteCarlo {
        /// The draw, counted from 0.
        draw: u64,
        /// The sequence, counted from 0.
        sequence: u64,
    },
    /// Noise added to clean recordings.
    AddedNoise {
        /// The split: train, valid or test.
        split: u64,
        /// The sequence within it, counted from 0.
        sequence: u64,
    },
    /// Noise added to training rows in one epoch.
    FreshNoise {
        /// The epoch, counted from 1.
        epoch: u64,
        /// The sequence, counted from 0.
        sequence: u64,
    },
    /// Transforms of training rows in one epoch.
    Augmentation {
        /// The epoch, counted from 1.
        epoch: u64,
        /// The sequence, counted from 0.
        sequence: u64,
    },
    /// Gaps in the inputs of training rows in one epoch.
    Gaps {
        /// The epoch, counted from 1.
        epoch: u64,
        /// The sequence, counted from 0.
        sequence: u64,
    },
    /// Draws of latent variables, or of weights.
    Draws {
        /// The epoch, counted from 1; 0 for draws that have no part in training.
        epoch: u64,
        /// The batch, counted from 0.
        batch: u64,
    },
}

/// `count` normal variates of mean 0 and variance 1.
pub fn normals(rng: &mut impl Rng, count: usize) -> Vec<f32> {
    (0..count).map(|_| normal(rng) as f32).collect()
}

/// A uniform variate in [0, 1).
pub fn uniform(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A normal variate of mean 0 and variance 1 (Box and Muller 1958).
pub fn normal(rng: &mut impl Rng) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - uniform(rng)));
    radius * libm::cos(std::f64::consts::TAU * uniform(rng))
}

/// `count` distinct numbers below `bound`, in ascending order.
pub fn choose(rng: &mut impl Rng, count: usize, bound: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..bound).collect();
    for index in 0..count.min(bound) {
        let other = index + (uniform(rng) * (bound - index) as f64) as usize;
        numbers.swap(index, other);
    }
    numbers.truncate(count);
    numbers.sort_unstable();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_variates_have_the_moments_of_a_normal_distribution() {
        let mut rng = stream(1, Purpose::Initialisation);
        let draws: Vec<f64> = (0..100_000).map(|_| normal(&mut rng)).collect();
        let moment = |power: i32| draws.iter().map(|draw| draw.powi(power)).sum::<f64>() / draws.len() as f64;
        assert!(moment(1).abs() < 0.02);
        assert!((moment(2) - 1.0).abs() < 0.02);
        assert!((moment(4) - 3.0).abs() < 0.15);
    }

    #[test]
    fn streams_repeat_and_differ_by_purpose_and_seed() {
        let first = |seed, purpose| stream(seed, purpose).next_u64();
        let shuffle = |epoch| Purpose::Shuffle { epoch };
        assert_eq!(first(1, shuffle(3)), first(1, shuffle(3)));
        assert_ne!(first(1, shuffle(3)), first(1, shuffle(4)));
        assert_ne!(first(1, shuffle(3)), first(2, shuffle(3)));
        assert_ne!(first(1, Purpose::Initialisation), first(1, shuffle(1)));
        let draws = |epoch, batch| first(1, Purpose::Draws { epoch, batch });
        assert_ne!(draws(1, 0), draws(0, 1));
        assert_ne!(draws(1, 0), first(1, Purpose::Part { index: 0 }));
    }

    #[test]
    fn choices_are_different_and_in_range() {
        let mut rng = stream(5, Purpose::Initialisation);
        for count in 0..=6 {
            let chosen = choose(&mut rng, count, 6);
            assert_eq!(chosen.len(), count);
            assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]) && chosen.iter().all(|&index| index < 6));
        }
    }
}
