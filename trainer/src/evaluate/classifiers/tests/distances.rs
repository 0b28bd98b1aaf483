//! Time warping against its definition.

use crate::data::Rows;
use crate::evaluate::classifiers::dtw::{Envelope, Scratch, dtw, squared_distance};
use crate::evaluate::classifiers::nearest::{NearestNeighbour, Neighbour, stored};
use crate::evaluate::classifiers::prepared::Preparation;
use crate::evaluate::classifiers::{LabelledRows, warping_window};
use crate::random::{Purpose, normal, normals, stream};

/// The whole table of costs in f64, cell by cell.
fn slow_dtw(a: &Rows, b: &Rows, window: usize) -> f64 {
    let mut costs = vec![vec![f64::INFINITY; b.len() + 1]; a.len() + 1];
    costs[0][0] = 0.0;
    for i in 0..a.len() {
        for j in (0..b.len()).filter(|j| i.abs_diff(*j) <= window) {
            let local: f64 =
                a.row(i).iter().zip(b.row(j)).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum();
            costs[i + 1][j + 1] = local + costs[i][j].min(costs[i][j + 1]).min(costs[i + 1][j]);
        }
    }
    costs[a.len()][b.len()]
}

fn random_walks(seed: u64, count: usize, length: usize, channels: usize) -> Vec<Rows> {
    let mut rng = stream(seed, Purpose::Initialisation);
    let walk = |_| {
        let mut row = vec![0.0; channels];
        let mut rows = Rows::new(channels);
        for _ in 0..length {
            row.iter_mut().for_each(|value| *value += normal(&mut rng) as f32);
            rows.values.extend(&row);
        }
        rows
    };
    (0..count).map(walk).collect()
}

#[test]
fn warping_follows_its_definition_and_gives_up_in_time() {
    let mut scratch = Scratch::default();
    for (seed, length, channels) in [(1, 1, 1), (2, 2, 3), (3, 17, 1), (4, 24, 4)] {
        let walks = random_walks(seed, 2, length, channels);
        for window in [0, 1, 2, 5, length] {
            let expected = slow_dtw(&walks[0], &walks[1], window);
            let found = dtw(&walks[0], &walks[1], window, f32::INFINITY, &[], &mut scratch);
            // Sums of at most 2·24·4 products in f32.
            assert!((f64::from(found) - expected).abs() <= 1e-5 * expected, "{found} instead of {expected}");
            assert_eq!(dtw(&walks[0], &walks[1], window, found, &[], &mut scratch), found, "at the limit");
            let below = found * 0.999;
            assert!(dtw(&walks[0], &walks[1], window, below, &[], &mut scratch) > below);
        }
    }
}

#[test]
fn without_a_window_it_is_the_euclidean_distance() {
    let walks = random_walks(5, 2, 40, 2);
    let euclid: f32 = walks[0].iter().zip(walks[1].iter()).map(|(a, b)| squared_distance(a, b)).sum();
    let found = dtw(&walks[0], &walks[1], 0, f32::INFINITY, &[], &mut Scratch::default());
    assert!((found - euclid).abs() <= 1e-5 * euclid);
}

#[test]
fn the_bound_is_below_every_warped_distance_and_exact_for_no_window() {
    let mut bounds = Vec::new();
    for seed in 0..20 {
        let walks = random_walks(100 + seed, 2, 30, 2);
        for window in [0, 1, 3, 10, 30] {
            let warped = slow_dtw(&walks[0], &walks[1], window);
            Envelope::new(&walks[1], window).lower_bounds(&walks[0], &mut bounds);
            assert!(f64::from(bounds[0]) <= warped * (1.0 + 1e-5), "{} above {warped}", bounds[0]);
            assert!(window > 0 || (f64::from(bounds[0]) - warped).abs() <= 1e-5 * warped);
            assert!(bounds.is_sorted_by(|a, b| a >= b), "sums over fewer and fewer rows");
        }
    }
}

#[test]
fn pruning_finds_the_neighbours_of_an_exhaustive_search() {
    let walks = random_walks(7, 60, 25, 2);
    let rows: Vec<&Rows> = walks.iter().collect();
    let labels: Vec<usize> = (0..walks.len()).map(|index| index % 2).collect();
    let preparation = Preparation::fit(&rows);
    let stored = stored(&preparation, LabelledRows { sequences: &rows, labels: &labels });
    for window in [0, 2, 6] {
        let found = NearestNeighbour::new(&stored, window).neighbours(&stored.sequences, Some);
        for (query, Neighbour { index, distance }) in found.into_iter().enumerate() {
            let others = (0..walks.len()).filter(|other| *other != query);
            let slow = |other: usize| slow_dtw(&stored.sequences[query], &stored.sequences[other], window);
            let nearest = others.min_by(|a, b| slow(*a).total_cmp(&slow(*b))).unwrap();
            assert_eq!(index, nearest);
            assert!((f64::from(distance) - slow(nearest)).abs() <= 1e-4 * slow(nearest));
        }
    }
}

#[test]
fn the_window_is_wide_enough_for_bumps_that_move_and_no_wider() {
    // The class is the sign of a bump whose place varies by up to four of forty rows.
    let mut rng = stream(9, Purpose::Initialisation);
    let bump = |index: usize| {
        let place = 18.0 + (index % 9) as f32;
        let sign = if index.is_multiple_of(2) { 1.0 } else { -1.0 };
        let noise = normals(&mut rng, 40);
        let value = |(step, noise): (usize, f32)| {
            sign * (-(step as f32 - place).powi(2) / 2.0).exp() * 3.0 + 0.9 * noise
        };
        Rows { channels: 1, values: noise.into_iter().enumerate().map(value).collect() }
    };
    let sequences: Vec<Rows> = (0..120).map(bump).collect();
    let rows: Vec<&Rows> = sequences.iter().collect();
    let labels: Vec<usize> = (0..rows.len()).map(|index| index % 2).collect();
    let preparation = Preparation::fit(&rows);
    let stored = stored(&preparation, LabelledRows { sequences: &rows, labels: &labels });
    let chosen = warping_window::choose(&stored);
    let error = |window: usize| NearestNeighbour::new(&stored, window).leave_one_out_error();
    assert!((1..=8).contains(&chosen.rows), "{}", chosen.rows);
    assert!((0..=8).all(|window| error(chosen.rows) <= error(window)));
    assert!((0..chosen.rows).all(|window| error(chosen.rows) < error(window)), "the narrowest of the best");
}
