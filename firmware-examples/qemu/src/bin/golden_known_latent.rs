//! Golden cases of latent models that are known while compiling, as `golden_known` has those of one network:
//! the smallest core has no room for both.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use quaver_qemu::{done, entry, fail};

include!(concat!(env!("OUT_DIR"), "/golden_known_latent.rs"));

#[entry]
fn main() -> ! {
    replay();
    done()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
