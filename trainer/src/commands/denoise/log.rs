//! The input and output of denoising, kept for scores and plots.

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use crate::commands::implausible::ImplausibleValues;
use crate::commands::row_model::RowPrediction;
use crate::data::Rows;
use crate::data::csv::RowStart;
use crate::evaluate::{DenoisedSequence, SignalToNoise, signal_to_noise};

/// Noisy sequences, with estimates and their standard deviations.
#[derive(Debug)]
pub(super) struct DenoisingLog {
    channels: usize,
    pub(super) noisy: Vec<Rows>,
    pub(super) mean: Vec<Rows>,
    pub(super) std_dev: Vec<Rows>,
}

/// Signal-to-noise ratio before and after denoising.
#[derive(Debug, Serialize)]
pub(super) struct SnrComparison {
    pub(super) before: SignalToNoise,
    pub(super) after: SignalToNoise,
    /// Implausible values among the noisy rows, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) implausible: Option<ImplausibleValues>,
}

impl DenoisingLog {
    pub(super) fn new(channels: usize) -> Self {
        DenoisingLog { channels, noisy: Vec::new(), mean: Vec::new(), std_dev: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.noisy.is_empty()
    }

    pub(super) fn add(&mut self, start: RowStart, row: &[f32], prediction: &RowPrediction) {
        let DenoisingLog { channels, noisy, mean, std_dev } = self;
        if start == RowStart::NewSequence {
            [&mut *noisy, mean, std_dev].into_iter().for_each(|list| list.push(Rows::new(*channels)));
        }
        let push = |list: &mut Vec<Rows>, values: &mut dyn Iterator<Item = f32>| {
            if let Some(rows) = list.last_mut() {
                rows.values.extend(values);
            }
        };
        push(noisy, &mut row.iter().copied());
        push(mean, &mut prediction.outputs.iter().map(|output| output.mean));
        push(std_dev, &mut prediction.outputs.iter().map(|output| output.std_dev()));
    }

    /// Compares with the truth, row by row.
    pub(super) fn score(&self, names: &[String], truth: &[Rows]) -> Result<SnrComparison> {
        let lengths = |sequences: &[Rows]| sequences.iter().map(Rows::len).collect::<Vec<_>>();
        let (found, expected) = (lengths(truth), lengths(&self.noisy));
        ensure!(
            found == expected,
            "--truth has sequences of {found:?} rows, but the input has {expected:?}; it must have the same rows, without noise"
        );
        let score = |estimates: &[Rows]| {
            let parts = truth.iter().zip(&self.noisy).zip(estimates);
            let compared: Vec<DenoisedSequence<'_>> =
                parts.map(|((truth, noisy), estimate)| DenoisedSequence { truth, noisy, estimate }).collect();
            signal_to_noise(names, &compared).context("--truth is constant, so there is no signal")
        };
        Ok(SnrComparison { before: score(&self.noisy)?, after: score(&self.mean)?, implausible: None })
    }
}
