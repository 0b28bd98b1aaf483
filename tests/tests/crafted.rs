//! Crafted checkpoints: what each of them once broke. Their checksums are right, their contents hostile.

use quaver::checkpoint::{
    Activation, CellKind, Contents, DensitySpec, Extensions, Forecast, Imputation, Layout, Likelihood,
    OutputMode, UnitNoise, WeightFormat, write,
};
use quaver::{
    AdaptOptions, AdaptivePredictor, Arena, Denoiser, Error, FeedMode, LatentModel, Model, Rollouts, Sampler,
};
use quaver_tests::attack::campaign::overlong;
use quaver_tests::attack::network::{Network, Section};
use quaver_tests::golden::{Architecture, randomise};
use quaver_tests::latent::LatentArchitecture;
use quaver_tests::numbers::Numbers;

/// An Elman network in a quantized layout, as an exporter writes it.
fn quantized(layout: Layout) -> Network {
    let layers = [(CellKind::Elman(Activation::Tanh), 7)];
    let mut contents = Contents::zeros(Architecture::default().spec(&layers, WeightFormat::Int8));
    contents.spec.layout = layout;
    randomise(&mut contents, &mut Numbers::new("crafted"));
    Network::decode(&write(&contents).expect("a valid model")).expect("a valid checkpoint")
}

/// The file with the first affine map changed.
fn with_map(layout: Layout, change: impl Fn(&mut quaver_tests::attack::quantized::QuantizedMap)) -> Vec<u8> {
    let mut network = quantized(layout);
    let map = network.sections.iter_mut().find_map(|section| match section {
        Section::Map(map, _) => Some(map),
        Section::Bytes(_) => None,
    });
    change(map.expect("a quantized map"));
    network.encode()
}

/// The field that loading complains about.
fn field(bytes: &[u8]) -> Option<&'static str> {
    match Model::load(bytes) {
        Err(Error::Invalid { field, .. } | Error::InvalidIn { field, .. }) => Some(field),
        Err(Error::Header) => Some("header"),
        Err(error) => panic!("another error: {error}"),
        Ok(_) => None,
    }
}

/// Ten columns of 127² times 2¹⁴ are 2.6 × 10⁹, which 31 bits do not hold; times 2¹³ they do.
#[test]
fn squares_of_the_layout_small_fit_their_integers() {
    let squares = |bits: u32| {
        with_map(Layout::Small, |map| {
            let first = map.groups.first_mut().expect("a group");
            first.weights.iter_mut().take(3).for_each(|codes| codes[0] = 127);
            first.weights.iter_mut().skip(4).take(7).for_each(|codes| codes[0] = 127);
            (map.params[2], map.params[3]) = (bits, 34);
        })
    };
    assert_eq!(field(&squares(14)), Some("square"));
    assert_eq!(field(&squares(13)), None);
}

/// A sum of a bias and a product of 30 bits must not leave 32.
#[test]
fn biases_leave_room_for_a_product() {
    for layout in [Layout::Small, Layout::Fast] {
        let bias = |bias: i32| field(&with_map(layout, |map| map.groups[0].biases[0] = bias));
        assert_eq!(bias((1 << 29) - 1), None);
        assert_eq!(bias(1 << 29), Some("bias"));
        assert_eq!(bias(i32::MIN), Some("bias"));
    }
}

/// Weights of 10⁶ on 512 units of 10⁶ with strong noise have a pre-activation whose variance, times a scale
/// of 10⁶, is beyond the range of f32: nothing is known about the probability, so that p (1 − p) is ¼.
#[test]
fn an_unknown_probability_is_no_certainty() {
    let noise = UnitNoise::Multiplicative { var: 1e6 };
    let architecture = Architecture {
        likelihood: Likelihood::Bernoulli,
        noise: [noise; 3],
        variance_scale: 1e6,
        ..Architecture::default()
    };
    let layers = [(CellKind::Elman(Activation::Relu), 512)];
    let mut contents = Contents::zeros(architecture.spec(&layers, WeightFormat::F32));
    contents.layers[0].weight.fill(1e6);
    contents.output.weight.fill(1e6);
    let bytes = write(&contents).expect("a valid model");
    let model = Model::load(&bytes).expect("a valid model");
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut state = model.start_in(&mut words).expect("enough words");
    for _ in 0..5 {
        for output in model.step(&mut state, &[1e3; 3]).iter() {
            assert!((output.mean - 0.5).abs() < 0.01 && output.variance > 0.24, "{output:?}");
        }
    }
}

