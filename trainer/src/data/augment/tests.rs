use quaver::checkpoint::Target;

use super::*;
use crate::config::{ColumnPatterns, MirrorConfig};

fn names(count: usize) -> Vec<String> {
    (0..count).map(|channel| format!("c{channel}")).collect()
}

/// Waves of different offsets and sizes, noisy or not.
fn waves(steps: usize, channels: usize) -> Rows {
    let value = |t: usize, c: usize| c as f32 + (1.0 + c as f32) * (t as f32 * 0.1 * (1.0 + c as f32)).sin();
    Rows { channels, values: (0..steps).flat_map(|t| (0..channels).map(move |c| value(t, c))).collect() }
}

fn clean(steps: usize, channels: usize) -> Vec<Sequence> {
    let noisy = |rows: &Rows| {
        let values = rows.values.iter().enumerate().map(|(i, value)| value + (i % 5) as f32).collect();
        Rows { channels: rows.channels, values }
    };
    let rows = waves(steps, channels);
    vec![Sequence::columns(rows.clone(), rows.clone()).with_noisy_inputs(noisy(&rows))]
}

fn augmentation(config: &AugmentConfig, train: &[Sequence]) -> Augmentation {
    Augmentation::new(config, &names(train[0].inputs.channels), train, true).unwrap()
}

fn squares(rows: &Rows, channels: std::ops::Range<usize>) -> Vec<f32> {
    rows.iter().map(|row| row[channels.clone()].iter().map(|value| value * value).sum()).collect()
}

#[test]
fn nothing_asked_leaves_every_row_as_it_is_and_cuts_elsewhere_in_every_epoch() {
    let train = clean(100, 2);
    let augmentation = augmentation(&AugmentConfig::default(), &train);
    let mut lengths = Vec::new();
    for epoch in 1..=5 {
        let found = augmentation.on_epoch(&train, epoch, 30);
        assert_eq!(found, augmentation.on_epoch(&train, epoch, 30), "an epoch repeats");
        let joined: Vec<f32> = found.iter().flat_map(|piece| piece.inputs.values.clone()).collect();
        assert_eq!(joined, train[0].inputs.values);
        assert!(found.iter().all(|piece| piece.len() <= 30 && piece.truth.as_ref() == Some(&piece.targets)));
        lengths.push(found[0].len());
    }
    lengths.dedup();
    assert!(lengths.len() > 2, "{lengths:?}");
    assert_eq!(augmentation.on_epoch(&train, 1, 0), train);
}

#[test]
fn a_rotation_keeps_lengths_and_angles_and_turns_all_sensors_alike() {
    let train = clean(60, 7);
    let rotate =
        vec![ColumnPatterns::one("c0..c3"), ColumnPatterns::many(&["c3".into(), "c4".into(), "c5".into()])];
    let augmentation = augmentation(&AugmentConfig { rotate, ..AugmentConfig::default() }, &train);
    for piece in augmentation.on_epoch(&train, 1, 0) {
        for sensor in [0..3, 3..6] {
            let (before, after) = (squares(&train[0].inputs, sensor.clone()), squares(&piece.inputs, sensor));
            assert!(before.iter().zip(&after).all(|(b, a)| (b - a).abs() < 1e-3 * (1.0 + b)));
        }
        let dot = |row: &[f32]| row[0] * row[3] + row[1] * row[4] + row[2] * row[5];
        for (before, after) in train[0].targets.iter().zip(piece.targets.iter()) {
            assert!(
                (dot(before) - dot(after)).abs() < 2e-3 * (1.0 + dot(before).abs()),
                "one rotation for both"
            );
            assert_eq!(before[6], after[6]);
            assert_ne!(before[0], after[0]);
        }
        // A reflection would change the sign of a triple product.
        let triple = |rows: &Rows| {
            let [a, b, c] = [5, 17, 31].map(|t| <[f32; 3]>::try_from(&rows.row(t)[..3]).unwrap());
            a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
                + a[2] * (b[0] * c[1] - b[1] * c[0])
        };
        let (before, after) = (triple(&train[0].targets), triple(&piece.targets));
        assert!((before - after).abs() < 1e-3 * before.abs(), "{before} against {after}");
    }
}

