//! Saves the state of a stream, as a board does before it goes to sleep, and continues with the same bits.
//!
//! ```sh
//! cargo run --example save_restore
//! ```

use quaver::{Arena, Predictor};

static MODEL: &[u8] = quaver::include_checkpoint!("grip_force.qvr");
const WORDS: usize = quaver::arena_words(MODEL);

fn row(step: usize) -> [f32; 8] {
    [14.0, 9.5, 8.0, 4.25, 6.0, 11.5, 20.25, 17.0].map(|level| level * (step as f32 * 0.2).sin().abs())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arena = Arena::<WORDS>::new();
    let mut predictor = Predictor::load(MODEL, &mut arena)?;
    for step in 0..10 {
        predictor.step(&row(step));
    }

    // What a stream remembers is a list of numbers, for any medium.
    let mut saved = vec![0.0; predictor.model().spec().saved_words()];
    predictor.save(&mut saved)?;
    let bytes: Vec<u8> = saved.iter().flat_map(|word| word.to_le_bytes()).collect();
    println!("before sleep {} N, state of {} bytes", predictor.prediction(), bytes.len());

    // Another program, later. The checksum identifies the model that the state belongs to.
    let mut arena = Arena::<WORDS>::new();
    let mut woken = Predictor::load(MODEL, &mut arena)?;
    assert_eq!(woken.model().checkpoint().crc(), predictor.model().checkpoint().crc());
    let words: Vec<f32> =
        bytes.chunks_exact(4).map(|word| f32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    woken.restore(&words)?;
    println!("after it     {} N", woken.prediction());

    for step in 10..15 {
        let (slept, awake) = (woken.step(&row(step)), predictor.step(&row(step)));
        assert_eq!(slept.mean(), awake.mean(), "the same bits");
        println!("step {step}      {slept} N");
    }
    Ok(())
}
