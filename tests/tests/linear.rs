//! Linear parts: against sums written out in f64, over gaps, save and restore, next to a network and alone.

use quaver::checkpoint::{
    Activation, CellKind, Checkpoint, Contents, Extensions, Layout, Likelihood, LinearSpec, Target,
    WeightFormat, write,
};
use quaver::{AdaptOptions, AdaptivePredictor, Error, Model, Output};
use quaver_tests::golden::{Architecture, randomise};
use quaver_tests::numbers::Numbers;

const ROWS: u16 = 4;
const CHANNELS: usize = 3;
const TANH: (CellKind, u16) = (CellKind::Elman(Activation::Tanh), 5);

/// A model with a linear part and these layers.
fn contents(layers: &[(CellKind, u16)], target: Target, layout: Layout) -> Contents {
    let linear = Some(LinearSpec { rows: ROWS });
    let outputs = if target.is_next() { CHANNELS as u16 } else { 2 };
    let extensions = Extensions { linear, ..Extensions::default() };
    let architecture = Architecture { target, outputs, extensions, ..Architecture::default() };
    let mut contents = Contents::zeros(architecture.spec(layers, WeightFormat::Int8));
    contents.spec.layout = layout;
    randomise(&mut contents, &mut Numbers::new("linear"));
    contents
}

fn rows(count: usize) -> Vec<Vec<f32>> {
    let mut numbers = Numbers::new("rows");
    (0..count).map(|_| (0..CHANNELS).map(|_| numbers.between(-2.0, 2.0)).collect()).collect()
}

/// Outputs of a new stream after each row.
fn replay(bytes: &[u8], rows: &[Vec<f32>]) -> Vec<Vec<Output>> {
    let model = Model::load(bytes).expect("a valid checkpoint");
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut state = model.start_in(&mut words).expect("enough words");
    rows.iter().map(|row| model.step(&mut state, row).iter().collect()).collect()
}

/// Mean and variance of an output by the definition, in f64: `history` holds standardised moments of all rows
/// so far.
fn by_hand(contents: &Contents, history: &[Vec<(f64, f64)>], output: usize) -> (f64, f64) {
    let count = 1 + usize::from(ROWS) * CHANNELS;
    let numbers = &contents.linear[output * count..][..count];
    let (mut mean, mut var) = (f64::from(numbers[0]), 0.0);
    for lag in 0..usize::from(ROWS) {
        let row = &history[history.len().saturating_sub(1 + lag)];
        for (channel, (m, v)) in row.iter().enumerate() {
            let weight = f64::from(numbers[1 + lag * CHANNELS + channel]);
            mean += weight * m;
            var += weight * weight * v;
        }
    }
    (mean, var)
}

/// Standardised moments of a row; a missing channel has those of the training data.
fn standardised(contents: &Contents, row: &[f32]) -> Vec<(f64, f64)> {
    let scaler = contents.input_scaler.mean.iter().zip(&contents.input_scaler.std_dev);
    let channel = |(value, (mean, std_dev)): (&f32, (&f32, &f32))| match value.is_nan() {
        true => (0.0, 1.0),
        false => ((f64::from(*value) - f64::from(*mean)) / f64::from(*std_dev), 0.0),
    };
    row.iter().zip(scaler).map(channel).collect()
}

/// Twelve products of a size around 1 in f32, times a scale below 2: 10⁻⁵.
const TOLERANCE: f64 = 1e-5;

/// Alone the outputs are the sums; next to a network, the difference from the network without it is.
#[test]
fn outputs_are_the_network_plus_the_sum_over_the_last_rows() {
    let mut rows = rows(12);
    rows[5][1] = f32::NAN;
    for (layers, layout) in [(&[][..], Layout::Float), (&[TANH], Layout::Float), (&[TANH], Layout::Fast)] {
        let contents = contents(layers, Target::Columns, layout);
        let found = replay(&write(&contents).expect("a valid model"), &rows);
        let network = (!layers.is_empty()).then(|| {
            let mut network = contents.clone();
            network.spec.extensions.linear = None;
            network.linear.clear();
            replay(&write(&network).expect("a valid model"), &rows)
        });
        let mut history = Vec::new();
        for (step, row) in rows.iter().enumerate() {
            history.push(standardised(&contents, row));
            for (output, found) in found[step].iter().enumerate() {
                let (mean, var) = by_hand(&contents, &history, output);
                let (offset, std_dev) =
                    (contents.output_scaler.mean[output], contents.output_scaler.std_dev[output]);
                let (offset, std_dev) = (f64::from(offset), f64::from(std_dev));
                let bias = f64::from(contents.output.bias[output]);
                let scale = f64::from(contents.calibration[output]) * std_dev * std_dev;
                let (own_mean, own_var) = match &network {
                    Some(network) => {
                        let own = network[step][output];
                        (f64::from(own.mean), f64::from(own.epistemic))
                    }
                    None => (bias * std_dev + offset, 0.0),
                };
                let expected = own_mean + mean * std_dev;
                assert!(
                    (f64::from(found.mean) - expected).abs() < TOLERANCE,
                    "{step}: {found:?}, {expected}"
                );
                let expected = own_var + var * scale;
                let gap = (f64::from(found.epistemic) - expected).abs();
                assert!(gap < TOLERANCE, "{step}: {found:?} against {expected}");
                let gaps = (5..5 + usize::from(ROWS)).contains(&step);
                assert_eq!(var > 0.0, gaps, "a missing value widens the error bar while its row is read");
            }
        }
    }
}

