//! The simple recurrence: h_t = f(W [x_t, h_{t−1}] + b) (Bayer 2015, thesis, Alg. 2).

use super::transfer::transfer;
use super::{Units, limited};
use crate::checkpoint::{AffineView, LayerSpec, MomentForm, Transfer};
use crate::kernels::{self, NoisyInput};
use crate::moments::Moments;

/// Overwrites the units `h` with their next state. `input` is [x_t, h_{t−1}] after noise.
pub(crate) fn elman_step(
    layer: &LayerSpec,
    function: Transfer,
    form: MomentForm,
    affine: AffineView<'_>,
    input: NoisyInput<'_>,
    h: &mut Units<'_>,
) {
    for ((mean, var), a) in h.iter_mut().zip(kernels::rows(affine, input)) {
        let y = transfer(function, form, a);
        let unit = limited(Moments { var: layer.variance_scale * y.var, ..y });
        (*mean, *var) = (unit.mean, unit.var);
    }
}
