//! A model in flash, a stream replayed row by row, each prediction with its error bar.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use quaver::{Arena, Prediction, Predictor};
use quaver_qemu::jobs::{CHOSEN_ARENA, CHOSEN_ROW, Job};
use quaver_qemu::{done, entry, fail};
use semihosting::{print, println};

/// Channels that fit a line; wider models show their first ones.
const SHOWN: usize = 4;

#[entry]
fn main() -> ! {
    let job = Job::chosen();
    let mut arena = Arena::<CHOSEN_ARENA>::new();
    let mut predictor = match Predictor::load(job.model, &mut arena) {
        Ok(predictor) => predictor,
        Err(error) => fail(error),
    };
    headings(job, &predictor);
    for (index, row) in job.rows::<CHOSEN_ROW>().enumerate() {
        print!("{index:4} ");
        row.iter().take(SHOWN).for_each(|value| observed(*value));
        predicted(&predictor.step(&row));
    }
    done()
}

fn headings(job: &Job, predictor: &Predictor<'_, '_>) {
    println!("{}: {} bytes of model in flash, {} bytes of RAM", job.name, job.model.len(), 4 * CHOSEN_ARENA);
    println!("Each row: the inputs, then the prediction with one standard deviation.\n");
    let checkpoint = predictor.model().checkpoint();
    print!(" row ");
    checkpoint.input_names().take(SHOWN).for_each(|name| print!("{name:>10}"));
    print!("  |");
    checkpoint.output_names().take(SHOWN).for_each(|name| print!("{name:>10}        "));
    println!();
}

fn observed(value: f32) {
    if value.is_nan() {
        print!("{:>10}", "missing");
    } else {
        print!("{value:10.2}");
    }
}

fn predicted(prediction: &Prediction<'_>) {
    print!("  |");
    for output in prediction.iter().take(SHOWN) {
        print!("{:10.2} ± {:5.2}", output.mean, output.std_dev());
    }
    match prediction.surprise() {
        Some(surprise) => println!("   surprise {:7.2} nats", surprise.nll),
        None => println!(),
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(info)
}
