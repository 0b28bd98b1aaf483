//! What a model is used for: guesses, predictions, samples, gaps.

use burn::tensor::Device;
use quaver::FeedMode;

use super::{config, nets, seen_through_noise, sequences, whole};
use crate::config::TrainingConfig;
use crate::data::{Rows, Sequence};
use crate::fit::RunState;
use crate::latent::model::decoder_input;
use crate::latent::stream::LatentStream;
use crate::latent::{ImputeOptions, LatentFeed, SampleOptions, StreamingDenoiser, TrainedLatentModel};
use crate::nn::net::moments;
use crate::prediction::SequencePrediction;

const STORN: &str = "latent = { family = \"storn\", latents = 2 }\n[model]\ncell = \"lstm\"\nlayers = [4, 3]\n\
    [noise]\nrecurrent_keep = 0.9\n";
const VOSP: &str = "latent = { family = \"vosp\", latents = 2, prior = \"wiener\" }\n[model]\ncell = \"dense-tanh\"\n\
    layers = [4]\n[recognition]\ncell = \"tanh\"\nlayers = [3]\nnoise = { recurrent_keep = 0.8 }\n";

/// An untrained model for two channels, and sequences with a gap.
fn model(lines: &str) -> (TrainedLatentModel, Vec<Sequence>) {
    let (nets, parameters) = nets(&config(lines, &[]), 2);
    let mut sequences = sequences(&[6, 3, 5], 2);
    let mut gappy = Rows::clone(&sequences[0].targets);
    gappy.values[4] = f32::NAN;
    sequences[0] = Sequence::next(gappy);
    let names = vec!["a".to_string(), "b".to_string()];
    let scaling = whole(&sequences).1;
    let state =
        RunState::first(nets, parameters, &TrainingConfig::default(), scaling, [names.clone(), names]);
    (TrainedLatentModel::new(&state), sequences)
}

fn assert_close(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{found} against {expected}");
    }
}

#[test]
fn row_by_row_is_the_same_as_all_at_once() {
    let residual = STORN.replace("[noise]", "residual = true\nlikelihood = \"heteroscedastic\"\n[noise]");
    for lines in [STORN, VOSP, &residual] {
        let (model, sequences) = model(lines);
        let (posteriors, expected) =
            (model.posterior(&sequences), model.reconstruct(&sequences, LatentFeed::Moments));
        for (index, sequence) in sequences.iter().enumerate() {
            let mut stream = LatentStream::new(&model, 1);
            for (step, row) in sequence.targets.iter().enumerate() {
                let known = |(c, v): (usize, &f32)| {
                    if v.is_nan() { 0.0 } else { model.scaling.inputs.standardise(c, *v) }
                };
                let mean: Vec<f32> = row.iter().enumerate().map(known).collect();
                let var: Vec<f32> = row.iter().map(|value| f32::from(value.is_nan())).collect();
                let row = moments(&mean, &var, 2, &Device::flex());
                // The generative net of a VOSP reads what was kept before the row was seen.
                let before = stream.clone();
                let latent = stream.recognise(row.clone());
                assert_close(
                    &crate::nn::tensors::to_vec(latent.mean.clone()),
                    posteriors[index].mean.row(step),
                );
                assert_close(
                    &crate::nn::tensors::to_vec(latent.var.clone()),
                    posteriors[index].var.row(step),
                );
                let prediction =
                    model.prediction(before.look_ahead(decoder_input(latent.clone(), LatentFeed::Moments)));
                let raw = (0..2).map(|c| model.scaling.targets.unstandardise(c, prediction.mean[c]));
                assert_close(&raw.collect::<Vec<f32>>(), expected[index].mean.row(step));
                stream.advance(row, latent, LatentFeed::Moments);
            }
        }
    }
}

#[test]
fn a_net_for_changes_begins_with_persistence() {
    let lines = STORN.replace("[noise]", "residual = true\n[noise]");
    let (model, sequences) = model(&lines);
    let rows = &sequences[2].targets;
    let forecast = &model.predict(&sequences, LatentFeed::Moments, 1)[2];
    for step in 1..rows.len() {
        // The bias of the outputs is 0.1, standardised.
        let biased = |c: usize| rows.row(step - 1)[c] + 0.1 * model.scaling.targets.std_dev[c];
        assert_close(forecast.mean.row(step), &[biased(0), biased(1)]);
    }
}

#[test]
fn a_stream_is_denoised_as_a_whole_sequence_is() {
    for lines in [STORN, VOSP] {
        let (model, sequences) = model(lines);
        let expected = model.reconstruct(&sequences, LatentFeed::Moments);
        let predicted = model.predict(&sequences, LatentFeed::Moments, 1);
        let mut stream = StreamingDenoiser::new(&model);
        // The first sequence has a gap, which a stream fills with what it expects and a batch with the
        // training mean.
        for index in [1, 2] {
            stream.reset();
            for (step, row) in sequences[index].targets.iter().enumerate() {
                let found = stream.step(row);
                let means: Vec<f32> = found.outputs.iter().map(|output| output.mean).collect();
                assert_close(&means, expected[index].mean.row(step));
                let z =
                    (row[1] - predicted[index].mean.row(step)[1]) / predicted[index].variance(step, 1).sqrt();
                assert_close(&found.z[1..], &[z]);
            }
        }
    }
}

