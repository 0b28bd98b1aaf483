//! Denoiser and sampler against two slow f64 networks, stepped by the equations.

use quaver::checkpoint::{
    Activation, AutoregressivePrior, CellKind, Family, Forecast, LatentSpec, Layout, Likelihood, Prior,
    WeightFormat,
};
use quaver::{Denoiser, Prediction, Sampler};
use quaver_tests::latent::{LatentArchitecture, Networks};
use quaver_tests::numbers::Numbers;
use quaver_tests::replay::{self, Task};

use crate::Gap;
use crate::network::{Network, Pair};

/// Rows of each comparison: every one costs hundreds of integrals.
const STEPS: usize = 8;

/// Mean, epistemic and aleatoric variance.
type Triple = (f64, f64, f64);

/// A latent model with the state of one stream.
struct Reference {
    networks: Networks,
    recognition: Network,
    generative: Network,
    /// What the generative network reads before the latents.
    read: Vec<Pair>,
    /// Moments of z_t.
    latents: Vec<Pair>,
}

fn standardised(value: Pair, mean: f32, std_dev: f32) -> Pair {
    let std_dev = f64::from(std_dev);
    ((value.0 - f64::from(mean)) / std_dev, value.1 / std_dev / std_dev)
}

impl Reference {
    fn new(networks: &Networks) -> Self {
        let latents = usize::from(networks.spec.latents);
        let read = usize::from(networks.generative.spec.inputs) - latents;
        let stationary =
            networks.fitted.latents.iter().map(|prior| (f64::from(prior.mean), f64::from(prior.var)));
        let mut start: Vec<Pair> = stationary.collect();
        start.resize(latents, (0.0, 0.0));
        Reference {
            recognition: Network::new(&networks.recognition),
            generative: Network::new(&networks.generative),
            read: vec![(0.0, 0.0); read],
            latents: start,
            networks: networks.clone(),
        }
    }

    fn fed(&self, latents: &[Pair]) -> Vec<Pair> {
        let deterministic = self.networks.spec.forecast == Forecast::PosteriorMean;
        let latent = |z: &Pair| if deterministic { (z.0, 0.0) } else { *z };
        self.read.iter().copied().chain(latents.iter().map(latent)).collect()
    }

    /// p(x_t | x_{1:t−1}), with z_t from the prior, by a copy of the generative network.
    fn expected(&self) -> Vec<Triple> {
        let prior = |z: &Pair| match self.networks.spec.prior {
            Prior::White => (0.0, 1.0),
            Prior::Wiener => (z.0, z.1 + 1.0),
        };
        let prior: Vec<Pair> = self.latents.iter().map(prior).collect();
        let fitted = &self.networks.fitted.latents;
        if fitted.is_empty() {
            return self.generative.clone().step(self.fed(&prior));
        }
        // A fitted prior is fed with its variance, whatever an observed row is fed with.
        let next = |(prior, z): (&AutoregressivePrior, &Pair)| {
            let [mean, var, decay] = [prior.mean, prior.var, prior.decay].map(f64::from);
            (mean + decay * (z.0 - mean), decay.powi(2) * z.1 + (1.0 - decay.powi(2)) * var)
        };
        let latents = fitted.iter().zip(&self.latents).map(next);
        self.generative.clone().step(self.read.iter().copied().chain(latents).collect())
    }

    /// The prediction of a row as it is observed, with its noise.
    fn observable(&self) -> Vec<Triple> {
        let noise = self.networks.fitted.row_noise.iter().map(|var| f64::from(*var));
        let expected = self.expected().into_iter().zip(noise.chain(std::iter::repeat(0.0)));
        expected.map(|((mean, epistemic, aleatoric), noise)| (mean, epistemic, aleatoric + noise)).collect()
    }

    /// The row with its gaps filled in by what was expected, in raw units.
    fn filled(row: &[f32], expected: &[Triple]) -> Vec<Pair> {
        let channel = |(value, expected): (&f32, &Triple)| match value.is_nan() {
            true => (expected.0, expected.1 + expected.2),
            false => (f64::from(*value), 0.0),
        };
        row.iter().zip(expected).map(channel).collect()
    }

    /// Takes in x_t. Returns the estimate of it (VOSP) or the prediction of the next row (STORN), and −log
    /// p(x_t).
    fn step(&mut self, row: &[f32]) -> (Vec<Triple>, f64) {
        let expected = self.observable();
        let nll = nll(self.networks.generative.spec.likelihood, row, &expected);
        let filled = Self::filled(row, &expected);
        let scaled = |scaler: &quaver::checkpoint::Scaler| -> Vec<Pair> {
            let units = scaler.mean.iter().zip(&scaler.std_dev);
            filled
                .iter()
                .zip(units)
                .map(|(value, (mean, std_dev))| standardised(*value, *mean, *std_dev))
                .collect()
        };
        let before = self.recognition.last().to_vec();
        let posterior = self.recognition.step(scaled(&self.networks.recognition.input_scaler));
        self.latents = posterior.into_iter().map(|(mean, v, noise)| (mean, v + noise)).collect();
        match self.networks.spec.family {
            Family::Vosp => {
                self.read = before;
                let estimate = self.generative.step(self.fed(&self.latents));
                self.read = self.recognition.last().to_vec();
                (estimate, nll)
            }
            Family::Storn => {
                self.generative.step(self.fed(&self.latents));
                self.read = scaled(&self.networks.generative.input_scaler);
                (self.expected(), nll)
            }
        }
    }
}

