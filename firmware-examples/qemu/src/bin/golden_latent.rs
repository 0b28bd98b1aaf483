//! Replays the golden cases of latent models, as `golden` does those of one network: the smallest core has no
//! room for both.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use quaver_qemu::jobs::{GOLDEN_LATENT, GOLDEN_LATENT_ARENA, GOLDEN_LATENT_FUTURES, GOLDEN_LATENT_ROW};
use quaver_qemu::{done, entry, fail, print_fingerprints};

#[entry]
fn main() -> ! {
    print_fingerprints::<GOLDEN_LATENT_ARENA, GOLDEN_LATENT_FUTURES, GOLDEN_LATENT_ROW>(&GOLDEN_LATENT);
    done()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
