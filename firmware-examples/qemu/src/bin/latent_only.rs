//! Denoiser, sampler and rollouts with nothing around them, loaded and known while compiling, linked only if
//! none of them can panic.
//!
//! The check is that of [`quaver_qemu::panic_free_image`].

#![no_std]
#![no_main]

use core::hint::black_box;

use quaver::{Arena, Denoiser, Error, FeedMode, KnownLatent, Rollouts, Sampler};
use quaver_qemu::jobs::{KnownDenoiser, KnownSampler, LATENT, LATENT_ARENA, LATENT_FUTURES, LATENT_ROW};
use quaver_streams::numbers::Numbers;
use quaver_streams::replay::FUTURES;

quaver_qemu::panic_free_image!(run);

fn run() -> ! {
    // Hidden from the optimiser: the check must hold for any bytes and any row.
    let [denoised, sampled] = black_box([LATENT[0].model, LATENT[1].model]);
    let mut rng = Numbers::new("latent");
    loop {
        black_box((load(denoised, sampled, &mut rng).is_ok(), known(&mut rng).is_ok()));
    }
}

fn load(denoised: &[u8], sampled: &[u8], rng: &mut Numbers) -> Result<(), Error> {
    let mut arena = Arena::<LATENT_ARENA>::new();
    denoise(Denoiser::load(denoised, &mut arena)?)?;
    sample(Sampler::load(sampled, &mut arena)?, rng)
}

fn known(rng: &mut Numbers) -> Result<(), Error> {
    denoise(KnownDenoiser::start(&mut KnownDenoiser::arena()))?;
    sample(KnownSampler::start(&mut KnownSampler::arena()), rng)
}

fn denoise(mut denoiser: Denoiser<'_, '_, impl KnownLatent>) -> Result<(), Error> {
    let mut saved = [0.0; 4 * LATENT_ARENA];
    let row = black_box([0.0; LATENT_ROW]);
    #[cfg(feature = "panic-control")]
    black_box(denoiser.step(&row).mean()[black_box(0)]);
    black_box(denoiser.step(&row).surprise());
    black_box(denoiser.expected().get(0));
    black_box(denoiser.prediction().get(0));
    denoiser.save(black_box(&mut saved))?;
    denoiser.restore(black_box(&saved))?;
    denoiser.reset();
    Ok(())
}

fn sample<K: KnownLatent>(mut sampler: Sampler<'_, '_, K>, rng: &mut Numbers) -> Result<(), Error> {
    let (mut other, mut futures) = (Arena::<LATENT_ARENA>::new(), Arena::<LATENT_FUTURES>::new());
    black_box(sampler.observe(&black_box([0.0; LATENT_ROW])).surprise());
    let mut fork = sampler.fork(&mut other)?;
    black_box(fork.sample(rng, black_box(FeedMode::Draw)));
    let mut saved = [0.0; 4 * LATENT_ARENA];
    fork.save(black_box(&mut saved))?;
    sampler.restore(black_box(&saved))?;
    sampler.reset();
    let mut rollouts = Rollouts::<FUTURES, K>::new(&mut sampler, &mut futures)?;
    rollouts.advance(rng, black_box(FeedMode::Mean));
    black_box((
        rollouts.mean(black_box(0)),
        rollouts.std_dev(black_box(0)),
        rollouts.quantile(black_box(0), black_box(0.5)),
    ));
    rollouts.restart();
    Ok(())
}