fn nll(likelihood: Likelihood, row: &[f32], expected: &[Triple]) -> f64 {
    let channel = |(value, (mean, epistemic, aleatoric)): (&f32, &Triple)| {
        let (x, var) = (f64::from(*value), epistemic + aleatoric);
        match likelihood {
            Likelihood::Bernoulli => -(x * mean.ln() + (1.0 - x) * (1.0 - mean).ln()),
            _ => 0.5 * ((std::f64::consts::TAU * var).ln() + (x - mean).powi(2) / var),
        }
    };
    row.iter().zip(expected).filter(|(value, _)| !value.is_nan()).map(channel).sum()
}

/// Runs both over the same rows, every sixth value of which is missing.
fn compare(architecture: LatentArchitecture, (format, layout): (WeightFormat, Layout), tolerance: f64) {
    let networks = architecture.networks("latent reference", format, layout);
    let bytes = networks.write().expect("a valid model");
    let [words, _] = replay::words(&bytes, Task::Follow).expect("a valid model");
    let (mut words, mut more_words) = (vec![0.0; words], vec![0.0; words]);
    let mut denoiser = Denoiser::load_in(&bytes, &mut words).ok();
    let mut sampler = Sampler::load_in(&bytes, &mut more_words).ok();
    let mut reference = Reference::new(&networks);
    let mut numbers = Numbers::new("latent rows");
    let binary = architecture.likelihood == Likelihood::Bernoulli;
    let (mut gap, mut furthest) = (Gap::default(), 0.0_f64);
    for _ in 0..STEPS {
        let mut value = || match (numbers.once_in(6), numbers.between(-2.0, 2.0)) {
            (true, _) => f32::NAN,
            (false, value) if binary => f32::from(u8::from(value > 0.5)),
            (false, value) => value,
        };
        let row: Vec<f32> = (0..architecture.channels).map(|_| value()).collect();
        if let Some(denoiser) = &mut denoiser {
            let expected = denoiser.expected();
            expected
                .iter()
                .zip(reference.expected())
                .for_each(|(output, expected)| gap.widen(output, expected));
        }
        let (expected, nll) = reference.step(&row);
        let found: Prediction<'_> = match (&mut denoiser, &mut sampler) {
            (Some(denoiser), None) => denoiser.step(&row),
            (None, Some(sampler)) => sampler.observe(&row),
            _ => panic!("a model is of one family"),
        };
        found.iter().zip(expected).for_each(|(output, expected)| gap.widen(output, expected));
        let surprise = found.surprise().map_or(0.0, |surprise| f64::from(surprise.nll));
        furthest = furthest.max((surprise - nll).abs());
    }
    let what = format!("{architecture:?} {layout:?}");
    gap.assert_within(tolerance, &what);
    // A z-score of 3 turns an error of its mean, in standard deviations, into three times as much; three
    // channels are added up.
    assert!(furthest <= 20.0 * tolerance, "{what}: surprises differ by up to {furthest}");
}

/// The fitted moments of sigmoid and tanh are within 5·10⁻⁴; two nets, one reading the other, add some of
/// them up.
const FITTED: f64 = 1e-3;
/// Activations of ten to twelve bits, squares in seven, and moments by table.
const INTEGER: f64 = 4e-3;

fn every_storage(architecture: LatentArchitecture) {
    compare(architecture, (WeightFormat::F32, Layout::Float), FITTED);
    compare(architecture, (WeightFormat::Int8, Layout::Float), FITTED);
    compare(architecture, (WeightFormat::Int8, Layout::Small), INTEGER);
    compare(architecture, (WeightFormat::Int8, Layout::Fast), INTEGER);
    let spec = LatentSpec { forecast: Forecast::PosteriorMean, ..architecture.spec };
    let at_the_mean = LatentArchitecture { spec, ..architecture };
    compare(at_the_mean, (WeightFormat::F32, Layout::Float), FITTED);
    compare(at_the_mean, (WeightFormat::Int8, Layout::Fast), INTEGER);
}

#[test]
fn denoisers_agree_with_the_equations() {
    let vosp = LatentArchitecture::vosp();
    every_storage(vosp);
    every_storage(LatentArchitecture::fitted_vosp());
    let white = LatentArchitecture {
        spec: LatentSpec { prior: Prior::White, latents: 3, ..vosp.spec },
        recognition: &[(CellKind::Lstm, 6)],
        recognition_likelihood: Likelihood::Gaussian,
        generative: &[(CellKind::Dense(Activation::Tanh), 8), (CellKind::Dense(Activation::Sigmoid), 5)],
        likelihood: Likelihood::Heteroscedastic,
        ..vosp
    };
    every_storage(white);
}

#[test]
fn samplers_agree_with_the_equations() {
    let storn = LatentArchitecture::storn();
    every_storage(storn);
    every_storage(LatentArchitecture::residual_storn());
    let binary = LatentArchitecture {
        likelihood: Likelihood::Bernoulli,
        recognition: &[(CellKind::Lstm, 5)],
        generative: &[(CellKind::Elman(Activation::Tanh), 8)],
        ..storn
    };
    every_storage(binary);
}
