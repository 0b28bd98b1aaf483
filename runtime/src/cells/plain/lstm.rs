//! Long short-term memory on moments (Fortunato, Blundell and Vinyals 2017, A.2).
//!
//! i, f, o = σ(affine), g = tanh(affine), c_t = f ⊙ c_{t−1} + i ⊙ g, h_t = o ⊙ tanh(c_t), with sums and products of
//! quantities taken as independent (Bayer 2015, thesis, eqs. 14 and 15).

use super::transfer::{sigmoid, tanh};
use super::{Units, limited};
use crate::checkpoint::{AffineView, LayerSpec, MomentForm};
use crate::kernels::{self, NoisyInput};
use crate::moments::{Moments, product};

/// Pre-activations of one unit, in the order in which a checkpoint stores their rows.
struct Gates {
    input: Moments,
    forget: Moments,
    candidate: Moments,
    output: Moments,
}

/// Overwrites units `h` and cells `c` with their next state. `input` is [x_t, h_{t−1}] after noise.
pub(crate) fn lstm_step(
    layer: &LayerSpec,
    form: MomentForm,
    affine: AffineView<'_>,
    input: NoisyInput<'_>,
    h: &mut Units<'_>,
    c: &mut Units<'_>,
) {
    let mut rows = kernels::rows(affine, input);
    let mut row = || rows.next().unwrap_or_default();
    for ((h_mean, h_var), (c_mean, c_var)) in h.iter_mut().zip(c.iter_mut()) {
        let gates = Gates { input: row(), forget: row(), candidate: row(), output: row() };
        let (unit, cell) = unit_step(form, gates, Moments { mean: *c_mean, var: *c_var });
        (*h_mean, *h_var) = (unit.mean, layer.variance_scale * unit.var);
        (*c_mean, *c_var) = (cell.mean, cell.var);
    }
}

/// The next (h, c) of one unit.
fn unit_step(form: MomentForm, gates: Gates, cell: Moments) -> (Moments, Moments) {
    let kept = product(sigmoid(form, gates.forget), cell);
    let added = product(sigmoid(form, gates.input), tanh(form, gates.candidate));
    let cell = limited(Moments { mean: kept.mean + added.mean, var: kept.var + added.var });
    (product(sigmoid(form, gates.output), tanh(form, cell)), cell)
}
