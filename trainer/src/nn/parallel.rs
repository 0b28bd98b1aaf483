//! Multithreading whose results do not depend on the number of threads.
//!
//! The sequences of a batch are independent up to the loss, so a batch is split into blocks of a fixed number
//! of *lanes* (one lane is one sequence), and each thread processes whole blocks.

use std::sync::OnceLock;
use std::{env, thread};

/// Lanes per block: enough to reuse each loaded weight, few enough that small batches still occupy every
/// core.
pub const LANES_PER_BLOCK: usize = 4;

/// Number of threads: the environment variable `QUAVER_THREADS`, or one per core.
pub fn default_threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| {
        let asked = env::var("QUAVER_THREADS").ok().and_then(|threads| threads.parse().ok());
        asked.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from))
    })
}

/// Runs `work` on every task, on at most `threads` threads, and returns when all are done.
///
/// Tasks are distributed round-robin before any work starts; each owns what it writes to.
pub fn for_each<T: Send>(threads: usize, tasks: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync) {
    let mut hands: Vec<Vec<T>> = Vec::new();
    hands.resize_with(threads.max(1), Vec::new);
    for (index, task) in tasks.into_iter().enumerate() {
        hands[index % threads.max(1)].push(task);
    }
    let own = hands.swap_remove(0);
    let work = &work;
    thread::scope(|scope| {
        for hand in hands.into_iter().filter(|hand| !hand.is_empty()) {
            scope.spawn(move || hand.into_iter().for_each(work));
        }
        own.into_iter().for_each(work);
    });
}

/// Splits a time-major array [steps, lanes, width] into blocks of lanes: `[block][step]` slices.
pub fn lane_blocks<T>(values: &[T], lanes: usize, width: usize) -> Vec<Vec<&[T]>> {
    let mut blocks = vec![Vec::new(); lanes.div_ceil(LANES_PER_BLOCK)];
    for step in values.chunks_exact(lanes * width) {
        for (block, part) in blocks.iter_mut().zip(step.chunks(LANES_PER_BLOCK * width)) {
            block.push(part);
        }
    }
    blocks
}

/// Like [`lane_blocks`], mutable.
pub fn lane_blocks_mut<T>(values: &mut [T], lanes: usize, width: usize) -> Vec<Vec<&mut [T]>> {
    let mut blocks = Vec::new();
    blocks.resize_with(lanes.div_ceil(LANES_PER_BLOCK), Vec::new);
    for step in values.chunks_exact_mut(lanes * width) {
        for (block, part) in blocks.iter_mut().zip(step.chunks_mut(LANES_PER_BLOCK * width)) {
            block.push(part);
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_runs_once_on_any_number_of_threads() {
        for threads in [0, 1, 2, 3, 9] {
            let mut done = vec![0; 7];
            for_each(threads, done.iter_mut().enumerate(), |(index, slot)| *slot += index + 1);
            assert_eq!(done, [1, 2, 3, 4, 5, 6, 7]);
        }
    }

    #[test]
    fn blocks_keep_lanes_together_over_time() {
        // Two steps of six lanes, one value each: the tens digit is the step, the units digit the lane.
        let mut values = [0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15];
        let blocks = lane_blocks(&values, 6, 1);
        assert_eq!(blocks, [[vec![0, 1, 2, 3], vec![10, 11, 12, 13]], [vec![4, 5], vec![14, 15]]]);
        assert_eq!(lane_blocks_mut(&mut values, 6, 1)[1][1], [14, 15]);
    }
}
