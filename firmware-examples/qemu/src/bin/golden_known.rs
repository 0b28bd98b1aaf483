//! Golden cases whose models are known while compiling.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use quaver_qemu::jobs::print_golden_known;
use quaver_qemu::{done, entry, fail};

#[entry]
fn main() -> ! {
    print_golden_known();
    done()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
