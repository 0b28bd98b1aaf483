//! A short round of `cargo xtask soak`: streams find back to their twins after bursts of garbage, and do not
//! drift.

use std::sync::atomic::AtomicU64;

use quaver::checkpoint::{Activation, CellKind, Contents, OutputMode, UnitNoise, WeightFormat, write};
use quaver_tests::Case;
use quaver_tests::golden::Architecture;
use quaver_tests::replay::Task;
use quaver_tests::soak::campaign::{soak, soak_all};
use quaver_tests::soak::cases::cases;

/// Steps of all models together. Slow ones take more, because a burst is followed to its end.
const STEPS: u64 = 500_000;

#[test]
fn every_model_finds_back_after_garbage_and_does_not_drift() {
    let (cases, mut outcomes) = (cases(), Vec::new());
    soak_all(&cases, STEPS, 0, &AtomicU64::new(0), |case, outcome| {
        let outcome = outcome.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        assert_eq!(outcome.finding(), None, "{}", case.name);
        outcomes.push(outcome);
    });
    // A campaign without bursts, or whose bursts leave no trace, would try nothing.
    assert_eq!(outcomes.len(), cases.len());
    assert!(outcomes.iter().all(|outcome| !outcome.recovery.rows.is_empty()));
    assert!(outcomes.iter().filter(|outcome| outcome.recovery.longest() > 2).count() > cases.len() / 2);
    assert!(outcomes.iter().any(|outcome| outcome.recovery.restored > 0));
}

#[test]
fn every_cell_and_layout_is_soaked() {
    let names: Vec<String> = cases().into_iter().map(|case| case.name).collect();
    for cell in ["elman-tanh", "lstm", "gru", "denoiser-follow", "sampler-follow", "lstm-long"] {
        for layout in ["f32", "small", "fast"] {
            assert!(names.contains(&format!("{cell}-{layout}")), "{cell}-{layout}");
        }
    }
    for cell in ["means-elman", "means-lstm", "gru-means"] {
        assert!(names.contains(&format!("{cell}-mean")), "{cell}-mean");
    }
}

/// A unit that holds whatever sign it has: h ← tanh(4h + x/100).
#[test]
fn a_stream_that_is_stuck_is_a_finding() {
    let architecture = Architecture {
        inputs: 1,
        outputs: 1,
        noise: [UnitNoise::None; 3],
        mode: OutputMode::MeanOnly,
        ..Architecture::default()
    };
    let layers = [(CellKind::Elman(Activation::Tanh), 1)];
    let mut contents = Contents::zeros(architecture.spec(&layers, WeightFormat::F32));
    contents.layers[0].weight.copy_from_slice(&[0.01, 4.0]);
    contents.output.weight.copy_from_slice(&[1.0]);
    contents.noise_var.fill(0.01);
    let model = write(&contents).expect("a valid model");
    let latch = Case { name: "latch".into(), model, inputs: 1, stream: Vec::new(), task: Task::Follow };
    let outcome = soak(&latch, 200_000, 0, |_| {}).expect("finite all the same");
    let finding = outcome.finding().expect("it keeps the sign that the garbage gave it");
    assert!(finding.contains("not back within 8192 clean rows"), "{finding}");
}
