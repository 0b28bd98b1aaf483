//! Prints every number of a reducer as the eight hexadecimal digits of its bits, one line per row: means and
//! variances of the embedding, probabilities of the classes, the score of novelty, and the class as a number.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use quaver::{Arena, Reducer};
use quaver_qemu::jobs::{CHOSEN_ARENA, CHOSEN_ROW, Job};
use quaver_qemu::{done, entry, fail};
use semihosting::{print, println};

#[entry]
fn main() -> ! {
    let job = Job::chosen();
    let mut arena = Arena::<CHOSEN_ARENA>::new();
    let mut reducer = match Reducer::load(job.model, &mut arena) {
        Ok(reducer) => reducer,
        Err(error) => fail(error),
    };
    for row in job.rows::<CHOSEN_ROW>() {
        reducer.step(&row);
        if let Some(embedding) = reducer.embedding() {
            embedding.mean.iter().chain(embedding.var).for_each(|word| show(*word));
        }
        if let Some(found) = reducer.classify() {
            found.probabilities.iter().for_each(|word| show(*word));
            show(found.novelty);
            show(found.class as f32);
        }
        println!();
    }
    done()
}

fn show(word: f32) {
    print!("{:08X} ", word.to_bits());
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