#[test]
fn noisy_rows_are_read_and_clean_ones_explained() {
    let (model, clean) = model(VOSP);
    let noisy = seen_through_noise(&clean[1..], 0.5);
    let only_read: Vec<Sequence> = noisy.iter().map(|of| Sequence::next(Rows::clone(&of.inputs))).collect();
    assert_eq!(model.posterior(&noisy), model.posterior(&only_read));
    assert_ne!(model.posterior(&noisy), model.posterior(&clean[1..]), "the truth is not read");
    assert_eq!(
        model.reconstruct(&noisy, LatentFeed::Moments),
        model.reconstruct(&only_read, LatentFeed::Moments)
    );
    assert_eq!(model.predict(&noisy, LatentFeed::Mean, 1), model.predict(&only_read, LatentFeed::Mean, 1));
    let [of_clean, of_noisy] = [&noisy, &only_read].map(|rows| model.bound(rows, 1, 1).unwrap());
    assert_eq!(of_clean.divergence, of_noisy.divergence);
    assert_ne!(of_clean.reconstruction, of_noisy.reconstruction, "the truth is explained");
}

#[test]
fn what_is_missing_is_imputed_and_not_scored() {
    let (model, sequences) = model(VOSP);
    let expected = model.predict(&sequences, LatentFeed::Moments, 1);
    let mut stream = StreamingDenoiser::new(&model);
    let whole = stream.step(sequences[1].targets.row(0));
    stream.reset();
    let half = stream.step(&[f32::NAN, sequences[1].targets.row(0)[1]]);
    assert!(half.z[0].is_nan() && half.surprise < whole.surprise && half.outputs[0].mean.is_finite());
    stream.reset();
    let nothing = stream.step(&[f32::NAN, f32::NAN]);
    assert_eq!(nothing.surprise, None);
    // A row without values is its prediction, passed once through both networks.
    let distance = (nothing.outputs[0].mean - expected[1].mean.row(0)[0]).abs();
    assert!(distance < expected[1].variance(0, 0).sqrt(), "{distance}");
}

#[test]
fn a_prediction_has_not_seen_its_row() {
    for (lines, feed) in [
        (STORN, LatentFeed::Moments),
        (STORN, LatentFeed::Draws(8)),
        (VOSP, LatentFeed::Mean),
        (VOSP, LatentFeed::Moments),
    ] {
        let (model, mut sequences) = model(lines);
        let before = model.predict(&sequences, feed, 1);
        let mut rows = Rows::clone(&sequences[2].targets);
        rows.values[2 * 3] += 1.0;
        sequences[2] = Sequence::next(rows);
        let after = model.predict(&sequences, feed, 1);
        let upto = |predictions: &[SequencePrediction], steps: usize| {
            predictions[2].mean.values[..2 * steps].to_vec()
        };
        assert_eq!(
            upto(&before, 4),
            upto(&after, 4),
            "step 3 changed, and steps 0 to 3 were predicted before it"
        );
        assert_ne!(upto(&before, 5), upto(&after, 5));
        assert_eq!(before[0], after[0], "sequences never meet");
    }
}

#[test]
fn many_draws_come_to_the_moments_of_a_linear_net() {
    let lines = "latent = { family = \"vosp\", latents = 1 }\n[model]\ncell = \"dense-tanh\"\nlayers = [1]\n\
        [recognition]\ncell = \"tanh\"\nlayers = [1]";
    let (model, sequences) = model(lines);
    let (moments, draws) = (
        model.predict(&sequences, LatentFeed::Moments, 1),
        model.predict(&sequences, LatentFeed::Draws(20_000), 1),
    );
    for (moments, draws) in moments.iter().zip(&draws) {
        for step in 0..moments.mean.len() {
            // tanh of a normal by Quaver's moments is within 5e-4, the mean of 20 000 draws within 5 ·
            // 0.6/√20 000.
            assert!((moments.mean.row(step)[0] - draws.mean.row(step)[0]).abs() < 0.025);
            let (expected, found) = (moments.variance(step, 0), draws.variance(step, 0));
            assert!((expected - found).abs() < 0.05 * expected, "{expected} against {found}");
        }
    }
}

#[test]
fn samples_repeat_go_on_and_differ() {
    for lines in [STORN, VOSP] {
        let (model, sequences) = model(lines);
        let options = SampleOptions { steps: 5, samples: 3, feed_mode: FeedMode::Draw, seed: 1 };
        let prefix = &sequences[0].targets;
        let samples = model.sample(prefix, &options);
        assert_eq!((samples.len(), samples[0].len()), (3, 5));
        assert_eq!(samples, model.sample(prefix, &options));
        assert_ne!(samples[0], samples[1]);
        assert_ne!(samples, model.sample(prefix, &SampleOptions { seed: 2, ..options }));
        assert_ne!(samples, model.sample(&Rows::new(2), &options), "the prefix matters");
        let means = model.sample(prefix, &SampleOptions { feed_mode: FeedMode::Mean, ..options });
        assert_ne!(means, samples);
    }
}

#[test]
fn gaps_are_filled_and_what_was_observed_stays() {
    for lines in [STORN, VOSP, "latent = { family = \"vrae\", latents = 2 }\n[model]\nlayers = [3]"] {
        let (model, sequences) = model(lines);
        let rows = &sequences[0].targets;
        let one = model.impute(rows, ImputeOptions { rounds: 1, joined: false });
        let ten = model.impute(rows, ImputeOptions { rounds: 10, joined: false });
        for (place, observed) in rows.values.iter().enumerate() {
            if observed.is_nan() {
                assert!(one.filled.values[place].is_finite());
                assert_ne!(
                    one.filled.values[place], ten.filled.values[place],
                    "rounds go on from each other"
                );
            } else {
                assert_eq!(one.filled.values[place], *observed);
            }
        }
        assert_eq!(one.prediction.mean.len(), rows.len());
    }
}
