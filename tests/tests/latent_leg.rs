//! Latent models made by hand against closed forms: an exponential average, and an oscillator.
//!
//! Units are linear to within one part in 10⁴ of a standard deviation, which bounds every comparison that has
//! no sampling error.

use quaver::checkpoint::Forecast;
use quaver::{Denoiser, FeedMode, Rollouts, Sampler};
use quaver_tests::latent::Networks;
use quaver_tests::leg::{self, GAIN, INNOVATION, JOINTS, MEAN, NOISE_VAR, OSCILLATOR, PUSH, STD_DEV};
use quaver_tests::numbers::Numbers;
use quaver_tests::replay::{self, Task};

/// In standard deviations: the bend of tanh, and f32.
const LINEAR: f64 = 2e-3;

const FORECASTS: [Forecast; 3] = [Forecast::Moments, Forecast::PosteriorMean, Forecast::Draws { count: 256 }];

/// A row in degrees from one in standard deviations.
fn degrees(row: [f64; JOINTS]) -> [f32; JOINTS] {
    std::array::from_fn(|joint| (f64::from(MEAN[joint]) + f64::from(STD_DEV[joint]) * row[joint]) as f32)
}

/// A value in standard deviations from one in degrees.
fn std_devs(joint: usize, value: f32) -> f64 {
    (f64::from(value) - f64::from(MEAN[joint])) / f64::from(STD_DEV[joint])
}

fn noisy_rows(count: usize) -> Vec<[f64; JOINTS]> {
    let mut numbers = Numbers::new("leg rows");
    (0..count).map(|_| [(); JOINTS].map(|()| f64::from(numbers.between(-1.5, 1.5)))).collect()
}

fn with_memory<T>(networks: &Networks, each: impl FnOnce(&[u8], &mut [f32]) -> T) -> T {
    let bytes = networks.write().expect("a valid model");
    let [words, _] = replay::words(&bytes, Task::Follow).expect("a valid model");
    each(&bytes, &mut vec![f32::NAN; words])
}

#[test]
fn the_example_files_are_the_models_in_the_source() {
    for (name, networks) in leg::examples() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/examples").join(name);
        let file = std::fs::read(&path).expect("an example");
        assert_eq!(networks.write().expect("valid"), file, "{name}: run the binary latent_examples again");
    }
}

/// Closed form for one joint: the filter's estimate, and the variance of it that gaps have left.
#[derive(Clone, Copy, Default)]
struct Filter {
    estimate: f64,
    var: f64,
}

impl Filter {
    /// Variance of x_t about the estimate before it. With z at its mean, the part that z explains is not in
    /// it.
    fn expected_var(self, forecast: Forecast) -> f64 {
        let explained = if forecast == Forecast::PosteriorMean { f64::from(GAIN * GAIN) } else { 0.0 };
        self.var + f64::from(INNOVATION * INNOVATION) * (1.0 - explained)
    }

    /// x̂_t = x̂_{t−1} + k (x_t − x̂_{t−1}); a gap leaves it where it was, less sure.
    fn step(&mut self, observed: Option<f64>, forecast: Forecast) {
        let gain = f64::from(GAIN);
        let imputed_var = if observed.is_none() { self.expected_var(forecast) } else { 0.0 };
        self.var = (1.0 - gain).powi(2) * self.var + gain * gain * imputed_var;
        self.estimate += gain * observed.map_or(0.0, |x| x - self.estimate);
    }
}

/// The means are the filter's, whatever the forecast; the surprise is the density of the row before it was
/// seen.
#[test]
fn the_denoiser_is_an_exponential_average() {
    let rows = noisy_rows(60);
    for forecast in FORECASTS {
        // Half of 256 draws are mirrored: 128 give a variance to within 12.5 %, the logarithm of a density to
        // half that; four of those.
        let tolerance = if matches!(forecast, Forecast::Draws { .. }) { 0.25 } else { 0.01 };
        with_memory(&leg::denoiser(forecast), |bytes, words| {
            let mut denoiser = Denoiser::load_in(bytes, words).expect("a valid model");
            let mut filters = [Filter::default(); JOINTS];
            for (index, row) in rows.iter().enumerate() {
                let mut observed = row.map(Some);
                observed[1] = observed[1].filter(|_| !(20..25).contains(&index));
                let found = denoiser.step(&degrees(observed.map(|x| x.unwrap_or(f64::NAN))));
                let mut nll = 0.0;
                for (joint, filter) in filters.iter_mut().enumerate() {
                    if let Some(x) = observed[joint] {
                        let var = filter.expected_var(forecast);
                        let raw = var * f64::from(STD_DEV[joint] * STD_DEV[joint]);
                        nll +=
                            0.5 * ((std::f64::consts::TAU * raw).ln() + (x - filter.estimate).powi(2) / var);
                    }
                    filter.step(observed[joint], forecast);
                    let off = std_devs(joint, found.mean()[joint]) - filter.estimate;
                    assert!(off.abs() < LINEAR, "{forecast:?}, row {index}, joint {joint}: {off}");
                }
                let surprise = f64::from(found.surprise().expect("something was observed").nll);
                assert!(
                    (surprise / nll - 1.0).abs() < tolerance,
                    "{forecast:?}, row {index}: {surprise} {nll}"
                );
            }
        });
    }
}

