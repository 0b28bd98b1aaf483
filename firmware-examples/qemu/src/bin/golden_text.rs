//! Replays the golden cases of models of text, as `golden` does the others, and compares square roots.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use quaver_qemu::jobs::{GOLDEN_TEXT, GOLDEN_TEXT_ARENA, GOLDEN_TEXT_ROW};
use quaver_qemu::{check_square_roots, done, entry, fail, print_text_fingerprints};

#[entry]
fn main() -> ! {
    check_square_roots();
    print_text_fingerprints::<GOLDEN_TEXT_ARENA, GOLDEN_TEXT_ROW>(&GOLDEN_TEXT);
    done()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
