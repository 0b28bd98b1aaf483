//! Replays the fourth part of the golden cases, as `golden` does the first: the smallest core has no room for
//! all.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use quaver_qemu::jobs::{GOLDEN_4, GOLDEN_4_ARENA, GOLDEN_4_FUTURES, GOLDEN_4_ROW};
use quaver_qemu::{done, entry, fail, print_fingerprints};

#[entry]
fn main() -> ! {
    print_fingerprints::<GOLDEN_4_ARENA, GOLDEN_4_FUTURES, GOLDEN_4_ROW>(&GOLDEN_4);
    done()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
