//! Replays every golden case: one line each, the same as `tests/golden/streams.txt` holds.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use quaver_qemu::jobs::{GOLDEN, GOLDEN_ARENA, GOLDEN_FUTURES, GOLDEN_ROW, Job};
use quaver_qemu::replay::replay;
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
    let (mut arena, mut futures) = ([0.0; GOLDEN_ARENA], [0.0; GOLDEN_FUTURES]);
    match replay(job.model, job.task, job.rows::<GOLDEN_ROW>(), &mut arena, &mut futures) {
        Ok(fingerprint) => fingerprint.value(),
        Err(error) => fail(error),
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
