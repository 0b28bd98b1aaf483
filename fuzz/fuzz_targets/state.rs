//! A saved stream of any content is refused, or continues: finite means, variances that are not negative, and
//! a state that can be saved and restored in turn.
//!
//! The first byte chooses the model, the others are the words; too few are filled up with zeros, because a
//! wrong length alone is refused at once.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quaver_tests::attack::rows::{check, same_state};
use quaver_tests::stream::Stream;

const MODELS: [&[u8]; 8] = [
    include_bytes!("../../tests/fixtures/gru-f32.qvr"),
    include_bytes!("../../tests/fixtures/lstm-small.qvr"),
    include_bytes!("../../tests/fixtures/gru-fast.qvr"),
    include_bytes!("../../tests/fixtures/means-elman-mean.qvr"),
    include_bytes!("../../tests/fixtures/following-density-fast.qvr"),
    include_bytes!("../../tests/fixtures/anomaly-fast.qvr"),
    include_bytes!("../../tests/fixtures/denoiser-fitted-follow-fast.qvr"),
    include_bytes!("../../tests/fixtures/sampler-follow-small.qvr"),
];
const ROWS: [&[f32]; 3] = [&[0.5, -1.0, 0.25], &[1.0, f32::NAN, -3.0e38], &[]];

fuzz_target!(|bytes: &[u8]| {
    let Some((model, bytes)) = bytes.split_first() else { return };
    let model = MODELS[usize::from(*model) % MODELS.len()];
    let mut words = vec![f32::NAN; Stream::arena_words(model).expect("a fixture")];
    let mut stream = Stream::load(model, &mut words).expect("a fixture");
    let given: Vec<f32> =
        bytes.chunks_exact(4).map(|word| f32::from_le_bytes(word.try_into().expect("four bytes"))).collect();
    if given.len() != stream.saved_words() {
        assert!(stream.restore(&given).is_err(), "a state of another length");
    }
    let filled: Vec<f32> =
        given.into_iter().chain(std::iter::repeat(0.0)).take(stream.saved_words()).collect();
    if stream.restore(&filled).is_err() {
        return;
    }
    for row in ROWS {
        stream.check_state().expect("what was restored and stepped is a state");
        save_and_restore(&mut stream);
        check(&stream.step(row)).expect("a prediction");
    }
});

fn save_and_restore(stream: &mut Stream<'_, '_>) {
    let [mut saved, mut again] = [(); 2].map(|()| vec![f32::NAN; stream.saved_words()]);
    stream.save(&mut saved).expect("the right length");
    stream.restore(&saved).expect("its own state");
    stream.save(&mut again).expect("the right length");
    same_state(&saved, &again).expect("the same state");
}
