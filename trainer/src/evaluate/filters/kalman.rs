//! A Kalman filter (1960) with a constant-velocity model.

use super::tune::Grid;
use super::{Filter, Tunable};

/// Initial variance of the velocity, in units of the observation noise: far larger than that of any signal.
const UNKNOWN: f64 = 1e4;

/// State (p, v): p_t = p_{t−1} + v_{t−1}, v_t = v_{t−1}, driven by white acceleration of spectral density q,
/// which adds q [[1/3, 1/2], [1/2, 1]] to their covariance per step (Bar-Shalom, Li and Kirubarajan 2001,
/// 6.2.2). p is observed with noise of variance r. Estimates depend on q / r only, so r = 1 here.
#[derive(Clone, Copy, Debug)]
pub struct ConstantVelocity {
    /// q / r.
    pub agility: f64,
}

/// Mean and covariance, in units of r.
#[derive(Clone, Copy, Debug)]
pub struct KalmanState {
    position: f64,
    velocity: f64,
    pp: f64,
    pv: f64,
    vv: f64,
}

impl Filter for ConstantVelocity {
    type State = KalmanState;

    fn start(&self, first: f64) -> KalmanState {
        KalmanState { position: first, velocity: 0.0, pp: 1.0, pv: 0.0, vv: UNKNOWN }
    }

    fn step(&self, state: &mut KalmanState, observed: Option<f64>) -> f64 {
        state.predict(self.agility);
        if let Some(observed) = observed {
            state.correct(observed);
        }
        state.position
    }
}

impl KalmanState {
    fn predict(&mut self, q: f64) {
        self.position += self.velocity;
        self.pp += 2.0 * self.pv + self.vv + q / 3.0;
        self.pv += self.vv + q / 2.0;
        self.vv += q;
    }

    fn correct(&mut self, observed: f64) {
        let (surprise, spread) = (observed - self.position, self.pp + 1.0);
        let (gain_p, gain_v) = (self.pp / spread, self.pv / spread);
        self.position += gain_p * surprise;
        self.velocity += gain_v * surprise;
        self.vv -= gain_v * self.pv;
        self.pv -= gain_p * self.pv;
        self.pp -= gain_p * self.pp;
    }
}

impl Tunable<1> for ConstantVelocity {
    const NAME: &'static str = "Kalman";
    const DETAIL: &'static str = "constant velocity disturbed by white acceleration";
    const GRID: [Grid; 1] = [Grid { from: 1e-9, to: 1e3, points: 37 }];

    fn with([agility]: [f64; 1]) -> Self {
        ConstantVelocity { agility }
    }
}
