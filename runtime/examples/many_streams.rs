//! One model in flash, one state per stream: both hands of a person.
//!
//! ```sh
//! cargo run --example many_streams
//! ```

use quaver::{Arena, Model};

static MODEL: &[u8] = quaver::include_checkpoint!("grip_force.qvr");
const WORDS: usize = quaver::arena_words(MODEL);

fn main() -> Result<(), quaver::Error> {
    let model = Model::load(MODEL)?; // immutable, shared by all streams
    let mut arenas = [Arena::<WORDS>::new(), Arena::new()];
    let [left, right] = &mut arenas;
    let mut hands = [("left", model.start(left)?), ("right", model.start(right)?)];
    for step in 0..20 {
        for (index, (name, state)) in hands.iter_mut().enumerate() {
            // The right hand grips half a second later.
            let effort = (0.1 * (step as f32 - 5.0 * index as f32)).clamp(0.0, 1.0);
            let emg = [14.0, 9.5, 8.0, 4.25, 6.0, 11.5, 20.25, 17.0].map(|level| level * effort);
            print!("{name:>6}: {:<12} N", model.step(state, &emg).to_string());
        }
        println!();
    }
    Ok(())
}
