//! The one-euro filter (Casiez, Roussel and Vogel 2012): exponential smoothing whose cutoff rises with speed.

use std::f64::consts::TAU;

use super::tune::Grid;
use super::{Filter, Tunable};

/// x̂_t = α x_t + (1 − α) x̂_{t−1} with α = 1 / (1 + τ), τ = 1 / (2π f_c) and the cutoff f_c = f_min + β
/// |dx̂_t| (Casiez et al. 2012, eqs. 5 to 7); dx̂_t is the change x_t − x̂_{t−1}, smoothed likewise with a
/// cutoff of its own, as in the authors' code. Frequencies are per sample: the time between two rows is 1.
#[derive(Clone, Copy, Debug)]
pub struct OneEuro {
    /// Cutoff at rest, f_min.
    pub min_cutoff: f64,
    /// How much the cutoff rises with speed, β.
    pub beta: f64,
    /// Cutoff of the speed.
    pub speed_cutoff: f64,
}

/// Its state.
#[derive(Clone, Copy, Debug)]
pub struct OneEuroState {
    value: f64,
    speed: f64,
}

/// The smoothing weight α of a cutoff frequency.
fn share(cutoff: f64) -> f64 {
    1.0 / (1.0 + 1.0 / (TAU * cutoff))
}

impl Filter for OneEuro {
    type State = OneEuroState;

    fn start(&self, first: f64) -> OneEuroState {
        OneEuroState { value: first, speed: 0.0 }
    }

    fn step(&self, state: &mut OneEuroState, observed: Option<f64>) -> f64 {
        let Some(observed) = observed else { return state.value };
        let change = observed - state.value;
        state.speed += share(self.speed_cutoff) * (change - state.speed);
        let cutoff = self.min_cutoff + self.beta * state.speed.abs();
        state.value += share(cutoff) * change;
        state.value
    }
}

impl Tunable<3> for OneEuro {
    const NAME: &'static str = "one-euro";
    const DETAIL: &'static str =
        "an exponential average whose cutoff rises with the smoothed speed (Casiez et al. 2012)";
    const GRID: [Grid; 3] = [
        Grid { from: 1e-3, to: 2.0, points: 9 },
        Grid { from: 1e-3, to: 10.0, points: 9 },
        Grid { from: 1e-2, to: 1.0, points: 4 },
    ];

    fn with([min_cutoff, beta, speed_cutoff]: [f64; 3]) -> Self {
        OneEuro { min_cutoff, beta, speed_cutoff }
    }
}
