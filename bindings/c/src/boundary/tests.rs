//! The boundary as Rust sees it, for Miri: `cargo +nightly miri test --lib boundary`.

use core::ptr;
use std::vec;
use std::vec::Vec;

use quaver::Predictor;

use super::*;
use crate::results::copy_outputs;
use crate::streams::QuaverPredictor;

static MODEL: &[u8] = include_bytes!("../../../../runtime/examples/grip_force.qvr");
const WORDS: usize = 142 + QuaverPredictor::WORDS;

/// Memory as C would have it: aligned, and not initialised by us.
fn memory() -> Vec<u64> {
    vec![u64::MAX; WORDS.div_ceil(2)]
}

fn load(arena: &mut [u64], words: usize) -> (Result<(), Status>, Handle<QuaverPredictor>) {
    let mut handle = Handle(ptr::null_mut());
    let memory = Output::<c_void>(arena.as_mut_ptr().cast()).arena(words);
    let model = Input(MODEL.as_ptr()).many(MODEL.len());
    let loaded = memory.load(model, Output(&raw mut handle), |bytes, words| {
        Ok(Predictor::load_in(bytes, words).map_err(Status::from)?)
    });
    (loaded, handle)
}

fn step(handle: &Handle<QuaverPredictor>, row: &[f32]) -> Result<QuaverOutput, Status> {
    let mut output = QuaverOutput::default();
    let arguments = (Input(row.as_ptr()).many(row.len()), Output(&raw mut output).one());
    Handle::<QuaverPredictor>(handle.0)
        .enter(arguments, |predictor, (row, outputs)| copy_outputs(&predictor.step(row), outputs))?;
    Ok(output)
}

#[test]
fn a_stream_in_foreign_memory_is_that_of_the_runtime() {
    let (mut arena, mut words) = (memory(), vec![0.0; 142]);
    let (loaded, handle) = load(&mut arena, WORDS);
    assert_eq!(loaded, Ok(()));
    let mut predictor = Predictor::load_in(MODEL, &mut words).expect("a model");
    for row in [[14.0, 9.5, 8.0, 4.25, 6.0, 11.5, 20.25, 17.0], [f32::NAN; 8]] {
        let expected = predictor.step(&row).get(0).map(QuaverOutput::from);
        assert_eq!(step(&handle, &row).ok(), expected);
    }
}

#[test]
fn a_handle_is_checked_before_it_is_followed() {
    let mut arena = memory();
    let (loaded, handle) = load(&mut arena, WORDS - 1);
    assert_eq!(loaded, Err(Status::ARENA));
    assert_eq!(step(&handle, &[]), Err(Status::NULL));
    let (_, handle) = load(&mut arena, WORDS);
    let mut copied = arena.clone();
    let moved = Handle::<QuaverPredictor>(copied.as_mut_ptr().cast());
    assert_eq!(step(&moved, &[]), Err(Status::HANDLE));
    assert!(step(&handle, &[]).is_ok());
}

#[test]
fn a_stream_is_entered_once_at_a_time() {
    let mut arena = memory();
    let (_, handle) = load(&mut arena, WORDS);
    let inner = Handle::<QuaverPredictor>(handle.0);
    let nested = Handle::<QuaverPredictor>(handle.0).enter((), |_, ()| Ok(step(&inner, &[])));
    assert_eq!(nested, Ok(Err(Status::BUSY)));
    assert!(step(&handle, &[]).is_ok());
}

#[test]
fn regions_that_overlap_are_refused_if_one_is_written() {
    let region = |start, bytes, written| Region { start, bytes, written };
    let check = |a, b| check_all_apart(&[a, b]).is_ok();
    assert!(check(region(100, 8, true), region(108, 8, true)));
    assert!(check(region(108, 8, true), region(100, 8, false)));
    assert!(!check(region(100, 9, false), region(108, 8, true)));
    assert!(check(region(100, 9, false), region(108, 8, false)), "both are read");
    assert!(check(region(100, 0, true), region(96, 8, true)), "nothing is there");
    let numbers = [0.0_f32; 2];
    let misaligned = numbers.as_ptr().wrapping_byte_add(1);
    assert_eq!(checked(misaligned, 1, false).err(), Some(Status::MISALIGNED));
    assert_eq!(checked(numbers.as_ptr(), usize::MAX / 2, false).err(), Some(Status::RANGE));
    assert_eq!(checked(ptr::null::<f32>(), 1, false).err(), Some(Status::NULL));
    assert!(checked(ptr::null::<f32>(), 0, false).is_ok());
}
