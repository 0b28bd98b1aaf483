//! Noise on units and variance scales as Burn tensors, fixed or learned.

use burn::tensor::{Device, Tensor};

use super::net::MomentTensors;
use quaver::noise::NoiseCoefficients;

/// Noise on units before an affine map.
#[derive(Clone, Debug)]
pub enum NoiseLayer {
    /// With fixed coefficients.
    Fixed(NoiseCoefficients),
    /// Dropout with a learned keep probability, `[1]`.
    Dropout(Box<Tensor<1>>),
}

/// The factor β on variances.
#[derive(Clone, Debug)]
pub enum VarianceScale {
    /// Fixed.
    Fixed(f32),
    /// Learned, `[1]`.
    Learned(Box<Tensor<1>>),
}

impl NoiseLayer {
    /// Moments after the noise. Terms that are zero are not computed.
    pub fn apply(&self, input: MomentTensors) -> MomentTensors {
        match self {
            NoiseLayer::Fixed(noise) => {
                let var = fixed_var(&input, *noise);
                let mean = if noise.mean == 1.0 { input.mean } else { input.mean * noise.mean };
                MomentTensors { mean, var }
            }
            NoiseLayer::Dropout(keep) => {
                let keep: Tensor<2> = Tensor::clone(keep).unsqueeze();
                let made = input.mean.clone() * input.mean.clone() * mask_variance(&keep);
                let var = match input.var {
                    Some(var) => made + var * keep.clone(),
                    None => made,
                };
                MomentTensors { mean: input.mean * keep, var: Some(var) }
            }
        }
    }

    /// The coefficients in the order of [`NoiseCoefficients`]'s fields, `[4]`.
    pub fn coefficients(&self, device: &Device) -> Tensor<1> {
        match self {
            NoiseLayer::Fixed(NoiseCoefficients { mean, square, var, constant }) => {
                Tensor::from_data([*mean, *square, *var, *constant], device)
            }
            NoiseLayer::Dropout(keep) => {
                let keep = Tensor::clone(keep);
                let (square, constant) = (mask_variance(&keep), Tensor::zeros([1], device));
                Tensor::cat(vec![keep.clone(), square, keep, constant], 0)
            }
        }
    }

    /// Whether it is learned.
    pub fn is_learned(&self) -> bool {
        matches!(self, NoiseLayer::Dropout(_))
    }

    /// Whether there is no noise at all.
    pub fn is_none(&self) -> bool {
        matches!(self, NoiseLayer::Fixed(noise) if *noise == NoiseCoefficients::none())
    }
}

impl VarianceScale {
    /// Variances times the factor.
    pub fn apply(&self, var: Tensor<2>) -> Tensor<2> {
        match self {
            VarianceScale::Fixed(1.0) => var,
            VarianceScale::Fixed(scale) => var * *scale,
            VarianceScale::Learned(scale) => var * Tensor::clone(scale).unsqueeze(),
        }
    }

    /// The factor, `[1]`.
    pub fn coefficient(&self, device: &Device) -> Tensor<1> {
        match self {
            VarianceScale::Fixed(scale) => Tensor::from_data([*scale], device),
            VarianceScale::Learned(scale) => Tensor::clone(scale),
        }
    }

    /// Whether it is learned.
    pub fn is_learned(&self) -> bool {
        matches!(self, VarianceScale::Learned(_))
    }
}

/// p (1 − p), the variance of a dropout mask: `square` of [`NoiseCoefficients::dropout`], as a tensor.
fn mask_variance<const D: usize>(keep: &Tensor<D>) -> Tensor<D> {
    keep.clone() * (keep.clone() * -1.0 + 1.0)
}

/// ṽ = square·m² + var·v + constant; terms that are zero are not computed.
fn fixed_var(input: &MomentTensors, noise: NoiseCoefficients) -> Option<Tensor<2>> {
    let carried = input.var.clone().map(|var| if noise.var == 1.0 { var } else { var * noise.var });
    let made = (noise.square != 0.0).then(|| input.mean.clone() * input.mean.clone() * noise.square);
    let total = match (carried, made) {
        (Some(carried), Some(made)) => Some(carried + made),
        (carried, made) => carried.or(made),
    };
    match total {
        Some(total) if noise.constant != 0.0 => Some(total + noise.constant),
        None if noise.constant != 0.0 => Some(input.mean.zeros_like() + noise.constant),
        total => total,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::tensors::to_vec;

    /// The tensors compute 1 − p as −p + 1, which rounds alike.
    #[test]
    fn learned_dropout_has_the_coefficients_of_dropout() {
        let device = Device::default();
        for keep in [0.1, 0.5, 0.8, 1.0] {
            let learned = NoiseLayer::Dropout(Tensor::from_data([keep], &device).into());
            let fixed = NoiseLayer::Fixed(NoiseCoefficients::dropout(keep));
            assert_eq!(to_vec(learned.coefficients(&device)), to_vec(fixed.coefficients(&device)));
        }
    }
}
