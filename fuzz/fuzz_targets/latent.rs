//! Whatever loads as a latent model must denoise or sample, with finite means and variances that are not
//! negative.
#![no_main]

use crc::{CRC_32_ISO_HDLC, Crc};
use libfuzzer_sys::fuzz_target;
use quaver::{Denoiser, FeedMode, LatentModel, Prediction, Rollouts, Sampler};
use rand_xoshiro::Xoroshiro128PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

const ROWS: [&[f32]; 3] = [&[], &[1.0, f32::NAN, -3.0e38], &[f32::INFINITY; 64]];

/// More than this is a matter of time, not of correctness.
const MOST_WORDS: usize = 1 << 16;

fuzz_target!(|bytes: &[u8]| {
    run(bytes);
    // Almost no mutation has valid checksums; with all three mended, the other checks are reached.
    run(&mended(bytes));
});

/// The bytes with right checksums: of every network that seems to be inside, then of the whole.
fn mended(bytes: &[u8]) -> Vec<u8> {
    let mut mended = bytes.to_vec();
    let word = |bytes: &[u8], at: usize| {
        bytes.get(at..at + 4).and_then(|word| word.try_into().ok()).map_or(0, u32::from_le_bytes) as usize
    };
    for start in (16..bytes.len()).step_by(16) {
        if bytes[start..].starts_with(b"QVER") {
            let (header, payload) = (word(bytes, start + 8), word(bytes, start + 12));
            let length = header.next_multiple_of(16).saturating_add(payload).saturating_add(20);
            let end = start.saturating_add(length);
            mended.get_mut(start..end).map(mend);
        }
    }
    mend(&mut mended);
    mended
}

fn mend(bytes: &mut [u8]) {
    if let Some((content, crc)) = bytes.split_last_chunk_mut::<4>() {
        *crc = Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(content).to_le_bytes();
    }
}

fn run(bytes: &[u8]) {
    let Ok(model) = LatentModel::load(bytes) else { return };
    if model.arena_words() > MOST_WORDS {
        return;
    }
    let mut words = vec![f32::NAN; model.arena_words()];
    if let Ok(mut denoiser) = Denoiser::load_in(bytes, &mut words) {
        for row in ROWS {
            assert_valid(&denoiser.expected());
            assert_valid(&denoiser.step(row));
        }
    }
    let mut futures = vec![f32::NAN; 3 * model.future_words()];
    if let Ok(mut sampler) = Sampler::load_in(bytes, &mut words) {
        let mut rng = Xoroshiro128PlusPlus::seed_from_u64(1);
        for row in ROWS {
            assert_valid(&sampler.observe(row));
            assert!(sampler.sample(&mut rng, FeedMode::Draw).iter().all(|value| value.is_finite()));
            let mut rollouts =
                Rollouts::<3>::new_in(&mut sampler, &mut futures).expect("as many words as it asks for");
            rollouts.advance(&mut rng, FeedMode::Draw);
            assert!(rollouts.mean(0).is_some_and(f32::is_finite));
        }
    }
}

fn assert_valid(prediction: &Prediction<'_>) {
    for output in prediction.iter() {
        assert!(output.mean.is_finite() && output.variance.is_finite() && output.variance >= 0.0);
    }
}
