//! Gradients of every objective and pooling against central differences of the loss.

use super::{POOLINGS, config, dataset, numbers};
use crate::config::{Config, ObjectiveName, PoolOverName, PoolingName, SparseNorm};
use crate::data::batch::{Batch, Chunk};
use crate::fit::bayes_by_backprop::average_over_draws;
use crate::fit::{Architecture, BatchContext, WeightDraw};
use crate::nn::{Parameters, WeightPosterior, test_cells};
use crate::reduce::ReduceModel;

const OBJECTIVES: [ObjectiveName; 6] = [
    ObjectiveName::Nca,
    ObjectiveName::NcaLog,
    ObjectiveName::CrossEntropy,
    ObjectiveName::Rim,
    ObjectiveName::SparseFiltering,
    ObjectiveName::Next,
];

/// Step of a difference along a direction of length 1. The loss is of the order of 1 and accurate to 10⁻⁷,
/// which leaves 10⁻⁵ in the difference; the third derivative adds as much.
const STEP: f32 = 1e-2;

/// Part of the norm of a gradient that a difference may be off by, and what may be added: see [`STEP`].
const TOLERANCE: [f64; 2] = [0.01, 3e-4];

struct Case {
    config: Config,
    model: ReduceModel,
    parameters: Parameters,
    batch: Batch,
    draw: Option<WeightDraw>,
}

impl Case {
    fn new(overrides: &[&str]) -> Self {
        let config = config(overrides);
        let data = dataset();
        let model = ReduceModel::from_config(&config, &data).unwrap();
        let scaling = model.scaling(&config, &data).unwrap();
        let mut parameters = model.init_parameters(&config, &data, &scaling);
        // Larger weights, so that embeddings differ and gradients are not small.
        for (index, named) in parameters.tensors.iter_mut().enumerate() {
            let drawn = numbers(index as u64, named.values.len());
            if ["weight", "bias", "map", "offset"].iter().any(|end| named.name.ends_with(end)) {
                named
                    .values
                    .iter_mut()
                    .zip(drawn)
                    .for_each(|(value, draw)| *value = 1.2 * *value + 0.1 * draw);
            }
        }
        let chunks: Vec<Chunk> = (0..8)
            .map(|sequence| Chunk {
                sequence,
                start: 0,
                len: data.train[sequence].len().min(6 + sequence % 4),
            })
            .collect();
        let batch = Batch::new(&data.train, &scaling, &chunks);
        let drawn = matches!(parameters.method.posterior, WeightPosterior::Bbb(_));
        let draw = drawn.then(|| {
            let lists = parameters.weight_lists().enumerate();
            let first = lists.map(|(index, list)| numbers(50 + index as u64, list.values.len())).collect();
            WeightDraw { first, second: None }
        });
        Case { config, model, parameters, batch, draw }
    }

    fn loss_and_gradient(&self, parameters: &Parameters) -> (f64, Vec<Vec<f32>>) {
        let reduce = self.config.reduce.clone().unwrap();
        let context = BatchContext { divergence_share: Some(0.01), start: None };
        let of = |parameters: &Parameters, context: BatchContext<'_>| {
            self.model.differentiate(parameters, &reduce, &self.batch, context)
        };
        let found = match &self.draw {
            Some(draw) => average_over_draws(parameters, context, std::slice::from_ref(draw), of),
            None => of(parameters, context),
        };
        let found = found.expect("a batch that counts");
        (found.nll + found.divergence, found.gradients)
    }

    /// The slope along one list of parameters in a random direction, by the gradient and by differences.
    fn assert_gradients(&self, what: &str) {
        let (_, gradients) = self.loss_and_gradient(&self.parameters);
        let norm = gradients.iter().flatten().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
        assert!(norm > 1e-3, "{what}: no gradient");
        for (index, gradient) in gradients.iter().enumerate() {
            let mut direction = numbers(90 + index as u64, gradient.len());
            let length = direction.iter().map(|value| value * value).sum::<f32>().sqrt();
            direction.iter_mut().for_each(|value| *value /= length);
            let at = |step: f32| {
                let mut moved = self.parameters.clone();
                let values = moved.tensors[index].values.iter_mut().zip(&direction);
                values.for_each(|(value, direction)| *value += step * direction);
                self.loss_and_gradient(&moved).0
            };
            let difference = (at(STEP) - at(-STEP)) / f64::from(2.0 * STEP);
            let slope: f64 =
                gradient.iter().zip(&direction).map(|(g, d)| f64::from(*g) * f64::from(*d)).sum();
            let name = &self.parameters.tensors[index].name;
            assert!(
                (slope - difference).abs() < TOLERANCE[0] * norm + TOLERANCE[1],
                "{what}, {name}: {slope} by the gradient, {difference} by differences, norm {norm}"
            );
        }
    }
}

fn named<T: serde::Serialize>(value: T) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap().to_string()
}

fn check(objective: ObjectiveName, pooling: PoolingName, over: PoolOverName, more: &[&str]) {
    let over = if objective == ObjectiveName::Next { PoolOverName::Units } else { over };
    let set = [
        format!("reduce.objective={}", named(objective)),
        format!("reduce.pooling={}", named(pooling)),
        format!("reduce.over={}", named(over)),
    ];
    let set: Vec<&str> = set.iter().map(String::as_str).chain(more.iter().copied()).collect();
    Case::new(&set).assert_gradients(&set.join(" "));
}

#[test]
fn every_objective_and_pooling() {
    for objective in OBJECTIVES {
        for pooling in POOLINGS {
            for over in [PoolOverName::Units, PoolOverName::Outputs] {
                check(objective, pooling, over, &[]);
            }
        }
    }
}

#[test]
fn with_noise_on_units() {
    for objective in OBJECTIVES {
        for pooling in POOLINGS {
            check(
                objective,
                pooling,
                PoolOverName::Outputs,
                &["noise.recurrent_keep=0.8", "noise.output_keep=0.9"],
            );
        }
    }
}

#[test]
fn with_uncertain_weights_and_weights_that_are_drawn() {
    for objective in OBJECTIVES {
        check(objective, PoolingName::Mean, PoolOverName::Outputs, &["weights.posterior=ropd"]);
        // A prior as narrow as the default is too curved for differences.
        let wide = ["weights.posterior=bbb", "weights.prior_std_dev=[1.0, 0.5]"];
        check(objective, PoolingName::Mean, PoolOverName::Outputs, &wide);
    }
}

#[test]
fn of_every_cell_and_both_norms() {
    for name in crate::config::test_cell_names().into_iter().map(|(name, _)| name) {
        check(ObjectiveName::Nca, PoolingName::Mean, PoolOverName::Units, &[&format!("model.cell={name}")]);
    }
    assert!(test_cells().len() > 3);
    let norm = format!("reduce.norm={}", named(SparseNorm::L2));
    check(ObjectiveName::SparseFiltering, PoolingName::Mean, PoolOverName::Outputs, &[&norm]);
}
