//! Replays the third part of the golden cases, as `golden` does the first: the smallest core has no room for
//! all.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use quaver_qemu::jobs::{GOLDEN_3, GOLDEN_3_ARENA, GOLDEN_3_FUTURES, GOLDEN_3_ROW};
use quaver_qemu::{done, entry, fail, print_fingerprints};

#[entry]
fn main() -> ! {
    print_fingerprints::<GOLDEN_3_ARENA, GOLDEN_3_FUTURES, GOLDEN_3_ROW>(&GOLDEN_3);
    done()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
