//! A predictor that learns with nothing around it, linked only if it cannot panic.
//!
//! The check is that of the image `step_only`.

#![no_std]
#![no_main]

use core::hint::black_box;
use core::panic::PanicInfo;

#[cfg(target_arch = "arm")]
use cortex_m_rt::entry;
use quaver::{AdaptOptions, AdaptivePredictor, Arena, Covariance, Error};
use quaver_qemu::jobs::{GOLDEN_ADAPTIVE, GOLDEN_ADAPTIVE_ARENA, GOLDEN_ADAPTIVE_ROW};
#[cfg(target_arch = "riscv32")]
use riscv_rt::entry;

#[cfg_attr(target_os = "none", entry)]
#[cfg_attr(not(target_os = "none"), allow(unsafe_code), unsafe(export_name = "_start"))] // linked, not run
fn main() -> ! {
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

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    #[allow(unsafe_code)] // declaring a function is how to say that it must not be needed
    mod nowhere {
        unsafe extern "C" {
            pub(super) safe fn loading_or_stepping_can_panic() -> !;
        }
    }
    nowhere::loading_or_stepping_can_panic()
}
