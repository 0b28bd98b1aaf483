//! The heap of a training step: as much after it as before it, and a peak that grows in proportion to the
//! sequences.
//!
//! Resident memory, which `cargo xtask bench-train` prints, also shows what an allocator keeps back; counting
//! bytes does not.

// To count allocations is to be the allocator.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use quaver_trainer::config::Config;
use quaver_trainer::data::batch::{Batch, Chunk};
use quaver_trainer::data::{Rows, Scaling, Sequence};
use quaver_trainer::fit::optimiser::Optimiser;
use quaver_trainer::fit::{loss_and_gradient, memory_estimate};
use quaver_trainer::nn::{Parameters, TrainingMethod, predictor_spec};
use quaver_trainer::random::{Purpose, normal, stream};

/// The system's allocator, counting.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const LANES: usize = 8;
const CHANNELS: usize = 6;

fn config(cell: &str, layers: &str) -> Config {
    let text = format!(
        "[data]\ntrain = \"drawn.csv\"\ntargets = \"next\"\n[model]\ncell = \"{cell}\"\nlayers = {layers}\n\
         [noise]\ninput_keep = 0.9\nrecurrent_keep = 0.9\nlearn_keep = true\n"
    );
    Config::parse("memory", &text, &[]).expect("a valid config")
}

fn batch(steps: usize) -> Batch {
    let mut rng = stream(1, Purpose::Initialisation);
    let mut rows = || Rows {
        channels: CHANNELS,
        values: (0..steps * CHANNELS).map(|_| normal(&mut rng) as f32).collect(),
    };
    let sequences: Vec<Sequence> = (0..LANES).map(|_| Sequence::next(rows())).collect();
    let chunks: Vec<Chunk> = (0..LANES).map(|sequence| Chunk { sequence, start: 0, len: steps }).collect();
    Batch::new(&sequences, &Scaling::fit(&sequences), &chunks)
}

/// Bytes after each of some training steps, and the most at any time during the last, both above those before
/// the first.
fn measure(config: &Config, length: usize, count: usize) -> (Vec<usize>, usize) {
    let spec = predictor_spec(config, CHANNELS, CHANNELS).expect("a valid model");
    let mut parameters: Parameters =
        config.init.parameters_for(&spec, TrainingMethod::from(&config.network()), 1);
    let mut optimiser = Optimiser::new(&config.training, &parameters);
    let batch = batch(length);
    let mut after = Vec::with_capacity(count);
    let before = LIVE.load(Ordering::Relaxed);
    for _ in 0..count {
        PEAK.store(LIVE.load(Ordering::Relaxed), Ordering::Relaxed);
        let batch_loss = loss_and_gradient(&spec, &parameters, &batch).expect("targets that count");
        optimiser.step(&mut parameters, &batch_loss.gradients, 0.001);
        drop(batch_loss);
        after.push(LIVE.load(Ordering::Relaxed).saturating_sub(before));
    }
    (after, PEAK.load(Ordering::Relaxed) - before)
}

/// What a thread that has just ended may not have given back yet. Less than any buffer of a layer.
const THREAD: usize = 1024;

/// The allocator counts for all threads, so that there is one test at a time.
static ONE: Mutex<()> = Mutex::new(());

/// The estimate is to refuse what cannot fit and nothing that can. It is within 40 % of the peak for nets
/// whose parameters take most of the memory, for those whose sequences do, and for those in between: it
/// counts the arrays of a step, and how long each of them lives is Burn's affair.
#[test]
fn the_estimate_is_near_the_peak() {
    let _one = ONE.lock();
    for cell in ["tanh", "lstm", "gru", "dense-relu"] {
        for (layers, steps) in
            [("[16, 12]", 400), ("[100]", 200), ("[64, 64, 64]", 100), ("[600]", 1), ("[300, 300]", 2)]
        {
            let config = config(cell, layers);
            measure(&config, steps, 1);
            let (_, peak) = measure(&config, steps, 2);
            let spec = predictor_spec(&config, CHANNELS, CHANNELS).expect("a valid model");
            let estimate = memory_estimate::step_bytes((&spec, 1), LANES as u64, steps as u64);
            let ratio = estimate as f64 / peak as f64;
            println!("{cell} {layers}, {steps} steps: estimate {estimate}, peak {peak}, ratio {ratio:.2}");
            assert!(
                (0.7..1.4).contains(&ratio),
                "{cell} {layers}, {steps} steps: {estimate} against {peak} bytes"
            );
        }
    }
}

#[test]
fn a_training_step_gives_back_what_it_took_and_its_peak_is_linear_in_time() {
    let _one = ONE.lock();
    for cell in ["tanh", "lstm", "gru", "dense-relu"] {
        let config = config(cell, "[16, 12]");
        // What is allocated once and for all is allocated here.
        measure(&config, 20, 2);
        let peaks = [50, 100, 200].map(|length| {
            let (after, peak) = measure(&config, length, 5);
            assert!(
                after.iter().all(|bytes| *bytes < THREAD),
                "{cell}: {after:?} bytes are left after the steps"
            );
            peak as f64
        });
        let growth = (peaks[2] - peaks[1]) / (peaks[1] - peaks[0]);
        assert!(
            (growth - 2.0).abs() < 0.02,
            "{cell}: twice the steps add {growth} times the bytes; {peaks:?}"
        );
    }
}
