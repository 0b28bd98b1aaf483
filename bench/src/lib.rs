//! What a step costs on this machine: our networks, and the same LSTM by other means a Rust programmer has.
//!
//! `cargo xtask bench-host` prints times and instructions of all of them in one run; `cargo bench -p
//! quaver-bench` has Criterion's statistics of ours.

mod burn_lstm;
mod nalgebra_lstm;

use quaver::Predictor;
use quaver_tests::bench::case;

pub use burn_lstm::BurnLstm;
pub use nalgebra_lstm::NalgebraLstm;

/// The LSTM that everything is compared on: 16 inputs, 64 units, one output, f32, no noise.
pub const COMPARED: &str = "lstm-16-64-f32-deterministic";

/// Our models that are measured, as `quaver_tests::bench` names them.
pub const MODELS: [&str; 10] = [
    COMPARED,
    "lstm-16-64-f32",
    "lstm-16-64-int8-deterministic",
    "lstm-16-64-int8",
    "lstm-16-64-mean",
    "lstm-16-64-fast",
    "elman-16-64-f32-deterministic",
    "elman-16-64-f32",
    "elman-16-64-mean",
    "elman-16-64-fast",
];

/// Something that takes one row and returns its first output.
pub type Step = Box<dyn FnMut(&[f32]) -> f32>;

/// One thing to measure.
pub struct EvaluatedModel {
    /// What to call it.
    pub name: String,
    /// `mean` or `mean+variance`.
    pub moments: &'static str,
    /// Takes a row.
    pub step: Step,
}

/// The row that all of them are given.
pub fn row() -> Vec<f32> {
    quaver_tests::bench::noise(16, 1)
}

/// Everything that is measured: ours, then the others.
pub fn subjects() -> Vec<EvaluatedModel> {
    let ours = MODELS.map(|name| EvaluatedModel {
        name: format!("quaver {name}"),
        moments: moments(name),
        step: our_step(name),
    });
    let (mut burn, mut nalgebra) = (BurnLstm::new(), NalgebraLstm::new());
    let other = |name: &str, step: Step| EvaluatedModel { name: name.into(), moments: "mean", step };
    let others = [
        other("nalgebra lstm-16-64-f32, by hand", Box::new(move |row| nalgebra.step(row))),
        other("Burn (flex) lstm-16-64-f32", Box::new(move |row| burn.step(row))),
    ];
    ours.into_iter().chain(others).collect()
}

fn moments(name: &str) -> &'static str {
    if name.ends_with("deterministic") || name.ends_with("mean") { "mean" } else { "mean+variance" }
}

/// Steps of one of our models.
///
/// # Panics
/// If there is no such model.
pub fn our_step(name: &str) -> Step {
    // Both live as long as the program: a step borrows them.
    let model: &'static [u8] = case(name).unwrap_or_else(|| panic!("no model {name}")).model.leak();
    let words = quaver::Model::load(model).expect("the model loads").spec().arena_words();
    let mut predictor = Predictor::load_in(model, vec![0.0; words].leak()).expect("the arena suffices");
    Box::new(move |row| predictor.step(row).mean().first().copied().unwrap_or(f32::NAN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_them_run_the_same_network() {
        let (mut ours, mut burn, mut nalgebra) = (our_step(COMPARED), BurnLstm::new(), NalgebraLstm::new());
        let row = row();
        for _ in 0..5 {
            let expected = ours(&row);
            // Some tens of roundings, and another tanh.
            assert!((burn.step(&row) - expected).abs() < 1e-4 * expected.abs().max(1.0));
            assert!((nalgebra.step(&row) - expected).abs() < 1e-4 * expected.abs().max(1.0));
        }
    }
}
