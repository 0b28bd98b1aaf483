//! Models of text with weights that are drawn from their posterior.

use super::tests::{config, model, parameters, scaling, tokens};
use super::*;
use crate::config::{Config, PosteriorName};
use crate::data::batch::{self, Batch};
use crate::fit::bayes_by_backprop::{WeightDraw, average_over_draws, draw_network};
use crate::fit::drawn_weights::DrawnWeights;
use crate::fit::optimiser::clip;
use crate::fit::step::RunningMean;
use crate::fit::truncated_bptt::CarriedStates;
use crate::fit::{Architecture, BatchContext, DynamicOptions, RunState, StepContext};
use crate::nn::{NamedTensor, Parameters};
use crate::random::{Purpose, normals, stream};
use quaver::checkpoint::UnitNoise;

const SHARE: f32 = 1.0 / 53.0;

fn bayes_config(sharpen: bool) -> Config {
    let mut config = config(PosteriorName::Bbb);
    // Wide, so that finite differences tell its slope: over steps of 0.02, the third derivative of a
    // component of 0.1 alone makes an error of 4·10⁻⁴ in the loss of a step, that of 0.3 one of 5·10⁻⁶.
    config.weights.prior_std_dev = [0.5, 0.3];
    config.weights.sharpen = sharpen;
    config
}

/// Parameters with variances and rates of some size.
fn bayes(model: &TokenModel, sharpen: bool) -> Parameters {
    let data = crate::data::Dataset::of([vec![tokens()], Vec::new(), Vec::new()], &[]);
    let mut parameters = model.init_parameters(&bayes_config(sharpen), &data, &scaling(1));
    assert!(model.fits(&parameters));
    for NamedTensor { name, values, .. } in &mut parameters.tensors {
        let mut rng = stream(values.len() as u64, Purpose::Initialisation);
        if name.ends_with("_rho") {
            values.iter_mut().zip(normals(&mut rng, 1000)).for_each(|(rho, n)| *rho = -1.5 + 0.3 * n);
        } else if name.ends_with("_rate") {
            values.iter_mut().zip(normals(&mut rng, 1000)).for_each(|(rate, n)| *rate = 0.1 * n);
        }
    }
    parameters
}

fn batch() -> Batch {
    batch::lanes(&[tokens()], &scaling(1), 14, 4).next().unwrap()
}

/// The lists of an embedding are the last ones, those of its posterior included.
#[test]
fn every_weight_has_a_posterior_and_a_draw() {
    let model = model(3, UnitNoise::None);
    let parameters = bayes(&model, true);
    let names: Vec<&str> = parameters.tensors.iter().rev().take(3).map(|list| &list.name[..]).collect();
    assert_eq!(names, ["embedding.weight_rate", "embedding.weight_rho", "embedding.weight"]);
    let draw = WeightDraw::new(&parameters, &mut stream(1, Purpose::Initialisation));
    let lengths = |lists: &[Vec<f32>]| lists.iter().map(Vec::len).collect::<Vec<_>>();
    let expected: Vec<usize> = parameters.weight_lists().map(|list| list.values.len()).collect();
    assert_eq!(lengths(&draw.first), expected);
    assert_eq!(lengths(&draw.second.unwrap()), expected);
    assert_eq!(expected.last(), Some(&(7 * 3)));
    let points = DrawnWeights::new(&parameters, draw.first).points();
    assert!(model.fits(&points));
    assert_ne!(points.get("embedding.weight"), parameters.get("embedding.weight"));
}

