//! Gradients of the objective for every combination of cell, noise, likelihood and method.

use quaver::checkpoint::{
    Activation, CellKind, Likelihood, ModelSpec, MomentForm, OutputMode, Target, UnitNoise,
};
use rand_core::Rng;

use super::reference::{MomentsOfActivation, Number, Recorded, Reference, fitted, printed};
use super::{is_binary, numbers, ragged_batch};
use crate::config::{InitConfig, WeightsConfig};
use crate::data::batch::Batch;
use crate::fit::bayes_by_backprop::{draw_network, draw_weights};
use crate::fit::{
    BatchContext, LossAndGradient, WeightDraw, loss_and_gradient_of_draws, loss_and_gradient_with,
};
use crate::nn::{BayesByBackprop, ScaleMixture, WeightPosterior, WeightPrior};
use crate::nn::{Parameters, TrainingMethod, WeightNoise, test_cells, test_spec};
use crate::random::{Purpose, stream};

/// Noise on units, and whether its keep probability is learned.
const NOISES: [(UnitNoise, bool); 5] = [
    (UnitNoise::None, false),
    (UnitNoise::Dropout { keep: 0.8 }, false),
    (UnitNoise::Dropout { keep: 0.7 }, true),
    (UnitNoise::Multiplicative { var: 0.3 }, false),
    (UnitNoise::Additive { var: 0.2 }, false),
];

/// Likelihoods, and whether the variance is implicit.
const HEADS: [(Likelihood, bool); 5] = [
    (Likelihood::Gaussian, false),
    (Likelihood::Gaussian, true),
    (Likelihood::Heteroscedastic, false),
    (Likelihood::Bernoulli, false),
    (Likelihood::Categorical, false),
];

const POSTERIORS: [WeightPosterior; 5] = [
    WeightPosterior::Point,
    WeightPosterior::Ropd,
    WeightPosterior::Vb,
    WeightPosterior::Bbb(BayesByBackprop {
        prior: WeightPrior::Mixture(ScaleMixture { weight: 0.4, std_devs: [0.9, 0.3] }),
        sharpening: None,
    }),
    WeightPosterior::Bbb(BayesByBackprop { prior: WeightPrior::Learned, sharpening: Some(0.2) }),
];

const WEIGHT_NOISES: [WeightNoise; 3] =
    [WeightNoise::None, WeightNoise::Gaussian { var: 0.05 }, WeightNoise::DropConnect { keep: 0.8 }];

/// Time steps that the divergence of the weights is shared by.
const OBSERVATIONS: usize = 50;

const CONTEXT: BatchContext<'_> =
    BatchContext { divergence_share: Some(1.0 / OBSERVATIONS as f32), start: None };

/// A net with its parameters, and a batch for it.
struct Case {
    spec: ModelSpec,
    parameters: Parameters,
    batch: Batch,
    /// Draws of the weights, if they are drawn: a pair.
    draws: Vec<WeightDraw>,
}

impl Case {
    /// A layer of the given kind below one of tanh. What the table does not name is drawn from `rng`.
    fn new(
        cell: CellKind,
        (noise, learned_keep): (UnitNoise, bool),
        (likelihood, implicit_variance): (Likelihood, bool),
        posterior: WeightPosterior,
        rng: &mut impl Rng,
    ) -> Case {
        let mut one_of = |count: u32| rng.next_u32() % count;
        let mut spec = test_spec(2, 2, &[(cell, 2), (CellKind::Elman(Activation::Tanh), 2)]);
        let mut weight_noise = WEIGHT_NOISES[one_of(3) as usize];
        let is_drawn = matches!(posterior, WeightPosterior::Bbb(_));
        if is_drawn {
            weight_noise = WeightNoise::None;
        }
        let deterministic = posterior == WeightPosterior::Point && weight_noise == WeightNoise::None;
        if deterministic && !implicit_variance && one_of(2) == 0 {
            spec.output.mode = OutputMode::MeanOnly;
        }
        let scale_min = (one_of(2) == 0).then_some(0.3);
        for layer in &mut spec.layers {
            (layer.input_noise, layer.variance_scale) = (noise, 1.2);
            layer.recurrent_noise = if layer.cell.is_recurrent() { noise } else { UnitNoise::None };
        }
        (spec.output.noise, spec.output.variance_scale, spec.likelihood) = (noise, 0.7, likelihood);
        let method = TrainingMethod { posterior, weight_noise, scale_min, learned_keep, implicit_variance };
        let init = InitConfig { weight_std_dev: 0.5, ..InitConfig::default() };
        let mut parameters = init.parameters_for(&spec, method, rng.next_u64());
        if implicit_variance {
            // Next to no weight is next to no variance, and a loss too steep to be tested by its
            // differences.
            let weights = parameters.get_mut("output.weight").expect("an output map");
            weights.values.iter_mut().for_each(|weight| *weight += weight.signum());
        }
        let rates = parameters.tensors.iter_mut().filter(|list| list.name.ends_with("_rate"));
        rates.for_each(|list| list.values = numbers(11, list.values.len()).iter().map(|n| 0.1 * n).collect());
        let pair = WeightsConfig { draws: 2, antithetic: true, ..WeightsConfig::default() };
        let draws = if is_drawn { draw_weights(&parameters, &pair, rng) } else { Vec::new() };
        // Not before, because a net for changes begins without any.
        if !is_binary(likelihood) && rng.next_u32().is_multiple_of(3) {
            spec.target = Target::ResidualNext;
        }
        Case { spec, parameters, batch: ragged_batch(2, 2, is_binary(likelihood)), draws }
    }

