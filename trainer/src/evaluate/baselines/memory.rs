//! The last observation of a target before it is predicted.

use crate::data::{LookAhead, Sequence};

/// Where the last observation of each output is found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Memory<'a> {
    /// Of columns some rows ahead, where they are; empty for targets of a row.
    pub(super) look_ahead: &'a [LookAhead],
}

impl Memory<'_> {
    /// Whether it uses past targets that are no inputs, although targets are columns of the rows that are
    /// read.
    pub(super) fn sees_targets(self) -> bool {
        self.look_ahead.is_empty() || self.look_ahead.iter().any(|ahead| ahead.input.is_none())
    }

    /// Visits every step and output that has an earlier observation: step, output, the last observation.
    pub(super) fn for_each(self, sequence: &Sequence, mut visit: impl FnMut(usize, usize, f32)) {
        let mut last = vec![f32::NAN; sequence.targets.channels];
        for step in 0..sequence.len() {
            for (output, last) in last.iter_mut().enumerate() {
                let value = self.newest(sequence, step, output);
                if !value.is_nan() {
                    *last = value;
                }
                if !last.is_nan() {
                    visit(step, output, *last);
                }
            }
        }
    }

    /// The newest value of an output that is known when a step is predicted; NaN if it is missing.
    fn newest(self, sequence: &Sequence, step: usize, output: usize) -> f32 {
        let target = |step: Option<usize>| step.map_or(f32::NAN, |step| sequence.targets.row(step)[output]);
        match self.look_ahead.get(output) {
            None => target(step.checked_sub(1)),
            Some(LookAhead { input: Some(input), .. }) => sequence.inputs.row(step)[*input],
            Some(LookAhead { input: None, rows }) => target(step.checked_sub(*rows)),
        }
    }

    /// Visits every observed target that has an earlier observation: output, that observation, the target.
    pub(super) fn for_each_change(self, sequence: &Sequence, mut visit: impl FnMut(usize, f64, f64)) {
        self.for_each(sequence, |step, output, last| {
            let value = sequence.targets.row(step)[output];
            if !value.is_nan() {
                visit(output, f64::from(last), f64::from(value));
            }
        });
    }
}
