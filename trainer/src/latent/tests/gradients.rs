//! Gradients of the whole bound, with given draws, against finite differences.

use crate::data::batch::Batch;
use crate::data::{Rows, Sequence};
use crate::fit::LossAndGradient;
use crate::latent::nets::LatentNets;
use crate::latent::training::{DivergenceWeights, loss_and_gradient};
use crate::nn::Parameters;
use crate::random::{Purpose, normals, stream};

use super::{CLEAN, config, nets, seen_through_noise, sequences, whole};

/// Two draws, always the same.
fn objective(nets: &LatentNets, parameters: &Parameters, batch: &Batch) -> LossAndGradient {
    let mut rng = stream(7, Purpose::Draws { epoch: 1, batch: 0 });
    loss_and_gradient(
        nets,
        parameters,
        [batch; 2],
        DivergenceWeights { latents: 1.0, warmth: 1.0, weights: Some(0.02) },
        2,
        &mut rng,
    )
    .unwrap()
}

/// Checks every list of parameters along three directions; differences of f32 losses over ±0.01 are good to
/// about 1e-4.
fn assert_gradients(nets: &LatentNets, parameters: &mut Parameters, batch: &Batch, skipped: &str) {
    let found = objective(nets, parameters, batch);
    for index in 0..parameters.tensors.len() {
        let original = parameters.tensors[index].values.clone();
        let name = parameters.tensors[index].name.clone();
        if name == skipped {
            assert!(found.gradients[index].iter().all(|gradient| *gradient == 0.0));
            continue;
        }
        for seed in 20..23 {
            let direction = normals(&mut stream(seed, Purpose::Initialisation), original.len());
            let length = direction.iter().map(|d| d * d).sum::<f32>().sqrt();
            let mut at = |step: f32| {
                let moved = original.iter().zip(&direction).map(|(value, d)| value + step * d / length);
                parameters.tensors[index].values = moved.collect();
                let LossAndGradient { nll, divergence, .. } = objective(nets, parameters, batch);
                nll + divergence
            };
            let mut central = |step: f32| (at(step) - at(-step)) / (2.0 * f64::from(step));
            // Richardson's combination is free of the term in the squared step.
            let difference = (4.0 * central(0.005) - central(0.01)) / 3.0;
            let along = found.gradients[index].iter().zip(&direction);
            let expected = f64::from(along.map(|(gradient, d)| gradient * d / length).sum::<f32>());
            assert!(
                (difference - expected).abs() < 2e-3 * (1.0 + expected.abs()),
                "{name}: {difference} against {expected}"
            );
            parameters.tensors[index].values.clone_from(&original);
        }
    }
}

/// Draws the biases of layers. Without them an input of zero leaves the state of a layer at zero, and with it
/// the propagated variance, whose logarithm bends too sharply there for finite differences.
fn draw_biases(parameters: &mut Parameters) {
    let mut rng = stream(8, Purpose::Initialisation);
    for tensor in parameters.tensors.iter_mut().filter(|tensor| tensor.name.ends_with("layer0.bias")) {
        let draws = normals(&mut rng, tensor.values.len());
        tensor.values.iter_mut().zip(draws).for_each(|(bias, draw)| *bias += 0.5 * draw);
    }
}

/// Three sequences of different lengths with a gap.
fn gappy(binary: bool) -> Vec<Sequence> {
    let gap = |(index, sequence): (usize, Sequence)| {
        let mut values = sequence.targets.values.clone();
        if binary {
            values.iter_mut().for_each(|value| *value = f32::from(*value > 0.0));
        }
        if index == 0 {
            values[3] = f32::NAN;
        }
        Sequence::next(Rows { channels: 2, values })
    };
    sequences(&[4, 1, 3], 2).into_iter().enumerate().map(gap).collect()
}

#[test]
fn of_every_family_agree_with_finite_differences() {
    let small = "[model]\ncell = \"tanh\"\nlayers = [3]\n";
    let dense =
        "[model]\ncell = \"dense-tanh\"\nlayers = [3]\n[recognition]\ncell = \"lstm\"\nlayers = [2]\n";
    let carried = "[recognition]\nnoise = { recurrent_keep = 0.8, output_keep = 0.7, input_keep = 0.9 }\n";
    let gru = "[model]\ncell = \"gru\"\nlayers = [3]\n";
    let dense_gru = dense.replace("lstm", "gru");
    let cases = [
        format!("latent = {{ family = \"storn\", latents = 2 }}\n{small}"),
        format!(
            "latent = {{ family = \"storn\", latents = 2, variance = \"propagated\" }}\n{small}{carried}"
        ),
        format!("latent = {{ family = \"storn\", latents = 1, direction = \"bidirectional\" }}\n{small}"),
        format!("latent = {{ family = \"vosp\", latents = 2, prior = \"wiener\" }}\n{dense}"),
        format!("latent = {{ family = \"vrae\", latents = 2, prior = \"wiener\" }}\n{small}"),
        format!("latent = {{ family = \"storn\", latents = 2, noise = \"fixed\" }}\n{small}"),
        format!("latent = {{ family = \"storn\", latents = 2 }}\n{small}residual = true\n"),
        format!("latent = {{ family = \"vosp\", latents = 2 }}\n{dense}[weights]\nposterior = \"ropd\"\n"),
        format!("latent = {{ family = \"storn\", latents = 2, variance = \"propagated\" }}\n{gru}{carried}"),
        format!("latent = {{ family = \"vrae\", latents = 2, prior = \"wiener\" }}\n{gru}"),
        format!("latent = {{ family = \"vosp\", latents = 2 }}\n{dense_gru}"),
    ];
    for case in &cases {
        for likelihood in ["gaussian", "bernoulli", "heteroscedastic"] {
            let searched = case.contains("fixed");
            let normal_only = searched || case.contains("residual");
            if (searched && likelihood != "gaussian") || (normal_only && likelihood == "bernoulli") {
                continue;
            }
            let noise = "noise={ recurrent_keep = 0.9, output_keep = 0.8 }";
            let config = config(case, &[&format!("model.likelihood={likelihood}"), noise]);
            let (nets, mut parameters) = nets(&config, 2);
            draw_biases(&mut parameters);
            assert_eq!(case.contains("bidirectional") || case.contains("vrae"), !nets.is_causal());
            let (batch, _) = whole(&gappy(likelihood == "bernoulli"));
            let skipped = if searched { "generative.output.log_noise" } else { "" };
            assert_gradients(&nets, &mut parameters, &batch, skipped);
        }
    }
}

