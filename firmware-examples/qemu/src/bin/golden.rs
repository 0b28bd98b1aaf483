//! Replays the golden cases of one network: one line each, the same as `tests/golden/streams.txt` holds.
//! Before them a comment, at which addresses a quantized model is accelerated.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use quaver_qemu::jobs::{ALIGNMENT, GOLDEN, GOLDEN_ARENA, GOLDEN_FUTURES, GOLDEN_ROW};
use quaver_qemu::{done, entry, fail, print_acceleration, print_fingerprints};

#[entry]
fn main() -> ! {
    print_acceleration::<GOLDEN_ARENA, GOLDEN_FUTURES, GOLDEN_ROW>(&ALIGNMENT[0]);
    print_fingerprints::<GOLDEN_ARENA, GOLDEN_FUTURES, GOLDEN_ROW>(&GOLDEN);
    done()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
