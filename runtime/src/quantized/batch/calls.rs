//! What a layer does for every unit, as functions of their own.
//!
//! A function is compiled for a machine's vectors where it is inlined into one that is compiled for them,
//! hence `inline(always)` wherever lanes are computed. With these calls inlined as well, a walk had ten
//! copies of tanh and seven of the sums, for each kind of vectors: most of the runtime's code on a host, and
//! of the time that it takes to compile.

use super::ints::{LaneMoments, LaneRow};
use super::moments;
use super::rows::{LaneInput, MapRows};
use super::vector_unit::{PortableVectors, Vectors};

/// Functions that are compiled once for each kind of vectors.
pub(super) trait Calls: Vectors {
    /// Moments of tanh of a row.
    fn tanh(row: &LaneRow) -> LaneMoments;

    /// Pre-activations of group `index` of four rows that read `input`; without variances if the map
    /// propagates none.
    fn group(rows: &mut MapRows<'_>, index: usize, input: &LaneInput<'_>) -> [LaneRow; 4];
}

impl Calls for PortableVectors {
    #[inline(never)]
    fn tanh(row: &LaneRow) -> LaneMoments {
        moments::tanh::<Self>(row)
    }

    #[inline(never)]
    fn group(rows: &mut MapRows<'_>, index: usize, input: &LaneInput<'_>) -> [LaneRow; 4] {
        rows.group::<Self>(index, input)
    }
}
