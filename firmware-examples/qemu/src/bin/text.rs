//! A model of text in flash that writes, one token after the other, in fixed memory.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use quaver_qemu::jobs::{TEXT, TEXT_ARENA};
use quaver_qemu::{done, entry, fail};
use quaver_streams::numbers::Numbers;
use quaver_streams::text::{STEPS, TEMPERATURE, characters, write_text};
use semihosting::{print, println};

#[entry]
fn main() -> ! {
    let [job] = &TEXT;
    let mut arena = [0.0; TEXT_ARENA];
    let mut rng = Numbers::new("text");
    let write = |name: &str| characters(name).for_each(|character| print!("{character}"));
    if let Err(error) = write_text(job.model, &mut arena, STEPS, TEMPERATURE, &mut rng, write) {
        fail(error);
    }
    println!();
    done()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
