//! Replays the golden cases of one network: one line each, the same as `tests/golden/streams.txt` holds.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use quaver_qemu::jobs::{GOLDEN, GOLDEN_ARENA, GOLDEN_FUTURES, GOLDEN_ROW, print_fingerprints};
use quaver_qemu::{done, entry, fail};

#[entry]
fn main() -> ! {
    print_fingerprints::<GOLDEN_ARENA, GOLDEN_FUTURES, GOLDEN_ROW>(&GOLDEN);
    done()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
