//! Sixteen numbers at a time.

#![allow(clippy::needless_range_loop)] // see `wide`

use super::super::format::LANES;
pub(in crate::float) use crate::lanes::Lanes;
use crate::moments::Moments;

#[inline(always)]
pub(in crate::float) fn map(lanes: Lanes, each: impl Fn(f32) -> f32) -> Lanes {
    let mut result = [0.0; LANES];
    for lane in 0..LANES {
        result[lane] = each(lanes[lane]);
    }
    result
}

#[inline(always)]
pub(in crate::float) fn zip(a: Lanes, b: Lanes, each: impl Fn(f32, f32) -> f32) -> Lanes {
    let mut result = [0.0; LANES];
    for lane in 0..LANES {
        result[lane] = each(a[lane], b[lane]);
    }
    result
}

/// Moments of sixteen units.
#[derive(Clone, Copy)]
pub(in crate::float) struct WideMoments {
    pub(in crate::float) mean: Lanes,
    pub(in crate::float) var: Lanes,
}

impl WideMoments {
    pub(in crate::float) const ZERO: WideMoments = WideMoments { mean: [0.0; LANES], var: [0.0; LANES] };

    #[inline(always)]
    pub(in crate::float) fn at(&self, lane: usize) -> Moments {
        Moments { mean: self.mean[lane], var: self.var[lane] }
    }

    #[inline(always)]
    pub(in crate::float) fn map(self, each: impl Fn(Moments) -> Moments) -> Self {
        let mut result = Self::ZERO;
        for lane in 0..LANES {
            let y = each(self.at(lane));
            (result.mean[lane], result.var[lane]) = (y.mean, y.var);
        }
        result
    }

    #[inline(always)]
    pub(in crate::float) fn zip(self, other: Self, each: impl Fn(Moments, Moments) -> Moments) -> Self {
        let mut result = Self::ZERO;
        for lane in 0..LANES {
            let y = each(self.at(lane), other.at(lane));
            (result.mean[lane], result.var[lane]) = (y.mean, y.var);
        }
        result
    }

    #[inline(always)]
    pub(in crate::float) fn zip3(
        self,
        b: Self,
        c: Self,
        each: impl Fn(Moments, Moments, Moments) -> Moments,
    ) -> Self {
        let mut result = Self::ZERO;
        for lane in 0..LANES {
            let y = each(self.at(lane), b.at(lane), c.at(lane));
            (result.mean[lane], result.var[lane]) = (y.mean, y.var);
        }
        result
    }
}
