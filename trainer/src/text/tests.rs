//! Models of text against the same network on one-hot rows.

use quaver::checkpoint::{CellKind, Likelihood, Target, UnitNoise};

use super::*;
use crate::config::{Config, InitConfig, PosteriorName};
use crate::data::batch::{self, Batch};
use crate::data::{Dataset, Rows, Scaler, Scaling, Sequence};
use crate::fit::truncated_bptt::CarriedStates;
use crate::fit::{
    Architecture, BatchContext, LossAndGradient, StepContext, evaluate, loss_and_gradient_with,
};
use crate::nn::{Parameters, TrainingMethod, test_spec};

const TOKENS: usize = 7;

pub(super) fn model(embedding: u16, noise: UnitNoise) -> TokenModel {
    let inputs = if embedding > 0 { embedding } else { TOKENS as u16 };
    let mut network = test_spec(inputs, TOKENS as u16, &[(CellKind::Lstm, 5), (CellKind::Gru, 4)]);
    network.target = Target::Next;
    network.likelihood = Likelihood::Categorical;
    network.layers[0].input_noise = noise;
    network.output.noise = noise;
    TokenModel { network, embedding: embedding > 0 }
}

pub(super) fn config(posterior: PosteriorName) -> Config {
    let text =
        "[data]\nformat = 'words'\ntrain = 'a.txt'\ntargets = 'next'\n[model]\nlikelihood = 'categorical'\n";
    let mut config = Config::parse("c.toml", text, &[]).unwrap();
    config.weights.posterior = posterior;
    config
}

pub(super) fn parameters(model: &TokenModel, posterior: PosteriorName) -> Parameters {
    let data = Dataset::of([vec![tokens()], Vec::new(), Vec::new()], &[]);
    let mut parameters = model.init_parameters(&config(posterior), &data, &scaling(1));
    assert!(model.fits(&parameters));
    // Larger than those of training, so that every effect shows.
    parameters
        .tensors
        .iter_mut()
        .filter(|named| named.name.ends_with("log_var"))
        .for_each(|named| named.values.fill(-2.5));
    parameters
}

pub(super) fn tokens() -> Sequence {
    let values = (0..53_u32).map(|index| (index * index * 11 % 29 % TOKENS as u32) as f32).collect();
    Sequence::next(Rows { channels: 1, values })
}

fn one_hot(stream: &Sequence) -> Sequence {
    let row = |token: &f32| {
        (0..TOKENS).map(move |place| if place == *token as usize { 1.0 } else { 0.0 }).collect::<Vec<_>>()
    };
    Sequence::next(Rows { channels: TOKENS, values: stream.targets.values.iter().flat_map(row).collect() })
}

pub(super) fn scaling(channels: usize) -> Scaling {
    Scaling {
        inputs: Scaler::identity(channels),
        targets: Scaler::identity(channels),
        density: None,
        linear: None,
    }
}

fn step(model: &TokenModel, parameters: &Parameters, batch: &Batch) -> LossAndGradient {
    let config = config(PosteriorName::Point);
    let context = BatchContext::default();
    let step = StepContext { batch, config: &config, context, epoch: 1, index: 0, epochs: 1.0 };
    model.loss_and_gradient(parameters, &step).unwrap()
}

const NOISES: [UnitNoise; 3] =
    [UnitNoise::None, UnitNoise::Dropout { keep: 0.7 }, UnitNoise::Multiplicative { var: 0.3 }];

/// Sums in another order, of a few hundred terms below 1: 10⁻⁵.
#[test]
fn loss_and_gradient_are_those_of_one_hot_rows() {
    let (stream, hot) = ([tokens()], [one_hot(&tokens())]);
    let (narrow, wide) = (scaling(1), scaling(TOKENS));
    for noise in NOISES {
        for posterior in [PosteriorName::Point, PosteriorName::Ropd] {
            let model = model(0, noise);
            let parameters = parameters(&model, posterior);
            let found = step(&model, &parameters, &batch::lanes(&stream, &narrow, 14, 4).next().unwrap());
            let rows = batch::lanes(&hot, &wide, 14, 4).next().unwrap();
            let expected =
                loss_and_gradient_with(&model.network, &parameters, &rows, BatchContext::default()).unwrap();
            assert!((found.nll - expected.nll).abs() < 1e-5, "{} against {}", found.nll, expected.nll);
            let pairs = found.gradients.iter().flatten().zip(expected.gradients.iter().flatten());
            for (found, expected) in pairs {
                assert!(
                    (found - expected).abs() < 1e-5,
                    "{noise:?} {posterior:?}: {found} against {expected}"
                );
            }
        }
    }
}

