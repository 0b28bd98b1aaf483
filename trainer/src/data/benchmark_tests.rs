//! Public benchmark data, where they are at hand: published facts about them must come out of our readers.
//!
//! The environment variable `QUAVER_DATA` names their folder; without it these tests print that they are
//! skipped.

use std::path::PathBuf;

use super::{Dataset, Scaling, Sequence};
use crate::config::DataConfig;

/// The folder of the data, if there is one.
pub(crate) fn folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("QUAVER_DATA").map(PathBuf::from) {
        assert!(folder.is_dir(), "QUAVER_DATA names {}, which is no folder", folder.display());
        return Some(folder);
    }
    eprintln!("skipped: no benchmark data; set QUAVER_DATA to their folder to run this test");
    None
}

/// The data of a `[data]` section whose paths start at the folder, if it is there.
pub(crate) fn load(section: &str) -> Option<Dataset> {
    let mut data_config: DataConfig = toml::from_str(section).unwrap();
    data_config.anchor(&folder()?);
    Some(data_config.load().unwrap())
}

/// A collection of piano rolls, if the folder is there.
pub(crate) fn piano_rolls(name: &str) -> Option<Dataset> {
    load(&format!(
        "train = 'piano_rolls/{name}.train.txt'
         valid = 'piano_rolls/{name}.valid.txt'
         test = 'piano_rolls/{name}.test.txt'
         targets = 'next'"
    ))
}

fn steps(sequences: &[Sequence]) -> usize {
    sequences.iter().map(Sequence::len).sum()
}

/// Nats per test step when every key sounds independently with its frequency in the training data.
fn marginal_nll(data: &super::Dataset) -> f64 {
    let mut frequency = [0.0f64; 88];
    for row in data.train.iter().flat_map(|sequence| sequence.targets.iter()) {
        frequency.iter_mut().zip(row).for_each(|(sum, &on)| *sum += f64::from(on));
    }
    frequency.iter_mut().for_each(|sum| *sum /= steps(&data.train) as f64);
    let nats = |(&p, &on): (&f64, &f32)| -(if on == 1.0 { p } else { 1.0 - p }).max(1e-12).ln();
    let rows = data.test.iter().flat_map(|sequence| sequence.targets.iter());
    rows.map(|row| frequency.iter().zip(row).map(nats).sum::<f64>()).sum::<f64>() / steps(&data.test) as f64
}

#[test]
fn piano_rolls_have_their_published_baselines() {
    for (name, sequences, test_steps, nll) in
        [("jsb_chorales", 229, 4725, 11.06), ("nottingham", 694, 44463, 10.25)]
    {
        let Some(data) = piano_rolls(name) else { return };
        assert_eq!((data.train.len(), steps(&data.test)), (sequences, test_steps));
        let found = marginal_nll(&data);
        assert!((found - nll).abs() < 0.005, "{name}: {found}");
        assert_eq!(Scaling::fit(&data.train).inputs, super::Scaler::identity(88));
    }
}

/// One sequence of motion capture, with its last fifth as test data.
pub(crate) fn motion_capture() -> Option<Dataset> {
    load(
        "train = { file = 'mocap_mit/motion49_zscore.values.npy', sequences = '2', rows = '..80%' }
        test = { file = 'mocap_mit/motion49_zscore.values.npy', sequences = '2', rows = '80%..' }
        lengths = 'mocap_mit/motion49.lengths.npy'
        valid_fraction = 0.1
        targets = 'next'",
    )
}

#[test]
fn motion_capture_is_cut_by_its_lengths() {
    let Some(data) = motion_capture() else { return };
    assert_eq!((steps(&data.train) + steps(&data.valid), steps(&data.test)), (2502, 626));
    assert_eq!(data.input_names.len(), 49);
}

#[test]
fn every_kind_of_table_is_read() {
    let Some(uci) = load("train = 'uci_regression/energy.data.csv'\nheader = false\ntargets = 'c8'") else {
        return;
    };
    assert_eq!((steps(&uci.train) + steps(&uci.valid), uci.input_names.len()), (768, 8));

    let dryer = load("train = 'system_identification/dryer.csv'\ninputs = 'u'\ntargets = 'y'").unwrap();
    assert_eq!(steps(&dryer.train), 800);

    let force =
        load("train = 'emg_grasp_force/recording_v2.npy'\ninputs = 'c0..c8'\ntargets = 'c8'").unwrap();
    assert_eq!((steps(&force.train) + steps(&force.valid), force.input_names.len()), (20158, 8));
    assert!(force.train[0].inputs.values.iter().all(|count| (-128.0..=127.0).contains(count)));

    let gestures =
        load("train = 'emg_myo_gestures/p12345_s1.values.npy'\ninputs = 'c0..c8'\ntargets = 'c8'").unwrap();
    assert_eq!(gestures.train.len(), 8);
}