#[test]
fn every_direction_is_as_likely_as_any_other() {
    let train = vec![Sequence::next(Rows { channels: 3, values: [1.0, 0.0, 0.0].repeat(6000) })];
    let augment = AugmentConfig { rotate: vec![ColumnPatterns::one("c0..c3")], ..AugmentConfig::default() };
    let pieces = augmentation(&augment, &train).on_epoch(&train, 1, 1);
    for axis in 0..3 {
        let values: Vec<f32> = pieces.iter().map(|piece| piece.inputs.values[axis]).collect();
        let mean = values.iter().sum::<f32>() / values.len() as f32;
        let square = values.iter().map(|value| value * value).sum::<f32>() / values.len() as f32;
        // A coordinate on the sphere is uniform: mean 0, variance 1/3, with errors of 0.0075 and 0.0039 at
        // 6000 draws.
        assert!(mean.abs() < 0.03 && (square - 1.0 / 3.0).abs() < 0.016, "{axis}: {mean}, {square}");
    }
}

#[test]
fn a_mirror_changes_places_in_units_of_each_channel() {
    let train = clean(200, 4);
    let mirror =
        MirrorConfig { swap: vec![["c0".into(), "c2".into()]], flip: vec!["c1".into(), "c2".into()] };
    let augmentation =
        augmentation(&AugmentConfig { mirror: Some(mirror), ..AugmentConfig::default() }, &train);
    let scaler = &augmentation.inputs;
    let mut mirrored = 0;
    let mut start = 0;
    for piece in augmentation.on_epoch(&train, 3, 10) {
        let old = train[0].targets.row(start);
        start += piece.len();
        let new = piece.targets.row(0);
        if new == old {
            continue;
        }
        mirrored += 1;
        let z = |row: &[f32], channel: usize| scaler.standardise(channel, row[channel]);
        let expected = [z(old, 2), -z(old, 1), -z(old, 0), z(old, 3)];
        for (channel, expected) in expected.into_iter().enumerate() {
            assert!((z(new, channel) - expected).abs() < 1e-4);
        }
    }
    assert!((4..=17).contains(&mirrored), "{mirrored} of some 20");
}

/// How often a ring of five channels, besides a sixth, is rotated by each number of places.
fn turns(most: Option<u16>) -> [usize; 5] {
    let train = clean(1200, 6);
    let config =
        AugmentConfig { ring: Some(ColumnPatterns::one("c0..c5")), ring_places: most, ..Default::default() };
    let augmentation = augmentation(&config, &train);
    let scaler = &augmentation.inputs;
    let mut seen = [0; 5];
    let mut start = 0;
    for piece in augmentation.on_epoch(&train, 1, 30) {
        let z = |row: &[f32]| [0, 1, 2, 3, 4, 5].map(|channel| scaler.standardise(channel, row[channel]));
        let (old, new) = (z(train[0].targets.row(start)), z(piece.targets.row(0)));
        let near = |turn: usize| (0..5).all(|i| (new[i] - old[(i + turn) % 5]).abs() < 1e-4);
        seen[(0..5).find(|turn| near(*turn)).unwrap()] += 1;
        assert_eq!(old[5], new[5]);
        start += piece.len();
    }
    seen
}

#[test]
fn a_ring_turns_by_any_number_of_places_or_by_a_few() {
    for most in [None, Some(2), Some(40)] {
        assert!(turns(most).iter().all(|count| *count > 2), "{most:?}: {:?}", turns(most));
    }
    let [none, one, two, three, back] = turns(Some(1));
    assert!(none > 2 && one > 2 && back > 2 && [two, three] == [0, 0], "{:?}", turns(Some(1)));
    assert_eq!(turns(Some(0))[1..], [0; 4]);
}

