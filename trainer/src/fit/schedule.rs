//! Learning-rate schedules.

use crate::config::{Schedule, TrainingConfig};

/// The learning rate after `epochs` epochs, with a fraction, and `cuts` cuts by a plateau schedule.
pub fn learning_rate(training: &TrainingConfig, epochs: f64, cuts: u32) -> f32 {
    let factor = f64::from(training.schedule_factor);
    let span = training.schedule_epochs as f64;
    let begun = (epochs - training.schedule_start as f64).max(0.0);
    let share = match training.schedule {
        Schedule::Constant => 1.0,
        // Half a cosine from 1 to the factor (Loshchilov and Hutter 2017, eq. 5, without restarts).
        Schedule::Cosine => {
            let done = (begun / span).min(1.0);
            factor + (1.0 - factor) * 0.5 * (1.0 + libm::cos(std::f64::consts::PI * done))
        }
        Schedule::Step => libm::pow(factor, (begun / span).floor()),
        Schedule::Plateau => libm::pow(factor, f64::from(cuts)),
    };
    let warm = if training.warm_up > 0.0 { (epochs / training.warm_up).min(1.0) } else { 1.0 };
    (f64::from(training.learning_rate) * share * warm) as f32
}

/// Whether the learning rate is cut after `stale` epochs without improvement of the validation loss.
pub fn cuts(training: &TrainingConfig, stale: usize) -> bool {
    training.schedule == Schedule::Plateau && stale > 0 && stale.is_multiple_of(training.schedule_epochs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn training(schedule: Schedule) -> TrainingConfig {
        TrainingConfig {
            schedule,
            learning_rate: 0.1,
            schedule_epochs: 10,
            schedule_factor: 0.5,
            ..TrainingConfig::default()
        }
    }

    fn assert_rates(training: &TrainingConfig, expected: &[(f64, f32)]) {
        for (epochs, rate) in expected {
            let found = learning_rate(training, *epochs, 0);
            assert!((found - rate).abs() < 1e-7, "{:?} after {epochs}: {found}", training.schedule);
        }
    }

    #[test]
    fn rates_by_hand() {
        assert_rates(&training(Schedule::Constant), &[(0.0, 0.1), (1e6, 0.1)]);
        assert_rates(&training(Schedule::Cosine), &[(0.0, 0.1), (5.0, 0.075), (10.0, 0.05), (50.0, 0.05)]);
        assert_rates(&training(Schedule::Step), &[(9.9, 0.1), (10.0, 0.05), (25.0, 0.025)]);
        let late = TrainingConfig { schedule_start: 5, ..training(Schedule::Step) };
        assert_rates(&late, &[(4.0, 0.1), (14.9, 0.1), (15.0, 0.05), (25.0, 0.025)]);
        let plateau = training(Schedule::Plateau);
        assert_rates(&plateau, &[(99.0, 0.1)]);
        assert!((learning_rate(&plateau, 99.0, 2) - 0.025).abs() < 1e-7);
    }

    #[test]
    fn a_warm_up_rises_in_a_line() {
        let training = TrainingConfig { warm_up: 2.0, ..training(Schedule::Constant) };
        assert_rates(&training, &[(0.5, 0.025), (2.0, 0.1), (3.0, 0.1)]);
    }

    #[test]
    fn a_plateau_cuts_each_time_patience_ends() {
        let plateau = training(Schedule::Plateau);
        let cut: Vec<usize> = (0..31).filter(|stale| cuts(&plateau, *stale)).collect();
        assert_eq!(cut, [10, 20, 30]);
        assert!(!cuts(&training(Schedule::Step), 10));
    }
}
