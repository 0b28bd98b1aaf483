//! Golden cases whose models are known while compiling.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use quaver_qemu::{done, entry, fail};

include!(concat!(env!("OUT_DIR"), "/golden_known.rs"));

#[entry]
fn main() -> ! {
    replay();
    done()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
