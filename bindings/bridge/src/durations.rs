//! Durations of recent steps.

use std::collections::VecDeque;
use std::time::Duration;

/// Durations that are kept.
const KEPT: usize = 1000;

/// The last thousand durations, and the longest of all.
#[derive(Clone, Debug, Default)]
pub struct Durations {
    recent: VecDeque<Duration>,
    longest: Duration,
}

impl Durations {
    /// Adds one.
    pub fn add(&mut self, duration: Duration) {
        if self.recent.len() == KEPT {
            self.recent.pop_front();
        }
        self.recent.push_back(duration);
        self.longest = self.longest.max(duration);
    }

    /// The median of the recent ones; zero without any.
    pub fn median(&self) -> Duration {
        let mut sorted: Vec<Duration> = self.recent.iter().copied().collect();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }

    /// The longest since the start.
    pub fn longest(&self) -> Duration {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_of_recent_ones_and_the_longest_of_all() {
        let mut durations = Durations::default();
        assert_eq!(durations.median(), Duration::ZERO);
        durations.add(Duration::from_secs(9));
        (0..KEPT).for_each(|index| durations.add(Duration::from_millis(index as u64)));
        assert_eq!(durations.median(), Duration::from_millis(500));
        assert_eq!(durations.longest(), Duration::from_secs(9));
    }
}
