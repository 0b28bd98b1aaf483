//! Latent models that are part of a program: checked by the exporter, known to the compiler, loaded by
//! nobody.

use core::fmt::Debug;
use core::marker::PhantomData;

use super::network_inputs::Sources;
use super::parts::KnownLatent;
use super::prior::{LatentPriors, RowNoise};
use crate::checkpoint::KnownLatentCheckpoint;
use crate::format::Recheck;
use crate::models::embedded::Embedded;
use crate::models::model::Model;
use crate::spec::{Family, Forecast, LatentSpec};

/// The checkpoint of a latent model that a type stands for; [`embed_denoiser!`](crate::embed_denoiser) and
/// [`embed_sampler!`](crate::embed_sampler) implement it.
///
/// # Contract
/// That of [`Embedded`], for the checkpoint of a latent model.
#[doc(hidden)]
pub trait EmbeddedLatent: Copy + Debug + 'static {
    /// The bytes of the checkpoint.
    const BYTES: &'static [u8];
}

/// The recognition network of a latent model, as a model that is known while compiling.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Recognition<E>(PhantomData<E>);

/// The generative network, likewise.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Generative<E>(PhantomData<E>);

impl<E: EmbeddedLatent> Embedded for Recognition<E> {
    const BYTES: &'static [u8] = Constants::<E>::CHECKPOINT.recognition;
}

impl<E: EmbeddedLatent> Embedded for Generative<E> {
    const BYTES: &'static [u8] = Constants::<E>::CHECKPOINT.generative;
}

/// What the compiler computes from a checkpoint.
pub(super) struct Constants<E>(PhantomData<E>);

impl<E: EmbeddedLatent> Constants<E> {
    const CHECKPOINT: &'static KnownLatentCheckpoint<'static> = &KnownLatentCheckpoint::new(E::BYTES);
    const RECOGNITION: &'static Model<'static, Recognition<E>> = &Model::embedded(Recognition(PhantomData));
    const GENERATIVE: &'static Model<'static, Generative<E>> = &Model::embedded(Generative(PhantomData));

    pub(super) const fn recognition() -> &'static Model<'static, Recognition<E>> {
        Self::RECOGNITION
    }

    pub(super) const fn generative() -> &'static Model<'static, Generative<E>> {
        Self::GENERATIVE
    }

    pub(super) const fn crc() -> u32 {
        Self::CHECKPOINT.crc
    }

    pub(super) fn recheck() -> Recheck<'static> {
        Recheck::new(E::BYTES, Self::crc())
    }
}

impl<E: EmbeddedLatent> KnownLatent for E {
    type Recognition = Recognition<E>;
    type Generative = Generative<E>;
    const SOURCES: Sources = {
        let KnownLatentCheckpoint { spec, prior, .. } = Constants::<E>::CHECKPOINT;
        Sources {
            row_and_latents: matches!(spec.family, Family::Storn),
            predicted: !prior.is_empty(),
            // A sampler that averages draws remembers the mean.
            mean: !matches!(spec.forecast, Forecast::Moments),
            draws: matches!(spec.forecast, Forecast::Draws { .. }),
        }
    };

    #[inline(always)]
    fn spec(&self) -> &LatentSpec {
        &Constants::<E>::CHECKPOINT.spec
    }

    #[inline(always)]
    fn recognition(&self) -> &Model<'_, Recognition<E>> {
        Constants::<E>::RECOGNITION
    }

    #[inline(always)]
    fn generative(&self) -> &Model<'_, Generative<E>> {
        Constants::<E>::GENERATIVE
    }

    #[inline(always)]
    fn prior(&self) -> LatentPriors<'_> {
        LatentPriors::new(Constants::<E>::CHECKPOINT.prior)
    }

    #[inline(always)]
    fn row_noise(&self) -> RowNoise<'_> {
        RowNoise::new(Constants::<E>::CHECKPOINT.row_noise)
    }
}

/// Whether bytes are the checkpoint of a denoiser.
#[doc(hidden)]
pub const fn is_denoiser(bytes: &[u8]) -> bool {
    matches!(KnownLatentCheckpoint::family(bytes), Some(Family::Vosp))
}

/// Whether bytes are the checkpoint of a sampler.
#[doc(hidden)]
pub const fn is_sampler(bytes: &[u8]) -> bool {
    matches!(KnownLatentCheckpoint::family(bytes), Some(Family::Storn))
}