/// One step ahead: mean a x_t + b x_{t−1}; variance s² + n, of which s² stems from not knowing z.
#[test]
fn the_sampler_predicts_as_the_oscillator_moves() {
    let [a, b] = OSCILLATOR.map(f64::from);
    let rows = noisy_rows(40);
    for forecast in FORECASTS {
        with_memory(&leg::sampler(forecast), |bytes, words| {
            let mut sampler = Sampler::load_in(bytes, words).expect("a valid model");
            let mut before = [0.0; JOINTS];
            for row in &rows {
                let found = sampler.observe(&degrees(*row));
                for (joint, output) in found.iter().enumerate() {
                    let expected = a * row[joint] + b * before[joint];
                    let off = std_devs(joint, output.mean) - expected;
                    assert!(off.abs() < 5.0 * LINEAR, "{forecast:?}: {off}");
                    let unit = f64::from(STD_DEV[joint] * STD_DEV[joint]);
                    let push = if forecast == Forecast::PosteriorMean { 0.0 } else { f64::from(PUSH * PUSH) };
                    // 128 pairs of draws give the variance to within 12.5 %; three of those.
                    let tolerance = if matches!(forecast, Forecast::Draws { .. }) { 0.375 } else { 1e-3 };
                    let epistemic = f64::from(output.epistemic) / unit;
                    assert!((epistemic - push).abs() <= tolerance * push + 1e-5, "{forecast:?}: {epistemic}");
                    let aleatoric = f64::from(output.aleatoric) / unit;
                    assert!((aleatoric / f64::from(NOISE_VAR) - 1.0).abs() < 1e-3);
                }
                before = *row;
            }
        });
    }
}

/// Σ ψ_k² over the first `steps` answers of the oscillator to a push.
fn answer(steps: usize) -> f64 {
    let [a, b] = OSCILLATOR.map(f64::from);
    let (mut now, mut before, mut sum) = (1.0, 0.0, 0.0);
    for _ in 0..steps {
        sum += now * now;
        (now, before) = (a * now + b * before, now);
    }
    sum
}

/// Futures spread as those of the oscillator: by z and noise with draws fed back, by z alone with means.
///
/// With K futures of one channel the mean is known to σ/√K and the standard deviation to σ/√(2K); five of
/// those are allowed for 2 × 12 comparisons of 3 channels.
#[test]
fn rollouts_spread_as_the_oscillator_does() {
    const K: usize = 4000;
    const HORIZONS: usize = 12;
    let [a, b] = OSCILLATOR.map(f64::from);
    with_memory(&leg::sampler(Forecast::Moments), |bytes, words| {
        let mut sampler = Sampler::load_in(bytes, words).expect("a valid model");
        let rows = noisy_rows(10);
        rows.iter().for_each(|row| _ = sampler.observe(&degrees(*row)));
        let mut futures = vec![0.0; K * sampler.model().future_words()];
        let mut rollouts = Rollouts::<K>::new_in(&mut sampler, &mut futures).expect("enough memory");
        let noise = [(FeedMode::Draw, f64::from(NOISE_VAR)), (FeedMode::Mean, 0.0)];
        for (feed_mode, noise_var) in noise {
            let mut chance = Numbers::new("fan of the leg");
            rollouts.restart();
            let (mut now, mut before) = (rows[9], rows[8]);
            for step in 1..=HORIZONS {
                rollouts.advance(&mut chance, feed_mode);
                let next = std::array::from_fn(|joint| a * now[joint] + b * before[joint]);
                (now, before) = (next, now);
                let spread = ((f64::from(PUSH * PUSH) + noise_var) * answer(step)).sqrt();
                for (joint, expected) in now.iter().enumerate() {
                    let mean = std_devs(joint, rollouts.mean(joint).expect("a channel"));
                    let std_dev =
                        f64::from(rollouts.std_dev(joint).expect("a channel")) / f64::from(STD_DEV[joint]);
                    let error = spread / (K as f64).sqrt();
                    assert!(
                        (mean - expected).abs() < 5.0 * error + 5.0 * LINEAR,
                        "{feed_mode:?} {step} {mean}"
                    );
                    assert!(
                        (std_dev - spread).abs() < 5.0 * error / 2.0_f64.sqrt() + LINEAR,
                        "{step} {std_dev} {spread}"
                    );
                }
            }
        }
        assert_eq!(rollouts.horizon(), HORIZONS);
    });
}

/// One step ahead the rollouts have the moments of the prediction: its mean, its standard deviation, and the
/// quantiles of a normal distribution.
#[test]
fn rollouts_converge_to_the_moments_forecast() {
    const K: usize = 2500;
    with_memory(&leg::sampler(Forecast::Moments), |bytes, words| {
        let mut sampler = Sampler::load_in(bytes, words).expect("a valid model");
        noisy_rows(7).iter().for_each(|row| _ = sampler.observe(&degrees(*row)));
        let predicted: Vec<_> = sampler.prediction().iter().collect();
        let mut futures = vec![0.0; K * sampler.model().future_words()];
        let mut rollouts = Rollouts::<K>::new_in(&mut sampler, &mut futures).expect("enough memory");
        rollouts.advance(&mut Numbers::new("convergence"), FeedMode::Draw);
        for (joint, output) in predicted.iter().enumerate() {
            let std_dev = output.std_dev();
            let z = |value: Option<f32>| f64::from((value.expect("a channel") - output.mean) / std_dev);
            let error = 1.0 / (K as f64).sqrt();
            assert!(z(rollouts.mean(joint)).abs() < 5.0 * error, "{}", z(rollouts.mean(joint)));
            assert!(
                (f64::from(rollouts.std_dev(joint).expect("a channel") / std_dev) - 1.0).abs() < 5.0 * error
            );
            // The error of a quantile is √(q(1 − q))/φ, at most 1.8, times that of a mean.
            for (q, expected) in [(0.1, -1.281_55), (0.5, 0.0), (0.9, 1.281_55)] {
                let found = z(rollouts.quantile(joint, q));
                assert!((found - expected).abs() < 5.0 * 1.8 * error, "{q} {found}");
            }
        }
    });
}
