//! Moments of tanh for sixteen streams: the functions of `moments`, each for all streams before the next, so
//! that only the look-ups in tables are not vectors.

use super::super::arithmetic::Vector;
use super::super::moments::{Argument, Root};
use super::ints::{Ints, LaneMoments, LaneRow, lanes};
use super::vector_unit::Vectors;
use crate::lanes::LANES;

/// Moments of tanh of a row.
#[inline(always)]
pub(super) fn tanh<V: Vectors>(row: &LaneRow) -> LaneMoments {
    let (mut places, mut parts) = ([0; LANES], [0; LANES]);
    for lane in 0..LANES {
        let Root { place, part } = Root::new(row.var(lane));
        (places[lane], parts[lane]) = (place as i32, part);
    }
    let words = V::root_words(&places);
    let rho = lanes(|lane| Root { place: 0, part: parts[lane] }.rho(words[lane]));
    let arguments = Arguments::new(|lane| Argument::new::<Vector>(row.mean[lane], rho[lane]));
    let cells = V::cells(&arguments.places());
    LaneMoments::of(|lane| arguments.at(lane).moments::<Vector>(column(&cells, lane), row.var(lane)))
}

/// tanh of deterministic rows.
#[inline(always)]
pub(super) fn deterministic_tanh<V: Vectors>(mean: &Ints) -> Ints {
    let arguments = Arguments::new(|lane| Argument::deterministic(mean[lane]));
    let cells = V::cells(&arguments.places());
    lanes(|lane| arguments.at(lane).mean(column(&cells, lane)))
}

/// An [`Argument`] of each stream.
struct Arguments {
    tau: Ints,
    size: Ints,
    rho: Ints,
}

impl Arguments {
    #[inline(always)]
    fn new(each: impl Fn(usize) -> Argument) -> Self {
        let mut result = Arguments { tau: [0; LANES], size: [0; LANES], rho: [0; LANES] };
        for lane in 0..LANES {
            let Argument { tau, size, rho } = each(lane);
            (result.tau[lane], result.size[lane], result.rho[lane]) = (tau, size, rho);
        }
        result
    }

    #[inline(always)]
    fn at(&self, lane: usize) -> Argument {
        Argument { tau: self.tau[lane], size: self.size[lane], rho: self.rho[lane] }
    }

    #[inline(always)]
    fn places(&self) -> Ints {
        lanes(|lane| self.at(lane).place() as i32)
    }
}

#[inline(always)]
fn column(words: &[Ints; 4], lane: usize) -> [i32; 4] {
    [words[0][lane], words[1][lane], words[2][lane], words[3][lane]]
}
