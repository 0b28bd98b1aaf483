//! Latent models made by hand, whose predictions can be worked out on paper: joint angles of a walking leg.
//!
//! Units stay in the linear part of tanh, so that both are linear Gaussian models. In standardised units, per
//! joint:
//!
//! - [`sampler`]: a noisy oscillator, x_t = a x_{t−1} + b x_{t−2} + s z_t + n, one period in twenty-five
//!   rows;
//! - [`denoiser`]: a filter of constant gain k, x̂_t = x̂_{t−1} + k (x_t − x̂_{t−1}), which is an exponential
//!   average.

use quaver::checkpoint::{
    Activation, Affine, CellKind, Contents, Family, FittedPrior, Forecast, LatentSpec, Likelihood, Prior,
    Scaler, UnitNoise, WeightFormat,
};

use crate::golden::Architecture;
use crate::latent::Networks;

/// Channels, and latents.
pub const JOINTS: usize = 3;
const NAMES: [&str; JOINTS] = ["hip", "knee", "ankle"];
/// Mean of each joint in degrees.
pub const MEAN: [f32; JOINTS] = [10.0, 30.0, 0.0];
/// Standard deviation of each joint in degrees.
pub const STD_DEV: [f32; JOINTS] = [15.0, 20.0, 8.0];

/// Units hold values in this proportion, which keeps tanh linear to within one part in 10⁴.
const UNIT: f32 = 0.01;

/// The oscillator: 2ρ cos ω and −ρ² for ρ = 0.97 and ω = 2π/25.
pub const OSCILLATOR: [f32; 2] = [1.879_051_4, -0.9409];
/// Standard deviation s of what z adds.
pub const PUSH: f32 = 0.2;
/// Variance of the noise n.
pub const NOISE_VAR: f32 = 0.01;

/// The filter's gain k.
pub const GAIN: f32 = 0.25;
/// Standard deviation of x_t about its prediction.
pub const INNOVATION: f32 = 0.4;
/// Variance of x_t about the filter's estimate.
const FILTER_VAR: f32 = INNOVATION * INNOVATION * (1.0 - GAIN * GAIN);

/// A network of one layer without noise.
fn network(cell: CellKind, inputs: usize, units: usize, likelihood: Likelihood) -> Contents {
    let architecture = Architecture {
        inputs: inputs as u16,
        outputs: JOINTS as u16,
        likelihood,
        noise: [UnitNoise::None; 3],
        ..Architecture::default()
    };
    Contents::zeros(architecture.spec(&[(cell, units as u16)], WeightFormat::F32))
}

/// Sets the weight of one input of one row.
fn connect(affine: &mut Affine, row: usize, column: usize, weight: f32) {
    let columns = affine.weight.len() / affine.bias.len();
    affine.weight[row * columns + column] = weight;
}

/// Gives a network the units and names of the joints, as inputs.
fn reads_joints(contents: &mut Contents) {
    contents.input_scaler.mean[..JOINTS].copy_from_slice(&MEAN);
    contents.input_scaler.std_dev[..JOINTS].copy_from_slice(&STD_DEV);
}

/// Gives a network the units and names of the joints, as outputs, with a noise of variance `noise`.
fn outputs_joints(contents: &mut Contents, noise: f32) {
    contents.output_scaler = Scaler { mean: MEAN.into(), std_dev: STD_DEV.into() };
    contents.output_names = NAMES.map(String::from).into();
    contents.noise_var.fill(noise);
}

const TANH: CellKind = CellKind::Elman(Activation::Tanh);

