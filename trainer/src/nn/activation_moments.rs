//! Activation functions on moments, with their derivatives, as types.

use quaver::moments::{Jacobian, Moments, gradient};

/// An activation function on moments.
///
/// A type rather than a function pointer or a closure, so that loops are compiled for each function
/// separately (see [`super::vectorised`]).
pub(crate) trait ActivationMoments {
    /// Moments of the result, and their derivatives with respect to those of the argument.
    fn differentiate(argument: Moments) -> (Moments, Jacobian);
}

macro_rules! activation {
    ($($(#[$doc:meta])* $name:ident = $function:path;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name;

        impl ActivationMoments for $name {
            #[inline(always)]
            fn differentiate(argument: Moments) -> (Moments, Jacobian) {
                $function(argument)
            }
        }
    )*};
}

activation! {
    /// max(0, a).
    Relu = gradient::relu;
    /// The logistic function.
    Sigmoid = gradient::sigmoid;
    /// The logistic function as published.
    PaperSigmoid = gradient::paper_sigmoid;
    /// The hyperbolic tangent.
    Tanh = gradient::tanh;
    /// The hyperbolic tangent as published.
    PaperTanh = gradient::paper_tanh;
}
