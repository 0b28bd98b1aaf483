//! Follows the joint angles of a walking leg, then samples how it may go on.
//!
//! ```sh
//! cargo run --example sampler
//! ```

use quaver::{Arena, FeedMode, Rollouts, Sampler};
use rand_xoshiro::{Xoroshiro128PlusPlus, rand_core::SeedableRng};

static MODEL: &[u8] = quaver::include_checkpoint!("sampler.qvr");
const FUTURES: usize = 16;

fn main() -> Result<(), quaver::Error> {
    let mut arena = Arena::<{ quaver::arena_words(MODEL) }>::new();
    let mut sampler = Sampler::load(MODEL, &mut arena)?;
    for step in 0..20 {
        let phase = step as f32 * 0.2;
        let row = [12.0 + 20.0 * phase.sin(), 35.0 + 25.0 * phase.cos(), 4.0 + 8.0 * phase.sin()];
        let next = sampler.observe(&row);
        if step >= 17 {
            println!("after row {step}: next {next}");
            println!(
                "              the row scored {}",
                next.surprise().map_or("nothing".into(), |s| s.to_string())
            );
        }
    }

    // One continuation. A fork leaves the stream where it is.
    let mut rng = Xoroshiro128PlusPlus::seed_from_u64(7);
    let mut arena = Arena::<{ quaver::arena_words(MODEL) }>::new();
    let mut fork = sampler.fork(&mut arena)?;
    for step in 1..=3 {
        println!("sampled +{step}: {:.1?}", fork.sample(&mut rng, FeedMode::Draw));
    }

    // Many of them, and their spread.
    let mut words = vec![0.0; FUTURES * sampler.model().future_words()];
    let mut rollouts = Rollouts::<FUTURES>::new_in(&mut sampler, &mut words)?;
    for _ in 0..5 {
        rollouts.advance(&mut rng, FeedMode::Draw);
        let [low, high] = [0.1, 0.9].map(|q| rollouts.quantile(0, q).unwrap_or(f32::NAN));
        println!("hip in {} steps: 80 % between {low:.1}° and {high:.1}°", rollouts.horizon());
    }
    Ok(())
}
