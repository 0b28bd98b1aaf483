//! What the build script embedded: models in flash, and the rows they are to see.

use core::hint::black_box;

use quaver_streams::numbers::Numbers;
use quaver_streams::replay::Task;

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// A model and its stream.
pub struct Job {
    /// What to call it.
    pub name: &'static str,
    /// Channels per row.
    pub inputs: usize,
    /// Words of its arena.
    pub arena: usize,
    /// The checkpoint.
    pub model: &'static [u8],
    /// Rows of little-endian f32.
    pub stream: &'static [u8],
    /// What is asked of the model.
    pub task: Task,
}

impl Job {
    /// The job that the image was built for.
    pub fn chosen() -> &'static Job {
        let [job, ..] = &CHOSEN;
        job
    }

    /// Number of rows.
    pub fn steps(&self) -> usize {
        self.stream.len() / (4 * self.inputs)
    }

    /// The rows in order, at most `WIDTH` channels each; beyond the last channel a row holds NaN.
    pub fn rows<const WIDTH: usize>(&self) -> impl Iterator<Item = [f32; WIDTH]> {
        let (words, _) = self.stream.as_chunks::<4>();
        words.chunks_exact(self.inputs).map(|words| {
            let mut row = [f32::NAN; WIDTH];
            row.iter_mut().zip(words).for_each(|(value, word)| *value = f32::from_le_bytes(*word));
            row
        })
    }
}
