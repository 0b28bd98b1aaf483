//! Prints every number of every prediction as the eight hexadecimal digits of its bits, one line per row:
//! means, epistemic variances, aleatoric variances, and the surprise if the model has one.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use quaver::Arena;
use quaver_qemu::jobs::{CHOSEN_ARENA, CHOSEN_ROW, Job, load, step};
use quaver_qemu::{done, entry, fail};
use quaver_streams::fingerprint::words;
use semihosting::{print, println};

#[entry]
fn main() -> ! {
    let job = Job::chosen();
    let mut arena = Arena::<CHOSEN_ARENA>::new();
    let mut stream = match load(job.model, &mut arena) {
        Ok(stream) => stream,
        Err(error) => fail(error),
    };
    for row in job.rows::<CHOSEN_ROW>() {
        words(&step(&mut stream, &row)).for_each(|word| print!("{:08X} ", word.to_bits()));
        println!();
    }
    done()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
