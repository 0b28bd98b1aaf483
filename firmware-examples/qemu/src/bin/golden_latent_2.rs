//! Replays the second part of the golden cases of latent models, as `golden_latent` does the first: the
//! smallest core has no room for all.

#![no_std]
#![no_main]

quaver_qemu::golden_image!(
    GOLDEN_LATENT_2,
    GOLDEN_LATENT_2_ARENA,
    GOLDEN_LATENT_2_FUTURES,
    GOLDEN_LATENT_2_ROW
);
