//! What was fitted after training for predictions of rows before they are observed, in flash.

use crate::format::F32s;
use crate::moments::{Moments, at_most};

/// One [`AutoregressivePrior`](crate::checkpoint::AutoregressivePrior) per latent, as mean, variance and
/// decay; empty if the model has the prior of its training.
#[derive(Clone, Copy, Debug, Default)]
pub struct LatentPriors<'m>(F32s<'m>);

impl<'m> LatentPriors<'m> {
    pub(super) fn new(numbers: F32s<'m>) -> Self {
        LatentPriors(numbers)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The stationary moments of every latent.
    pub(super) fn stationary(self) -> impl Iterator<Item = Moments> + 'm {
        self.0.triples().map(|[mean, var, _]| Moments { mean, var })
    }

    /// The moments of z_{t+1} from those of z_t: N(m + a (μ − m), a² σ² + (1 − a²) v).
    pub(super) fn next(self, latent: u16, last: Moments) -> Moments {
        let [mean, var, decay] = self.0.group(latent.into());
        let square = decay * decay;
        Moments { mean: mean + decay * (last.mean - mean), var: square * last.var + (1.0 - square) * var }
    }
}

/// Variance of the noise that observed rows have and predicted rows have not, per channel in raw units; empty
/// if there is none.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowNoise<'m>(F32s<'m>);

impl<'m> RowNoise<'m> {
    pub(super) fn new(numbers: F32s<'m>) -> Self {
        RowNoise(numbers)
    }

    /// Adds the noise to predicted variances.
    pub(super) fn add_to(self, vars: &mut [f32]) {
        vars.iter_mut().zip(self.0.iter()).for_each(|(var, noise)| *var = at_most(*var + noise, f32::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stationary_distribution_stays_and_white_noise_forgets() {
        let numbers = [0.5_f32, 2.0, 0.9, -1.0, 0.25, 0.0].map(f32::to_le_bytes);
        let prior = LatentPriors::new(F32s::new(numbers.as_flattened()));
        let mut stationary = prior.stationary();
        let (first, second) = (stationary.next().unwrap(), stationary.next().unwrap());
        assert!(stationary.next().is_none());
        let stayed = prior.next(0, first);
        // Two products of rounded numbers.
        assert!((stayed.mean - 0.5).abs() < 1e-6 && (stayed.var - 2.0).abs() < 1e-6, "{stayed:?}");
        assert_eq!(prior.next(1, Moments { mean: 9.0, var: 4.0 }), second);
        // 0.5 + 0.9 · 1 and 0.81 · 1 + 0.19 · 2.
        let moved = prior.next(0, Moments { mean: 1.5, var: 1.0 });
        assert!((moved.mean - 1.4).abs() < 1e-6 && (moved.var - 1.19).abs() < 1e-6, "{moved:?}");
    }

    #[test]
    fn noise_is_added_and_stays_finite() {
        let numbers = [0.5_f32, 3e38].map(f32::to_le_bytes);
        let mut vars = [1.0, 3e38, 2.0];
        RowNoise::new(F32s::new(numbers.as_flattened())).add_to(&mut vars);
        assert_eq!(vars, [1.5, f32::MAX, 2.0]);
        RowNoise::default().add_to(&mut vars);
        assert_eq!(vars, [1.5, f32::MAX, 2.0]);
    }
}
