//! The fastest layout that is accurate enough, and why it is `float` where it is.

use std::fmt;

use anyhow::Result;
use quaver::checkpoint::{Kind, Layout};
use quaver::{LatentModel, Model, ReducerModel};

use super::{instructions, latent_instructions};

/// Maximum increase of the NLL by the layout `fast`, in nats per step, of reducers per sequence.
pub(crate) const MAX_FAST_NLL_INCREASE: f64 = 0.02;

/// The layout of a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutChoice {
    /// The layout.
    pub layout: Layout,
    /// Why it is `float` although it was not asked for.
    pub why_float: Option<WhyFloat>,
}

impl From<Layout> for LayoutChoice {
    /// A layout that was asked for.
    fn from(layout: Layout) -> Self {
        LayoutChoice { layout, why_float: None }
    }
}

/// Why a checkpoint is not stored in the layout `fast`.
#[derive(Clone, Debug, PartialEq)]
pub enum WhyFloat {
    /// It cannot be, with the error.
    Unsupported(String),
    /// Its NLL would be higher by more than 0.02.
    Costly {
        /// The sequences on which it would.
        split: &'static str,
        /// Nats per step, of reducers per sequence.
        nll_increase: f64,
    },
}

impl fmt::Display for WhyFloat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WhyFloat::Unsupported(error) => write!(f, "layout float: in the layout fast {error}"),
            WhyFloat::Costly { split, nll_increase } => write!(
                f,
                "layout float: fast would raise the NLL of the {split} data by {nll_increase:.4} nats, more than \
                 {MAX_FAST_NLL_INCREASE}; --layout fast exports it all the same"
            ),
        }
    }
}

impl serde::Serialize for WhyFloat {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The fastest layout with which the NLL of no split is higher than in the layout `float` by more than
/// [`MAX_FAST_NLL_INCREASE`].
pub(crate) fn fastest_layout<S: Copy>(
    bytes: impl Fn(Layout) -> Result<Vec<u8>>,
    splits: &[(&'static str, S)],
    nll: impl Fn(&[u8], S) -> Result<f64>,
) -> Result<LayoutChoice> {
    let float = |why| LayoutChoice { layout: Layout::Float, why_float: Some(why) };
    let exact = bytes(Layout::Float)?;
    let fast = match bytes(Layout::Fast) {
        Ok(fast) => fast,
        Err(error) => return Ok(float(WhyFloat::Unsupported(error.to_string()))),
    };
    for (split, sequences) in splits.iter().copied() {
        let nll_increase = nll(&fast, sequences)? - nll(&exact, sequences)?;
        // Splits without sequences have no NLL.
        if nll_increase > MAX_FAST_NLL_INCREASE {
            return Ok(float(WhyFloat::Costly { split, nll_increase }));
        }
    }
    Ok(sparse_or_fast(&fast, bytes(Layout::Sparse)).into())
}

/// The layout `sparse` where it is better than `fast`, as for pruned networks: shorter, and no slower on the
/// core where its lists cost most. Both predict the same. A small network that is not pruned can be shorter
/// without its padding, but takes longer.
fn sparse_or_fast(fast: &[u8], sparse: Result<Vec<u8>>) -> Layout {
    let is_better =
        |sparse: Vec<u8>| sparse.len() < fast.len() && step_instructions(&sparse) <= step_instructions(fast);
    if sparse.is_ok_and(is_better) { Layout::Sparse } else { Layout::Fast }
}

/// Predicted instructions of a step on a Cortex-M4F.
fn step_instructions(bytes: &[u8]) -> Option<u64> {
    let counts = match Kind::of(bytes)? {
        Kind::Predictor => instructions(&Model::load(bytes).ok()?),
        Kind::Latent => latent_instructions(&LatentModel::load(bytes).ok()?),
        // The pool takes the same in every layout.
        Kind::Reducer => instructions(ReducerModel::load(bytes).ok()?.network()),
    };
    counts.iter().find(|count| count.core == "M4F").map(|count| count.instructions)
}
