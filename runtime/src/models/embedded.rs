//! Models that are part of a program: checked by the exporter, known to the compiler, loaded by nobody.

use core::fmt::Debug;
use core::marker::PhantomData;

use super::parts::{Known, Parts};
use super::tracking::Tracking;
use crate::backend::{NetworkMemory, known_maps};
use crate::checkpoint::Checkpoint;
use crate::format::{Kind, fingerprint, known_sections, known_uses};
use crate::spec::{Architecture, ModelSpec, Uses};

/// The checkpoint that a type stands for; [`embed_model!`](crate::embed_model) implements it.
///
/// # Contract
/// `BYTES` are those of a checkpoint that [`checkpoint::seal`](crate::checkpoint::seal) has accepted, at an
/// address that is a multiple of four. Kernels rely on what it checked: an implementation by hand for bytes
/// that nobody has checked can make a step read outside of its memory.
#[doc(hidden)]
pub trait Embedded: Copy + Debug + 'static {
    /// The bytes of the checkpoint.
    const BYTES: &'static [u8];
}

/// What the compiler computes from a checkpoint.
pub(super) struct Constants<E>(PhantomData<E>);

impl<E: Embedded> Constants<E> {
    const PARTS: &'static Parts<'static> = &Parts::new(Checkpoint::known(E::BYTES));
    /// The sections of the checkpoint.
    pub(super) const fn parts() -> &'static Parts<'static> {
        Self::PARTS
    }

    const SPEC: &'static ModelSpec = Self::PARTS.checkpoint.spec();
    const USES: Uses = match known_sections(E::BYTES) {
        Some([header, ..]) => known_uses(header),
        None => panic!("the file is no checkpoint"),
    };
    const MEMORY: NetworkMemory = match NetworkMemory::of_checkpoint(E::BYTES) {
        Some(memory) => memory,
        None => panic!("the backend of the model (cargo feature `float` or `quantized`) is not built in"),
    };
    const MAPS: Option<[&'static [u8]; 2]> = known_maps(Self::SPEC, Self::MEMORY.units, Self::PARTS.weights);
}

impl<E: Embedded> Architecture for E {
    const SPEC: Option<&'static ModelSpec> = Some(Constants::<E>::SPEC);
    const USES: Uses = Constants::<E>::USES;
    const MAPS: Option<[&'static [u8]; 2]> = Constants::<E>::MAPS;
}

impl<E: Embedded> Known for E {
    #[inline(always)]
    fn parts(&self) -> &Parts<'_> {
        Constants::<E>::PARTS
    }

    #[inline(always)]
    fn memory(&self) -> NetworkMemory {
        Constants::<E>::MEMORY
    }

    /// Computed when it is needed: the compiler has no exponential function.
    fn tracking(&self) -> Option<Tracking<'_>> {
        Constants::<E>::PARTS.new_tracking()
    }
}

/// Whether bytes are those that were sealed ([`checkpoint::seal`](crate::checkpoint::seal)).
#[doc(hidden)]
pub const fn is_sealed(bytes: &[u8], seal: u64) -> bool {
    fingerprint(bytes) == seal
}

/// Whether bytes are the checkpoint of one network.
#[doc(hidden)]
pub const fn is_predictor(bytes: &[u8]) -> bool {
    matches!(Kind::of(bytes), Some(Kind::Predictor))
}

/// Makes a checkpoint part of the program as a type: `quaver export` writes it into `model.rs`.
///
/// The type stands for the model that the exporter has checked, and `seal` for exactly its bytes: a file that
/// was damaged or exchanged since then does not compile. Nothing is left to check or to decode when the
/// program runs, and the compiler leaves out every cell, likelihood, layout and optional part that the
/// model does not use. Predictions have the bits of a [`Predictor`](crate::Predictor) that was loaded.
/// [`embed_denoiser!`](crate::embed_denoiser) and [`embed_sampler!`](crate::embed_sampler) are the same for
/// models with latent variables.
///
/// ```
/// # mod model {
/// quaver::embed_model! {
///     /// Grip force from eight EMG channels.
///     pub struct GripForce("../../examples/grip_force.qvr", seal = 0xDCB8_3E8B_F61B_2D83);
/// }
/// # }
/// # use model::GripForce;
/// let mut arena = GripForce::arena(); // all the RAM of the stream
/// let mut predictor = GripForce::start(&mut arena); // cannot fail
/// let prediction = predictor.step(&[14.0, 9.5, f32::NAN, 4.25, 6.0, 11.5, 20.25, 17.0]);
/// println!("{prediction} N"); // "51.7 ± 4.7 N"
/// # assert!(prediction.iter().all(|force| force.variance > 0.0));
/// ```
///
/// Any other file is an error of compilation:
///
/// ```compile_fail
/// quaver::embed_model! {
///     struct GripForce("../../examples/text.qvr", seal = 0xDCB8_3E8B_F61B_2D83);
/// }
/// # fn main() {
/// let mut arena = GripForce::arena();
/// GripForce::start(&mut arena);
/// # }
/// ```
#[macro_export]
macro_rules! embed_model {
    ($(#[$attribute:meta])* $visibility:vis struct $name:ident($path:expr, seal = $seal:expr $(,)?);) => {
        $(#[$attribute])*
        #[allow(dead_code)] // a program may load the checkpoint instead
        #[derive(Clone, Copy, Debug)]
        $visibility struct $name;

        impl $crate::Embedded for $name {
            const BYTES: &'static [u8] = $crate::include_checkpoint!($path);
        }

        #[allow(long_running_const_eval)] // some milliseconds for each kilobyte
        const _: () = {
            let bytes = <$name as $crate::Embedded>::BYTES;
            assert!($crate::is_predictor(bytes), "this is not the checkpoint of a predictor");
            assert!(
                $crate::is_sealed(bytes, $seal),
                "this is not the checkpoint that `quaver export` has checked: export it again",
            );
        };

        #[allow(dead_code)] // not every program needs all of them
        impl $name {
            /// The bytes of the checkpoint.
            $visibility const CHECKPOINT: &'static [u8] = <Self as $crate::Embedded>::BYTES;

            /// Words of RAM for one stream.
            $visibility const ARENA_WORDS: usize = $crate::arena_words(Self::CHECKPOINT);

            /// Memory for one stream.
            $visibility const fn arena() -> $crate::Arena<{ $name::ARENA_WORDS }> {
                $crate::Arena::new()
            }

            /// The model, for several streams of it; see `quaver::Model::start`.
            $visibility const fn model() -> $crate::Model<'static, Self> {
                $crate::Model::embedded(Self)
            }

            /// Begins a stream; nothing can go wrong.
            $visibility fn start(
                arena: &mut $crate::Arena<{ $name::ARENA_WORDS }>,
            ) -> $crate::Predictor<'static, '_, Self> {
                $crate::Predictor::embedded(Self, arena)
            }
        }
    };
}