/// Channels of a size of 10³⁰ have squares beyond the range of f32; the standard deviation of their futures
/// is not.
#[test]
fn rollouts_of_large_values_have_a_finite_standard_deviation() {
    let networks = |scale: f32| {
        let mut networks = LatentArchitecture::storn().networks("wide", WeightFormat::F32, Layout::Float);
        networks.generative.output_scaler.std_dev.fill(1e18);
        networks.generative.output.weight.iter_mut().for_each(|weight| *weight *= scale);
        networks.generative.noise_var.fill(1e-12);
        networks.write().expect("a valid model")
    };
    let std_dev = |scale: f32| {
        let bytes = networks(scale);
        let (mut words, mut futures) = (vec![0.0; 1000], vec![0.0; 1000]);
        let mut sampler = Sampler::load_in(&bytes, &mut words).expect("a valid model");
        let mut rollouts = Rollouts::<8>::new_in(&mut sampler, &mut futures).expect("enough words");
        rollouts.advance(&mut Numbers::new("futures"), FeedMode::Mean);
        rollouts.std_dev(0).expect("a channel")
    };
    let (small, large) = (std_dev(0.5), std_dev(5e5));
    assert!(small > 1e14 && small < 1e19, "{small}");
    assert!((large / small / 1e6 - 1.0).abs() < 1e-3, "{small} {large}");
}

/// The same value in more bytes than it needs would make two files of one model.
#[test]
fn overlong_integers_are_refused() {
    let bytes = quantized(Layout::Fast).encode();
    assert_eq!(field(&bytes), None);
    assert_eq!(field(&overlong(&bytes)), Some("header"));
    let latent = LatentArchitecture::vosp().networks("crafted", WeightFormat::F32, Layout::Float);
    let bytes = latent.write().expect("a valid model");
    assert_eq!(LatentModel::load(&overlong(&bytes)).err(), Some(Error::Header));
}

/// Padding that is not zero would make many files of one model.
#[test]
fn padding_inside_blocks_is_zero() {
    for layout in [Layout::Small, Layout::Fast, Layout::Mean] {
        let network = if layout == Layout::Mean { deterministic() } else { quantized(layout) };
        let changed = |change: fn(&mut quaver_tests::attack::quantized::Group)| {
            let mut network = network.clone();
            for section in &mut network.sections {
                if let Section::Map(map, _) = section {
                    change(map.groups.last_mut().expect("a group"));
                    break;
                }
            }
            field(&network.encode())
        };
        assert_eq!(changed(|_| ()), None, "{layout:?}");
        // Seven units: the last group has three rows, and three inputs are padded to four columns.
        assert_eq!(changed(|group| group.weights[0][3] = 1), Some("weight"), "{layout:?}");
        assert_eq!(changed(|group| group.weights[3][0] = 1), Some("weight"), "{layout:?}");
        assert_eq!(changed(|group| group.weights[11][0] = -1), Some("weight"), "{layout:?}");
        assert_eq!(changed(|group| group.biases[3] = 1), Some("bias"), "{layout:?}");
        assert_eq!(changed(|group| group.mean_scales[3] = 1), Some("weight"), "{layout:?}");
        if layout != Layout::Mean {
            assert_eq!(changed(|group| group.var_scales[3] = 1), Some("square"), "{layout:?}");
        }
        if layout == Layout::Fast {
            assert_eq!(changed(|group| group.squares[3][0] = 1), Some("square"));
        }
    }
}

/// A network of the layout `mean`.
fn deterministic() -> Network {
    let architecture =
        Architecture { noise: [UnitNoise::None; 3], mode: OutputMode::MeanOnly, ..Architecture::default() };
    let layers = [(CellKind::Elman(Activation::Tanh), 7)];
    let mut contents = Contents::zeros(architecture.spec(&layers, WeightFormat::Int8));
    contents.spec.layout = Layout::Mean;
    randomise(&mut contents, &mut Numbers::new("crafted"));
    Network::decode(&write(&contents).expect("a valid model")).expect("a valid checkpoint")
}

#[test]
fn names_are_one_line_each_without_control_characters() {
    let named = |names: &str| {
        let mut network = quantized(Layout::Fast);
        network.names[0] = names.into();
        field(&network.encode())
    };
    for names in ["", "a\nb\nc", "µ (V)\n=1+1\n 关节"] {
        assert_eq!(named(names), None, "{names:?}");
    }
    for names in [
        "a\nb",
        "a\nb\nc\n",
        "a\n\nc",
        "\n\n",
        "a\r\nb\r\nc",
        "a\nb\u{1b}[31m\nc",
        "a\tb\nc\nd",
        "a\u{7f}\nb\nc",
    ] {
        assert_eq!(named(names), Some("input_names"), "{names:?}");
    }
}

/// A header of two bytes must not decide the time of a step.
#[test]
fn draws_are_limited() {
    let draws = |count: u16| {
        let mut networks = LatentArchitecture::vosp().networks("draws", WeightFormat::F32, Layout::Float);
        networks.spec.forecast = Forecast::Draws { count };
        networks.write()
    };
    assert!(draws(256).is_ok());
    let message = draws(257).expect_err("too many draws").to_string();
    assert!(message.contains("draws") && message.contains("256"), "{message}");
}

