use quaver::checkpoint::CellKind;

use super::*;
use crate::config::InitConfig;
use crate::fit::optimiser::Adam;
use crate::nn::test_spec;

fn state() -> RunState {
    let spec = test_spec(2, 1, &[(CellKind::Lstm, 2)]);
    let parameters = InitConfig::default().parameters(&spec, 1);
    RunState {
        optimiser: Optimiser::Adam(Adam::new(&parameters)),
        average: Some(ParameterAverage::new(&parameters)),
        parameters,
        spec,
        epoch: 3,
        best: Some(BestEpoch { epoch: 2, valid_nll: 0.5 }),
        rate_cuts: 1,
        scaling: Scaling {
            inputs: Scaler::identity(2),
            targets: Scaler::identity(1),
            density: Some(InputDensity {
                precision: vec![2.0, -1.0, 3.0],
                low: vec![-4.0, 0.0],
                high: vec![5.0, 6.0],
            }),
            linear: None,
        },
        input_names: vec!["a".into(), "b".into()],
        target_names: vec!["c".into()],
        data: Some(vec![FileChecksum { name: "a.csv".into(), bytes: 12, crc: 1 << 60 }]),
    }
}

#[test]
fn a_state_survives_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("last.state");
    state().save(&path).unwrap();
    assert_eq!(RunState::load(&path).unwrap(), state());
}

#[test]
fn a_state_without_a_density_is_one_of_an_earlier_version() {
    let mut old = RunState { data: None, ..state() };
    let with = old.encode().unwrap();
    old.scaling.density = None;
    let without = old.encode().unwrap();
    assert_eq!(RunState::<ModelSpec>::decode(&without).unwrap(), old);
    let body = without.len() - 4;
    assert_eq!(with[..body], without[..body], "all that follows the old state is the density");
    let mut narrow = state();
    narrow.scaling.density.as_mut().unwrap().precision.pop();
    let error = RunState::<ModelSpec>::decode(&narrow.encode().unwrap()).unwrap_err().to_string();
    assert!(error.contains("density of its inputs"), "{error}");
}

#[test]
fn files_are_told_from_a_density() {
    let mut state = state();
    state.scaling.density = None;
    assert_eq!(RunState::<ModelSpec>::decode(&state.encode().unwrap()).unwrap(), state);
    state.data = Some(Vec::new());
    assert_eq!(RunState::<ModelSpec>::decode(&state.encode().unwrap()).unwrap(), state);
}

#[test]
fn pruned_weights_survive_whatever_else_there_is() {
    let mut pruned = state();
    let averaged = &mut pruned.average.as_mut().unwrap().parameters;
    for parameters in [averaged, &mut pruned.parameters] {
        let list = parameters.get_mut("layer0.weight").unwrap();
        list.kept = Some((0..list.values.len()).map(|index| index % 3 == 0).collect());
        parameters.clamp_to_limits();
    }
    let decoded = |state: &RunState| RunState::<ModelSpec>::decode(&state.encode().unwrap());
    assert_eq!(decoded(&pruned).unwrap(), pruned);
    pruned.data = None;
    assert_eq!(decoded(&pruned).unwrap(), pruned);
    pruned.scaling.density = None;
    assert_eq!(decoded(&pruned).unwrap(), pruned);
    pruned.parameters.get_mut("layer0.weight").unwrap().kept.as_mut().unwrap().pop();
    let error = decoded(&pruned).unwrap_err().to_string();
    assert!(error.contains("its pruned weights are not those"), "{error}");
}

#[test]
fn every_truncation_and_every_flipped_bit_is_noticed() {
    let bytes = state().encode().unwrap();
    for length in 0..bytes.len() {
        assert!(RunState::<ModelSpec>::decode(&bytes[..length]).is_err(), "{length} bytes");
    }
    for bit in 0..8 * bytes.len() {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(RunState::<ModelSpec>::decode(&damaged).is_err(), "bit {bit}");
    }
}

#[test]
fn a_state_that_contradicts_itself_is_refused() {
    let mut other = state();
    other.spec.inputs = 3;
    let error = RunState::<ModelSpec>::decode(&other.encode().unwrap()).unwrap_err().to_string();
    assert!(error.contains("not those of its architecture"), "{error}");
    let mut named = state();
    named.input_names[1] = "\u{1b}[2J".into();
    let error = RunState::<ModelSpec>::decode(&named.encode().unwrap()).unwrap_err().to_string();
    assert!(error.contains("`\\u{1b}[2J` has control characters"), "{error}");
}

#[test]
fn errors_name_the_file() {
    let error = RunState::<ModelSpec>::load(Path::new("no/such.state")).unwrap_err().to_string();
    assert!(error.contains("no/such.state"), "{error}");
}
