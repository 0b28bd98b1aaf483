//! Streams that are stepped together predict what they predict alone, bit for bit.

use proptest::prelude::*;
use quaver::{Model, State};
use quaver_tests::Case;
use quaver_tests::bench::case;
use quaver_tests::golden::cases;

use crate::any_input::any_values;
use crate::stream::{Bits, bits};

/// Groups of sixteen, four and one unit, units that fill no group, and layouts that golden models, which are
/// small, do not have.
const LARGE: [&str; 12] = [
    "lstm-7-37-f32",
    "lstm-16-32-int8-deterministic",
    "gru-5-37-int8-next",
    "gru-3-21-f32-weight_variance",
    "elman-9-53-f32-linear3",
    "lstm-7-37-fast",
    "gru-5-37-fast",
    "elman-9-53-small",
    "lstm-16-33-mean",
    "gru-4-18-mean",
    "lstm-7-41-fast-weight_variance",
    "gru-16-40-sparse-weight_variance",
];

/// What happens to one of the streams between two steps.
#[derive(Clone, Copy, Debug)]
enum Event {
    Reset(usize),
    /// The first continues from the state of the second.
    Restore(usize, usize),
    /// A step of one stream alone.
    Step(usize),
}

fn event() -> impl Strategy<Value = Event> {
    let stream = || 0_usize..40;
    prop_oneof![
        stream().prop_map(Event::Reset),
        (stream(), stream()).prop_map(|(to, from)| Event::Restore(to, from)),
        stream().prop_map(Event::Step),
    ]
}

/// Sixteen rows that are mostly complete, with some gaps, and sixty values of any bits.
struct Rows<'r> {
    case: &'r Case,
    wild: &'r [f32],
}

impl Rows<'_> {
    /// The rows of all streams at a step; those of every fifth stream are of any bits.
    fn of(&self, streams: usize, step: usize) -> Vec<f32> {
        let (inputs, golden) = (self.case.inputs, &self.case.stream);
        let row = |stream: usize| {
            let source = if stream % 5 == 3 { self.wild } else { golden };
            let start = inputs * (stream + 7 * step);
            (start..start + inputs).map(|index| source[index % source.len()])
        };
        (0..streams).flat_map(row).collect()
    }
}

fn states<'a>(model: &Model<'_>, words: &'a mut [f32]) -> Vec<State<'a>> {
    let chunks = words.chunks_exact_mut(model.spec().arena_words());
    chunks.map(|words| model.start_in(words).expect("enough words")).collect()
}

fn happen(model: &Model<'_>, event: Event, row: &[f32], streams: &mut [State<'_>]) {
    let count = streams.len();
    match event {
        Event::Reset(stream) => model.reset(&mut streams[stream % count]),
        Event::Restore(to, from) => {
            let mut saved = vec![0.0; model.spec().saved_words()];
            model.save(&streams[from % count], &mut saved).expect("the right length");
            model.restore(&mut streams[to % count], &saved).expect("a state of this model");
        }
        Event::Step(stream) => _ = model.step(&mut streams[stream % count], row),
    }
}

/// Everything that a stream is: its prediction, and what it would save.
fn everything(model: &Model<'_>, state: &State<'_>) -> (Bits, Vec<u32>) {
    let mut saved = vec![0.0; model.spec().saved_words()];
    model.save(state, &mut saved).expect("the right length");
    (bits(&model.prediction(state)), saved.into_iter().map(f32::to_bits).collect())
}

fn assert_batches_equal_steps(case: &Case, count: usize, events: &[Event], wild: &[f32], vars: &[f32]) {
    let model = Model::load(&case.model).expect("the model loads");
    let words = model.spec().arena_words();
    let [mut alone, mut together] = [0, 1].map(|_| vec![f32::NAN; count * words]);
    let (mut alone, mut together) = (states(&model, &mut alone), states(&model, &mut together));
    let mut memory = vec![f32::NAN; model.batch_words()]; // what it held before must not matter
    let rows = Rows { case, wild };
    for (step, event) in events.iter().enumerate() {
        let (row, inputs) = (rows.of(count, step), case.inputs);
        // Every third step has variances.
        let vars: Vec<f32> = if step % 3 == 2 {
            (0..row.len()).map(|index| vars[index % vars.len()]).collect()
        } else {
            Vec::new()
        };
        for streams in [&mut alone, &mut together] {
            happen(&model, *event, &row[..inputs], streams);
        }
        for (index, stream) in alone.iter_mut().enumerate() {
            let part = |list: &[f32]| list.get(index * inputs..(index + 1) * inputs).map(<[f32]>::to_vec);
            model.step_uncertain(stream, &part(&row).unwrap_or_default(), &part(&vars).unwrap_or_default());
        }
        if step % 2 == 0 {
            model.step_batch_uncertain(&mut together, &row, &vars, &mut memory);
        } else {
            let mut references: Vec<&mut State<'_>> = together.iter_mut().collect();
            model.step_batch_uncertain(&mut references, &row, &vars, &mut memory);
        }
        for (index, (alone, together)) in alone.iter().zip(&together).enumerate() {
            let [expected, found] = [alone, together].map(|state| everything(&model, state));
            assert_eq!(found, expected, "{}, stream {index} of {count}, step {step}", case.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Any rows, missing channels, uncertain ones, and anything that may happen to single streams.
    #[test]
    fn batches_give_the_bits_of_single_steps(
        count in 1_usize..40,
        events in prop::collection::vec(event(), 5),
        wild in any_values(),
        vars in any_values(),
    ) {
        let large = LARGE.into_iter().map(|name| case(name).expect("a model of that name"));
        for case in cases().into_iter().chain(large) {
            assert_batches_equal_steps(&case, count, &events, &wild, &vars);
        }
    }
}

#[test]
fn short_memory_and_short_rows_are_no_error() {
    for name in ["lstm-7-37-f32", "lstm-7-37-fast"] {
        assert_short_batches_equal_steps(name);
    }
}

fn assert_short_batches_equal_steps(name: &str) {
    let case = case(name).expect("a model of that name");
    let model = Model::load(&case.model).expect("the model loads");
    let words = model.spec().arena_words();
    assert!(model.batch_words() > 0, "{name}");
    let [mut alone, mut together] = [0, 1].map(|_| vec![0.0; 20 * words]);
    let (mut alone, mut together) = (states(&model, &mut alone), states(&model, &mut together));
    // Seventeen complete rows, one that ends early, two that are missing.
    let rows: Vec<f32> = case.stream.iter().copied().cycle().take(17 * 7 + 3).collect();
    for memory in [model.batch_words(), model.batch_words() - 1, 0] {
        for (index, stream) in alone.iter_mut().enumerate() {
            let tail = rows.get(index * 7..).unwrap_or_default();
            model.step(stream, &tail[..tail.len().min(7)]);
        }
        model.step_batch(&mut together, &rows, &mut vec![0.0; memory]);
        for (alone, together) in alone.iter().zip(&together) {
            assert_eq!(everything(&model, together), everything(&model, alone), "{name}");
        }
    }
}
