//! A generated recording, and its form as a file.

use std::path::Path;

use anyhow::Context;

use super::{ELECTRODES, MUSCLES};
use crate::files;

/// The measured signals, and the truth behind them.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Rows per second.
    pub rate_hz: f32,
    /// One row per sample, in converter counts; NaN where an electrode has lost contact.
    pub emg: Vec<[f32; ELECTRODES]>,
    /// Measured force, in newtons.
    pub force: Vec<f32>,
    /// True force, in newtons: the measured one without noise of
    /// [`force_noise_std_dev`](super::force_noise_std_dev).
    pub force_true: Vec<f32>,
    /// Hidden activation of each muscle, in 0…1.
    pub activations: Vec<[f32; MUSCLES]>,
}

impl Recording {
    /// Mean absolute value of each channel over windows of `window` rows; the other signals as they are at
    /// the end of the window.
    ///
    /// A channel is missing where any sample of its window is, since a mean over fewer samples would be
    /// noisier than it looks.
    pub(super) fn envelope(&self, window: usize) -> Self {
        let last_of_each =
            |force: &[f32]| force.chunks_exact(window).map(|chunk| chunk[window - 1]).collect();
        Self {
            rate_hz: self.rate_hz / window as f32,
            emg: self.emg.chunks_exact(window).map(mean_absolute).collect(),
            force: last_of_each(&self.force),
            force_true: last_of_each(&self.force_true),
            activations: self.activations.chunks_exact(window).map(|chunk| chunk[window - 1]).collect(),
        }
    }
}

/// Mean absolute value of each channel; NaN if any row lacks it.
pub(super) fn mean_absolute(rows: &[[f32; ELECTRODES]]) -> [f32; ELECTRODES] {
    core::array::from_fn(|channel| rows.iter().map(|row| row[channel].abs()).sum::<f32>() / rows.len() as f32)
}

/// Writes the measured signals as CSV, with the header `emg1,…,emg8,force_n` and empty cells for missing
/// values.
///
/// # Errors
/// When the file cannot be written.
pub fn write_csv(path: &Path, recording: &Recording) -> anyhow::Result<()> {
    let table = to_csv(recording).context("cannot format the recording as CSV")?;
    files::replace(path, &table)
}

fn to_csv(recording: &Recording) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = (1..=ELECTRODES).map(|electrode| format!("emg{electrode}"));
    writer.write_record(header.chain(["force_n".to_owned()]))?;
    for (row, force) in recording.emg.iter().zip(&recording.force) {
        writer.write_record(row.iter().chain([force]).map(|&value| cell(value)))?;
    }
    Ok(writer.into_inner()?)
}

/// The shortest text that parses to the same number, or an empty cell for NaN.
pub(super) fn cell(value: f32) -> String {
    if value.is_nan() { String::new() } else { value.to_string() }
}