/// Central differences with all noise, and g_φ of a sharpened posterior, held fixed. The loss has a rounding
/// error of 10⁻⁷ over steps of 2·10⁻², hence 10⁻⁵, and one of the third derivative times 10⁻⁴.
#[test]
fn gradients_of_all_lists_are_finite_differences_with_the_noise_held_fixed() {
    let batch = batch();
    for (embedding, sharpen) in [(3, false), (3, true), (0, true)] {
        let model = model(embedding, UnitNoise::Dropout { keep: 0.8 });
        let parameters = bayes(&model, sharpen);
        let draw = WeightDraw::new(&parameters, &mut stream(5, Purpose::Initialisation));
        let context = BatchContext { divergence_share: Some(SHARE), start: None };
        let of_points = |points: &Parameters| model.differentiate(points, &batch, BatchContext::default());
        let found =
            average_over_draws(&parameters, context, std::slice::from_ref(&draw), |points, context| {
                assert_eq!(context.divergence_share, None, "the likelihood of a draw has no divergence");
                model.differentiate(points, &batch, context)
            })
            .unwrap();
        let fixed = draw_network(&parameters, &draw, of_points).unwrap().sample().sharpened.clone();
        assert_eq!(fixed.is_some(), sharpen);
        let objective = |parameters: &Parameters| {
            let mut drawn = DrawnWeights::new(parameters, draw.first.clone());
            if let Some(fixed) = &fixed {
                drawn = drawn.sharpened(fixed.clone());
            }
            let loss = drawn.pull_back(of_points(&drawn.points()).unwrap(), Some(SHARE));
            loss.nll + loss.divergence
        };
        assert!((objective(&parameters) - found.nll - found.divergence).abs() < 1e-9);
        for (list, named) in parameters.tensors.iter().enumerate() {
            for index in (0..named.values.len()).step_by(5) {
                let at = |shift: f32| {
                    let mut moved = parameters.clone();
                    moved.tensors[list].values[index] += shift;
                    objective(&moved)
                };
                let expected = (at(0.01) - at(-0.01)) / 0.02;
                let gradient = f64::from(found.gradients[list][index]);
                assert!(
                    (gradient - expected).abs() < 3e-4 * (1.0 + expected.abs()),
                    "{} {index}: {gradient} against {expected}",
                    named.name
                );
            }
        }
    }
}

#[test]
fn a_step_trains_by_draws_that_depend_on_the_batch_alone() {
    let (model, batch, config) = (model(3, UnitNoise::None), batch(), bayes_config(false));
    let parameters = bayes(&model, false);
    let step = |index: usize| {
        let context = BatchContext { divergence_share: Some(SHARE), start: None };
        let step = StepContext { batch: &batch, config: &config, context, epoch: 1, index, epochs: 1.0 };
        model.loss_and_gradient(&parameters, &step).unwrap()
    };
    assert_eq!(step(3), step(3));
    assert_ne!(step(3).nll, step(4).nll);
    assert!(step(3).divergence > 0.0);
}

/// Without variance every draw is the network of the means; Monte Carlo, moments and the bound of a posterior
/// that is not sharpened agree. σ = softplus(−60) = 9·10⁻²⁷, σ₀ = 10⁻⁴.
#[test]
fn without_variance_all_inference_is_the_same() {
    let (model, streams) = (model(3, UnitNoise::None), [tokens()]);
    let mut parameters = bayes(&model, true);
    for NamedTensor { name, values, .. } in &mut parameters.tensors {
        if name.ends_with("_rho") {
            values.fill(-60.0);
        } else if name.ends_with("_rate") {
            values.fill(0.0);
        }
    }
    let expected = token_nlls(&model, &parameters, &streams).unwrap();
    let draws = drawn_networks(&parameters, 1, 3).unwrap();
    let mean = |networks: &[Parameters]| {
        let scores = token_scores(&model, networks, &streams, |_| ());
        assert_eq!(scores[0].len(), 53);
        scores[0].iter().map(|score| score.nll).sum::<f64>() / 53.0
    };
    // Sums in another order.
    assert!((mean(&draws) - expected).abs() < 1e-5);
    assert!((mean(&[parameters.clone()]) - expected).abs() < 1e-5);
    let mut config = bayes_config(true);
    (config.training.chunk, config.training.batch) = (14, 1);
    let names = [Vec::new(), Vec::new()];
    let state = RunState::first(model, parameters, &config.training, scaling(1), names);
    let bound = sharpened_token_bound(&state, &config.training, &streams, (1, 2), || ()).unwrap();
    // Weights that are off by σ₀ = 0.02 each, in sums of a dozen terms.
    assert!((bound.nll - expected).abs() < 0.05, "{} against {expected}", bound.nll);
    assert_eq!((bound.divergence, bound.steps), (0.0, 53));
}

