//! Ranges of made-up data, and of public recordings.

use std::path::Path;

use super::*;
use crate::config::Config;
use crate::data::Rows;

const NONE: [f32; 2] = [f32::NEG_INFINITY, f32::INFINITY];

/// Training rows of the channels a (0 to 10), b (constant), c (binary), d (always missing).
fn data() -> Dataset {
    let row = |step: usize| {
        let step = step as f32;
        [step, 3.0, step % 2.0, f32::NAN]
    };
    let rows = |range: std::ops::Range<usize>| {
        let values = range.flat_map(row).collect();
        vec![Sequence::next(Rows { channels: 4, values })]
    };
    Dataset::of([rows(0..11), rows(0..5), Vec::new()], &["a", "b", "c", "d"])
}

#[test]
fn ranges_are_those_of_training_with_a_margin() {
    let found = |margin| RangeOptions { margin, given: Vec::new() }.fit(&data()).unwrap();
    assert_eq!(found(0.5), Some(InputRanges(vec![[-5.0, 15.0], NONE, NONE, NONE])));
    assert_eq!(found(0.0), Some(InputRanges(vec![[0.0, 10.0], NONE, NONE, NONE])));
    assert_eq!(found(f32::INFINITY), None);
    assert_eq!(found(1e38), None, "beyond the range of f32");
    let zero = found(0.0).unwrap().0[0][0];
    assert!(zero.is_sign_positive());
}

#[test]
fn a_given_range_takes_the_place_of_that_of_training() {
    let given = |channel: &str, range| RangeOverride { channel: channel.into(), range };
    let options = |given| RangeOptions { margin: f32::INFINITY, given };
    let found = options(vec![given("b", [2.0, f32::INFINITY])]).fit(&data()).unwrap().unwrap();
    assert_eq!(found.0, [NONE, [2.0, f32::INFINITY], NONE, NONE]);
    let error = options(vec![given("e", NONE)]).fit(&data()).unwrap_err().to_string();
    assert!(error.contains("`e`") && error.contains("a, b, c, d"), "{error}");
    let twice = options(vec![given("a", NONE), given("a", NONE)]).fit(&data()).unwrap_err().to_string();
    assert!(twice.contains("`a` is given twice"), "{twice}");
}

/// Configs of the benchmarks with real-valued inputs whose data are in one folder.
const BENCHMARKS: [&str; 14] = [
    "denoise_emg",
    "denoise_imu",
    "denoise_imu_vosp",
    "denoise_mocap",
    "denoise_mocap_vosp",
    "gaps_imu_next",
    "gaps_mocap_next",
    "grasp_force",
    "grasp_force_across",
    "grasp_force_all",
    "grasp_force_tuned",
    "kuka",
    "mocap_storn",
    "sarcos",
];

/// Values outside of the ranges, and the margin that would have them inside.
fn outside(ranges: &[[f32; 2]], training: &[[f32; 2]], sequences: &[Sequence]) -> (usize, usize, f32) {
    let (mut values, mut outside, mut margin) = (0, 0, 0.0_f32);
    for row in sequences.iter().flat_map(|sequence| sequence.inputs.iter()) {
        for ((value, [low, high]), [from, to]) in row.iter().zip(ranges).zip(training) {
            values += usize::from(!value.is_nan());
            outside += usize::from(value < low || value > high);
            if to.is_finite() {
                margin = margin.max((from - value).max(value - to) / (to - from));
            }
        }
    }
    (values, outside, margin)
}

/// The default margin refuses no validation value of the public recordings; skipped without them.
#[test]
fn public_recordings_stay_within_the_default_margin() {
    let Some(folder) = std::env::var_os("QUAVER_DATA") else {
        eprintln!("skipped: no benchmark data; set QUAVER_DATA to their folder to run this test");
        return;
    };
    for name in BENCHMARKS {
        let config = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../benchmarks/{name}.toml"));
        let data =
            Config::load_with_data(&config, &[], Some(Path::new(&folder))).unwrap().load_data().unwrap();
        let ranges = |margin| RangeOptions { margin, given: Vec::new() }.fit(&data).unwrap().unwrap().0;
        let [training, ranges] = [ranges(0.0), ranges(DEFAULT_MARGIN)];
        for (split, sequences) in [("valid", &data.valid), ("test", &data.test)] {
            let (values, outside, margin) = outside(&ranges, &training, sequences);
            println!("{name:20} {split:5} {outside} of {values} values, margin needed {margin:.3}");
            assert!(split == "test" || outside == 0, "{name}: {outside} validation values are refused");
        }
    }
}
