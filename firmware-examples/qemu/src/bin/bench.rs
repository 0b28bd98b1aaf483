//! What loading and stepping cost: one line `name value` per figure, `n/a` for what this core cannot measure.

#![no_std]
#![no_main]

use core::fmt::Display;
use core::hint::black_box;
use core::panic::PanicInfo;

use quaver::{Arena, Predictor};
use quaver_qemu::jobs::{CHOSEN_ARENA, CHOSEN_ROW, Job};
use quaver_qemu::meter::{Meter, PaintedStack, marked};
use quaver_qemu::{done, entry, fail};
use semihosting::println;

#[entry]
fn main() -> ! {
    let job = Job::chosen();
    let meter = Meter::calibrate();
    let mut arena = Arena::<CHOSEN_ARENA>::new();

    let mut loaded = None;
    let stack = PaintedStack::paint();
    let load_instructions = measure(&meter, || loaded = Some(Predictor::load(job.model, &mut arena)));
    let load_stack = stack.depth();
    let mut predictor = match loaded {
        Some(Ok(predictor)) => predictor,
        Some(Err(error)) => fail(error),
        None => fail("the model was not loaded"),
    };

    let stack = PaintedStack::paint();
    let mut total = Some(0);
    for row in job.rows::<CHOSEN_ROW>() {
        let step = measure(&meter, || {
            marked(|| {
                black_box(predictor.step(black_box(&row)));
            });
        });
        total = total.zip(step).map(|(total, step)| total + step);
    }
    let step_stack = stack.depth();

    line("model_bytes", Some(job.model.len()));
    line("arena_bytes", Some(4 * CHOSEN_ARENA));
    line("load_instructions", load_instructions);
    line("load_stack_bytes", load_stack);
    line("step_instructions", total.map(|total| total / job.steps() as u64));
    line("step_stack_bytes", step_stack);
    done()
}

/// Runs `work` in any case; counts its instructions if there is a meter.
fn measure(meter: &Option<Meter>, work: impl FnOnce()) -> Option<u64> {
    match meter {
        Some(meter) => meter.instructions(work),
        None => {
            work();
            None
        }
    }
}

fn line(name: &str, value: Option<impl Display>) {
    match value {
        Some(value) => println!("{name} {value}"),
        None => println!("{name} n/a"),
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
