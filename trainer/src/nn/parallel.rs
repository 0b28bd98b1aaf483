//! Multithreading whose results do not depend on the number of threads.
//!
//! The sequences of a batch are independent up to the loss, so a batch is split into blocks of a fixed number
//! of *lanes* (one lane is one sequence), and each thread processes whole blocks.

use std::env::{self, VarError};
use std::sync::{Mutex, OnceLock};
use std::thread;

/// Lanes per block: enough to reuse each loaded weight, few enough that small batches still occupy every
/// core.
pub const LANES_PER_BLOCK: usize = 4;

/// The most threads that `QUAVER_THREADS` may ask for: far more than a batch has blocks.
pub const MAX_THREADS: usize = 1024;

/// Number of threads: the environment variable `QUAVER_THREADS` if it is a number from 1 to [`MAX_THREADS`],
/// or one per core.
pub fn default_threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    let cores = || thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    *THREADS.get_or_init(|| threads_from_environment().ok().flatten().unwrap_or_else(cores))
}

/// The number of threads in the environment variable `QUAVER_THREADS`, if it is set.
///
/// # Errors
/// When it is anything but a number from 1 to [`MAX_THREADS`].
pub fn threads_from_environment() -> Result<Option<usize>, String> {
    match env::var("QUAVER_THREADS") {
        Ok(text) => parse_threads(&text).map(Some),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(text)) => parse_threads(&text.to_string_lossy()).map(Some),
    }
}

fn parse_threads(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(threads @ 1..=MAX_THREADS) => Ok(threads),
        _ => Err(format!(
            "the environment variable QUAVER_THREADS is `{text}`: set it to a number from 1 to {MAX_THREADS}, or \
             unset it to use every core"
        )),
    }
}

/// Runs `work` on every task, on at most `threads` threads, and returns when all are done. Where the system
/// starts no more threads, those that there are do all of it.
///
/// Tasks are distributed round-robin before any work starts; each owns what it writes to.
pub fn for_each<T: Send>(threads: usize, tasks: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync) {
    let threads = threads.clamp(1, MAX_THREADS);
    let mut hands: Vec<Vec<T>> = Vec::new();
    for (index, task) in tasks.into_iter().enumerate() {
        match hands.get_mut(index % threads) {
            Some(hand) => hand.push(task),
            None => hands.push(vec![task]),
        }
    }
    let hands: Vec<Mutex<Vec<T>>> = hands.into_iter().map(Mutex::new).collect();
    let do_all = |hand: &Mutex<Vec<T>>| {
        let tasks = std::mem::take(&mut *hand.lock().expect("nobody panics with a hand"));
        tasks.into_iter().for_each(&work);
    };
    thread::scope(|scope| {
        for hand in hands.iter().skip(1) {
            // Left to this thread if there is no other for it.
            drop(thread::Builder::new().spawn_scoped(scope, || do_all(hand)));
        }
        hands.iter().for_each(do_all);
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
        for threads in [0, 1, 2, 3, 9, usize::MAX] {
            let mut done = vec![0; 7];
            for_each(threads, done.iter_mut().enumerate(), |(index, slot)| *slot += index + 1);
            assert_eq!(done, [1, 2, 3, 4, 5, 6, 7]);
        }
    }

    #[test]
    fn numbers_of_threads_are_checked() {
        assert_eq!((parse_threads("1"), parse_threads(" 1024\n")), (Ok(1), Ok(1024)));
        for text in ["0", "1025", "-1", "99999999999999999999", "four", "", "2.5"] {
            let error = parse_threads(text).unwrap_err();
            assert!(
                error.contains(&format!("QUAVER_THREADS is `{text}`")) && error.contains("1 to 1024"),
                "{error}"
            );
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
