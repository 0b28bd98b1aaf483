use quaver::checkpoint::{Activation, CellKind, Target};

use super::*;
use crate::config::{InitConfig, TrainingConfig};
use crate::data::Scaling;
use crate::evaluate::novel_rows;
use crate::nn::test_spec;
use crate::random::{Purpose, normal, stream};

/// Two channels, both a slow random walk plus noise: each tells of the other, and the past of both.
fn recording(rows: usize, seed: u64) -> Sequence {
    let mut rng = stream(seed, Purpose::Initialisation);
    let mut level = 0.0;
    let mut values = Vec::new();
    for _ in 0..rows {
        level = 0.98 * level + 0.2 * normal(&mut rng);
        values.extend([0, 1].map(|_| (level + 0.2 * normal(&mut rng)) as f32));
    }
    Sequence::next(Rows { channels: 2, values })
}

/// A residual network that predicts no change, with this noise in standardised units.
fn persistence(train: &[Sequence], noise_var: f32) -> RunState {
    let mut spec = test_spec(2, 2, &[(CellKind::Elman(Activation::Tanh), 2)]);
    spec.target = Target::ResidualNext;
    let mut parameters = InitConfig::default().parameters(&spec, 1);
    for name in ["output.weight", "output.bias"] {
        parameters.get_mut(name).unwrap().values.fill(0.0);
    }
    parameters.get_mut("output.log_noise").unwrap().values.fill(noise_var.ln());
    let scaling = Scaling::fit(train).with_density(train, &[]);
    let names = vec!["a".to_string(), "b".to_string()];
    RunState::first(spec, parameters, &TrainingConfig::default(), scaling, [names.clone(), names])
}

#[test]
fn gaps_are_of_one_length_and_leave_time_to_recover() {
    let rows = Rows { channels: 2, values: vec![1.0; 2 * 60] };
    let gappy = with_gaps(&rows, 1, 3);
    let missing: Vec<usize> = (0..60).filter(|row| gappy.row(*row)[1].is_nan()).collect();
    assert_eq!(missing, [20, 21, 22, 43, 44, 45]);
    assert!(gappy.iter().all(|row| row[0] == 1.0));
}

/// A model that never forgets its own predictions is sure of them in long gaps: its noise here is a hundred
/// times too small.
#[test]
fn a_model_that_is_too_sure_of_itself_forgets() {
    let (train, valid) = (vec![recording(2000, 1)], vec![recording(1000, 2)]);
    let settled =
        |noise_var| settle_density(&persistence(&train, noise_var), &train, &valid).unwrap().unwrap();
    let Imputation::Combined { decay: honest, .. } = settled(0.08).imputation else {
        panic!("predictions help a little")
    };
    match settled(0.0008).imputation {
        Imputation::Combined { decay, inflation } => {
            assert!(decay > honest || inflation > 1.0, "{decay} {inflation} {honest}");
        }
        Imputation::Conditional | Imputation::LastEstimate { .. } => {}
    }
}

/// A network that passes its inputs on, slow walks that tell of each other less than of their own past: what
/// was estimated last is better than what the other channel says, and its error grows with the gap.
#[test]
fn a_denoiser_imputes_by_its_last_estimate() {
    let estimated = |rows, seed| {
        let read = Rows::clone(&recording(rows, seed).inputs);
        vec![Sequence::columns(read.clone(), read)]
    };
    let (train, valid) = (estimated(2000, 1), estimated(1000, 2));
    let mut state = persistence(&train, 0.01);
    state.spec.target = Target::ResidualSame;
    let settled = settle_density(&state, &train, &valid).unwrap().unwrap().imputation;
    let Imputation::LastEstimate { decay, inflation, .. } = settled else { panic!("{settled:?}") };
    assert!(decay > 0.0 || inflation > 1.0, "{settled:?}");
    // A model of other columns has no estimates of its inputs.
    state.target_names = vec!["c".to_string(), "d".to_string()];
    let others = settle_density(&state, &train, &valid).unwrap().unwrap().imputation;
    assert_eq!(others, Imputation::Conditional);
}

#[test]
fn one_row_in_a_hundred_is_unfamiliar() {
    let train = vec![recording(5000, 3)];
    let state = persistence(&train, 0.1);
    let settled = settle_density(&state, &train, &train).unwrap().unwrap();
    let density = state.scaling.density.as_ref().unwrap();
    let beyond =
        train[0].inputs.iter().filter(|row| distance(density, &state.scaling.inputs, row) > settled.familiar);
    let beyond = beyond.count();
    assert!((45..=55).contains(&beyond), "{beyond}");
}

/// Changes grow with the distance of the row before: the growth that generated them is found within a third,
/// two standard errors of a variance from 300 values.
#[test]
fn widening_is_that_of_the_unfamiliar_rows() {
    let train = vec![recording(5000, 4)];
    let state = persistence(&train, 0.1);
    let density = settle_density(&state, &train, &train).unwrap();
    let bytes =
        encode(&state, WeightFormat::F32, Layout::Float, &Encoding { density, ..Encoding::default() })
            .unwrap();
    let model = Model::load(&bytes).unwrap();
    let (std_dev, growth) = (state.scaling.inputs.std_dev[0], 0.5);
    let mut rng = stream(5, Purpose::Initialisation);
    let mut values: Vec<f32> = Vec::new();
    for _ in 0..300 {
        // An unusual row, and a row after it that differs by the widened noise.
        let row = [4.0 * std_dev, -4.0 * std_dev];
        let distance = distance(state.scaling.density.as_ref().unwrap(), &state.scaling.inputs, &row);
        let excess = f64::from(distance - density.unwrap().familiar);
        let spread = (0.1 * (1.0 + growth * excess)).sqrt() as f32 * std_dev;
        values.extend(row);
        values.extend(row.map(|value| value + spread * normal(&mut rng) as f32));
    }
    // Only the rows after unusual ones are scored.
    let whole = Sequence::next(Rows { channels: 2, values: values.clone() });
    let mut targets = whole.targets.as_ref().clone();
    (0..targets.len()).step_by(2).for_each(|row| targets.values[2 * row..2 * row + 2].fill(f32::NAN));
    let valid = Sequence { targets: targets.into(), ..whole };
    assert_eq!(model.spec().extensions.density, density);
    let found = f64::from(fit_widening(&bytes, &[valid]).unwrap().unwrap());
    assert!((found / growth - 1.0).abs() < 0.34, "{found}");
    assert_eq!(fit_widening(&bytes, &[recording(20, 6)]).unwrap(), None, "nothing unusual");
}

#[test]
fn values_predicted_from_novel_rows_are_counted_apart() {
    let train = vec![recording(5000, 7)];
    let state = persistence(&train, 0.1);
    let density = settle_density(&state, &train, &train).unwrap();
    let encoding = Encoding { density, ..Encoding::default() };
    let bytes = encode(&state, WeightFormat::F32, Layout::Float, &encoding).unwrap();
    // The third row is far away, so the fourth one is predicted from it, and wrongly.
    let values = vec![0.1, 0.1, 0.1, 0.1, 900.0, -900.0, 0.1, 0.1];
    let sequences = [Sequence::next(Rows { channels: 2, values })];
    let predictions = predict_by_runtime(&bytes, &sequences).unwrap();
    let found = novel_rows(&bytes, &sequences, &predictions).unwrap().unwrap();
    assert_eq!((found.novel_values, found.familiar_values), (2, 6));
    assert_eq!((found.novel_coverage, found.familiar_coverage), (Some(0.0), Some(4.0 / 6.0)));
}
