//! The programs of every board, up to what a board must add: its port, its sensor and its interrupt.

use quaver::Error;

use crate::line::Line;
use crate::models::{
    EMG_CHANNELS, GRIP_FORCE, GripForceArena, IMU, IMU_AXES, ImuArena, grip_force_labels, imu_labels,
};
use crate::queue::RowQueue;
use crate::stepper::Stepper;
use crate::{replayed, rows, step};

/// What is on its way to a viewer.
pub static LINE: Line<2048> = Line::new();
/// Envelopes of EMG on their way to the model.
pub static EMG_ROWS: RowQueue<EMG_CHANNELS> = RowQueue::new();
/// Stored rows on their way to the model.
pub static REPLAYED_ROWS: RowQueue<{ replayed::CHANNELS }> = RowQueue::new();
/// Readings of an IMU on their way to the model.
pub static IMU_ROWS: RowQueue<IMU_AXES> = RowQueue::new();

/// Grip force with its error bar, for rows of [`EMG_ROWS`].
pub async fn grip_force(device: &'static str) -> ! {
    let mut arena = GripForceArena::new();
    let stepper = Stepper::load(GRIP_FORCE, &mut arena, grip_force_labels(device));
    step::run(&mut stepper.unwrap_or_else(|error| refused(error)), &EMG_ROWS, &LINE).await
}

/// What [`replayed::MODEL`] predicts with its error bar, for rows of [`REPLAYED_ROWS`].
pub async fn replayed(device: &'static str) -> ! {
    let mut arena = replayed::ModelArena::new();
    let stepper = Stepper::load(replayed::MODEL, &mut arena, replayed::labels(device));
    step::run(&mut stepper.unwrap_or_else(|error| refused(error)), &REPLAYED_ROWS, &LINE).await
}

/// The next row of an IMU and the surprise of the last, for rows of [`IMU_ROWS`].
pub async fn imu(device: &'static str) -> ! {
    let mut arena = ImuArena::new();
    let stepper = Stepper::load(IMU, &mut arena, imu_labels(device));
    step::run(&mut stepper.unwrap_or_else(|error| refused(error)), &IMU_ROWS, &LINE).await
}

/// Offers the stored rows to [`REPLAYED_ROWS`].
#[embassy_executor::task]
pub async fn replay() {
    rows::replay(&replayed::ROWS, replayed::RATE_HZ, &REPLAYED_ROWS).await
}

/// The models are part of the program: one that does not load is a mistake of whoever changed it.
#[cold]
fn refused(error: Error) -> ! {
    panic!("the model does not load: {error}")
}

/// Measures a step, and prints the line to send in; `clock_hz` is that of the core.
#[cfg(all(feature = "defmt", target_arch = "arm"))]
pub fn bench(device: &str, clock_hz: u32) {
    use crate::{CycleCounter, bench};
    let Some(counter) = CycleCounter::start() else { return defmt::error!("the cycle counter is in use") };
    let mut arena = GripForceArena::new();
    match bench::run(GRIP_FORCE, &mut arena, &rows::GRIP_FORCE, || counter.count(), CycleCounter::MASK) {
        Ok(report) => bench::print(device, clock_hz, &report),
        Err(error) => refused(error),
    }
}
