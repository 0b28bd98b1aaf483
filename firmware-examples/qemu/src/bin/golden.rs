//! Replays every golden case: one line each, the same as `tests/golden/streams.txt` holds.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use quaver::{Arena, Predictor};
use quaver_qemu::fingerprint::Fingerprint;
use quaver_qemu::jobs::{GOLDEN, GOLDEN_ARENA, GOLDEN_ROW, Job};
use quaver_qemu::{done, entry, fail};
use semihosting::println;

#[entry]
fn main() -> ! {
    for job in &GOLDEN {
        println!("{} steps={} hash={:016X}", job.name, job.steps(), fingerprint(job));
    }
    done()
}

#[inline(never)] // the arena's stack frame is free again for the next case
fn fingerprint(job: &Job) -> u64 {
    let mut arena = Arena::<GOLDEN_ARENA>::new();
    let mut predictor = match Predictor::load(job.model, &mut arena) {
        Ok(predictor) => predictor,
        Err(error) => fail(error),
    };
    let mut fingerprint = Fingerprint::default();
    for row in job.rows::<GOLDEN_ROW>() {
        fingerprint.add(&predictor.step(&row));
    }
    fingerprint.value()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