/// Before the first row of a model of its own next input, every row has the training mean and variance.
#[test]
fn a_first_prediction_is_as_wide_as_nothing_is_known() {
    let contents = contents(&[], Target::Next, Layout::Float);
    let bytes = write(&contents).expect("a valid model");
    let model = Model::load(&bytes).expect("a valid checkpoint");
    let mut words = vec![0.0; model.spec().arena_words()];
    let state = model.start_in(&mut words).expect("enough words");
    let unknown = [vec![(0.0, 1.0); CHANNELS]];
    for (output, found) in model.prediction(&state).iter().enumerate() {
        let (_, var) = by_hand(&contents, &unknown, output);
        let std_dev = f64::from(contents.output_scaler.std_dev[output]);
        let scale = f64::from(contents.calibration[output]) * std_dev * std_dev;
        assert!((f64::from(found.epistemic) - var * scale).abs() < TOLERANCE, "{found:?} against {var}");
    }
}

/// A missing channel of a model of its own next input has the moments of its prediction, here as in the
/// network.
#[test]
fn a_gap_is_filled_by_the_prediction_and_its_variance() {
    let contents = contents(&[], Target::Next, Layout::Float);
    let bytes = write(&contents).expect("a valid model");
    let mut gappy = rows(6);
    let before = *replay(&bytes, &gappy[..5]).last().expect("five rows").get(1).expect("three outputs");
    gappy[5][1] = f32::NAN;
    let found = replay(&bytes, &gappy);
    let mut told = gappy.clone();
    told[5][1] = before.mean;
    let sure = replay(&bytes, &told);
    let count = 1 + usize::from(ROWS) * CHANNELS;
    for (output, (found, sure)) in found[5].iter().zip(&sure[5]).enumerate() {
        // The mean of the prediction goes to raw units and back.
        assert!((found.mean - sure.mean).abs() < 1e-5, "{found:?} {sure:?}");
        let weight = contents.linear[output * count + 2];
        let (own, of) = (contents.output_scaler.std_dev[output], contents.input_scaler.std_dev[1]);
        let expected =
            weight * weight * before.variance / (of * of) * contents.calibration[output] * own * own;
        assert!((found.epistemic - sure.epistemic - expected).abs() < 1e-5, "{found:?}, {expected}");
    }
}

/// The ring is somewhere else in memory after a restart, and the sums are the same.
#[test]
fn a_restored_stream_continues_with_the_same_bits_wherever_its_ring_was() {
    let bits = |outputs: Vec<Output>| -> Vec<[u32; 3]> {
        outputs.iter().map(|o| [o.mean, o.epistemic, o.aleatoric].map(f32::to_bits)).collect()
    };
    let mut rows = rows(14);
    rows[6][0] = f32::NAN;
    let all = [
        (&[][..], Target::Columns, Layout::Float),
        (&[], Target::Next, Layout::Float),
        (&[TANH], Target::Next, Layout::Small),
    ];
    for (layers, target, layout) in all {
        let bytes = write(&contents(layers, target, layout)).expect("a valid model");
        let model = Model::load(&bytes).expect("a valid checkpoint");
        let [mut first, mut second] = [(); 2].map(|()| vec![7.0; model.spec().arena_words()]);
        let mut state = model.start_in(&mut first).expect("enough words");
        for (seen, row) in rows.iter().enumerate() {
            let mut saved = vec![0.0; model.spec().saved_words()];
            model.save(&state, &mut saved).expect("enough words");
            model.check_state(&state).expect("a state that steps have left");
            let mut other = model.start_in(&mut second).expect("enough words");
            model.step(&mut other, &[0.5; CHANNELS]);
            model.restore(&mut other, &saved).expect("a saved state");
            model.check_state(&other).expect("a restored state");
            for row in &rows[seen..] {
                let continued = bits(model.step(&mut other, row).iter().collect());
                let mut twice = saved.clone();
                model.save(&other, &mut twice).expect("enough words");
                assert_eq!(continued.len(), usize::from(model.spec().outputs));
            }
            let expected: Vec<Vec<[u32; 3]>> = {
                model.restore(&mut other, &saved).expect("a saved state");
                rows[seen..].iter().map(|row| bits(model.step(&mut other, row).iter().collect())).collect()
            };
            let mut words = vec![0.0; model.spec().arena_words()];
            let mut whole = model.start_in(&mut words).expect("enough words");
            rows[..seen].iter().for_each(|row| {
                model.step(&mut whole, row);
            });
            let found: Vec<Vec<[u32; 3]>> =
                rows[seen..].iter().map(|row| bits(model.step(&mut whole, row).iter().collect())).collect();
            assert_eq!(found, expected, "after {seen} rows");
            model.step(&mut state, row);
        }
        let mut wrong = vec![0.0; model.spec().saved_words()];
        model.save(&state, &mut wrong).expect("enough words");
        let last = wrong.len() - 1;
        wrong[last] = -1.0;
        assert_eq!(model.restore(&mut state, &wrong), Err(Error::StateValue { word: last }), "a variance");
    }
}

