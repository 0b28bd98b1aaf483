//! Sixteen streams of one model, one in each lane of a vector.
//!
//! Both backends step streams side by side in `batch`, each in its own arithmetic. What they share is here:
//! how a model gives them rows and takes predictions, the way of states into lanes and back, and what vectors
//! a host has.

#[cfg(all(feature = "vectors", target_arch = "x86_64"))]
pub(crate) mod cpu;
mod states;
#[cfg(all(test, feature = "write"))]
pub(crate) mod test_streams;
mod transpose;
#[cfg(all(feature = "vectors", target_arch = "x86_64"))]
mod transpose_avx512;

pub(crate) use states::{States, gather, scatter};
pub(crate) use transpose::{Portable, Transpose};
#[cfg(all(feature = "vectors", target_arch = "x86_64"))]
pub(crate) use transpose_avx512::Avx512;

/// Streams that run side by side, and units of a group: one AVX-512 register, two of AVX2, four of NEON.
pub(crate) const LANES: usize = 16;

/// A number for each of sixteen streams or units.
pub(crate) type Lanes = [f32; LANES];

/// At most [`LANES`] streams of one model that are stepped together, each in a lane of its own.
pub(crate) trait StreamLanes {
    /// Writes means and variances of all inputs, standardised.
    fn inputs(&mut self, moments: [&mut [Lanes]; 2]);

    /// The recurrent state of every stream; empty where there is no stream.
    fn recurrent(&mut self) -> States<'_>;

    /// Receives means and variances of all rows of the output map, as `StepIo::output` does.
    fn outputs(&mut self, moments: [&[Lanes]; 2]);
}
