//! Negative log-likelihood of every single row of a batch: the terms of the loss.

use quaver::checkpoint::{Likelihood, ModelSpec};
use quaver::likelihood::{expected_noise, softmax};

use super::likelihood::{self, LikelihoodTerms};
use crate::data::batch::Batch;
use crate::nn::net::MomentTensors;
use crate::nn::tensors::to_vec;

/// Negative log-likelihood of every row [steps × lanes] of a batch under the moments of the output map, in
/// nats with densities in standardised units; 0 for padding. `noise` holds the noise variances of a Gaussian
/// likelihood.
pub(crate) fn row_nlls(spec: &ModelSpec, noise: &[f32], output: MomentTensors, batch: &Batch) -> Vec<f64> {
    let (outputs, columns) = (usize::from(spec.outputs), usize::from(spec.outputs) * spec.likelihood.rows());
    let mean = to_vec(output.mean);
    let var = output.var.map_or_else(|| vec![0.0; mean.len()], to_vec);
    let moments = mean.chunks(columns).zip(var.chunks(columns));
    let observed = batch.targets.chunks(outputs).zip(batch.mask.chunks(outputs));
    let mut scratch = [vec![0.0; outputs], vec![0.0; outputs]];
    moments
        .zip(observed)
        .map(|(moments, observed)| row_nll(spec, noise, moments, observed, &mut scratch))
        .collect()
}

fn row_nll(
    spec: &ModelSpec,
    noise: &[f32],
    (mean, var): (&[f32], &[f32]),
    (targets, mask): (&[f32], &[f32]),
    [by_mean, by_var]: &mut [Vec<f32>; 2],
) -> f64 {
    if mask.iter().all(|mask| *mask == 0.0) {
        return 0.0;
    }
    let mut nll = |mean: &[f32], var: &[f32], sum: &dyn Fn(LikelihoodTerms<'_>) -> f64| {
        sum(LikelihoodTerms { targets, mask, mean, var, by_mean, by_var })
    };
    match spec.likelihood {
        Likelihood::Gaussian => {
            let total: Vec<f32> = var.iter().zip(noise).map(|(var, noise)| var + noise).collect();
            nll(mean, &total, &likelihood::gaussian)
        }
        Likelihood::Heteroscedastic => {
            let pairs = mean.chunks_exact(2).zip(var.chunks_exact(2));
            let total: Vec<f32> = pairs.map(|(m, v)| v[0] + expected_noise(m[1], v[1])).collect();
            let first: Vec<f32> = mean.iter().step_by(2).copied().collect();
            nll(&first, &total, &likelihood::gaussian)
        }
        Likelihood::Bernoulli => nll(mean, var, &|terms| likelihood::bernoulli(terms, spec.moment_form)),
        Likelihood::Categorical => {
            let mut p = mean.to_vec();
            softmax(&mut p, var);
            let nats = |(p, (z, mask)): (&f32, (&f32, &f32))| likelihood::class_nll(*p, z * mask);
            p.iter().zip(targets.iter().zip(mask)).map(nats).sum()
        }
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, Tensor, TensorData};
    use quaver::checkpoint::{CellKind, Target};

    use super::*;
    use crate::fit::loss::{Mode, loss};
    use crate::nn::tensors::ParameterTensors;
    use crate::nn::{Parameters, test_spec};
    use crate::random::{self, normals, stream};

    #[test]
    fn rows_add_up_to_the_loss() {
        let mut rng = stream(1, random::Purpose::Initialisation);
        for likelihood in [
            Likelihood::Gaussian,
            Likelihood::Bernoulli,
            Likelihood::Heteroscedastic,
            Likelihood::Categorical,
        ] {
            let spec = ModelSpec { likelihood, ..test_spec(1, 2, &[(CellKind::Lstm, 1)]) };
            let (rows, columns) = (6, 2 * likelihood.rows());
            let mut parameters = Parameters::zeros(&spec);
            if let Some(noise) = parameters.get_mut("output.log_noise") {
                noise.values.copy_from_slice(&[0.3, -0.4]);
            }
            let mut tensor = |map: fn(f32) -> f32| -> Tensor<2> {
                let values = normals(&mut rng, rows * columns).into_iter().map(map).collect();
                Tensor::from_data(TensorData::new(values, [rows, columns]), &Device::flex())
            };
            let output = MomentTensors { mean: tensor(|draw| draw), var: Some(tensor(|draw| draw * draw)) };
            let batch = Batch {
                steps: 3,
                rows: 2,
                inputs_mean: Vec::new(),
                inputs_var: Vec::new(),
                targets: [1.0, 0.0].repeat(rows),
                mask: [vec![1.0; 9], vec![0.0; 3]].concat(),
                target: Target::Columns,
                chunks: Vec::new(),
                starts: Vec::new(),
                linear: None,
            };
            let tensors = ParameterTensors::new(&spec, &parameters, &Device::flex());
            let whole = loss(&spec, &tensors, output.clone(), &batch, Mode::Eval).unwrap();
            let expected = f64::from(to_vec(whole.value)[0]) * whole.steps as f64;
            let found = row_nlls(&spec, &parameters.noise_var(&spec), output, &batch);
            assert_eq!((found.len(), found[5]), (rows, 0.0));
            let sum: f64 = found.iter().sum();
            assert!(
                (sum - expected).abs() < 1e-5 * expected.abs(),
                "{likelihood:?}: {sum} against {expected}"
            );
        }
    }
}