#[test]
fn a_reset_stream_forgets_its_rows() {
    let bytes = write(&contents(&[TANH], Target::Columns, Layout::Fast)).expect("a valid model");
    let model = Model::load(&bytes).expect("a valid checkpoint");
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut state = model.start_in(&mut words).expect("enough words");
    let rows = rows(6);
    let mut run = || -> Vec<f32> {
        model.reset(&mut state);
        rows.iter().flat_map(|row| model.step(&mut state, row).mean().to_vec()).collect()
    };
    assert_eq!(run(), run());
}

/// Without units, the bias is all that there is to learn.
#[test]
fn a_linear_part_alone_adapts_its_offset() {
    let bytes = write(&contents(&[], Target::Columns, Layout::Float)).expect("a valid model");
    let model = Model::load(&bytes).expect("a valid checkpoint");
    let options = AdaptOptions::default();
    let mut words = vec![0.0; AdaptivePredictor::arena_words(&model, &options)];
    let mut predictor = AdaptivePredictor::new(model, &mut words, options).expect("a model that adapts");
    let row = [0.5; CHANNELS];
    let before = predictor.step(&row).mean()[0];
    for _ in 0..200 {
        predictor.step(&row);
        predictor.learn(&[before + 1.0, 0.0]);
    }
    assert!(predictor.step(&row).mean()[0] > before + 0.5);
}

#[test]
fn what_does_not_go_with_a_linear_part_is_refused_by_name() {
    let refused = |change: &dyn Fn(&mut Contents), words: &[&str]| {
        let mut contents = contents(&[TANH], Target::Columns, Layout::Float);
        change(&mut contents);
        let error = write(&contents).expect_err("an invalid model").to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error:?} should name {words:?}");
    };
    refused(&|c| c.linear[3] = f32::NAN, &["linear part", "linear"]);
    refused(&|c| c.linear.truncate(5), &["linear part", "26", "5"]);
    let rows = |rows| Extensions { linear: Some(LinearSpec { rows }), ..Extensions::default() };
    refused(
        &|c| {
            c.spec.extensions = rows(0);
            c.linear = vec![0.0; 2];
        },
        &["linear part", "rows"],
    );
    refused(
        &|c| {
            c.spec.extensions = rows(1366);
            c.linear = vec![0.0; 2 * (1 + 1366 * 3)];
        },
        &["linear part", "rows", "4096"],
    );
    refused(
        &|c| {
            c.spec.likelihood = Likelihood::Bernoulli;
            (c.noise_var, c.calibration) = (Vec::new(), Vec::new());
        },
        &["linear part", "likelihood"],
    );
    let residual = |c: &mut Contents| {
        *c = contents(&[TANH], Target::Next, Layout::Float);
        c.spec.target = Target::ResidualNext;
    };
    refused(&residual, &["linear part", "target"]);
    let bare = |layout| {
        move |c: &mut Contents| {
            *c = contents(&[], Target::Columns, Layout::Float);
            c.spec.layout = layout;
        }
    };
    refused(&bare(Layout::Fast), &["layers", "linear part alone"]);
    let nothing = |c: &mut Contents| {
        bare(Layout::Float)(c);
        c.spec.extensions.linear = None;
        c.linear.clear();
    };
    refused(&nothing, &["layers", "at least one"]);
}

/// A constant of the bytes equals what the loaded model asks for.
#[test]
fn memory_is_known_from_the_bytes() {
    for (layers, layout) in [(&[][..], Layout::Float), (&[TANH], Layout::Float), (&[TANH], Layout::Small)] {
        let bytes = write(&contents(layers, Target::Columns, layout)).expect("a valid model");
        let spec = Checkpoint::read(&bytes).expect("a valid checkpoint").spec().clone();
        assert_eq!(quaver::arena_words(&bytes), spec.arena_words());
        let sums = 2 * u64::from(ROWS) * CHANNELS as u64 * 2;
        assert!(spec.step_cost() >= sums);
        assert!(spec.parameters() >= 26);
    }
}