/// STORN: z_t is the push that a joint got, one latent per joint.
///
/// The recognition network keeps the last three angles, from which the push follows up to the noise: its
/// posterior has the mean s r/(s² + n) for a residual r, and the variance n/(s² + n).
pub fn sampler(forecast: Forecast) -> Networks {
    let [a, b] = OSCILLATOR;
    let total = PUSH * PUSH + NOISE_VAR;
    let mut recognition = network(TANH, JOINTS, 3 * JOINTS, Likelihood::Heteroscedastic);
    let mut generative = network(TANH, 2 * JOINTS, 3 * JOINTS, Likelihood::Gaussian);
    for joint in 0..JOINTS {
        let [first, second, third] = [joint, JOINTS + joint, 2 * JOINTS + joint];
        let state = JOINTS;
        connect(&mut recognition.layers[0], first, joint, UNIT);
        connect(&mut recognition.layers[0], second, state + first, 1.0);
        connect(&mut recognition.layers[0], third, state + second, 1.0);
        let mean = 2 * joint;
        for (unit, weight) in [(first, 1.0), (second, -a), (third, -b)] {
            connect(&mut recognition.output, mean, unit, weight * PUSH / total / UNIT);
        }
        recognition.output.bias[mean + 1] = (NOISE_VAR / total).ln();

        // The row before, the one before that, and the push.
        let state = 2 * JOINTS;
        connect(&mut generative.layers[0], first, joint, UNIT);
        connect(&mut generative.layers[0], second, state + first, 1.0);
        connect(&mut generative.layers[0], third, JOINTS + joint, UNIT);
        for (unit, weight) in [(first, a), (second, b), (third, PUSH)] {
            connect(&mut generative.output, joint, unit, weight / UNIT);
        }
    }
    reads_joints(&mut recognition);
    recognition.input_names = NAMES.map(String::from).into();
    reads_joints(&mut generative);
    outputs_joints(&mut generative, NOISE_VAR);
    let spec = LatentSpec { family: Family::Storn, prior: Prior::White, latents: JOINTS as u16, forecast };
    Networks { spec, recognition, generative, fitted: FittedPrior::default() }
}

/// VOSP: z_t is how far a joint is from its prediction, one latent per joint.
///
/// One unit of the recognition network holds the estimate, another the estimate before; their difference
/// gives z_t. The generative network adds k z_t to the estimate before x_t.
pub fn denoiser(forecast: Forecast) -> Networks {
    let mut recognition = network(TANH, JOINTS, 2 * JOINTS, Likelihood::Heteroscedastic);
    let dense = CellKind::Dense(Activation::Tanh);
    let mut generative = network(dense, 3 * JOINTS, JOINTS, Likelihood::Gaussian);
    for joint in 0..JOINTS {
        let [now, before] = [joint, JOINTS + joint];
        let state = JOINTS;
        connect(&mut recognition.layers[0], now, joint, GAIN * UNIT);
        connect(&mut recognition.layers[0], now, state + now, 1.0 - GAIN);
        connect(&mut recognition.layers[0], before, state + now, 1.0);
        for (unit, sign) in [(now, 1.0), (before, -1.0)] {
            connect(&mut recognition.output, 2 * joint, unit, sign / (GAIN * INNOVATION * UNIT));
        }
        recognition.output.bias[2 * joint + 1] = 0.01_f32.ln();

        let latent = 2 * JOINTS + joint;
        connect(&mut generative.layers[0], joint, now, 1.0);
        connect(&mut generative.layers[0], joint, latent, GAIN * INNOVATION * UNIT);
        connect(&mut generative.output, joint, joint, 1.0 / UNIT);
    }
    reads_joints(&mut recognition);
    recognition.input_names = NAMES.map(String::from).into();
    outputs_joints(&mut generative, FILTER_VAR);
    let spec = LatentSpec { family: Family::Vosp, prior: Prior::White, latents: JOINTS as u16, forecast };
    Networks { spec, recognition, generative, fitted: FittedPrior::default() }
}

/// The files in `runtime/examples` that hold these models.
pub fn examples() -> [(&'static str, Networks); 2] {
    [("denoiser.qvr", denoiser(Forecast::Moments)), ("sampler.qvr", sampler(Forecast::Moments))]
}
