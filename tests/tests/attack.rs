//! A few seconds of `cargo xtask attack`: crafted checkpoints are refused, or keep every promise.

use quaver_tests::attack::campaign::{Counts, attack, file};

/// Files that are tried; the first of seed 0.
const FILES: u64 = 6000;

#[test]
fn crafted_checkpoints_are_refused_or_keep_every_promise() {
    let mut counts = Counts::default();
    for index in 0..FILES {
        match attack(0, index) {
            Ok(one) => counts += one,
            Err(finding) => panic!("file {index} of seed 0: {}", finding.what),
        }
    }
    // A generator whose files are all refused, or all accepted, would try nothing.
    assert_eq!(counts.files, FILES);
    assert!((FILES / 4..3 * FILES / 4).contains(&counts.accepted), "{counts:?}");
    assert!(counts.steps > 8 * counts.accepted, "{counts:?}");
}

#[test]
fn the_same_seed_makes_the_same_files() {
    for index in 0..50 {
        assert_eq!(file(7, index).0, file(7, index).0);
    }
    assert_ne!(file(7, 0).0, file(8, 0).0);
}
