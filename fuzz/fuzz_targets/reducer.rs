//! Whatever loads as a reducer must keep every promise of one: see `quaver_tests::attack`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quaver::ReducerModel;
use quaver_tests::attack::dice::Dice;
use quaver_tests::attack::frame::mend;
use quaver_tests::attack::reducer_trial;

/// More than this is a matter of time, not of correctness.
const MOST_WORDS: usize = 1 << 16;

fuzz_target!(|bytes: &[u8]| {
    run(bytes);
    // Almost no mutation has valid checksums; with both mended, the other checks are reached.
    let mut mended = bytes.to_vec();
    mend(&mut mended);
    run(&mended);
});

fn run(bytes: &[u8]) {
    if ReducerModel::load(bytes).is_ok_and(|model| model.arena_words() <= MOST_WORDS) {
        reducer_trial::run(bytes, &mut Dice::new(0, 0)).expect("a promise");
    }
}
