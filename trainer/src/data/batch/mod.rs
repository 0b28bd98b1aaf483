//! Sequences as arrays: split into chunks, standardised, padded and masked.
//!
//! All arrays are time-major, [steps, rows, channels] flattened, so that one time step of all rows is
//! contiguous.

mod classes;
mod lanes;
mod order;

use std::borrow::Cow;

use quaver::checkpoint::Target;

use super::rows::Sequence;
use super::scaler::Scaling;
use crate::config::Padding;

pub use classes::by_class;
pub use lanes::lanes;
pub use order::{Batches, Chunk, carried, evaluation, training};

/// Chunks side by side, in standardised units. Shorter ones are padded, at their end by default.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// Time steps T, those of the longest chunk.
    pub steps: usize,
    /// Rows B, one per chunk.
    pub rows: usize,
    /// Input means [T, B, I]; 0 in the start row and in the padding. Where an input is missing, its
    /// conditional mean given the inputs of that row that are present; 0 if the scaling has no density.
    pub inputs_mean: Vec<f32>,
    /// Input variances [T, B, I]. Where an input is missing, its conditional variance; 1, the variance of the
    /// training data, if the scaling has no density. 0 elsewhere.
    pub inputs_var: Vec<f32>,
    /// Targets [T, B, O]; 0 where masked.
    pub targets: Vec<f32>,
    /// 1 where a target counts, 0 where it is missing or padding [T, B, O].
    pub mask: Vec<f32>,
    /// Whether the inputs of a step are its own row or the row before it, as in [`Sequence::target`].
    pub target: Target,
    /// The chunk of every row: step t of row b is step `chunks[b].start + t` of its sequence, for t below its
    /// length. With padding at the start, t counts from the end of the padding.
    pub chunks: Vec<Chunk>,
    /// Rows of the arrays, t B + b, whose input is the start row of a sequence that predicts itself.
    pub starts: Vec<usize>,
    /// What the linear part of the model predicts, to which the outputs of its network are added; none for a
    /// model without one.
    pub linear: Option<OutputMoments>,
}

/// Moments of outputs in standardised units.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputMoments {
    /// Means [T, B, O]; 0 in the padding.
    pub mean: Vec<f32>,
    /// Variances [T, B, O]; 0 in the padding.
    pub var: Vec<f32>,
}

impl Batch {
    /// Collects chunks of `sequences` into a batch, padded at their end.
    pub fn new(sequences: &[Sequence], scaling: &Scaling, chunks: &[Chunk]) -> Batch {
        Batch::padded(sequences, scaling, chunks, Padding::After)
    }

    /// Collects chunks of `sequences` into a batch.
    pub fn padded(sequences: &[Sequence], scaling: &Scaling, chunks: &[Chunk], padding: Padding) -> Batch {
        let (inputs, outputs) = (scaling.inputs.channels(), scaling.targets.channels());
        let steps = chunks.iter().map(|chunk| chunk.len).max().unwrap_or(0);
        let rows = chunks.len();
        let zeros = |channels: usize| vec![0.0; steps * rows * channels];
        let mut batch = Batch {
            steps,
            rows,
            inputs_mean: zeros(inputs),
            inputs_var: zeros(inputs),
            targets: zeros(outputs),
            mask: zeros(outputs),
            target: chunks.first().map_or(Target::Columns, |chunk| sequences[chunk.sequence].target),
            chunks: chunks.to_vec(),
            starts: Vec::new(),
            linear: scaling
                .linear
                .as_ref()
                .map(|_| OutputMoments { mean: zeros(outputs), var: zeros(outputs) }),
        };
        for (b, chunk) in chunks.iter().enumerate() {
            let first = match padding {
                Padding::After => 0,
                Padding::Before => steps - chunk.len,
            };
            for t in 0..chunk.len {
                let place = (first + t) * rows + b;
                if sequences[chunk.sequence].input(chunk.start + t).is_none() {
                    batch.starts.push(place);
                }
                batch.fill(place, &sequences[chunk.sequence], chunk.start + t, scaling);
            }
            if let (Some(part), Some(linear)) = (&scaling.linear, &mut batch.linear) {
                let steps = chunk.start..chunk.start + chunk.len;
                let place = |t: usize| ((first + t) * rows + b) * outputs;
                part.predict(&sequences[chunk.sequence], steps, scaling, |t, output, moments| {
                    linear.mean[place(t) + output] = moments.mean;
                    linear.var[place(t) + output] = moments.var;
                });
            }
        }
        batch
    }

    /// Variances of the rows that a residual network adds its outputs to, [T, B, I]: those of the inputs, but
    /// 1 in start rows. The start row is the training mean, given to the network as exact; as a prediction of
    /// the first row it has the variance of the training rows.
    pub fn residual_var(&self) -> Cow<'_, [f32]> {
        if self.starts.is_empty() {
            return Cow::Borrowed(&self.inputs_var);
        }
        let channels = self.inputs_var.len() / (self.steps * self.rows).max(1);
        let mut var = self.inputs_var.clone();
        self.starts.iter().for_each(|start| var[start * channels..][..channels].fill(1.0));
        Cow::Owned(var)
    }

    /// The row observed at every step, whatever the target is: means and variances [T, B, I], those of the
    /// training data where a value is missing, and 0 in the padding at the end.
    pub fn observed(&self) -> (Cow<'_, [f32]>, Cow<'_, [f32]>) {
        match self.target {
            Target::Columns | Target::ResidualSame => {
                (Cow::Borrowed(&self.inputs_mean), Cow::Borrowed(&self.inputs_var))
            }
            // The inputs are the previous row; the row itself is in the targets.
            Target::Next | Target::ResidualNext => {
                let channels = self.mask.len() / (self.steps * self.rows).max(1);
                let within = |place: usize| self.chunks[place % self.rows].len > place / self.rows;
                let missing = |(index, mask): (usize, &f32)| match within(index / channels) {
                    true => 1.0 - mask,
                    false => 0.0,
                };
                let var = self.mask.iter().enumerate().map(missing).collect();
                (Cow::Borrowed(&self.targets), Cow::Owned(var))
            }
        }
    }

    /// Writes one step of a sequence at `place`, counted in rows of the arrays.
    fn fill(&mut self, place: usize, sequence: &Sequence, step: usize, scaling: &Scaling) {
        // The start row of a sequence that predicts itself is mean 0, variance 0, to which the arrays are
        // initialised.
        if let Some(row) = sequence.input(step) {
            let at = place * row.len();
            let mean = &mut self.inputs_mean[at..at + row.len()];
            scaling.row_moments(row, mean, &mut self.inputs_var[at..at + row.len()]);
        }
        let row = sequence.targets.row(step);
        let at = place * row.len();
        for (channel, &raw) in row.iter().enumerate().filter(|(_, raw)| !raw.is_nan()) {
            self.targets[at + channel] = scaling.targets.standardise(channel, raw);
            self.mask[at + channel] = 1.0;
        }
    }
}

#[cfg(test)]
mod tests;
