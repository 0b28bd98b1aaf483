//! Synthetic data, drawn by the seed of the repeat.

use std::f64::consts::{PI, TAU};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::plan::SyntheticData;

/// Steps of the two sines, and how many of them are for training.
const STEPS: usize = 1500;
const TRAINING: usize = 1000;

/// Writes the files of one seed, `NAME-SEED….csv`, into a folder.
pub(super) fn write(kind: SyntheticData, seed: &str, folder: &Path) -> Result<()> {
    let number =
        seed.parse().with_context(|| format!("a repeat that draws data is a seed, found `{seed}`"))?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(number);
    let files = match kind {
        SyntheticData::Toy => {
            let part = |(name, count)| (format!("toy-{seed}-{name}.csv"), toy(count, &mut rng));
            [("train", 50), ("valid", 10), ("test", 50)].map(part).to_vec()
        }
        SyntheticData::TwoSines => vec![(format!("sines-{seed}.csv"), two_sines(&mut rng))],
    };
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Points of z ~ N(2(exp(−30(x − ¼)²) + sin πx²), exp(sin 2πx)), x uniform in [−0.1, 1] (Bayer 2015, thesis,
/// 2.6.3.1).
fn toy(count: usize, rng: &mut impl Rng) -> String {
    let mut text = String::from("x,z\n");
    for _ in 0..count {
        let x = -0.1 + 1.1 * uniform(rng);
        let mean = 2.0 * ((-30.0 * (x - 0.25).powi(2)).exp() + (PI * x * x).sin());
        let variance = (TAU * x).sin().exp();
        let z = mean + variance.sqrt() * normal(rng);
        writeln!(text, "{x},{z}").expect("a string takes all");
    }
    text
}

/// y_t = sin(2πt/25) + ½ sin(2πt/9 + 1) + s_t ε_t with s_t = 0.05, and 0.3 where the first sine is above 0.3;
/// scaled by mean and standard deviation of the part for training.
fn two_sines(rng: &mut impl Rng) -> String {
    let value = |t: usize| {
        let t = t as f64;
        let (first, second) = ((TAU * t / 25.0).sin(), 0.5 * (TAU * t / 9.0 + 1.0).sin());
        let std_dev = if first > 0.3 { 0.3 } else { 0.05 };
        first + second + std_dev * normal(rng)
    };
    let values: Vec<f64> = (0..STEPS).map(value).collect();
    let training = &values[..TRAINING];
    let mean = training.iter().sum::<f64>() / TRAINING as f64;
    let variance = training.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / TRAINING as f64;
    let scaled = values.iter().map(|y| format!("{}\n", (y - mean) / variance.sqrt()));
    std::iter::once("y\n".to_string()).chain(scaled).collect()
}

/// A number in [0, 1).
fn uniform(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A normal variate (Box and Muller 1958).
fn normal(rng: &mut impl Rng) -> f64 {
    (-2.0 * (1.0 - uniform(rng)).ln()).sqrt() * (TAU * uniform(rng)).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Vec<Vec<f64>> {
        let cell = |cell: &str| cell.parse().expect("a number");
        text.lines().skip(1).map(|line| line.split(',').map(cell).collect()).collect()
    }

    /// The entropy of the toy is ½ ln 2πe plus half the mean of sin 2πx over [−0.1, 1].
    #[test]
    fn the_toy_has_the_entropy_of_its_law() {
        let points = numbers(&toy(50_000, &mut Xoshiro256PlusPlus::seed_from_u64(1)));
        let nll = points.iter().map(|point| {
            let (x, z) = (point[0], point[1]);
            let mean = 2.0 * ((-30.0 * (x - 0.25) * (x - 0.25)).exp() + (PI * x * x).sin());
            let log_variance = (TAU * x).sin();
            0.5 * (TAU.ln() + log_variance + (z - mean).powi(2) / log_variance.exp())
        });
        let entropy = 0.5 * (TAU.ln() + 1.0) + 0.5 * ((-0.2 * PI).cos() - 1.0) / TAU / 1.1;
        // Five standard errors: the squares of 50,000 normal variates halved.
        assert!((nll.sum::<f64>() / 50_000.0 - entropy).abs() < 0.016, "entropy {entropy}");
        assert!((entropy - 1.405).abs() < 5e-4, "{entropy}");
    }

    #[test]
    fn the_sines_are_scaled_by_their_training_part() {
        let values: Vec<f64> = numbers(&two_sines(&mut Xoshiro256PlusPlus::seed_from_u64(2))).concat();
        assert_eq!(values.len(), STEPS);
        let training = &values[..TRAINING];
        let mean = training.iter().sum::<f64>() / TRAINING as f64;
        let variance = training.iter().map(|y| y * y).sum::<f64>() / TRAINING as f64;
        assert!(mean.abs() < 1e-9 && (variance - 1.0).abs() < 1e-9);
    }
}
