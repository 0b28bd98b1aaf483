//! Golden cases whose models are known while compiling.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use quaver_qemu::jobs::print_known_fingerprints;
use quaver_qemu::{done, entry, fail};

#[entry]
fn main() -> ! {
    print_known_fingerprints();
    done()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