    fn loss_and_gradient(&self) -> LossAndGradient {
        let Case { spec, parameters, batch, draws } = self;
        let found = match draws[..] {
            [] => loss_and_gradient_with(spec, parameters, batch, CONTEXT),
            _ => loss_and_gradient_of_draws(spec, parameters, batch, CONTEXT, draws),
        };
        found.expect("targets that count")
    }

    /// The reference, one for each draw. g_φ of a sharpened posterior is a constant.
    fn references<N: Number>(
        &self,
        activation_moments: MomentsOfActivation<N>,
        number: impl Fn(f32) -> N + Copy,
    ) -> Vec<Reference<'_, N>> {
        let Case { spec, parameters, batch, draws } = self;
        let reference = || Reference::new(spec, parameters, activation_moments, number);
        if draws.is_empty() {
            return vec![reference()];
        }
        let drawn = |draw: &WeightDraw| {
            let likelihood_only = BatchContext::default();
            let of_points =
                |points: &Parameters| loss_and_gradient_with(spec, points, batch, likelihood_only);
            let drawn = draw_network(parameters, draw, of_points).expect("targets that count");
            reference().drawn(parameters, drawn.sample())
        };
        draws.iter().map(drawn).collect()
    }

    fn name(&self) -> String {
        let ModelSpec { layers, output, likelihood, moment_form, target, .. } = &self.spec;
        format!(
            "{:?}, {:?}, {likelihood:?} {target:?}, {moment_form:?}, {:?} output, {:?}",
            layers[0].cell, layers[0].input_noise, output.mode, self.parameters.method
        )
    }
}

/// Variational Bayes expects a normal likelihood whose noise is its own; drawn weights leave little variance
/// to an implicit one.
fn makes_sense(((likelihood, implicit), posterior): &((Likelihood, bool), WeightPosterior)) -> bool {
    match posterior {
        WeightPosterior::Point | WeightPosterior::Ropd => true,
        WeightPosterior::Vb => (*likelihood, *implicit) == (Likelihood::Gaussian, false),
        WeightPosterior::Bbb(_) => !implicit,
    }
}

/// Every cell with every noise, every likelihood and every posterior that a config allows together.
fn table() -> impl Iterator<Item = Case> {
    let mut rng = stream(1, Purpose::Initialisation);
    let cells = test_cells().into_iter().flat_map(|cell| NOISES.map(|noise| (cell, noise)));
    let heads = || HEADS.into_iter().flat_map(|head| POSTERIORS.map(|posterior| (head, posterior)));
    let rows = cells.flat_map(move |(cell, noise)| {
        heads().filter(makes_sense).map(move |(head, posterior)| (cell, noise, head, posterior))
    });
    rows.map(move |(cell, noise, head, posterior)| Case::new(cell, noise, head, posterior, &mut rng))
}

/// Scale of a gradient's error: its length, or a hundredth of the whole gradient's where it is
/// shorter.
///
/// Sums of large terms that cancel cannot be more exact than the terms.
fn size(gradient: &[f32], whole: &LossAndGradient) -> f64 {
    let length = |values: &mut dyn Iterator<Item = &f32>| -> f64 {
        values.map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt()
    };
    length(&mut gradient.iter()).max(0.01 * length(&mut whole.gradients.iter().flatten()))
}

/// Gradients are f32, formed by some hundred operations; the references are better than that, or as good. At
/// most half of this was seen, where the variance is implicit and small, so that rounding counts for much.
const TOLERANCE: f64 = 1e-4;

