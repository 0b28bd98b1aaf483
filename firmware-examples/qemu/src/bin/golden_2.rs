//! Replays the second part of the golden cases, as `golden` does the first: the smallest core has no room for
//! all.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use quaver_qemu::jobs::{GOLDEN_2, GOLDEN_2_ARENA, GOLDEN_2_FUTURES, GOLDEN_2_ROW};
use quaver_qemu::{done, entry, fail, print_fingerprints};

#[entry]
fn main() -> ! {
    print_fingerprints::<GOLDEN_2_ARENA, GOLDEN_2_FUTURES, GOLDEN_2_ROW>(&GOLDEN_2);
    done()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
