//! Many streams of one model: one by one, and together.

use std::hint::black_box;
use std::time::Instant;

use quaver::{Model, State};
use quaver_tests::bench::{case, noise};
use serde_json::{Value, json};

/// Streams of each model.
const STREAMS: usize = 1000;
/// Rounds of which the fastest counts: whatever else the machine does only adds.
const ROUNDS: usize = 30;

/// Models that are measured, as `quaver_tests::bench` names them: where a single step fills its vectors with
/// units, where it does not, and where it has none.
const MODELS: [&str; 11] = [
    "lstm-16-64-f32-deterministic",
    "lstm-16-64-f32",
    "lstm-16-64-int8",
    "gru-16-64-f32",
    "lstm-8-24-f32",
    "gru-8-12-f32",
    "lstm-16-64-f32-weight_variance",
    "lstm-16-64-fast",
    "lstm-16-64-mean",
    "gru-16-64-fast",
    "elman-16-64-fast",
];

/// One object per model.
pub(crate) fn measure() -> Vec<Value> {
    MODELS.into_iter().map(of_model).collect()
}

/// Rows per second of all streams of a model, on one core; both ways take turns in one run.
fn of_model(name: &str) -> Value {
    let case = case(name).unwrap_or_else(|| panic!("no model {name}"));
    let model = Model::load(&case.model).expect("the model loads");
    let words = model.spec().arena_words();
    let [mut alone, mut together] = [0, 1].map(|_| vec![0.0; STREAMS * words]);
    let [mut alone, mut together] = [&mut alone, &mut together].map(|words| streams(&model, words));
    let (rows, mut memory) = (noise(case.inputs, STREAMS), vec![0.0; model.batch_words()]);
    let seconds = |work: &mut dyn FnMut()| {
        let begin = Instant::now();
        work();
        begin.elapsed().as_secs_f64()
    };
    let mut best = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        let single = seconds(&mut || {
            for (stream, row) in alone.iter_mut().zip(rows.chunks_exact(case.inputs)) {
                black_box(model.step(stream, row));
            }
        });
        let batch = seconds(&mut || model.step_batch(&mut together, &rows, &mut memory));
        best = [best[0].min(single), best[1].min(batch)];
    }
    let per_second = best.map(|seconds| (STREAMS as f64 / seconds).round());
    json!({
        "name": name,
        "streams": STREAMS,
        "rows_per_second_single": per_second[0],
        "rows_per_second_batch": per_second[1],
        "ratio": (best[0] / best[1] * 100.0).round() / 100.0,
        "batch_words": memory.len(),
    })
}

fn streams<'a>(model: &Model<'_>, words: &'a mut [f32]) -> Vec<State<'a>> {
    let chunks = words.chunks_exact_mut(model.spec().arena_words());
    chunks.map(|words| model.start_in(words).expect("the arena suffices")).collect()
}

/// Prints what [`measure`] found.
pub(crate) fn print(figures: &[Value]) {
    println!(
        "\n{:<36} {:>16} {:>16} {:>8}",
        format!("{STREAMS} streams, rows per second"),
        "one by one",
        "together",
        "ratio"
    );
    for figure in figures {
        let number = |key: &str| figure[key].as_f64().unwrap_or(f64::NAN);
        println!(
            "{:<36} {:>16.0} {:>16.0} {:>8.2}",
            figure["name"].as_str().unwrap_or_default(),
            number("rows_per_second_single"),
            number("rows_per_second_batch"),
            number("ratio"),
        );
    }
}