/// Gradients that deviate from what they should be by more than that.
#[derive(Default)]
struct StdDevs(Vec<String>);

impl StdDevs {
    fn check(&mut self, found: f64, expected: f64, size: f64, what: &str, case: &Case) {
        // NaN is no small error.
        if (found - expected).abs() <= TOLERANCE * size {
            return;
        }
        self.0.push(format!("{what} is {found}, not {expected}, of {}", case.name()));
    }

    fn assert_none(self) {
        assert!(self.0.is_empty(), "{} deviate:\n{}", self.0.len(), self.0.join("\n"));
    }
}

/// The objective, averaged over draws.
fn mean_objective(references: &[Reference<'_, f64>], batch: &Batch) -> f64 {
    let sum: f64 = references.iter().map(|reference| reference.objective(batch, OBSERVATIONS)).sum();
    sum / references.len() as f64
}

/// The derivative of the f64 objective along a direction, free of the term in the squared step: good to ten
/// digits.
fn difference(references: &[Reference<'_, f64>], name: &str, direction: &[f32], batch: &Batch) -> f64 {
    let at = |step: f64| {
        let mut moved = references.to_vec();
        for reference in &mut moved {
            let values = reference.values.get_mut(name).expect("a parameter of this name");
            values.iter_mut().zip(direction).for_each(|(value, d)| *value += step * f64::from(*d));
        }
        mean_objective(&moved, batch)
    };
    let central = |step: f64| (at(step) - at(-step)) / (2.0 * step);
    (4.0 * central(2e-4) - central(4e-4)) / 3.0
}

#[test]
fn gradients_agree_with_differences_of_an_objective_in_f64() {
    let mut std_devs = StdDevs::default();
    for mut case in table() {
        case.spec.moment_form = MomentForm::Paper;
        let found = case.loss_and_gradient();
        let references = case.references(printed, f64::from);
        let objective = mean_objective(&references, &case.batch);
        std_devs.check(found.nll + found.divergence, objective, 1.0 + objective.abs(), "the loss", &case);
        for (tensor, gradient) in case.parameters.tensors.iter().zip(&found.gradients) {
            let direction = numbers(7, gradient.len());
            let along = gradient.iter().zip(&direction).map(|(g, d)| f64::from(*g) * f64::from(*d)).sum();
            let expected = difference(&references, &tensor.name, &direction, &case.batch);
            std_devs.check(along, expected, size(gradient, &found), &tensor.name, &case);
        }
    }
    std_devs.assert_none();
}

/// Every pair of a cell, a noise and a likelihood once, with either form of the moments in turn.
fn square() -> impl Iterator<Item = Case> {
    let mut rng = stream(2, Purpose::Initialisation);
    let cells = test_cells();
    (0..cells.len() * NOISES.len()).map(move |index| {
        let (cell, noise) = (index / NOISES.len(), index % NOISES.len());
        let head = HEADS[(cell + noise) % HEADS.len()];
        let posteriors = POSTERIORS.map(|posterior| (head, posterior));
        let allowed: Vec<_> = posteriors.iter().filter(|head| makes_sense(head)).collect();
        let (_, posterior) = *allowed[index % allowed.len()];
        let mut case = Case::new(cells[cell], NOISES[noise], head, posterior, &mut rng);
        if (cell + noise) % 2 == 0 {
            case.spec.moment_form = MomentForm::Paper;
        }
        case
    })
}

#[test]
fn gradients_agree_with_plain_autodiff() {
    let mut std_devs = StdDevs::default();
    for case in square() {
        let activation_moments = match case.spec.moment_form {
            MomentForm::Accurate => fitted,
            MomentForm::Paper => printed,
        };
        let found = case.loss_and_gradient();
        let references = case.references(activation_moments, Recorded::leaf);
        let gradients: Vec<_> =
            references.iter().map(|it| it.objective(&case.batch, OBSERVATIONS).backward()).collect();
        for (tensor, gradient) in case.parameters.tensors.iter().zip(&found.gradients) {
            for (index, value) in gradient.iter().enumerate() {
                let each = references.iter().zip(&gradients).map(|(reference, gradients)| {
                    reference.values[&tensor.name][index].derivative(gradients)
                });
                let expected = each.sum::<f32>() / references.len() as f32;
                let size = size(gradient, &found);
                std_devs.check((*value).into(), expected.into(), size, &tensor.name, &case);
            }
        }
    }
    std_devs.assert_none();
}
