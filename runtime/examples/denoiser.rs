//! Removes noise from the joint angles of a walking leg as they arrive, and imputes a joint whose sensor
//! fails.
//!
//! ```sh
//! cargo run --example denoiser
//! ```

use quaver::{Arena, Denoiser};

static MODEL: &[u8] = quaver::include_checkpoint!("denoiser.qvr");

/// Noise of ±4 degrees that is the same in every run.
fn noise(step: usize, joint: usize) -> f32 {
    let mixed = (step * 3 + joint + 1).wrapping_mul(2_654_435_761) >> 7;
    (mixed % 1000) as f32 / 125.0 - 4.0
}

fn main() -> Result<(), quaver::Error> {
    let mut arena = Arena::<{ quaver::arena_words(MODEL) }>::new();
    let mut denoiser = Denoiser::load(MODEL, &mut arena)?;
    for step in 0..40 {
        let phase = step as f32 * 0.05;
        let clean = [12.0 + 20.0 * phase.sin(), 35.0 + 25.0 * phase.cos(), 4.0 + 8.0 * phase.sin()];
        let mut noisy = [0, 1, 2].map(|joint| clean[joint] + noise(step, joint));
        if (15..20).contains(&step) {
            noisy[1] = f32::NAN; // the knee's sensor fails for five rows
        }
        let estimate = denoiser.step(&noisy);
        println!(
            "{step:2} knee {:6.1}° measured, {} denoised, {:.1}° true",
            noisy[1],
            knee(&estimate),
            clean[1]
        );
    }
    Ok(())
}

fn knee(estimate: &quaver::Prediction<'_>) -> String {
    estimate.get(1).map_or_else(String::new, |knee| format!("{knee:.1}°"))
}
