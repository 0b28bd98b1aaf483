//! One step of each recurrence in integers, four rows of weights at a time.
//!
//! The recurrences are those of `float::cells`; numbers have the fractional bits of `fixed.rs`, cells those
//! of variances.

pub(super) mod elman;
pub(super) mod group;
pub(super) mod gru;
pub(super) mod lstm;

pub(super) use elman::elman_step;
pub(super) use group::{GroupMoments, group_means, group_moments};
pub(super) use gru::gru_step;
pub(super) use lstm::{CELL_LIMIT, lstm_step};

use super::fixed::{UNIT_VAR_BITS, VAR_BITS};

/// Largest variance of a unit.
const UNIT_VAR_LIMIT: i32 = (1 << UNIT_VAR_BITS) - 1;

/// A variance with [`VAR_BITS`] fractional bits as that of a unit.
#[inline(always)]
fn unit_var(var: i32) -> i32 {
    (var >> (VAR_BITS - UNIT_VAR_BITS)).min(UNIT_VAR_LIMIT)
}
