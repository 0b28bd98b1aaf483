//! The models in flash, and one stream of each.

use quaver::{Arena, arena_words, include_checkpoint};

use crate::stepper::Labels;

/// Grip force from eight envelopes of EMG, at 50 Hz: the model of `quaver demo`.
pub static GRIP_FORCE: &[u8] = include_checkpoint!("../../../runtime/examples/grip_force.qvr");
/// Inputs of [`GRIP_FORCE`].
pub const EMG_CHANNELS: usize = 8;
/// Rows per second of [`GRIP_FORCE`].
pub const GRIP_RATE_HZ: u32 = 50;
/// Memory of a stream of [`GRIP_FORCE`].
pub type GripForceArena = Arena<{ arena_words(GRIP_FORCE) }>;

/// The next row of a six-axis IMU, at 100 Hz (`firmware-examples/models`).
pub static IMU: &[u8] = include_checkpoint!("../../models/imu.qvr");
/// Inputs and outputs of [`IMU`].
pub const IMU_AXES: usize = 6;
/// Rows per second of [`IMU`].
pub const IMU_RATE_HZ: u32 = 100;
/// Memory of a stream of [`IMU`].
pub type ImuArena = Arena<{ arena_words(IMU) }>;

/// Units of [`GRIP_FORCE`].
pub const fn grip_force_labels(device: &'static str) -> Labels {
    Labels { device, rate_hz: GRIP_RATE_HZ as f32, inputs: &["counts"], outputs: &["N"] }
}

/// Units of [`IMU`].
pub const fn imu_labels(device: &'static str) -> Labels {
    const UNITS: &[&str] = &["m/s²", "m/s²", "m/s²", "rad/s"];
    Labels { device, rate_hz: IMU_RATE_HZ as f32, inputs: UNITS, outputs: UNITS }
}
