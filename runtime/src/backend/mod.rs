//! The choice between the backends `float` and `quantized`: the only module that imports both.
//!
//! Both have functions of the same names. [`dispatch`] picks the backend of a model's layout; a step does so
//! once. Where only one backend is built in there is nothing to choose: [`check_spec`] has refused all other
//! models.

/// Evaluates an expression with `$backend` naming the backend of `$layout`.
#[cfg(all(feature = "float", feature = "quantized"))]
macro_rules! dispatch {
    ($layout:expr, $backend:ident => $result:expr) => {
        if $layout.is_quantized() {
            use crate::quantized as $backend;
            $result
        } else {
            use crate::float as $backend;
            $result
        }
    };
}

#[cfg(not(feature = "quantized"))]
macro_rules! dispatch {
    ($layout:expr, $backend:ident => $result:expr) => {{
        let _ = $layout;
        use crate::float as $backend;
        $result
    }};
}

#[cfg(not(feature = "float"))]
macro_rules! dispatch {
    ($layout:expr, $backend:ident => $result:expr) => {{
        let _ = $layout;
        use crate::quantized as $backend;
        $result
    }};
}

mod batch;
mod memory;
mod payload;
mod step;

pub(crate) use batch::{batch_step, batch_words};
pub(crate) use memory::NetworkMemory;
#[cfg(feature = "write")]
pub(crate) use payload::encode_affine;
#[cfg(all(feature = "write", feature = "quantized"))]
pub(crate) use payload::stored_blocks;
pub(crate) use payload::{check_payload, check_spec, known_maps};
pub(crate) use step::{is_accelerated, layers, read_units, restore_state, save_state, state_fault, step};

use crate::spec::Layout;

/// Whether the backend of a layout is built in, and the cargo feature that enables it.
const fn built_in(layout: Layout) -> (bool, &'static str) {
    match layout {
        Layout::Float => (cfg!(feature = "float"), "float"),
        Layout::Small | Layout::Fast | Layout::Mean | Layout::Sparse => {
            (cfg!(feature = "quantized"), "quantized")
        }
    }
}
