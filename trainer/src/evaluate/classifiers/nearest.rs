//! One nearest neighbour among training sequences, by Euclidean distance or under time warping.

use std::sync::Mutex;

use super::dtw::{Envelope, Scratch, dtw};
use super::prepared::Preparation;
use super::{Classification, LabelledRows};
use crate::data::Rows;
use crate::nn::parallel::{default_threads, for_each};

/// Neighbours that are stored: with more, every query takes longer than a baseline should.
const MOST_STORED: usize = 2000;

/// Prepared training sequences.
pub(super) struct Stored {
    pub(super) sequences: Vec<Rows>,
    pub(super) labels: Vec<usize>,
    of: usize,
    resampled: Option<usize>,
}

/// The training sequences; at most [`MOST_STORED`], evenly spaced, so that every class keeps its share where
/// classes alternate.
pub(super) fn stored(preparation: &Preparation, train: LabelledRows<'_>) -> Stored {
    let of = train.sequences.len();
    let kept: Vec<usize> = match of <= MOST_STORED {
        true => (0..of).collect(),
        false => (0..MOST_STORED).map(|index| index * of / MOST_STORED).collect(),
    };
    let sequences: Vec<&Rows> = kept.iter().map(|&index| train.sequences[index]).collect();
    Stored {
        sequences: preparation.all(&sequences),
        labels: kept.iter().map(|&index| train.labels[index]).collect(),
        of,
        resampled: preparation.resampled.then_some(preparation.length),
    }
}

impl Stored {
    /// A description of neighbours under a distance.
    pub(super) fn detail(&self, distance: &str) -> String {
        let neighbours = match self.sequences.len() {
            all if all == self.of => format!("the class of the nearest of {all} training sequences"),
            some => {
                format!("the class of the nearest of {some} of {} training sequences, evenly spaced", self.of)
            }
        };
        let resampled = self.resampled.map_or(String::new(), |length| {
            format!("; sequences of different lengths resampled to the median of {length} rows")
        });
        format!("{neighbours} by {distance}, in units of each channel's standard deviation{resampled}")
    }
}

/// Search for the nearest stored sequence.
pub(super) struct NearestNeighbour<'a> {
    stored: &'a Stored,
    window: usize,
    envelopes: Vec<Envelope>,
}

/// A stored sequence and its distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Neighbour {
    pub(super) index: usize,
    pub(super) distance: f32,
}

impl<'a> NearestNeighbour<'a> {
    /// Warping by at most `window` rows; with 0, the Euclidean distance.
    pub(super) fn new(stored: &'a Stored, window: usize) -> Self {
        let envelopes = stored.sequences.iter().map(|rows| Envelope::new(rows, window)).collect();
        Self { stored, window, envelopes }
    }

    /// The nearest neighbours of queries that were prepared in the same way.
    pub(super) fn classify(&self, queries: &[Rows]) -> Classification {
        let found = self.neighbours(queries, |_| None);
        Classification {
            classes: found.iter().map(|neighbour| self.stored.labels[neighbour.index]).collect(),
            probabilities: None,
            distances: found.iter().map(|neighbour| neighbour.distance.sqrt()).collect(),
        }
    }

    /// Share of stored sequences whose nearest other one has another class.
    pub(super) fn leave_one_out_error(&self) -> f64 {
        let found = self.neighbours(&self.stored.sequences, Some);
        let labels = &self.stored.labels;
        let wrong = found.iter().zip(labels).filter(|(found, label)| labels[found.index] != **label).count();
        wrong as f64 / labels.len().max(1) as f64
    }

    /// The nearest stored sequence of every query but the one that `left_out` names.
    pub(super) fn neighbours(
        &self,
        queries: &[Rows],
        left_out: impl Fn(usize) -> Option<usize> + Sync,
    ) -> Vec<Neighbour> {
        let found = Mutex::new(vec![Neighbour { index: 0, distance: f32::INFINITY }; queries.len()]);
        let threads = default_threads();
        for_each(threads, 0..threads, |thread| {
            let mut scratch = SearchScratch::default();
            for query in (thread..queries.len()).step_by(threads) {
                let nearest = self.nearest(&queries[query], left_out(query), &mut scratch);
                found.lock().expect("nobody panics with it")[query] = nearest;
            }
        });
        found.into_inner().expect("nobody panicked with it")
    }

    /// Candidates in order of their lower bounds, until a bound exceeds the best distance. Of equally distant
    /// sequences the first counts.
    fn nearest(&self, query: &Rows, left_out: Option<usize>, scratch: &mut SearchScratch) -> Neighbour {
        let SearchScratch { order, bounds, costs } = scratch;
        order.clear();
        for (index, envelope) in
            self.envelopes.iter().enumerate().filter(|(index, _)| Some(*index) != left_out)
        {
            envelope.lower_bounds(query, bounds);
            order.push((bounds.first().copied().unwrap_or(0.0), index));
        }
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut best = Neighbour { index: usize::MAX, distance: f32::INFINITY };
        for &(bound, index) in order.iter() {
            // Bound and distance are summed in different orders: f32 may round the bound above the distance.
            if bound * (1.0 - 1e-4) > best.distance {
                break;
            }
            let distance = self.distance(query, index, best.distance, bounds, costs);
            let first = distance == best.distance && index < best.index;
            if distance < best.distance || first {
                best = Neighbour { index, distance };
            }
        }
        best
    }

    fn distance(
        &self,
        query: &Rows,
        index: usize,
        limit: f32,
        bounds: &mut Vec<f32>,
        costs: &mut Scratch,
    ) -> f32 {
        self.envelopes[index].lower_bounds(query, bounds);
        bounds.iter_mut().for_each(|bound| *bound *= 1.0 - 1e-4);
        dtw(query, &self.stored.sequences[index], self.window, limit, bounds, costs)
    }
}

#[derive(Default)]
struct SearchScratch {
    order: Vec<(f32, usize)>,
    bounds: Vec<f32>,
    costs: Scratch,
}