#[test]
fn gains_are_about_zero_and_offsets_in_std_devs() {
    let train = clean(3000, 2);
    let gains =
        augmentation(&AugmentConfig { gain: 0.3, ..AugmentConfig::default() }, &train).on_epoch(&train, 1, 2);
    let mut start = 0;
    let mut logarithms = [0.0; 2];
    for piece in &gains {
        let ratio = |channel: usize| piece.targets.row(0)[channel] / train[0].targets.row(start)[channel];
        // Not where a wave passes through zero, whose ratio is all rounding.
        let noisy = piece.inputs.row(0)[1] / train[0].inputs.row(start)[1];
        if train[0].targets.row(start)[1].abs() > 0.1 && train[0].inputs.row(start)[1].abs() > 0.1 {
            assert!((noisy / ratio(1) - 1.0).abs() < 1e-3, "noisy and clean rows alike");
            logarithms = [logarithms[0] + ratio(1).ln().powi(2), logarithms[1] + 1.0];
        }
        start += piece.len();
    }
    // Two independent draws of standard deviation 0.3; some 1400 of their sums, whose mean square is within 4
    // % (one standard deviation).
    let variance = logarithms[0] / logarithms[1];
    assert!((variance / 0.18 - 1.0).abs() < 0.16, "{variance}");

    let augmentation = augmentation(&AugmentConfig { shift: 0.5, ..AugmentConfig::default() }, &train);
    let (mut squares, mut count, mut start) = (0.0, 0.0, 0);
    for piece in augmentation.on_epoch(&train, 1, 2) {
        let moved = |row: usize| piece.targets.row(row)[1] - train[0].targets.row(start + row)[1];
        assert!((moved(0) - moved(piece.len() - 1)).abs() < 1e-5, "one offset per piece");
        squares += (moved(0) / augmentation.inputs.std_dev[1]).powi(2);
        (count, start) = (count + 1.0, start + piece.len());
    }
    assert!((squares / count / 0.25 - 1.0_f32).abs() < 0.16, "{}", squares / count);
}

#[test]
fn time_runs_faster_and_slower_and_targets_follow() {
    // A ramp shows where every row came from.
    let rows = |factor: f32| Rows { channels: 1, values: (0..500).map(|t| factor * t as f32).collect() };
    let train = vec![Sequence::columns(rows(1.0), rows(-2.0))];
    let config = AugmentConfig { speed: 0.5, gain: 0.0, ..AugmentConfig::default() };
    let augmentation = Augmentation::new(&config, &names(1), &train, false).unwrap();
    let pieces = augmentation.on_epoch(&train, 2, 40);
    let mut paces = Vec::new();
    for piece in &pieces {
        assert!(
            piece.inputs.values.iter().zip(&piece.targets.values).all(|(i, t)| (t + 2.0 * i).abs() < 1e-3)
        );
        assert!(piece.inputs.values.iter().all(|place| (0.0..=499.0).contains(place)));
        let gaps: Vec<f32> = piece.inputs.values.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.windows(2).all(|pair| (pair[0] - pair[1]).abs() < 1e-3), "one pace per piece");
        paces.extend(gaps.first().copied());
    }
    assert!(paces.iter().all(|pace| (0.6..=1.66).contains(pace)), "{paces:?}");
    assert!(paces.iter().any(|pace| *pace < 0.95) && paces.iter().any(|pace| *pace > 1.05), "{paces:?}");
    assert!(pieces.iter().all(|piece| piece.len() <= 40) && pieces.len() > 8);
    let whole = augmentation.on_epoch(&train, 1, 0);
    assert!(
        whole.len() <= 2 && whole[0].inputs.values.last().is_some_and(|last| *last > 497.0),
        "{}",
        whole.len()
    );
}

/// Whole sequences stay whole at any speed: what is left after the last step, less than one, is left out.
#[test]
fn a_whole_sequence_at_another_speed_is_one_sequence() {
    let train: Vec<Sequence> = (1..=40).flat_map(|steps| clean(steps, 2)).collect();
    let augmentation = augmentation(&AugmentConfig { speed: 0.3, ..AugmentConfig::default() }, &train);
    for epoch in 1..=3 {
        let found = augmentation.on_epoch(&train, epoch, 0);
        assert_eq!(found.len(), train.len());
        for (before, after) in train.iter().zip(&found) {
            let (fastest, slowest) = (before.len() as f64 / 1.35, before.len() as f64 * 1.35);
            assert!((fastest.floor()..=slowest.ceil()).contains(&(after.len() as f64)), "{}", after.len());
        }
    }
}