#[test]
fn of_a_vosp_that_explains_the_truth_of_noisy_rows_agree_too() {
    let lines = "latent = { family = \"vosp\", latents = 2, prior = \"wiener\" }\n\
        [model]\ncell = \"dense-tanh\"\nlayers = [3]\n[recognition]\ncell = \"lstm\"\nlayers = [2]\n";
    for likelihood in ["gaussian", "heteroscedastic"] {
        let likelihood = format!("model.likelihood={likelihood}");
        let (nets, mut parameters) = nets(&config(lines, &[&CLEAN[..], &[&likelihood]].concat()), 2);
        let mut sequences = seen_through_noise(&gappy(false), 0.6);
        // Missing where it was to be read, and not where it has to be explained.
        let mut noisy = Rows::clone(&sequences[2].inputs);
        noisy.values[1] = f32::NAN;
        sequences[2] = sequences[2].with_noisy_inputs(noisy);
        let (batch, _) = whole(&sequences);
        assert_gradients(&nets, &mut parameters, &batch, "");
    }
}

#[test]
fn the_divergence_counts_with_its_share() {
    let lines = "latent = { family = \"vosp\", latents = 2 }\n\
        [model]\ncell = \"dense-tanh\"\nlayers = [3]\n[recognition]\ncell = \"lstm\"\nlayers = [2]\n";
    let (nets, parameters) = nets(&config(lines, &CLEAN), 2);
    let (batch, _) = whole(&seen_through_noise(&sequences(&[4, 3], 2), 0.6));
    let with = |latents: f64, warmth: f64| {
        let mut rng = stream(7, Purpose::Draws { epoch: 1, batch: 0 });
        loss_and_gradient(
            &nets,
            &parameters,
            [&batch; 2],
            DivergenceWeights { latents, warmth, weights: None },
            1,
            &mut rng,
        )
        .unwrap()
    };
    let [none, part, all] = [0.0, 0.25, 1.0].map(|share| with(share, 1.0));
    assert!((none.nll + 0.25 * (all.nll - none.nll) - part.nll).abs() < 1e-9);
    let lists = none.gradients.concat().into_iter().zip(part.gradients.concat()).zip(all.gradients.concat());
    for ((none, part), all) in lists {
        assert!((none + 0.25 * (all - none) - part).abs() < 1e-5 * (1.0 + all.abs()));
    }
    assert_ne!(none.gradients, all.gradients);
    let warming = with(1.0, 0.25);
    assert_eq!(
        (warming.nll, &warming.gradients),
        (all.nll, &part.gradients),
        "what is printed does not warm up"
    );
}

#[test]
fn padding_changes_neither_bound_nor_gradient() {
    let lines = "latent = { family = \"vrae\", latents = 2, prior = \"wiener\" }\n[model]\ncell = \"tanh\"\nlayers = [3]";
    let (nets, parameters) = nets(&config(lines, &[]), 2);
    let all = sequences(&[4, 2], 2);
    let bound = |batch: &Batch, weight: f64| {
        // The rng is not asked for the same numbers by batches of other sizes; without a latent variance none
        // matters.
        let mut parameters = parameters.clone();
        let bias = parameters.get_mut("recognition.output.bias").unwrap();
        bias.values.iter_mut().skip(1).step_by(2).for_each(|log_var| *log_var = -18.0);
        let mut rng = stream(7, Purpose::Draws { epoch: 1, batch: 0 });
        weight
            * loss_and_gradient(
                &nets,
                &parameters,
                [batch; 2],
                DivergenceWeights { latents: 1.0, warmth: 1.0, weights: None },
                1,
                &mut rng,
            )
            .unwrap()
            .nll
    };
    let (together, scaling) = whole(&all);
    let alone = |index: usize| {
        let chunk = crate::data::batch::Chunk { sequence: index, start: 0, len: all[index].len() };
        Batch::new(&all, &scaling, &[chunk])
    };
    let expected = bound(&alone(0), 4.0) + bound(&alone(1), 2.0);
    let found = bound(&together, 6.0);
    assert!((found - expected).abs() < 1e-3 * expected.abs(), "{found} against {expected}");
}
