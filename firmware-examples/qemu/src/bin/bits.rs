//! Prints every number of every prediction as the eight hexadecimal digits of its bits, one line per row: means,
//! epistemic variances, aleatoric variances, and the surprise if the model has one.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use quaver::{Arena, Predictor};
use quaver_qemu::fingerprint::words;
use quaver_qemu::jobs::{CHOSEN_ARENA, CHOSEN_ROW, Job};
use quaver_qemu::{done, entry, fail};
use semihosting::{print, println};

#[entry]
fn main() -> ! {
    let job = Job::chosen();
    let mut arena = Arena::<CHOSEN_ARENA>::new();
    let mut predictor = match Predictor::load(job.model, &mut arena) {
        Ok(predictor) => predictor,
        Err(error) => fail(error),
    };
    for row in job.rows::<CHOSEN_ROW>() {
        words(&predictor.step(&row)).for_each(|word| print!("{:08X} ", word.to_bits()));
        println!();
    }
    done()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
