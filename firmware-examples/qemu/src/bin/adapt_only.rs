//! A predictor that learns with nothing around it, linked only if it cannot panic.
//!
//! The check is that of [`quaver_qemu::panic_free_image`].

#![no_std]
#![no_main]

use core::hint::black_box;

use quaver::{AdaptOptions, AdaptivePredictor, Arena, Covariance, Error};
use quaver_qemu::jobs::{GOLDEN_ADAPTIVE, GOLDEN_ADAPTIVE_ARENA, GOLDEN_ADAPTIVE_ROW};

quaver_qemu::panic_free_image!(run);

fn run() -> ! {
    loop {
        for covariance in [Covariance::Full, Covariance::Diagonal] {
            // Hidden from the optimiser: the check must hold for any bytes, options, rows and labels.
            let options = AdaptOptions { covariance, ..black_box(AdaptOptions::default()) };
            black_box(adapt(black_box(GOLDEN_ADAPTIVE[0].model), black_box(options)).is_ok());
        }
    }
}

fn adapt(model: &[u8], options: AdaptOptions) -> Result<(), Error> {
    let mut arena = Arena::<GOLDEN_ADAPTIVE_ARENA>::new();
    let mut predictor = AdaptivePredictor::load(model, &mut arena, options)?;
    let mut saved = [0.0; 2 * GOLDEN_ADAPTIVE_ARENA];
    let row = black_box([0.0; GOLDEN_ADAPTIVE_ROW]);
    #[cfg(feature = "panic-control")]
    black_box(predictor.step(&row).mean()[black_box(0)]);
    black_box(predictor.step(&row).surprise());
    black_box(predictor.learn(black_box(&row)));
    black_box(predictor.prediction().get(0));
    let words = predictor.saved_words();
    if let Some(saved) = saved.get_mut(..words) {
        predictor.save(black_box(saved))?;
        predictor.restore(black_box(saved))?;
    }
    predictor.reset();
    predictor.forget();
    Ok(())
}
