//! Replays the golden cases of latent models, as `golden` does those of one network: the smallest core has no
//! room for both.

#![no_std]
#![no_main]

quaver_qemu::golden_image!(GOLDEN_LATENT, GOLDEN_LATENT_ARENA, GOLDEN_LATENT_FUTURES, GOLDEN_LATENT_ROW);
