//! Says which gesture a forearm makes, at every sample, refuses one that it does not know, and is then taught
//! that one by two examples.
//!
//! ```sh
//! cargo run --example reducer
//! ```

use quaver::{Arena, Reducer};

static MODEL: &[u8] = quaver::include_checkpoint!("reducer.qvr");

/// Classes of the checkpoint and one new one, and two prototypes of two components and a class each.
const TAUGHT: usize = 3 + 1 + 2 * (2 + 1);

/// Noise of ±20 % that is the same in every run.
fn noisy(amplitudes: [f32; 2], step: usize) -> [f32; 2] {
    [0, 1].map(|muscle| {
        let mixed = (step * 2 + muscle + 1).wrapping_mul(2_654_435_761) >> 7;
        amplitudes[muscle] * (0.8 + (mixed % 1000) as f32 / 2500.0)
    })
}

fn main() -> Result<(), quaver::Error> {
    let mut arena = Arena::<{ quaver::arena_words(MODEL) }>::new();
    let mut memory = [0.0; TAUGHT];
    let mut reducer = Reducer::load(MODEL, &mut arena)?.teach_in(&mut memory, 1)?;
    // Flexor and extensor in µV: what is done, for a second each, and what the wearer calls it.
    let recording = [
        ("rest", [6.0, 5.0]),
        ("fist", [85.0, 28.0]),
        ("stiff wrist", [95.0, 90.0]),
        ("open hand", [22.0, 76.0]),
    ];
    for round in ["as trained", "taught"] {
        println!("{round}:");
        for (gesture, amplitudes) in recording {
            (0..200).for_each(|step| reducer.step(&noisy(amplitudes, step)));
            if let Some(found) = reducer.classify() {
                let name = if found.known { found.name().unwrap_or("the new one") } else { "none of these" };
                println!(
                    "{gesture:>12}: {name}, p = {:.2}, distance {:.2}",
                    found.probability(),
                    found.novelty
                );
            }
            if gesture == "stiff wrist" && round == "as trained" {
                let class = reducer.model().classes();
                reducer.teach(class);
                (0..50).for_each(|step| reducer.step(&noisy([85.0, 95.0], step)));
                reducer.teach(class);
            }
        }
    }
    Ok(())
}
