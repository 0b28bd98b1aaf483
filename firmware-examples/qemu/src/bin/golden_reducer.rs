//! Replays the golden cases of reducers, as `golden` does the others.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use quaver_qemu::jobs::{GOLDEN_REDUCER, GOLDEN_REDUCER_ARENA, GOLDEN_REDUCER_FUTURES, GOLDEN_REDUCER_ROW};
use quaver_qemu::{done, entry, fail, print_reducer_fingerprints};

#[entry]
fn main() -> ! {
    print_reducer_fingerprints::<GOLDEN_REDUCER_ARENA, GOLDEN_REDUCER_FUTURES, GOLDEN_REDUCER_ROW>(
        &GOLDEN_REDUCER,
    );
    done()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
