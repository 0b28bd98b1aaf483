//! Bursts of garbage.

use std::fmt;

use crate::numbers::Numbers;

/// Longest burst, in rows.
const LONGEST: usize = 64;
/// Variances of readings, impossible and huge ones.
const VARS: [f32; 6] = [1e38, f32::MAX, f32::INFINITY, f32::NAN, -1.0, 1e12];

/// What is wrong with the rows of a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Garbage {
    /// Every channel is NaN.
    Missing,
    /// Every channel is infinite.
    Infinite,
    /// ±10³⁸.
    Huge,
    /// Numbers too small for a normal float.
    Subnormal,
    /// The first row of the burst over and over.
    Stuck,
    /// No value, too few, or too many of them.
    Length,
    /// Clean values with huge, infinite and impossible variances.
    Uncertain,
    /// Any 32 bits.
    Bits,
}

impl Garbage {
    /// Every kind.
    pub const ALL: [Garbage; 8] = [
        Garbage::Missing,
        Garbage::Infinite,
        Garbage::Huge,
        Garbage::Subnormal,
        Garbage::Stuck,
        Garbage::Length,
        Garbage::Uncertain,
        Garbage::Bits,
    ];
}

impl fmt::Display for Garbage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{self:?}").to_lowercase())
    }
}

/// Rows of one kind.
#[derive(Clone, Debug)]
pub struct Burst {
    /// What is wrong with them.
    pub garbage: Garbage,
    /// How many there are.
    pub rows: usize,
    first: Vec<f32>,
}

impl Burst {
    /// A burst where the clean row `first` should have been.
    pub fn draw(first: &[f32], numbers: &mut Numbers) -> Self {
        let garbage = Garbage::ALL[numbers.below(Garbage::ALL.len())];
        Burst { garbage, rows: 1 + numbers.below(LONGEST), first: first.to_vec() }
    }

    /// Replaces values and variances by those of the next row; `clean` is what it should have been.
    pub fn fill(&self, clean: &[f32], numbers: &mut Numbers, values: &mut Vec<f32>, vars: &mut Vec<f32>) {
        values.clear();
        vars.clear();
        match self.garbage {
            Garbage::Stuck => values.extend(&self.first),
            Garbage::Length => {
                let length = numbers.below(2 * clean.len() + 2);
                values.extend(clean.iter().chain(clean).chain([&f32::NAN, &1e38]).take(length));
            }
            Garbage::Uncertain => {
                values.extend(clean);
                vars.extend(clean.iter().map(|_| VARS[numbers.below(VARS.len())]));
            }
            kind => values.extend(clean.iter().map(|_| kind.value(numbers))),
        }
    }
}

impl Garbage {
    /// One value of the kinds that do not depend on clean rows.
    fn value(self, numbers: &mut Numbers) -> f32 {
        let sign = if numbers.once_in(2) { -1.0 } else { 1.0 };
        match self {
            Garbage::Infinite => sign * f32::INFINITY,
            Garbage::Huge => sign * 1e38,
            Garbage::Subnormal => sign * f32::from_bits(1 + numbers.below(1 << 23) as u32),
            Garbage::Bits => f32::from_bits(numbers.below(1 << 32) as u32),
            Garbage::Missing | Garbage::Stuck | Garbage::Length | Garbage::Uncertain => f32::NAN,
        }
    }
}