#[test]
fn blending_keeps_means_and_variances() {
    let rows = waves(4000, 2);
    let train = vec![Sequence::next(rows.clone())];
    let augmentation = augmentation(&AugmentConfig { blend: 1.0, ..AugmentConfig::default() }, &train);
    let pieces = augmentation.on_epoch(&train, 1, 50);
    let blended = Rows { channels: 2, values: pieces.iter().flat_map(|p| p.inputs.values.clone()).collect() };
    assert_eq!(blended.len(), rows.len());
    assert!(pieces.iter().all(|piece| piece.target == Target::Next && piece.inputs == piece.targets));
    let [before, after] = [&rows, &blended].map(|rows| Scaler::fit(2, std::iter::once(rows)));
    for channel in 0..2 {
        // Eighty pieces, few of them alike.
        assert!((before.mean[channel] - after.mean[channel]).abs() < 0.3 * before.std_dev[channel]);
        assert!((before.std_dev[channel] / after.std_dev[channel] - 1.0).abs() < 0.15);
    }
    assert_ne!(rows.values, blended.values);
}

#[test]
fn missing_values_stay_missing() {
    let mut rows = waves(40, 3);
    rows.values[31] = f32::NAN;
    let train = vec![Sequence::next(rows)];
    let config = AugmentConfig {
        rotate: vec![ColumnPatterns::one("c0..c3")],
        gain: 0.1,
        shift: 0.1,
        ..AugmentConfig::default()
    };
    let missing: Vec<usize> = augmentation(&config, &train)
        .on_epoch(&train, 1, 7)
        .iter()
        .flat_map(|piece| {
            piece
                .inputs
                .iter()
                .map(|row| row.iter().filter(|value| value.is_nan()).count())
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(
        missing.iter().position(|count| *count == 3),
        Some(10),
        "a turned sensor with an axis gone is gone"
    );
    assert_eq!(missing.iter().sum::<usize>(), 3);
}

#[test]
fn faults_name_the_key_and_what_to_do() {
    let error =
        |config: AugmentConfig| Augmentation::new(&config, &names(4), &clean(9, 4), true).unwrap_err();
    let rotate = |patterns: &[&str]| AugmentConfig {
        rotate: patterns.iter().map(|pattern| ColumnPatterns::one(pattern)).collect(),
        ..AugmentConfig::default()
    };
    let there_are = "the columns are c0, c1, c2, c3";
    assert_eq!(error(rotate(&["c7..c9"])), format!("data.augment.rotate: no column `c7`; {there_are}"));
    assert_eq!(
        error(rotate(&["c0..c4"])),
        "data.augment.rotate: a sensor has three axes, found 4 (c0, c1, c2, c3); name each sensor on its own"
    );
    assert_eq!(error(rotate(&["c0..c3", "c1..c4"])), "data.augment.rotate: input `c1` is named twice");
    let mirror = |swap: [&str; 2], flip: &[&str]| AugmentConfig {
        mirror: Some(MirrorConfig {
            swap: vec![swap.map(String::from)],
            flip: flip.iter().map(|name| name.to_string()).collect(),
        }),
        ..AugmentConfig::default()
    };
    assert_eq!(
        error(mirror(["c0..c3", "c3"], &[])),
        "data.augment.mirror.swap: `c0..c3` has 3 inputs, but `c3` has 1; both ranges must be equally long"
    );
    assert_eq!(
        error(mirror(["c0..c3", "c1..c4"], &[])),
        "data.augment.mirror.swap: input `c1` is named twice"
    );
    assert_eq!(error(mirror(["c0", "c0"], &[])), "data.augment.mirror.swap: input `c0` is named twice");
    assert_eq!(
        error(mirror(["c0", "c1"], &["c9"])),
        format!("data.augment.mirror.flip: no column `c9`; {there_are}")
    );
}
