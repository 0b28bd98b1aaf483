use quaver::Model;
use quaver::anomaly::AnomalyKind;
use quaver::checkpoint::{CellKind, Layout, WeightFormat};

use super::*;
use crate::config::{InitConfig, TrainingConfig};
use crate::data::{Rows, Scaling};
use crate::export::{Additions, Encoding, encode};
use crate::fit::RunState;
use crate::nn::test_spec;
use crate::random::{Purpose, normal, stream};

const CHANNELS: usize = 3;

/// Correlated channels: a common slow wave, each with noise of its own.
fn sequence(steps: usize, epoch: u64) -> Sequence {
    let mut rng = stream(epoch, Purpose::Initialisation);
    let value = |index: usize, rng: &mut _| {
        let wave = (0.05 * (index / CHANNELS) as f64).sin();
        (wave + 0.3 * normal(rng)) as f32
    };
    let values = (0..CHANNELS * steps).map(|index| value(index, &mut rng)).collect();
    Sequence::next(Rows { channels: CHANNELS, values })
}

/// An untrained model of the next row: its residuals are as large as the rows.
fn state(train: &[Sequence]) -> RunState {
    let mut spec = test_spec(3, 3, &[(CellKind::Lstm, 4)]);
    spec.target = quaver::checkpoint::Target::Next;
    let parameters = InitConfig::default().parameters(&spec, 1);
    let names = ["a", "b", "c"].map(String::from).to_vec();
    let scaling = Scaling { density: None, ..Scaling::fit(train) };
    RunState::first(spec, parameters, &TrainingConfig::default(), scaling, [names.clone(), names])
}

/// A model with limits for one false alarm in `rows` rows, and the limits.
fn limited(rows: f64) -> (Vec<u8>, AnomalyLimits) {
    let train = vec![sequence(4000, 1)];
    let state = state(&train);
    let encoded = |additions: &Additions| {
        let encoding = Encoding { additions: Some(additions), ..Encoding::default() };
        encode(&state, WeightFormat::F32, Layout::Float, &encoding).unwrap()
    };
    let bytes = encoded(&Additions::default());
    let limits =
        anomaly_limits(&bytes, &state.scaling.inputs, &[], &[&train, &[sequence(2000, 2)]], 32, rows)
            .unwrap();
    (encoded(&Additions { anomaly: Some(limits.clone()), ..Additions::default() }), limits)
}

/// Scores by the runtime.
fn scores(bytes: &[u8], sequence: &Sequence) -> Vec<Option<quaver::anomaly::Anomaly>> {
    let model = Model::load(bytes).unwrap();
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut state = model.start_in(&mut words).unwrap();
    sequence.inputs.iter().map(|row| model.step(&mut state, row).anomaly()).collect()
}

fn alarms(bytes: &[u8], sequence: &Sequence) -> usize {
    let found: Vec<bool> =
        scores(bytes, sequence).iter().map(|a| a.is_some_and(|a| a.is_anomalous())).collect();
    found.windows(2).filter(|pair| !pair[0] && pair[1]).count()
}

/// Three sequences of 4,000 rows that the limits have not seen. At one alarm in 200 rows, 60 are allowed.
/// Limits err on the safe side, by a factor of a few: they are the larger of two splits, with a standard
/// error added, and statistics that share their alarms are counted as if they did not. A tenth would be too
/// few.
#[test]
fn sound_rows_give_about_as_many_alarms_as_allowed() {
    let (bytes, limits) = limited(200.0);
    assert!(!limits.extrapolated);
    let found: usize = (10..13).map(|epoch| alarms(&bytes, &sequence(4000, epoch))).sum();
    assert!((6..=70).contains(&found), "{found}");
    let (strict, limits) = limited(100_000.0);
    assert!(limits.extrapolated);
    let found: usize = (10..13).map(|epoch| alarms(&strict, &sequence(4000, epoch))).sum();
    assert!(found <= 3, "{found} where 0.12 are expected");
}

/// The exporter replays statistics outside the runtime; both are f32 in the same order, so the bits agree.
#[test]
fn the_runtime_scores_rows_as_the_exporter_did() {
    let (bytes, limits) = limited(1000.0);
    let sound = sequence(500, 20);
    let state = state(&[sequence(4000, 1)]);
    let read = evidence(&bytes, &state.scaling.inputs, &[], std::slice::from_ref(&sound)).unwrap();
    let fit = Fit { window: limits.window, row: limits.row, channels: limits.channels };
    let expected = fit.scores(&read[0]).into_iter().map(|row| row.into_iter().fold(f32::NAN, f32::max));
    for (row, (found, expected)) in scores(&bytes, &sound).iter().zip(expected).enumerate().skip(1) {
        assert_eq!(found.map(|anomaly| anomaly.score), Some(expected), "row {row}");
    }
}

#[test]
fn faults_are_detected_and_named_and_missing_channels_are_not_faults() {
    let (bytes, _) = limited(10_000.0);
    let sound = sequence(600, 30);
    let with = |change: &dyn Fn(usize, &mut f32)| {
        let mut rows = (*sound.inputs).clone();
        for step in 300..600 {
            change(step, &mut rows.values[CHANNELS * step + 1]);
        }
        Sequence::next(rows)
    };
    let held = sound.inputs.row(300)[1];
    let stuck = scores(&bytes, &with(&|_, value| *value = held));
    let first = stuck.iter().position(|a| a.is_some_and(|a| a.is_anomalous()));
    assert!(first.is_some_and(|row| (301..325).contains(&row)), "{first:?}");
    let last = stuck.last().copied().flatten().expect("observed");
    assert!(last.is_anomalous() && (last.kind, last.channel) == (AnomalyKind::Stuck, Some(1)), "{last}");
    let shifted = scores(&bytes, &with(&|_, value| *value += 4.0));
    assert!(shifted.last().copied().flatten().is_some_and(|a| a.is_anomalous()));
    let missing = scores(&bytes, &with(&|_, value| *value = f32::NAN));
    assert!(missing.iter().skip(1).flatten().all(|a| !a.is_anomalous()));
}

#[test]
fn a_channel_that_never_changes_has_no_limits() {
    let mut rows = (*sequence(1000, 1).inputs).clone();
    rows.values.iter_mut().step_by(CHANNELS).for_each(|value| *value = 5.0);
    let train = vec![Sequence::next(rows)];
    let state = state(&train);
    let bytes = encode(&state, WeightFormat::F32, Layout::Float, &Encoding::default()).unwrap();
    let limits = anomaly_limits(&bytes, &state.scaling.inputs, &[], &[&train], 32, 100.0).unwrap();
    assert_eq!(limits.channels[0].limits, [Limit::default(); STATISTICS]);
    assert!(limits.channels[1].limits[RUNS].weight > 0.0);
}

#[test]
fn a_window_is_seconds_long_unless_recordings_are_short() {
    let (long, short) = (vec![sequence(9000, 1)], vec![sequence(400, 1)]);
    assert_eq!(evidence_window(Some(100.0), &[&long, &[]]), 250);
    assert_eq!(evidence_window(None, &[&long]), 128);
    assert_eq!(evidence_window(Some(30.0), &[&long, &short]), 25, "a sixteenth of 400 rows");
    assert_eq!(evidence_window(Some(1.0), &[&long]), 8);
}
