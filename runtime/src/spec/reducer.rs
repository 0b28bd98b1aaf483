//! Architecture of a reducer, apart from its network.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// Most nearest neighbours that may vote; bounds the memory of a vote.
pub const MAX_NEIGHBOURS: u16 = 16;

/// Most sub-pools of a [`Window::Ring`]: a header of a few bytes decides the memory of a stream.
pub const MAX_POOLS: u16 = 256;

/// How a sequence becomes a point, and the point a class.
///
/// A recurrent network reads rows, a pooling operator reduces its units or outputs over time to one vector,
/// the *embedding* (Bayer 2015, thesis, 3.3), and a classifier compares that with what it has seen.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ReducerSpec {
    /// The pooling operator over time.
    pub pooling: Pooling,
    /// What is pooled.
    pub over: PoolOver,
    /// Correlation ρ of the noise of one component at different times, from 0, independent, to 1, which
    /// bounds the variance of a mean from above. What the network takes for noise often lasts, such as the
    /// error of a channel that is missing for the whole sequence, and does not average out. Fitted on
    /// validation data.
    pub correlation: f32,
    /// Rows that the embedding is made of.
    pub window: Window,
    /// Number of classes.
    pub classes: u16,
    /// How classes are told apart.
    pub classifier: ClassifierSpec,
    /// Score by which a sequence is none of the classes.
    pub novelty: NoveltyScore,
    /// Largest score of a known sequence; without it all are known.
    pub threshold: Option<f32>,
}

/// Operator that reduces the values of a component over time to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Pooling {
    /// The average.
    Mean,
    /// The sum: length counts.
    Sum,
    /// The largest.
    Max,
    /// The expectation of a value drawn with probabilities that grow with the values, Σ p_t a_t with p =
    /// softmax(a) over time (after Zeiler and Fergus 2013, whose probabilities a_t/Σa need values that are
    /// not negative). Between the mean, for small values, and the maximum, for large ones.
    Stochastic,
}

/// What is pooled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum PoolOver {
    /// The units of the last layer.
    Units,
    /// The rows of the output map, which is affine here: no likelihood.
    Outputs,
}

/// Rows that an embedding is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Window {
    /// All since the sequence began.
    Sequence,
    /// All, with exponential forgetting: weights are multiplied by 1 − 1/`rows` from row to row.
    Forgetting {
        /// Time constant, from 1 to 10⁶ rows.
        rows: f32,
    },
    /// The newest: a ring of sub-pools of `rows` rows each, of which the oldest is dropped when the newest is
    /// full. The window is between (pools − 1)·rows + 1 and pools·rows rows long.
    Ring {
        /// Sub-pools, 1 to [`MAX_POOLS`].
        pools: u16,
        /// Rows of each sub-pool, at least 1.
        rows: u16,
    },
}

/// How classes are told apart.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ClassifierSpec {
    /// Not at all: embeddings only.
    None,
    /// By their distances to prototypes; more can be taught at run time.
    Nearest {
        /// Stored prototypes; none if all are taught.
        prototypes: u16,
        /// Inverse temperature β of the kernel exp(−β‖e − p‖²).
        beta: f32,
        /// Number of nearest prototypes whose majority is the class, at most [`MAX_NEIGHBOURS`]; 0 for the
        /// most probable class.
        neighbours: u16,
    },
    /// By an affine map: multinomial logistic regression.
    Linear {
        /// Divisor of the logits.
        temperature: f32,
        /// Whether the mean embedding of each class is stored, to measure distances from.
        centres: bool,
    },
}

/// Score by which a sequence is none of the classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum NoveltyScore {
    /// Expected squared distance to the nearest prototype, or to the nearest class centre.
    Distance,
    /// −ln of the sum of kernels over all prototypes, or −ln Σ exp(logit) over all classes.
    Energy,
}

impl ReducerSpec {
    /// A reducer of whole sequences without a classifier, for independent noise.
    pub const fn new(pooling: Pooling, over: PoolOver) -> Self {
        ReducerSpec {
            pooling,
            over,
            correlation: 0.0,
            window: Window::Sequence,
            classes: 0,
            classifier: ClassifierSpec::None,
            novelty: NoveltyScore::Distance,
            threshold: None,
        }
    }
}