/// Central differences of a loss that f32 rounds to 10⁻⁷, over 2·10⁻²: an error of 10⁻⁵ and one of the third
/// derivative times 10⁻⁴.
#[test]
fn the_gradient_of_an_embedding_is_that_of_finite_differences() {
    let stream = [tokens()];
    let scaling = scaling(1);
    let batch = batch::lanes(&stream, &scaling, 14, 4).next().unwrap();
    for noise in NOISES {
        let model = model(3, noise);
        let parameters = parameters(&model, PosteriorName::Ropd);
        let gradients = step(&model, &parameters, &batch).gradients;
        let lists = parameters.tensors.len();
        assert_eq!(parameters.tensors[lists - 1].name, "embedding.weight_log_var");
        for list in [lists - 2, lists - 1] {
            for (index, found) in gradients[list].iter().enumerate() {
                let at = |shift: f32| {
                    let mut moved = parameters.clone();
                    moved.tensors[list].values[index] += shift;
                    step(&model, &moved, &batch).nll
                };
                let expected = (at(0.01) - at(-0.01)) / 0.02;
                let found = f64::from(*found);
                assert!((found - expected).abs() < 1e-4, "{noise:?}: {found} against {expected}");
            }
        }
    }
}

#[test]
fn the_loss_of_a_stream_does_not_depend_on_the_window() {
    let stream = [tokens()];
    for (embedding, noise) in [(0, NOISES[1]), (3, NOISES[1]), (3, NOISES[0])] {
        let model = model(embedding, noise);
        let parameters = parameters(&model, PosteriorName::Point);
        let scaling = scaling(1);
        let in_windows = |window: usize| {
            mean_nll(&model, &parameters, batch::lanes(&stream, &scaling, window, 1)).unwrap()
        };
        let whole = in_windows(53);
        for window in [1, 7, 52] {
            assert!(
                (in_windows(window) - whole).abs() < 1e-6,
                "{window}: {} against {whole}",
                in_windows(window)
            );
        }
        assert_eq!(token_nlls(&model, &parameters, &stream), Some(whole));
    }
}

/// With lanes, the loss of an epoch is that of separate sequences whose first inputs are the tokens before
/// them.
#[test]
fn lanes_carry_their_states() {
    let model = model(3, UnitNoise::None);
    let parameters = parameters(&model, PosteriorName::Point);
    let (stream, scaling) = ([tokens()], scaling(1));
    let epoch = |window: usize| {
        let mut carried = CarriedStates::default();
        let mut sum = 0.0;
        for batch in batch::lanes(&stream, &scaling, window, 4) {
            let start = carried.start(&model.carried_units(), &batch);
            let context = BatchContext { start: Some(&start), ..BatchContext::default() };
            let config = config(PosteriorName::Point);
            let step =
                StepContext { batch: &batch, config: &config, context, epoch: 1, index: 0, epochs: 1.0 };
            let found = model.loss_and_gradient(&parameters, &step).unwrap();
            sum += found.nll * found.steps as f64;
            carried = CarriedStates::after(&batch, found.states);
        }
        sum / 53.0
    };
    assert!((epoch(3) - epoch(14)).abs() < 1e-6, "{} against {}", epoch(3), epoch(14));
    assert!(
        (epoch(14) - mean_nll(&model, &parameters, batch::lanes(&stream, &scaling, 14, 4)).unwrap()).abs()
            < 1e-6
    );
}

/// Folding rounds each column once: 10⁻⁵ of a loss of about 2.
#[test]
fn a_folded_model_makes_the_same_predictions() {
    let (stream, hot) = ([tokens()], [one_hot(&tokens())]);
    for noise in NOISES {
        for posterior in [PosteriorName::Point, PosteriorName::Ropd] {
            for embedding in [0, 3] {
                let model = model(embedding, noise);
                let parameters = parameters(&model, posterior);
                let expected = token_nlls(&model, &parameters, &stream).unwrap();
                let (spec, folded) = fold(&model, &parameters);
                assert_eq!(usize::from(spec.inputs), TOKENS);
                let variance =
                    posterior == PosteriorName::Ropd || (embedding > 0 && noise != UnitNoise::None);
                if embedding > 0 {
                    assert_eq!(spec.layers[0].weight_variance, variance);
                }
                let found = evaluate(&spec, &folded, batch::evaluation(&hot, &scaling(TOKENS), 1)).unwrap();
                assert!(
                    (found - expected).abs() < 1e-5,
                    "{noise:?} {posterior:?}: {found} against {expected}"
                );
            }
        }
    }
}

#[test]
fn a_stream_of_single_tokens_is_the_whole_one() {
    let model = model(3, NOISES[1]);
    let parameters = parameters(&model, PosteriorName::Point);
    let mut stream = TokenStream::new(&model, &parameters);
    let mut sum = 0.0;
    for token in &tokens().targets.values {
        sum -= f64::from(stream.probabilities()[*token as usize]).ln();
        stream.step(*token as usize);
    }
    let expected = token_nlls(&model, &parameters, &[tokens()]).unwrap();
    assert!((sum / 53.0 - expected).abs() < 1e-6, "{} against {expected}", sum / 53.0);
}

#[test]
fn an_initial_embedding_has_rows_of_length_one() {
    let model = model(64, UnitNoise::None);
    let parameters = parameters(&model, PosteriorName::Point);
    let rows = parameters.get("embedding.weight").unwrap().values.chunks(64);
    // The mean square of 7 · 64 draws is within 20 % of its expectation at three standard deviations.
    let square = rows.flatten().map(|value| value * value).sum::<f32>() / TOKENS as f32;
    assert!((square - 1.0).abs() < 0.2, "{square}");
    let network = InitConfig::default().parameters_for(&model.network, TrainingMethod::default(), 1);
    assert_eq!(parameters.tensors[..network.tensors.len()], network.tensors);
}