/// Weights counted by the specification of the format: for the mean, for the variance where it is propagated,
/// and twice more where weights have variances.
#[test]
fn a_step_costs_what_its_weights_and_draws_say() {
    let varied = Architecture { weight_variance: true, ..Architecture::default() };
    let means = Architecture { mode: OutputMode::MeanOnly, ..Architecture::default() };
    let layers = [(CellKind::Gru, 5), (CellKind::Elman(Activation::Tanh), 4)];
    let cost = |of: Architecture| of.spec(&layers, WeightFormat::F32).step_cost();
    let (layers_of, output) = (3 * 5 * (3 + 5) + 4 * (5 + 4), 2 * 4);
    assert_eq!(cost(Architecture::default()), 2 * (layers_of + output));
    assert_eq!(cost(varied), 4 * (layers_of + output));
    assert_eq!(cost(means), 2 * layers_of + output);
    let mut networks = LatentArchitecture::vosp().networks("cost", WeightFormat::F32, Layout::Float);
    networks.spec.forecast = Forecast::Draws { count: 256 };
    let bytes = networks.write().expect("a valid model");
    let [recognition, generative] = [&networks.recognition, &networks.generative].map(|n| n.spec.step_cost());
    let needed = recognition + 512 * generative;
    assert_eq!(LatentModel::load(&bytes).expect("valid").step_cost(), needed);
    assert!(LatentModel::load_within(&bytes, needed).is_ok());
    let mut arena = Arena::<1000>::new();
    let error = Denoiser::load_within(&bytes, &mut arena, needed - 1).expect_err("too slow");
    assert_eq!(error, Error::Budget { needed, allowed: needed - 1 });
    let message = error.to_string();
    assert!(message.contains(&needed.to_string()), "{message}");
}

/// Every multiplication of a row whose channels are all missing, counted in the formulas of the density: the
/// Cholesky factor, its inverse, the solution and the moments; then the distance.
#[test]
fn the_imputation_of_a_row_costs_no_more_than_promised() {
    for inputs in [1_u64, 2, 3, 16, 64, 4096] {
        let triangle = |n: u64| n * (n + 1) / 2;
        let factor: u64 = (0..inputs).map(|i| triangle(i.saturating_sub(1)) + i).sum();
        let inverse: u64 = (0..inputs).map(triangle).sum();
        let rest = triangle(inputs) + 2 * triangle(inputs) + triangle(inputs) + inputs * inputs;
        let density = DensitySpec { imputation: Imputation::Conditional, familiar: 1.0, widening: 0.0 };
        let extensions = Extensions { density: Some(density), ..Extensions::default() };
        let layers = [(CellKind::Elman(Activation::Tanh), 1)];
        let plain = Architecture { inputs: inputs as u16, ..Architecture::default() };
        let with = Architecture { extensions, ..plain }.spec(&layers, WeightFormat::F32).step_cost();
        let promised = with - plain.spec(&layers, WeightFormat::F32).step_cost();
        let exact = factor + inverse + rest;
        assert!(exact <= promised && promised <= 2 * exact, "{inputs}: {exact} {promised}");
    }
}

#[test]
fn an_intact_checkpoint_passes_a_second_look_in_pieces_of_any_size() {
    let bytes = quantized(Layout::Fast).encode();
    let intact = Model::load(&bytes).expect("a valid model");
    assert_eq!(intact.recheck().finish(), Ok(()));
    for step in [1, 3, 256, usize::MAX] {
        let mut recheck = intact.recheck();
        let mut results = std::iter::repeat_with(|| recheck.advance(step)).take(bytes.len());
        assert_eq!(results.find_map(|result| result), Some(Ok(())), "{step} bytes at a time");
    }
}

/// Directions that were learned often keep a smallest variance, however large the units are there: P can then
/// exceed the trace of the prior.
#[test]
fn what_was_learned_from_large_units_can_be_restored() {
    let layers = [(CellKind::Elman(Activation::Relu), 9)];
    let mut contents = Contents::zeros(Architecture::default().spec(&layers, WeightFormat::F32));
    randomise(&mut contents, &mut Numbers::new("large units"));
    contents.layers[0].weight.iter_mut().for_each(|weight| *weight *= 1e5);
    let bytes = write(&contents).expect("a valid model");
    let options = AdaptOptions { prior: 1e6, forgetting: 0.91, correlation: 1.0, ..AdaptOptions::default() };
    for seed in 0..200 {
        let mut words = vec![0.0; 1000];
        let mut predictor = AdaptivePredictor::load_in(&bytes, &mut words, options).expect("a valid model");
        let mut numbers = Numbers::new(&format!("row {seed}"));
        for _ in 0..12 {
            let mut row = [0.0; 3];
            numbers.fill(&mut row, -2.0, 2.0);
            predictor.step(&row);
            predictor.learn(&[1.0, -1.0]);
        }
        let mut saved = vec![0.0; predictor.saved_words()];
        predictor.save(&mut saved).expect("the right length");
        assert_eq!(predictor.restore(&saved), Ok(()), "seed {seed}: trace {}", saved[saved.len() - 2]);
    }
}
