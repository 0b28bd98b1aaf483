//! Predicts grip force from eight EMG channels, one of which comes off on the way.
//!
//! ```sh
//! cargo run --example predictor
//! ```

use quaver::{Arena, Predictor};

static MODEL: &[u8] = quaver::include_checkpoint!("grip_force.qvr");

fn main() -> Result<(), quaver::Error> {
    let mut arena = Arena::<{ quaver::arena_words(MODEL) }>::new();
    let mut predictor = Predictor::load(MODEL, &mut arena)?;
    for step in 0..40 {
        // A grip that tightens and relaxes.
        let effort = 0.5 - 0.5 * (step as f32 * 0.15).cos();
        let mut emg = [14.0, 9.5, 8.0, 4.25, 6.0, 11.5, 20.25, 17.0].map(|level| level * effort);
        let attached = step < 20;
        if !attached {
            emg[2] = f32::NAN; // a missing channel
        }
        let force = predictor.step(&emg);
        println!("{step:2} {force} N{}", if attached { "" } else { "   (electrode 3 is off)" });
    }
    Ok(())
}
