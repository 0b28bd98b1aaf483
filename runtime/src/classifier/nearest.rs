//! Kernels around prototypes, and votes of the nearest.

use crate::moments::Scalar;
use crate::spec::MAX_NEIGHBOURS;

/// β/(1 + 2βv): what a squared difference in a component of variance v counts in the exponent of the expected
/// kernel.
#[inline]
pub fn kernel_precision<S: Scalar>(beta: S, var: S) -> S {
    beta / (S::constant(1.0) + (beta + beta) * var)
}

/// −½ ln(1 + 2βv): logarithm of the component's factor in front of the expected kernel, the same for all
/// prototypes.
#[inline]
pub fn kernel_log_scale<S: Scalar>(beta: S, var: S) -> S {
    S::constant(-0.5) * (S::constant(1.0) + (beta + beta) * var).ln()
}

/// Sums of kernels by class, relative to the largest kernel so far, so that none overflows and not all
/// underflow.
#[derive(Debug)]
pub struct KernelSums<'s, S> {
    sums: &'s mut [S],
    /// Logarithm of the largest kernel.
    largest: Option<S>,
}

impl<'s, S: Scalar> KernelSums<'s, S> {
    /// No kernels yet; one sum per class.
    pub fn new(sums: &'s mut [S]) -> Self {
        sums.fill(S::ZERO);
        KernelSums { sums, largest: None }
    }

    /// Adds a kernel of a class by its logarithm. A class beyond the last is ignored.
    pub fn add(&mut self, class: usize, log_kernel: S) {
        let largest = match self.largest {
            Some(largest) if !largest.is_less(log_kernel) => largest,
            before => {
                if let Some(before) = before {
                    let factor = (before - log_kernel).exp();
                    self.sums.iter_mut().for_each(|sum| *sum = *sum * factor);
                }
                log_kernel
            }
        };
        self.largest = Some(largest);
        if let Some(sum) = self.sums.get_mut(class) {
            *sum = *sum + (log_kernel - largest).exp();
        }
    }

    /// Turns sums into the probabilities of the classes; −ln of the sum of all kernels. Without kernels all
    /// classes are equally probable, and the result is `None`.
    pub fn finish(self) -> Option<S> {
        let total = self.sums.iter().fold(S::ZERO, |total, sum| total + *sum);
        if let Some(largest) = self.largest.filter(|_| S::ZERO.is_less(total)) {
            self.sums.iter_mut().for_each(|sum| *sum = *sum / total);
            return Some(-(largest + total.ln()));
        }
        let classes = S::constant(self.sums.len() as f64);
        self.sums.iter_mut().for_each(|sum| *sum = S::constant(1.0) / classes);
        None
    }
}

/// The nearest prototypes so far, and their classes.
#[derive(Clone, Debug)]
pub struct Votes {
    /// In order of their distances.
    nearest: [(f32, u16); MAX_NEIGHBOURS as usize],
    limit: usize,
    count: usize,
}

impl Votes {
    /// No votes yet; at least 1 and at most [`MAX_NEIGHBOURS`] are kept.
    pub fn new(neighbours: u16) -> Self {
        let limit = neighbours.clamp(1, MAX_NEIGHBOURS);
        Votes { nearest: [(f32::MAX, 0); MAX_NEIGHBOURS as usize], limit: limit.into(), count: 0 }
    }

    /// Counts a prototype of a class at a distance; of equal ones the first is the nearer.
    pub fn add(&mut self, distance: f32, class: u16) {
        let mut candidate = (distance, class);
        self.count = (self.count + 1).min(self.limit);
        for place in self.nearest.iter_mut().take(self.count) {
            if candidate.0 < place.0 {
                core::mem::swap(place, &mut candidate);
            }
        }
    }

    /// Distance and class of the nearest; `None` without prototypes.
    pub fn nearest(&self) -> Option<(f32, u16)> {
        self.nearest.first().copied().filter(|_| self.count > 0)
    }

    /// The class with most votes; of equally many, the one with the nearest prototype.
    pub fn majority(&self) -> Option<u16> {
        let votes = || self.nearest.iter().take(self.count).map(|(_, class)| *class);
        let (mut best, mut most) = (None, 0);
        for class in votes() {
            let count = votes().filter(|other| *other == class).count();
            if count > most {
                (best, most) = (Some(class), count);
            }
        }
        best
    }
}
