//! Replays the golden cases of models that learn while they run, as `golden` does the others.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use quaver_qemu::jobs::{GOLDEN_ADAPTIVE, GOLDEN_ADAPTIVE_ARENA, GOLDEN_ADAPTIVE_ROW};
use quaver_qemu::{done, entry, fail, print_adaptive_fingerprints};

#[entry]
fn main() -> ! {
    print_adaptive_fingerprints::<GOLDEN_ADAPTIVE_ARENA, GOLDEN_ADAPTIVE_ROW>(&GOLDEN_ADAPTIVE);
    done()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
