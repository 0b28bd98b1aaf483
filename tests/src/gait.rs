//! A model made by hand, whose predictions a reader can follow: joint angles of a walking leg.
//!
//! It continues each angle in a straight line, x̂_{t+1} = 2 x_t − x_{t−1}, with two units per joint: one
//! holds the angle, the other what the first held a step before. Both stay in the linear part of tanh.

use quaver::checkpoint::{Activation, CellKind, Contents, Scaler, Target, UnitNoise, WeightFormat, write};

use crate::Case;
use crate::golden::Architecture;
use crate::replay::Task;

const JOINTS: usize = 3;
const NAMES: [&str; JOINTS] = ["hip", "knee", "ankle"];
/// Mean, standard deviation and swing of each joint in degrees.
const MEAN: [f32; JOINTS] = [10.0, 30.0, 0.0];
const STD_DEV: [f32; JOINTS] = [15.0, 20.0, 8.0];

/// Units hold angles in this proportion, which keeps tanh nearly linear.
const GAIN: f32 = 0.2;
/// Variance of a one-step forecast, in standardised units.
const NOISE_VAR: f32 = 0.004;
const ROWS: usize = 40;
/// The knee's sensor is gone during these rows.
const GAP: core::ops::Range<usize> = 14..19;
/// In this row the ankle hits a step.
const STUMBLE: usize = 28;

/// The model and the stream: a knee sensor that drops out, and a stumble.
///
/// # Panics
/// If the model is not valid.
pub fn case() -> Case {
    let model = write(&contents()).unwrap_or_else(|error| panic!("gait: {error}"));
    Case { name: "gait".into(), model, inputs: JOINTS, stream: stream(), task: Task::Follow }
}

fn contents() -> Contents {
    let architecture = Architecture {
        inputs: JOINTS as u16,
        outputs: JOINTS as u16,
        target: Target::Next,
        noise: [UnitNoise::None, UnitNoise::None, UnitNoise::Multiplicative { var: 0.001 }],
        ..Architecture::default()
    };
    let layers = [(CellKind::Elman(Activation::Tanh), 2 * JOINTS as u16)];
    let mut contents = Contents::zeros(architecture.spec(&layers, WeightFormat::F32));
    contents.input_names = NAMES.map(String::from).into();
    contents.output_names = contents.input_names.clone();
    contents.input_scaler = Scaler { mean: MEAN.into(), std_dev: STD_DEV.into() };
    contents.output_scaler = contents.input_scaler.clone();
    contents.noise_var.fill(NOISE_VAR);
    let columns = JOINTS + 2 * JOINTS;
    for joint in 0..JOINTS {
        let (now, before) = (joint, JOINTS + joint);
        contents.layers[0].weight[now * columns + joint] = GAIN;
        contents.layers[0].weight[before * columns + JOINTS + now] = 1.0;
        contents.output.weight[joint * 2 * JOINTS + now] = 2.0 / GAIN;
        contents.output.weight[joint * 2 * JOINTS + before] = -1.0 / GAIN;
    }
    contents
}

/// Joints swing with one period in twenty-five rows, each at its own phase.
///
/// The swing is a point turned step by step by a fixed angle: products and sums only, hence the same
/// everywhere.
fn stream() -> Vec<f32> {
    /// Cosine and sine of 2π/25, and of the phase between joints, π/3.
    const TURN: (f32, f32) = (0.968_583_2, 0.248_689_9);
    const PHASE: (f32, f32) = (0.5, 0.866_025_4);
    let turned = |(x, y): (f32, f32), (c, s): (f32, f32)| (c * x - s * y, s * x + c * y);
    let mut point = (1.0, 0.0);
    let mut stream = Vec::new();
    for row in 0..ROWS {
        let mut swing = point;
        for joint in 0..JOINTS {
            let angle = MEAN[joint] + 1.3 * STD_DEV[joint] * swing.0;
            let observed = match NAMES[joint] {
                "knee" if GAP.contains(&row) => f32::NAN,
                "ankle" if row == STUMBLE => angle + 15.0,
                _ => angle,
            };
            stream.push(observed);
            swing = turned(swing, PHASE);
        }
        point = turned(point, TURN);
    }
    stream
}