/// Makes the checkpoint of a [`Denoiser`](crate::Denoiser) part of the program as a type, as
/// [`embed_model!`](crate::embed_model) does for a predictor: `quaver export` writes it into `model.rs`.
///
/// Nothing is left to check or to decode when the program runs, and the compiler leaves out what neither
/// network uses. Estimates have the bits of a denoiser that was loaded.
///
/// ```
/// # mod model {
/// quaver::embed_denoiser! {
///     /// Joint angles without their noise.
///     pub struct JointAngles("../../../examples/denoiser.qvr", seal = 0x5DE5_337B_3E78_0158);
/// }
/// # }
/// # use model::JointAngles;
/// let mut arena = JointAngles::arena(); // all the RAM of the stream
/// let mut denoiser = JointAngles::start(&mut arena); // cannot fail
/// let clean = denoiser.step(&[12.0, f32::NAN, 4.0]);
/// println!("{clean}");
/// # assert!(clean.iter().all(|angle| angle.variance > 0.0));
/// ```
///
/// Any other file is an error of compilation, that of a sampler as well:
///
/// ```compile_fail
/// quaver::embed_denoiser! {
///     struct JointAngles("../../../examples/sampler.qvr", seal = 0xFE21_0C74_BCE6_72D8);
/// }
/// # fn main() {
/// let mut arena = JointAngles::arena();
/// JointAngles::start(&mut arena);
/// # }
/// ```
#[macro_export]
macro_rules! embed_denoiser {
    ($(#[$attribute:meta])* $visibility:vis struct $name:ident($path:expr, seal = $seal:expr $(,)?);) => {
        $crate::embed_latent! {
            [Denoiser, is_denoiser, "this is not the checkpoint of a denoiser"]
            $(#[$attribute])* $visibility struct $name($path, seal = $seal);
        }
    };
}

/// Makes the checkpoint of a [`Sampler`](crate::Sampler) part of the program as a type, as
/// [`embed_denoiser!`](crate::embed_denoiser) does for a denoiser.
///
/// ```
/// # mod model {
/// quaver::embed_sampler! {
///     /// Where the joints are going.
///     pub struct JointAngles("../../../examples/sampler.qvr", seal = 0xFE21_0C74_BCE6_72D8);
/// }
/// # }
/// # use model::JointAngles;
/// use quaver::{Arena, FeedMode, Rollouts};
/// use rand_xoshiro::{Xoroshiro128PlusPlus, rand_core::SeedableRng};
///
/// let mut arena = JointAngles::arena();
/// let mut sampler = JointAngles::start(&mut arena); // cannot fail
/// sampler.observe(&[12.0, 35.0, 4.0]);
///
/// let mut futures = Arena::<{ 16 * 21 }>::new(); // `LatentModel::future_words` for each
/// let mut rollouts = Rollouts::<16, _>::new(&mut sampler, &mut futures)?;
/// rollouts.advance(&mut Xoroshiro128PlusPlus::seed_from_u64(1), FeedMode::Draw);
/// println!("{:?} ± {:?}", rollouts.mean(0), rollouts.std_dev(0));
/// # assert!(rollouts.std_dev(0).is_some_and(|std_dev| std_dev > 0.0));
/// # Ok::<(), quaver::Error>(())
/// ```
///
/// Any other file is an error of compilation, that of a denoiser as well:
///
/// ```compile_fail
/// quaver::embed_sampler! {
///     struct JointAngles("../../../examples/denoiser.qvr", seal = 0x5DE5_337B_3E78_0158);
/// }
/// # fn main() {
/// let mut arena = JointAngles::arena();
/// JointAngles::start(&mut arena);
/// # }
/// ```
#[macro_export]
macro_rules! embed_sampler {
    ($(#[$attribute:meta])* $visibility:vis struct $name:ident($path:expr, seal = $seal:expr $(,)?);) => {
        $crate::embed_latent! {
            [Sampler, is_sampler, "this is not the checkpoint of a sampler"]
            $(#[$attribute])* $visibility struct $name($path, seal = $seal);
        }
    };
}

/// What denoisers and samplers have in common, for [`embed_denoiser!`](crate::embed_denoiser) and
/// [`embed_sampler!`](crate::embed_sampler).
#[doc(hidden)]
#[macro_export]
macro_rules! embed_latent {
    (
        [$stream:ident, $is_kind:ident, $other_kind:literal]
        $(#[$attribute:meta])* $visibility:vis struct $name:ident($path:expr, seal = $seal:expr);
    ) => {
        $(#[$attribute])*
        #[allow(dead_code)] // a program may load the checkpoint instead
        #[derive(Clone, Copy, Debug)]
        $visibility struct $name;

        impl $crate::EmbeddedLatent for $name {
            const BYTES: &'static [u8] = $crate::include_checkpoint!($path);
        }

        #[allow(long_running_const_eval)] // some milliseconds for each kilobyte
        const _: () = {
            let bytes = <$name as $crate::EmbeddedLatent>::BYTES;
            assert!($crate::$is_kind(bytes), $other_kind);
            assert!(
                $crate::is_sealed(bytes, $seal),
                "this is not the checkpoint that `quaver export` has checked: export it again",
            );
        };

        #[allow(dead_code)] // not every program needs all of them
        impl $name {
            /// The bytes of the checkpoint.
            $visibility const CHECKPOINT: &'static [u8] = <Self as $crate::EmbeddedLatent>::BYTES;

            /// Words of RAM for one stream.
            $visibility const ARENA_WORDS: usize = $crate::arena_words(Self::CHECKPOINT);

            /// Memory for one stream.
            $visibility const fn arena() -> $crate::Arena<{ $name::ARENA_WORDS }> {
                $crate::Arena::new()
            }

            /// The model, for the sizes that it needs.
            $visibility const fn model() -> $crate::LatentModel<'static, Self> {
                $crate::LatentModel::embedded(Self)
            }

            /// Begins a stream; nothing can go wrong.
            $visibility fn start(
                arena: &mut $crate::Arena<{ $name::ARENA_WORDS }>,
            ) -> $crate::$stream<'static, '_, Self> {
                $crate::$stream::embedded(Self, arena)
            }
        }
    };
}
