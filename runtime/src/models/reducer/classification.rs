//! What a reducer answers.

use crate::moments::Moments;

/// Mean and variance of each component of a sequence's embedding.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Embedding<'s> {
    /// Means.
    pub mean: &'s [f32],
    /// Variances.
    pub var: &'s [f32],
}

impl<'s> Embedding<'s> {
    /// The components in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Moments> + 's {
        self.mean.iter().zip(self.var).map(|(mean, var)| Moments { mean: *mean, var: *var })
    }
}

/// The class of a sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Classification<'s> {
    /// Index of the class: the most probable one, or that of the majority of the nearest prototypes if the
    /// checkpoint asks for a vote. Those taught at run time follow those of the checkpoint.
    pub class: usize,
    /// Probability of each class, given that it is one of them.
    pub probabilities: &'s [f32],
    /// Expected squared distance to the nearest prototype, or to the nearest class centre; `None` for a
    /// linear classifier without centres.
    pub distance: Option<f32>,
    /// The score by which a sequence is none of the classes; see
    /// [`NoveltyScore`](crate::checkpoint::NoveltyScore).
    pub novelty: f32,
    /// Whether the score is within the checkpoint's threshold; always true without one.
    pub known: bool,
    pub(super) name: Option<&'s str>,
}

impl<'s> Classification<'s> {
    /// Name of the class; `None` for a checkpoint without names and for a class that was taught.
    pub fn name(&self) -> Option<&'s str> {
        self.name
    }

    /// Probability of the class.
    pub fn probability(&self) -> f32 {
        self.probabilities.get(self.class).copied().unwrap_or(0.0)
    }
}