/// The probability of a mixture is the mean of probabilities.
#[test]
fn a_mixture_scores_by_the_mean_of_probabilities() {
    let (model, streams) = (model(3, UnitNoise::None), [tokens()]);
    let networks = drawn_networks(&bayes(&model, false), 7, 2).unwrap();
    assert_ne!(networks[0], networks[1]);
    let scores = |networks: &[Parameters]| token_scores(&model, networks, &streams, |_| ()).remove(0);
    let (one, other, both) = (scores(&networks[..1]), scores(&networks[1..]), scores(&networks));
    for ((one, other), both) in one.iter().zip(&other).zip(&both) {
        let expected = -(0.5 * ((-one.nll).exp() + (-other.nll).exp())).ln();
        assert!((both.nll - expected).abs() < 1e-5);
        // Entropy is concave.
        assert!(both.entropy > 0.5 * (one.entropy + other.entropy) - 1e-6);
        assert!(both.entropy <= 7.0_f64.ln() + 1e-6);
    }
    assert_eq!(drawn_networks(&parameters(&model, PosteriorName::Point), 1, 2), None);
}

#[test]
fn a_model_that_goes_on_learning_knows_the_text_better() {
    let model = model(3, UnitNoise::None);
    let parameters = parameters(&model, PosteriorName::Point);
    // A text with a period of three tokens.
    let values = (0..400_u32).map(|index| (index % 3) as f32).collect();
    let streams = [crate::data::Sequence::next(crate::data::Rows { channels: 1, values })];
    let options = |rate: f32| DynamicOptions { rate, window: 10, clip_norm: f32::INFINITY };
    let nll = |rate: f32| dynamic_nll(&model, &parameters, &streams, options(rate), |_| ()).unwrap();
    let expected = token_nlls(&model, &parameters, &streams).unwrap();
    assert!((nll(0.0).0 - expected).abs() < 1e-5);
    assert_eq!(nll(0.0).1, 40);
    assert!(nll(0.5).0 < 0.8 * expected, "{} against {expected}", nll(0.5).0);
}

/// The mean NLL against that of updates by the clipping and the steps of training. Squares are summed in f64
/// in another order, so that factors differ by a rounding of f32, 10⁻⁷, in each of 8 updates: 10⁻⁵.
#[test]
fn dynamic_evaluation_makes_the_updates_of_clipped_gradient_descent() {
    let (model, streams) = (model(3, UnitNoise::None), [tokens()]);
    let options = DynamicOptions { rate: 0.5, window: 7, clip_norm: 0.1 };
    for parameters in [parameters(&model, PosteriorName::Point), bayes(&model, false)] {
        let (found, updates) = dynamic_nll(&model, &parameters, &streams, options, |_| ()).unwrap();
        let mut learner = parameters.clone();
        let (mut carried, mut mean, mut clipped) = (CarriedStates::default(), RunningMean::default(), 0);
        for batch in batch::lanes(&streams, &scaling(1), options.window, 1) {
            let start = carried.start(&model.carried_units(), &batch);
            let context = BatchContext { divergence_share: None, start: Some(&start) };
            let mut loss = model.differentiate(&learner, &batch, context).unwrap();
            mean.add(loss.nll, loss.steps);
            clipped += usize::from(clip(&mut loss.gradients, options.clip_norm) > options.clip_norm.into());
            for (list, gradient) in learner.tensors.iter_mut().zip(&loss.gradients) {
                let pairs = list.values.iter_mut().zip(gradient);
                pairs.for_each(|(value, gradient)| *value -= options.rate * gradient);
            }
            learner.clamp_to_limits();
            carried = CarriedStates::after(&batch, loss.states);
        }
        let expected = mean.value().unwrap();
        assert!((found - expected).abs() < 1e-5, "{found} against {expected}");
        assert!(clipped > 0 && updates >= clipped, "{clipped} of {updates}");
    }
}
